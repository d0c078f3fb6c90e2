"""Applications that pause between writes, on a kernel in virtual time and in the simulator."""

from __future__ import annotations

import pytest
from required import needs
from specimens import GOOD, scenario_of

from narrows.backends import get_backend
from narrows.backends.uml import Uml, get_kernel
from narrows.store import RunRecord

pytestmark = needs("uml")

WORKLOADS = {
    "requests": 'size = "100kb", think = "50ms"',
    "arrivals": 'gap = "60ms", size = "40kb"',
    "video": 'bitrate = "3mbit", chunk = "500ms", buffer = "2s", start = "1s"',
    "on_off": 'on = "400ms", off = "300ms"',
}
FLOW = '[[flows]]\ncca = "cubic"\nname = "{name}"\nworkload = {{ kind = "{kind}", {rest} }}\n'


@pytest.fixture(scope="module")
def results() -> list[RunRecord]:
    """All workloads in one run, each over a link that has room for it."""
    flows = "".join(
        FLOW.format(name=kind, kind=kind, rest=rest) for kind, rest in WORKLOADS.items()
    )
    text = GOOD.replace('[[flows]]\ncca = "cubic"\n', flows).replace("8mbit", "40mbit")
    scenario = scenario_of(text, ["run.duration=4s", "run.warmup=1s", "path.buffer=10bdp"])
    return [backend.run(scenario) for backend in (Uml(get_kernel().name), get_backend("sim"))]


@pytest.mark.parametrize("flow", range(3), ids=list(WORKLOADS)[:3])
def test_transfers_are_those_of_the_simulator(results: list[RunRecord], flow: int) -> None:
    found = []
    for result in results:
        rows = result.tables["completions"]
        rows = rows.filter((rows["flow"] == flow) & (rows["end_s"] < 3.8))
        took = (rows["end_s"] - rows["start_s"]).mean()
        found.append((rows.height, rows["size_bytes"].to_list()[:5], took))
    (count, sizes, took), (expected, their_sizes, their_time) = found
    assert expected > 5
    assert abs(count - expected) <= 1
    assert sizes == their_sizes
    assert took == pytest.approx(their_time, rel=0.15)


def test_a_flow_that_pauses_sends_as_much(results: list[RunRecord]) -> None:
    got = [result.tables["flow_samples"].filter(flow=3)["received_bytes"][-1] for result in results]
    assert got[0] == pytest.approx(got[1], rel=0.15)
    rows = results[0].tables["flow_samples"].filter(flow=3)
    still = (rows["delivered"].diff() == 0).mean()
    assert still is not None
    assert still > 0.2, "it rests for three sevenths of the time"


def test_applications_tell_of_themselves(results: list[RunRecord]) -> None:
    for result in results:
        told = result.tables["internals"]
        last = {name: told.filter(name=name) for name in ("playout_buffer_s", "open_transfers")}
        assert last["playout_buffer_s"]["flow"].unique().to_list() == [2]
        assert 0 < last["playout_buffer_s"]["value"][-1] <= 2.5
        transferring = last["open_transfers"]
        assert transferring["flow"].unique().sort().to_list() == [0, 1, 2]
        assert set(transferring.filter(flow=0)["value"]) == {0.0, 1.0}
