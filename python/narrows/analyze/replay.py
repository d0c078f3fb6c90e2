"""Runs what a capture shows on the simulator, and the same path with something changed.

The replay says how far the inferred path explains the capture; the others, what another control or
another queue would have made of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from narrows.analyze.make import Analysis
from narrows.backends import get_backend
from narrows.known import average
from narrows.metrics import summarise
from narrows.plan import plan
from narrows.report import REPLAY, write_report
from narrows.spec import Override
from narrows.spec.reading import parse
from narrows.store.atomic import write_text

GOODPUT, RTT = 0.10, 0.15
"""A replay agrees if it is as near as this to the capture, in parts of it."""
TRIALS = 3
"""Runs of each, with consecutive seeds: random losses are few."""
_CONTROLS = ("cubic", "bbr")
_QUEUE = "fq_codel"
_WIDER = "twice the window"
_WINDOWS = ("receiver_window", "send_buffer")
"""The causes that a larger buffer of a host removes."""
_HIGHER = "with a higher one, others might be faster"


@dataclass(frozen=True)
class ReplayedFlow:
    """A flow in one run: its goodput in Mbit/s, its mean RTT in ms, and its retransmissions.

    A capture at the receiver has no RTT of packets.
    """

    goodput_mbps: float | None
    rtt_ms: float | None
    retransmitted: float | None


@dataclass(frozen=True)
class Replay:
    """The flows as captured, as replayed, and under each alternative, in the same order.

    `capacity_known` says for each flow whether the capture shows the path's capacity.
    """

    captured: tuple[ReplayedFlow, ...]
    replayed: tuple[ReplayedFlow, ...]
    alternatives: Mapping[str, tuple[ReplayedFlow, ...]]
    capacity_known: tuple[bool, ...]

    def agrees(self, number: int) -> bool:
        """Returns True if goodput and, if it was captured, RTT of a flow are as captured."""
        one, other = self.captured[number], self.replayed[number]
        alike = one.rtt_ms is None or is_within(one.rtt_ms, other.rtt_ms, RTT)
        return alike and is_within(one.goodput_mbps, other.goodput_mbps, GOODPUT)

    def document(self) -> dict[str, Any]:
        """All of it for `--json`."""
        agree = [self.agrees(number) for number in range(len(self.captured))]
        return {**asdict(self), "agrees": agree}


def replay(made: Analysis) -> Replay:
    """Runs the specification of an analysis, and its alternatives."""
    text = made.result.spec
    captured = tuple(_captured_flow(flow) for flow in made.findings["flows"])
    controls = [flow["control"]["control"] for flow in made.findings["flows"]]
    others = {
        cca: run(text, *(f"flows.{number}.cca={cca}" for number in range(len(controls))))
        for cca in _CONTROLS
        if set(controls) != {cca}
    }
    others[_QUEUE] = run(text, f"path.queue={_QUEUE}")
    known = tuple(
        flow["causes"]["capacity"]["rate_mbps"] is not None for flow in made.findings["flows"]
    )
    if wider := _twice_the_windows(made):
        rate = 2 * made.result.trials[0].scenario["path"]["rate_bps"]
        others[_WIDER] = run(text, *wider, *([] if any(known) else [f"path.rate={rate}bit"]))
    return Replay(captured, run(text), others, known)


def _twice_the_windows(made: Analysis) -> list[str]:
    """Returns the overrides that double the windows that held flows up."""
    held = [flow["causes"]["first"] in _WINDOWS for flow in made.findings["flows"]]
    windows = [flow["receive_window_bytes"] for flow in made.result.trials[0].scenario["flows"]]
    return [
        f"flows.{number}.receive_window={2 * window}b"
        for number, window in enumerate(windows)
        if window and held[number]
    ]


def _captured_flow(flow: Mapping[str, Any]) -> ReplayedFlow:
    rtt_ms = None if flow["vantage"] == "receiver" else flow["rtt_ms"]["mean"]
    return ReplayedFlow(flow["goodput_mbps"], rtt_ms, flow["loss"]["retransmitted"])


def run(text: str, *overrides: str) -> tuple[ReplayedFlow, ...]:
    """The flows of a few runs on the simulator, their means, without a results directory."""
    changes = [Override(override) for override in (f"run.trials={TRIALS}", *overrides)]
    loaded = parse(text, "replay", changes)
    engine = get_backend("sim")
    made = plan(loaded.spec, engine.engine_of, engine.name)
    runs = []
    for trial in made.trials:
        result = engine.run(trial.scenario)
        summary = summarise(trial.scenario, result.tables, result.info, made.groups)
        runs.append(summary["flows"])
    return tuple(_mean(flows) for flows in zip(*runs, strict=True))


def _mean(flows: Sequence[Mapping[str, Any]]) -> ReplayedFlow:
    return ReplayedFlow(
        average([flow["goodput_mbps"] for flow in flows]),
        average([flow["rtt_ms"]["mean"] for flow in flows]),
        average([flow["retransmits"] for flow in flows]),
    )


def is_within(one: float | None, other: float | None, part: float) -> bool:
    """Returns True if a replayed value is within `part` of the captured one."""
    return one is not None and other is not None and abs(other - one) <= part * one


def replayed_flows(found: Replay, names: Sequence[str]) -> list[dict[str, Any]]:
    """Returns for each flow its name, the verdict on its replay, its runs, and a remark or ""."""
    runs = {"captured": found.captured, "replayed": found.replayed, **found.alternatives}
    doubled = _WIDER in runs and not any(found.capacity_known)
    unknown = f'"{_WIDER}" has twice the rate' if doubled else _HIGHER
    return [
        {
            "name": name,
            "verdict": "agrees" if found.agrees(number) else "differs: what follows is less sure",
            "runs": {label: asdict(flows[number]) for label, flows in runs.items()},
            "remark": "" if known else f"The capacity is unknown; {unknown}.",
        }
        for number, (name, known) in enumerate(zip(names, found.capacity_known, strict=True))
    ]


def lines(flows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yields a row per flow and run, and whether the replay agrees with the capture."""
    yield f"{'':30}  {'Mbit/s':>8}  {'RTT ms':>8}  {'retrans':>8}"
    for flow in flows:
        yield f"{flow['name']}: the replay {flow['verdict']}"
        for label, run_ in flow["runs"].items():
            cells = (
                _cell(run_["goodput_mbps"], 8),
                _cell(run_["rtt_ms"], 8),
                _cell(run_["retransmitted"], 8, 0),
            )
            yield f"    {label:26}  {'  '.join(cells)}"
        if flow["remark"]:
            yield f"    {flow['remark']}"


def keep(flows: Sequence[Mapping[str, Any]], directory: Path) -> None:
    """Writes the replays beside an analysis, and its page again, which shows them."""
    write_text(directory / REPLAY, json.dumps(flows, indent=1))
    write_report(directory)


def _cell(value: float | None, width: int, digits: int = 2) -> str:
    return f"{'-' if value is None else f'{value:.{digits}f}':>{width}}"
