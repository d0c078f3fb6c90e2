"""Records of runs in steps, which can be run again and give the same tables.

Each seed gives a random scenario and a random sequence of steps and changes. `make fuzz` runs more
seeds: `NARROWS_SEEDS` of them, from `NARROWS_FUZZ_FIRST` on.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

import narrows as nw
from narrows.backends import get_backend
from narrows.metrics.summary import summarise
from narrows.plan import plan
from narrows.spec import parse

FIRST = int(os.environ.get("NARROWS_FUZZ_FIRST", "1")) % 2**31
SEEDS = range(FIRST, FIRST + int(os.environ.get("NARROWS_SEEDS", "60")))
FLOWS: tuple[dict[str, Any], ...] = (
    {"cca": "cubic"},
    {"cca": "bbr", "count": 2},
    {"cca": "reno", "size": "200kb"},
    {"cca": "cubic", "size": "50kb", "repeat_gap": "100ms"},
    {"cca": "reno", "workload": {"kind": "requests", "size": "30kb", "think": "50ms"}},
    {"cca": "none", "workload": {"kind": "udp", "rate": "1mbit"}},
)
TIMES = ("0s", "1ms", "100ms", "250ms", "700ms")


def document_of(draw: random.Random) -> dict[str, Any]:
    """A scenario with a flow that can be set, and perhaps a warm-up and flows that start late."""
    flows = [{"name": "agent", "cca": "fixed", "options": {"window": 8}}]
    for number in range(draw.randint(1, 3)):
        start = draw.choice(["0s", "0s", "400ms", "1500ms"])
        flows.append({"name": f"flow-{number}", "start": start, **draw.choice(FLOWS)})
    path = {
        "rate": draw.choice(["2mbit", "8mbit"]),
        "rtt": "30ms",
        "buffer": draw.choice(["20pkt", "8pkt"]),
        "queue": draw.choice(["droptail", "fq_codel", "pie"]),
        "loss": draw.choice([0.0, 0.01]),
    }
    document: dict[str, Any] = {"name": "record", "path": path, "flows": flows}
    if draw.random() < 0.3:
        document["changes"] = [{"at": "600ms", "rate": "5mbit"}, {"at": "1200ms", "loss": 0.02}]
    run = {"duration": "2s", "warmup": draw.choice(["0s", "500ms", "1s", "1900ms"])}
    document["run"] = {**run, "record": draw.choice(["summary", "samples", "packets"])}
    return document


def step(simulation: nw.Simulation, draw: random.Random) -> nw.Simulation:
    """The simulation after a random step, change or fork."""
    kind = draw.choice(["go", "go", "go", "path", "window", "stop", "add", "fork"])
    if kind == "fork":
        return simulation.fork()
    if kind == "go" or simulation.is_over:
        simulation.run_for(draw.choice(TIMES))
    elif kind == "path":
        key, value = draw.choice([("rate", "3mbit"), ("rtt", "70ms"), ("loss", 0.1)])
        simulation.change(**{key: value})
    elif kind == "window":
        simulation.change(flow="agent", window=draw.randint(1, 60))
    elif kind == "stop":
        simulation.stop("agent")
    else:
        simulation.add({"name": f"late-{simulation.now_s}-{draw.random()}", **draw.choice(FLOWS)})
    return simulation


@pytest.mark.parametrize("seed", SEEDS)
def test_a_record_can_be_run_again_and_gives_the_same_tables(seed: int) -> None:
    draw = random.Random(seed)
    simulation = nw.Simulation(document_of(draw))
    simulation.run_for(draw.choice(["0s", "350ms", "350ms", "1s"]))
    for _ in range(draw.choice([0, 2, 6, 12])):
        simulation = step(simulation, draw)
    engine = get_backend("sim")
    made = plan(parse(simulation.toml, "record").spec, engine.engine)
    [trial] = made.trials
    again = engine.run(trial.scenario)
    for name, table in simulation.finish().items():
        assert again.tables[name].equals(table), name
    summarise(trial.scenario, again.columns, again.info, made.groups)


@pytest.mark.parametrize("until", ["0s", "500ms", "1s"])
def test_a_record_that_ends_early_has_a_page(until: str, tmp_path: Path) -> None:
    """It ends at once, within the warm-up, or as the warm-up does."""
    scenario = nw.Scenario(
        name="early",
        path=nw.Path(rate="2mbit", rtt="30ms", buffer="1bdp"),
        flows=[nw.Flow(cca="reno"), nw.Flow(cca="cubic", start="1500ms")],
        run=nw.Run(duration="2s", warmup="1s"),
    )
    simulation = nw.Simulation(scenario)
    simulation.run_until(until)
    result = nw.run(simulation.document, out=tmp_path / "again")
    assert (tmp_path / "again" / "report.html").is_file()
    assert result.table("flow_samples")["time_s"].max() == simulation.now_s
