"""Real Linux TCP in virtual time; needs a kernel from `narrows kernel build`."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from required import needs
from specimens import GOOD, scenario_of
from waiting import HANG_S

from narrows.backends import Backend, get_backend
from narrows.backends.uml import Uml, get_kernel, machine, processors
from narrows.backends.uml.backend import Watch
from narrows.backends.uml.controls import command_line
from narrows.backends.uml.machine import GuestError
from narrows.errors import SpecError
from narrows.metrics import summarise
from narrows.spec import parse
from narrows.store import RunRecord

pytestmark = needs("uml")

TWO = GOOD + '\n[[flows]]\ncca = "bbr"\n'


@pytest.fixture(scope="module")
def uml() -> Uml:
    return Uml(get_kernel().name)


def run(uml: Uml, text: str = GOOD, overrides: tuple[str, ...] = ()) -> RunRecord:
    return uml.run(scenario_of(text, overrides))


def test_a_flow_fills_the_link_exactly(uml: Uml) -> None:
    scenario = scenario_of(GOOD, ["run.duration=10s", "run.warmup=3s", "path.buffer=2bdp"])
    result = uml.run(scenario)
    summary = summarise(scenario, result.tables, result.info)
    assert summary["bottleneck"]["utilization"] == pytest.approx(1.0, abs=1e-3)
    assert summary["flows"][0]["goodput_mbps"] == pytest.approx(8 * 1448 / 1500, rel=2e-3)
    assert summary["bottleneck"]["queue_bdp"]["max"] <= 2.0
    # The SYN is short and meets no queue, so it has the lowest RTT.
    assert result.tables["flow_samples"]["min_rtt_ms"].min() == pytest.approx(20.06, abs=0.05)
    assert summary["flows"][0]["rtt_ms"]["mean"] > 21.5


def test_the_tables_are_those_of_the_simulator(uml: Uml) -> None:
    from narrows.backends import get_backend

    scenario = scenario_of(
        TWO, ["run.record=packets", "run.duration=1s", "run.sample_interval=20ms"]
    )
    ours, theirs = uml.run(scenario).tables, get_backend("sim").run(scenario).tables
    assert set(ours) == set(theirs)
    for name, table in theirs.items():
        assert ours[name].schema == table.schema, name
    for name in ("flow_samples", "queue_samples"):
        assert ours[name]["time_s"].to_list() == theirs[name]["time_s"].to_list()
    states = set(ours["flow_samples"]["cca_state"]) - {""}
    assert states <= set(theirs["flow_samples"]["cca_state"]) | {"probe_bw", "drain"}
    assert {"startup", "slow_start"} <= states


def test_cubics_window_equals_the_simulators_in_nearly_every_millisecond(uml: Uml) -> None:
    scenario = scenario_of(
        GOOD,
        [
            "path.rate=100mbit",
            "path.rtt=40ms",
            "path.buffer=1bdp",
            "flows.0.cca=cubic",
            "run.duration=6s",
            "run.sample_interval=1ms",
        ],
    )
    # There are two losses, the second at 4.7 s. The samples that differ are due to packets at the
    # instant of a sample, and to a compressed ACK in the first recovery.
    tables = [backend.run(scenario).tables for backend in (uml, get_backend("sim"))]
    theirs, ours = (table["flow_samples"].filter(pl.col("time_s") > 0.05) for table in tables)
    same = [(theirs[name] == ours[name]).mean() for name in ("cwnd", "sent")]
    assert min(same) > 0.9


def test_timeouts_fall_on_the_simulators_ticks(uml: Uml) -> None:
    scenario = scenario_of(
        GOOD,
        [
            "path.rate=128kbit",
            "path.rtt=40ms",
            "path.buffer=300kb",
            "flows.0.cca=bbr",
            "flows.0.count=8",
            "run.duration=8s",
            "run.sample_interval=10ms",
        ],
    )

    def timeouts(backend: Backend) -> list[float]:
        rows = backend.run(scenario).tables["flow_samples"].filter(pl.col("flow") == 0)
        return rows.filter(pl.col("retransmitted").diff() > 0)["time_s"].to_list()

    # The queue of all first windows takes 7.5 s, so that the first flow times out twice. Its timer
    # runs for 1.2 and 4.5 s and waits for slots of 32 and 256 ms.
    assert timeouts(uml) == timeouts(get_backend("sim")) == pytest.approx([2.40, 6.92])


def test_a_seed_gives_the_same_bytes_in_concurrent_runs_too(uml: Uml) -> None:
    seeds = [1, 2, 3, 4] * 2
    with ThreadPoolExecutor(4) as pool:
        digests = list(pool.map(lambda s: run(uml, TWO, (f"run.seed={s}",)).info.digest, seeds))
    assert digests[:4] == digests[4:]
    # A seed decides in which of seven phases BBR's cycle begins.
    assert len(set(digests)) > 1


def test_a_chain_completes_and_ends_the_run(uml: Uml) -> None:
    text = GOOD.replace(
        'cca = "cubic"',
        'cca = "cubic"\nname = "large"\nsize = "1mb"\n[[flows]]\ncca = "bbr"\nname = "chain"\n'
        'size = "100kb"\nrepeat_gap = "100ms"\nstart = "200ms"\nwhile = "large"',
    ).replace('duration = "2s"', 'duration = "20s"\nstop_when = "large"')
    result = run(uml, text)
    done = result.tables["completions"]
    large = done.filter(done["flow"] == 0).row(0, named=True)
    chain = done.filter(done["flow"] == 1)
    assert large["end_s"] == pytest.approx(result.info.end_s, abs=1e-3)
    assert chain.height >= 3
    assert chain["instance"].to_list() == list(range(chain.height))
    assert chain["start_s"][0] == pytest.approx(0.2, abs=1e-4)
    gap = chain["start_s"][1] - chain["end_s"][0]
    assert gap == pytest.approx(0.1, abs=1e-4)
    assert set(done["size_bytes"]) == {1_000_000, 100_000}
    last = result.tables["flow_samples"].filter(result.tables["flow_samples"]["flow"] == 0)
    assert last["received_bytes"].max() == 1_000_000


def test_a_receive_window_limits_the_rate_as_in_the_simulator(uml: Uml) -> None:
    changes = ["flows.0.receive_window=10kb", "run.duration=5s"]
    ends = []
    for engine in (uml, get_backend("sim")):
        rows = engine.run(scenario_of(GOOD, changes)).tables["flow_samples"]
        ends.append(float(rows["received_bytes"][-1]))
    # Six packets a round trip; the two differ in which ACKs are delayed.
    assert ends[0] == pytest.approx(ends[1], rel=0.1)
    unlimited = run(uml, overrides=("run.duration=5s",)).tables["flow_samples"]
    assert ends[0] < 0.8 * unlimited["received_bytes"][-1]


def test_flows_with_own_delays_random_loss_and_a_limit_in_packets(uml: Uml) -> None:
    text = (
        GOOD.replace('"1bdp"', '"40pkt"\nloss = 0.02') + '\n[[flows]]\ncca = "reno"\nrtt = "60ms"'
    )
    result = run(uml, text, ("run.duration=10s",))
    flows = result.tables["flow_samples"]
    for flow, rtt in ((0, 20), (1, 60)):
        rows = flows.filter(flows["flow"] == flow)
        assert rows["min_rtt_ms"].min() == pytest.approx(rtt, abs=0.2)
    retransmitted = flows["retransmitted"].max()
    assert isinstance(retransmitted, int)
    assert retransmitted > 20
    backlog = result.tables["queue_samples"]["backlog_packets"].max()
    assert isinstance(backlog, int)
    assert backlog <= 40


def test_fq_paces_and_stop_stops(uml: Uml) -> None:
    text = GOOD.replace('cca = "cubic"', 'cca = "cubic"\nstop = "1s"') + "\n[host]\nfq = true\n"
    flows = run(uml, text, ("run.duration=4s",)).tables["flow_samples"]
    assert flows["pacing_mbps"].drop_nulls().len() > 0
    sent = flows["sent"].to_list()
    assert sent[-1] == sent[-10] > 0
    assert flows["state"][-1] == "closed"


def test_linuxs_own_disciplines_drop_and_mark(uml: Uml) -> None:
    queue = 'queue = { kind = "codel", limit = "500pkt", ecn = true }'
    text = GOOD.replace('buffer = "1bdp"', queue) + '\n[[flows]]\ncca = "cubic"\necn = "classic"\n'
    tables = run(uml, text, ("run.duration=5s",)).tables
    last = tables["queue_samples"].row(-1, named=True)
    assert last["marked_packets"] > 0
    assert last["dropped_packets"] > 0
    assert last["backlog_packets"] < 100
    flows = tables["flow_samples"]
    repeated = [flows.filter(flows["flow"] == flow)["retransmitted"].max() for flow in (0, 1)]
    assert isinstance(repeated[0], int)
    assert repeated[0] > 0
    # The second flow is marked instead, so it loses nothing.
    assert repeated[1] == 0


def test_a_receiver_of_dctcp_echoes_each_mark(uml: Uml) -> None:
    queue = 'queue = { kind = "codel", ecn = true, target = "1s", ce_threshold = "2ms" }'
    text = GOOD.replace('buffer = "1bdp"', queue).replace('"cubic"', '"dctcp"')
    tables = run(uml, text, ("run.duration=5s",)).tables
    last = tables["queue_samples"].row(-1, named=True)
    assert last["marked_packets"] > 100
    assert last["dropped_packets"] == 0
    rtt = tables["flow_samples"]["srtt_ms"].drop_nulls()
    # A classic receiver would make the sender halve: the queue would run empty again and again.
    assert 22 < rtt[rtt.len() // 2 :].mean() < 26  # type: ignore[operator]
    goodput = tables["flow_samples"]["received_bytes"][-1] * 8 / 5e6
    assert goodput > 0.75 * 8


def test_a_kernel_may_have_controls_that_the_simulator_lacks(uml: Uml) -> None:
    text = GOOD.replace('"cubic"', '"other"')
    flows = parse(text, "test", controls=["other"]).spec.scenario["flows"]
    with pytest.raises(SpecError, match='found "other", which'):
        command_line(uml.kernel, flows, [0])
    assert command_line(replace(uml.kernel, ccas=("other",)), flows, [0]) == []
    with pytest.raises(SpecError, match='found "other"'):
        scenario_of(text)


def test_options_are_parameters_of_the_control(uml: Uml) -> None:
    with_exit = run(uml, GOOD, ("path.buffer=20bdp",)).tables["flow_samples"]
    options = ("path.buffer=20bdp", "flows.0.options.hystart=off")
    without = run(uml, GOOD, options).tables["flow_samples"]
    assert with_exit["cwnd"].max() < without["cwnd"].max()


@pytest.mark.parametrize(
    ("overrides", "place"),
    [
        (("host.jitter=1ms",), "host.jitter"),
        (("flows.0.options.rfc9438=true",), "flows[0].options.rfc9438"),
        (("flows.0.options.hystart=search",), "flows[0].options.hystart"),
    ],
)
def test_options_that_a_guest_lacks_are_refused(
    uml: Uml, overrides: tuple[str, ...], place: str
) -> None:
    with pytest.raises(SpecError) as caught:
        run(uml, GOOD, overrides)
    assert caught.value.place == place


def test_a_file_that_is_being_written_reports_no_new_progress(tmp_path: Path) -> None:
    reports: list[tuple[float, int]] = []
    watch = Watch(tmp_path, lambda sim_s, packets: reports.append((sim_s, packets)))
    for text in (None, "", "500000000 42", "", "6000000000", "6000000000 99"):
        if text is not None:
            (tmp_path / "progress").write_text(text, encoding="ascii")
        watch()
    assert reports == [(0.0, 0), (0.0, 0), (0.5, 42), (0.5, 42), (0.5, 42), (6.0, 99)]


def test_progress_is_reported_and_can_stop_the_run(uml: Uml) -> None:
    times: list[float] = []

    def progress(sim_s: float, packets: int) -> None:
        times.append(sim_s)
        if packets > 1000:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        uml.run(scenario_of(GOOD, ["run.duration=100000s", "run.record=summary"]), progress)
    assert times == sorted(times)
    assert not guests()


@pytest.fixture
def stuck_guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a guest that stops its clock; its silence is tolerated for 2 s only."""
    monkeypatch.setattr(machine, "SILENCE_S", 2.0)
    place = tmp_path / "narrows-uml.stuck"
    place.mkdir()
    (place / "init").write_text("while :; do :; done\n")
    return place


