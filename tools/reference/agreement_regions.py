"""Where the simulator can be trusted: the cells of a study, region by region."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from narrows.figures.frames import bdp_bytes, buffer_bytes, rate_mbps
from narrows.spec.scenario import Scenario


@dataclass(frozen=True)
class MeasuredScenario:
    """A scenario with the class of each flow, and the cells measured in it."""

    scenario: Scenario
    groups: tuple[str, ...]
    rows: Sequence[Mapping[str, str]]


def counts(rows: Sequence[Mapping[str, str]]) -> tuple[int, int, int]:
    """The numbers of cells that agree, differ and are undecided."""
    verdicts = [row["verdict"] for row in rows]
    return verdicts.count("agree"), verdicts.count("differ"), verdicts.count("undecided")


@dataclass(frozen=True)
class _Scale:
    """Classes of a number: below the first edge, between two edges, and from the last edge on."""

    title: str
    edges: tuple[float, ...]
    unit: str

    @property
    def labels(self) -> list[str]:
        inner = [f"{a:g} to {b:g}" for a, b in zip(self.edges, self.edges[1:], strict=False)]
        names = [f"below {self.edges[0]:g}", *inner, f"{self.edges[-1]:g} and more"]
        return [f"{name} {self.unit}" for name in names]

    def label(self, value: float) -> str:
        return self.labels[bisect_right(self.edges, value)]


_RATE = _Scale("Rate", (2.0, 15.0, 50.0, 150.0), "Mbit/s")
_RTT = _Scale("two-way delay", (20.0, 35.0, 55.0, 150.0), "ms")
_BUFFER = _Scale("buffer", (0.75, 1.5, 3.0, 12.0), "BDP")
_MANAGED = "a managed queue"
_MIXES = (
    "one flow",
    "several of one control",
    "several controls, none of them BBR",
    "BBR beside others",
    "with flows of a size",
)
_BBR = "bbr"
_TEXT = (
    "## Where the simulator can be trusted\n\n"
    "Each region shows how many of its decided cells agree, and then how many are open. "
    "A dash is a region without a scenario.\n"
)


def regions(measured: Sequence[MeasuredScenario]) -> Iterator[str]:
    """Two tables: over rate and delay, and over the mix of the flows and the buffer."""
    yield _TEXT
    rate_and_delay = [
        (_RATE.label(rate_mbps(made.scenario)), _RTT.label(_rtt_ms(made.scenario)), made)
        for made in measured
    ]
    yield from _table(_RATE.title, _RTT, [*_RATE.labels], [*_RTT.labels], rate_and_delay)
    columns = [*_BUFFER.labels, _MANAGED]
    mix_and_buffer = [(_mix(made.scenario), _buffer(made.scenario), made) for made in measured]
    yield from _table("Flows", _BUFFER, [*_MIXES], columns, mix_and_buffer)


def _table(
    rows_are: str,
    columns_are: _Scale,
    rows: Sequence[str],
    columns: Sequence[str],
    placed: Sequence[tuple[str, str, MeasuredScenario]],
) -> Iterator[str]:
    yield f"| {rows_are} \\ {columns_are.title} | {' | '.join(columns)} |"
    yield f"| --- |{' ---: |' * len(columns)}"
    for row in rows:
        shown = [
            _cell_text([made for at, across, made in placed if (at, across) == (row, column)])
            for column in columns
        ]
        if any(cell != "-" for cell in shown):
            yield f"| {row} | {' | '.join(shown)} |"
    yield ""


def _cell_text(measured: Sequence[MeasuredScenario]) -> str:
    if not measured:
        return "-"
    agree, differ, undecided = counts([row for one in measured for row in one.rows])
    text = f"{agree} of {agree + differ}"
    text = f"**{text}**" if differ else text
    return f"{text}, {undecided} open" if undecided else text


def _rtt_ms(scenario: Scenario) -> float:
    """The mean two-way delay of the flows, each of which may have its own."""
    own = [flow["rtt_ns"] or scenario["path"]["rtt_ns"] for flow in scenario["flows"]]
    return float(sum(own) / len(own) / 1e6)


def _buffer(scenario: Scenario) -> str:
    if scenario["path"]["queue"]["kind"] != "droptail":
        return _MANAGED
    return _BUFFER.label(buffer_bytes(scenario) / bdp_bytes(scenario))


def _mix(scenario: Scenario) -> str:
    flows = scenario["flows"]
    controls = {str(flow["cca"]) for flow in flows}
    if any(flow["size_bytes"] is not None for flow in flows):
        return _MIXES[4]
    if len(flows) == 1:
        return _MIXES[0]
    if len(controls) == 1:
        return _MIXES[1]
    return _MIXES[3] if any(cca.startswith(_BBR) for cca in controls) else _MIXES[2]
