"""Runs in steps from Python."""

from pathlib import Path

import pytest

import narrows as nw

TEXT = """\
name = "steps"
[path]
rate = "10mbit"
rtt = "40ms"
buffer = "1bdp"
[[flows]]
cca = "cubic"
[[flows]]
cca = "fixed"
name = "agent"
options = { window = 4 }
[run]
duration = "5s"
sample_interval = "50ms"
[[check]]
metric = "utilization"
at_least = 1.0
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "steps.toml"
    path.write_text(TEXT)
    return path


def same(simulation: nw.Simulation, tmp_path: Path) -> bool:
    """Returns True if a run of what was recorded gives the tables of the simulation."""
    again = tmp_path / "recorded.toml"
    again.write_text(simulation.toml)
    result = nw.run(again, out=tmp_path / "again", force=True)
    return all(
        result.table(name).select(table.columns).equals(table)
        for name, table in simulation.finish().items()
    )


def test_a_run_is_read_and_changed_in_steps_and_repeated_from_its_record(
    spec: Path, tmp_path: Path
) -> None:
    simulation = nw.Simulation(spec)
    simulation.run_until("1.5s")
    assert (simulation.now_s, simulation.is_over) == (1.5, False)
    assert simulation.flows["agent"]["cwnd"] == 4
    assert simulation.queues["bottleneck"]["forwarded_packets"] > 1_000
    assert simulation.internals["cubic-1"]["w_last_max"] > 10
    simulation.change(flow="agent", window=30, pacing_rate="4mbit")
    simulation.run_for(0.25)
    simulation.change(rate="5mbit", rtt="60ms", loss=0.001)
    simulation.run_until(2)
    simulation.stop("cubic-1")
    simulation.add(nw.Flow(cca="bbr", name="late"))
    simulation.run_for("1s")
    assert simulation.flows["agent"]["cwnd"] == 30
    assert simulation.flows["late"]["delivered"] > 0
    times = [change["at"] for change in simulation.document["changes"]]
    assert times == ["1.5s", "1.75s", "2s", "3s"], "the last one ends the run"
    assert "check" not in simulation.document, "checks are of the whole run"
    assert same(simulation, tmp_path)


def test_a_fork_leaves_its_origin_alone(spec: Path, tmp_path: Path) -> None:
    simulation = nw.Simulation(spec, ["path.loss=0.01"], trial=1)
    simulation.run_until("1s")
    fork = simulation.fork()
    assert fork.flows == simulation.flows
    fork.change(loss=0.2)
    for run in (simulation, fork):
        run.run_until("3s")
    assert fork.flows["cubic-1"]["dropped"] > simulation.flows["cubic-1"]["dropped"]
    assert simulation.document["changes"] == [{"at": "3s", "end": True}]
    assert same(fork, tmp_path)


def test_a_scenario_of_a_program_and_its_trials() -> None:
    document = nw.Scenario(
        name="made",
        path=nw.Path(rate="8mbit", rtt="20ms", buffer="1bdp", loss=0.01),
        flows=[nw.Flow(cca="reno")],
        run=nw.Run(duration="2s", trials=2, seed=7),
    )
    second = nw.Simulation(document, trial=2)
    assert second.document["run"]["seed"] == 8
    second.run_for("9s")
    assert (second.is_over, second.now_s) == (True, 2.0)
    with pytest.raises(nw.InputError, match=r"found 3; a number from 1 to 2 would be right"):
        nw.Simulation(document, trial=3)


def test_impossible_changes_are_reported_and_change_nothing(spec: Path) -> None:
    simulation = nw.Simulation(spec)
    simulation.run_until("1s")
    for call, told in (
        (lambda: simulation.change(), "a change of nothing"),
        (lambda: simulation.change(rate="fast"), r"changes\[0\].rate"),
        (lambda: simulation.change(flow="cubic-1", window=3), 'the control "fixed"'),
        (lambda: simulation.stop("x"), "not a flow"),
        (lambda: simulation.add({"cca": "cubik"}), "cubic"),
        (lambda: simulation.run_until("0.5s"), "which is over"),
        (lambda: simulation.run_until("soon"), "seconds"),
        (lambda: simulation.run_for(-1), "seconds"),
    ):
        with pytest.raises(nw.InputError, match=told):
            call()
    assert simulation.document["changes"] == [{"at": "1s", "end": True}]


def test_the_record_outlives_the_end_of_the_run(spec: Path, tmp_path: Path) -> None:
    simulation = nw.Simulation(spec)
    simulation.run_until("1s")
    simulation.change(rate="5mbit")
    before, tables = simulation.toml, simulation.finish()
    assert simulation.is_over
    assert simulation.toml == before
    recorded = tmp_path / "recorded.toml"
    recorded.write_text(simulation.toml)
    again = nw.run(recorded, out=tmp_path / "again")
    samples = tables["flow_samples"]
    assert again.table("flow_samples").select(samples.columns).equals(samples)


def test_a_finished_run_refuses_everything_else(spec: Path) -> None:
    simulation = nw.Simulation(spec)
    simulation.run_until("1s")
    simulation.finish()
    told = r"simulation: found a run that was finished; a fork made before `finish`, or a new"
    for call in (
        lambda: simulation.run_for(1),
        lambda: simulation.run_until("2s"),
        lambda: simulation.change(rate="5mbit"),
        lambda: simulation.add({"cca": "cubic"}),
        lambda: simulation.flows,
        simulation.fork,
        simulation.finish,
    ):
        with pytest.raises(nw.InputError, match=told):
            call()
