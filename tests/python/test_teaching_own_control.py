"""The numbers of the solution of assignment 2 are those that its commands give."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from documented import Command, File, steps
from specimens import run_cli

PAGE = Path(__file__).parents[2] / "docs" / "teaching" / "own-control-solution.md"
Means = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Means]:
    """The means over the trials by the directory that a command of the page names."""
    place = tmp_path_factory.mktemp("solution")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for step in steps(PAGE):
            if isinstance(step, File):
                Path(step.name).write_text(step.text)
            elif isinstance(step, Command) and step.words[0] != "evaluate":
                assert run_cli(*step.words) == 0, step.words
    return {path.parent.name: means(path) for path in place.glob("*/summary.json")}


def means(path: Path) -> Means:
    """The means of some numbers of a result: of the path, and of each flow by name."""
    runs = json.loads(path.read_text())["runs"]

    def mean(*places: Any) -> float:
        values = []
        for inner in runs:
            for place in places:
                inner = inner[place]
            values.append(inner)
        return fmean(values)

    found: Means = {"path": {name: mean("bottleneck", name) for name in ("utilization", "drops")}}
    for number, flow in enumerate(runs[0]["flows"]):
        found[flow["name"]] = {
            "share": 100 * mean("flows", number, "share"),
            "mbps": mean("flows", number, "goodput_mbps"),
            "rtt_ms": mean("flows", number, "rtt_ms", "mean"),
        }
    return found


def page() -> str:
    return " ".join(PAGE.read_text(encoding="utf-8").split())


def test_the_buffer_that_comes_with_the_control_makes_long_round_trips(
    results: dict[str, Means],
) -> None:
    assert "several times the 40 ms of the path" in page()
    assert all(flow["rtt_ms"] > 120 for name, flow in results["aimd"].items() if name != "path")


def test_a_gentle_control_keeps_the_queue_short(results: dict[str, Means]) -> None:
    alone = results["alone"]
    cubic_ms = round(results["cubic"]["mine"]["rtt_ms"], -1)
    told = f"mean round trip of {alone['mine']['rtt_ms']:.0f} ms and no loss"
    assert f"uses the whole link with a {told}; CUBIC's is {cubic_ms:.0f} ms" in page()
    assert alone["path"]["utilization"] > 0.99
    assert alone["path"]["drops"] == 0


def test_it_gets_little_beside_cubic_and_half_behind_fair_queues(results: dict[str, Means]) -> None:
    beside, apart = results["beside"]["mine"], results["apart"]["mine"]
    assert f"It gets {beside['share']:.2g} % ({beside['mbps']:.1g} of 20 Mbit/s)." in page()
    assert apart["share"] == pytest.approx(50, abs=3)


def test_two_of_them_share(results: dict[str, Means]) -> None:
    shares = [flow["share"] for name, flow in results["alike"].items() if name != "path"]
    (each,) = {f"{share:.0f}" for share in shares}
    assert f"Here they do, each gets {each} %" in page()