def test_a_guest_that_stops_its_clock_is_ended(uml: Uml, stuck_guest: Path) -> None:
    program = machine.Program(uml.kernel.binary, uml.kernel.library)
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(machine.boot, program, stuck_guest, seed=1)
        while not _now(stuck_guest):
            time.sleep(0.01)
        with pytest.raises(GuestError, match="didn't respond"):
            running.result()
    assert not guests()


def test_a_guest_and_its_programs_stay_on_one_processor(
    uml: Uml, stuck_guest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processors, "cache_directory", lambda: tmp_path)
    program = machine.Program(uml.kernel.binary, uml.kernel.library)
    seen = []

    def watch() -> None:
        seen.extend(
            os.sched_getaffinity(pid) for guest in _now(stuck_guest) for pid in _session(guest)
        )

    with pytest.raises(GuestError, match="didn't respond"):
        machine.boot(program, stuck_guest, seed=1, watch=watch)
    assert len(seen) > 2
    assert all(len(each) == 1 and each == seen[0] for each in seen)


def _session(leader: int) -> list[int]:
    """The processes of a guest."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.getsid(int(place.name)) == leader:
                found.append(int(place.name))
    return found


def guests() -> list[int]:
    """Guests of this process that still run; a killed one may take a moment."""
    deadline = time.monotonic() + HANG_S
    while True:
        found = _now()
        if not found or time.monotonic() > deadline:
            return found
        threading.Event().wait(0.05)


def _now(place: Path | None = None) -> list[int]:
    mark = str(place or "narrows-uml.").encode()
    return [int(p.name) for p in Path("/proc").glob("[0-9]*") if _is_ours(p, mark)]


def _is_ours(process: Path, mark: bytes) -> bool:
    try:
        command = (process / "cmdline").read_bytes()
        environment = (process / "environ").read_bytes()
        parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return False
    return b"time-travel" in command and mark in environment and parent in (1, os.getpid())
