"""Possible testbeds, where a document doesn't describe its own.

Whether offload was on, how late pacing timers were, who started first: each possibility is a
separate testbed, on which all claims of the document are judged. A condition that makes one claim
true explains nothing if it makes others false: the matrix shows both, and which single testbed
satisfies most.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from narrows.backends import get_backend
from narrows.execute import Watcher
from narrows.reproduce.catalogue import asked, select
from narrows.reproduce.claims import claims
from narrows.reproduce.exhibit import Case, Exhibit, Finding, Scope
from narrows.reproduce.gather import Work, gather, measured, work
from narrows.reproduce.make import OUT
from narrows.reproduce.paths import judged
from narrows.reproduce.records import read_list, write_list

RECORD = "testbeds.json"
DESCRIBED = "as chosen"
"""The testbed that the figures are made with."""
CONVERSATION_RTTS = 4
AHEAD = "5s"

Spec = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Testbed:
    """A possible testbed: its name, what is possible, and how it changes a specification."""

    name: str
    why: str
    change: Callable[[Spec], None]

    def of(self, case: Case) -> Case:
        """The case on this testbed."""
        spec = copy.deepcopy(dict(case.spec))
        self.change(spec)
        return replace(case, spec=spec)


def _timers(lateness: str) -> Callable[[Spec], None]:
    def change(spec: Spec) -> None:
        if not spec["host"].get("fq"):
            spec["host"]["timer_lateness"] = lateness

    return change


def _ahead(first: str) -> Callable[[Spec], None]:
    def change(spec: Spec) -> None:
        kinds = {flow["cca"] for flow in spec["flows"]}
        for flow in spec["flows"]:
            if len(kinds) > 1 and not flow["cca"].startswith(first) and "start" not in flow:
                flow["start"] = AHEAD

    return change


def _offload(spec: Spec) -> None:
    """Super-packets, which netem's limit counts as one packet each."""
    path = spec["path"]
    if not str(path.get("buffer", "")).endswith("bdp"):
        return
    rate, rtt, room = (_number(path[key]) for key in ("rate", "rtt", "buffer"))
    path["buffer"] = f"{max(round(room * rate * 1e6 * rtt / 1000 / 8 / 1500), 1)}pkt"
    spec["host"]["gso"] = True


def _number(text: str) -> float:
    """The number of values such as "40mbit", "45ms", "0.5bdp"."""
    return float(text.rstrip("abcdefghijklmnopqrstuvwxyz"))


def _conversation(spec: Spec) -> None:
    for flow in spec["flows"]:
        if "repeat_gap" in flow:
            gap_s = _number(flow["repeat_gap"])
            more_s = CONVERSATION_RTTS * _number(spec["path"]["rtt"]) / 1000
            flow["repeat_gap"] = f"{gap_s + more_s:g}s"


def _metrics(spec: Spec) -> None:
    _conversation(spec)
    spec["host"]["metrics_save"] = True


def _both(spec: Spec) -> None:
    _conversation(spec)
    _offload(spec)


TESTBEDS = {
    "panaderia": (
        Testbed("perfect timers", "How late pacing timers were isn't known: not at all.",
                _timers("0s")),
        Testbed("later timers", "The same: by 100 microseconds instead of 50.", _timers("100us")),
        Testbed("BBR first", "Who starts first isn't said: BBR, 5 s ahead.", _ahead("bbr")),
        Testbed("CUBIC first", "The same: CUBIC, 5 s ahead.", _ahead("cubic")),
    ),
    "mixed": (
        Testbed("offload", "Whether segmentation offload was on isn't said; by default it is. A "
                "burst can then reach the middle node as one super-packet, and netem's limit "
                "counts it as one packet.", _offload),
        Testbed("iperf3", "Between two flows iperf3 also talks to its server: three round trips "
                "before the data connection and one before its data (iperf_client_api.c). The "
                "study's 0.1 s may be the gap between two calls.", _conversation),
        Testbed("metrics", "Linux 4.11 remembers the slow-start threshold of a destination "
                "(tcp_no_metrics_save = 0), unless a flow is reset at its end, as iperf3's may "
                "be: with that, and the gap of iperf3's conversation.", _metrics),
        Testbed("offload, iperf3", "Both.", _both),
    ),
    "ietf98": (
        Testbed("offload", "Whether segmentation offload was on isn't said.", _offload),
    ),
    "cs244": (
        Testbed("later timers", "How late Mininet's pacing timers were isn't known: by 100 "
                "microseconds instead of 50.", _timers("100us")),
        Testbed("perfect timers", "The same: not at all.", _timers("0s")),
        Testbed("CUBIC first", "Who starts first isn't said: CUBIC, 5 s ahead.", _ahead("cubic")),
    ),
}  # fmt: skip
"""By document; each has the chosen one, too."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim on a testbed: its verdict by its checks alone."""

    claim: str
    testbed: str
    quick: bool
    verdict: str


def run(
    wanted: str,
    *,
    quick: bool = False,
    out: str | Path | None = None,
    jobs: int | None = None,
    watcher: Watcher | None = None,
) -> list[Judged]:
    """Judges the figures of `wanted` on every possible testbed of their documents.

    They run in the simulator with the documents' kernels, and are kept in `out`. Raises
    InputError for an unknown name or a directory that can't be used.
    """
    place = Path(out) if out is not None else OUT
    works = [pair for exhibit in select(wanted) for pair in _works(exhibit, quick)]
    gather([item for _, item in works], place, jobs=jobs, watcher=watcher)
    made = [
        Judged(finding.claim, name, quick, alone(finding))
        for name, item in works
        for finding in judged(item, measured(item, place))
        if finding.claim in asked(item.exhibit, wanted)
    ]
    _write(place, made)
    return made


def _works(exhibit: Exhibit, quick: bool) -> Iterator[tuple[str, Work]]:
    if not exhibit.claims:
        return
    backend, scope = get_backend("sim"), Scope(exhibit.profile, quick)
    yield DESCRIBED, work(exhibit, scope, backend)
    for testbed in TESTBEDS[exhibit.document]:
        yield testbed.name, work(exhibit, scope, backend, testbed)


def alone(finding: Finding) -> str:
    """A verdict by the checks alone, without the reason."""
    return replace(finding, reason=None).verdict


def read(out: Path) -> list[Judged]:
    """The kept verdicts; none if nothing was judged there."""
    return read_list(out / RECORD, "judged", lambda fields: Judged(**fields))


def _write(out: Path, new: Sequence[Judged]) -> None:
    kept = {(one.claim, one.testbed, one.quick): one for one in (*read(out), *new)}
    order = {identifier: place for place, identifier in enumerate(claims())}
    known = sorted(kept.values(), key=lambda one: order.get(one.claim, -1))
    write_list(out / RECORD, "judged", known)


@dataclass(frozen=True, slots=True)
class Matrix:
    """A document's claims, its testbeds, and the verdicts by both."""

    document: str
    claims: tuple[str, ...]
    testbeds: tuple[str, ...]
    verdicts: dict[tuple[str, str], str]

    def held(self, testbed: str) -> int:
        """How many claims hold on a testbed."""
        return sum(self.verdicts.get((claim, testbed)) == "confirmed" for claim in self.claims)

    def failed(self, testbed: str) -> int:
        """How many don't."""
        return sum(self.verdicts.get((claim, testbed)) == "refuted" for claim in self.claims)

    @property
    def best(self) -> str:
        """The single testbed on which most claims hold and, among equals, fewest fail."""
        return max(self.testbeds, key=lambda name: (self.held(name), -self.failed(name)))


def matrices(judged: Sequence[Judged]) -> Iterator[Matrix]:
    """A matrix for every document and size of grid that was judged."""
    for document, testbeds in TESTBEDS.items():
        mine = [one for one in judged if claims()[one.claim].document == document]
        if mine:
            names = (DESCRIBED, *(testbed.name for testbed in testbeds))
            order = tuple(dict.fromkeys(one.claim for one in mine))
            verdicts = {(one.claim, one.testbed): one.verdict for one in mine}
            yield Matrix(document, order, names, verdicts)


def describe(matrix: Matrix) -> Iterator[str]:
    """A matrix as lines of Markdown."""
    yield f"| Claim | {' | '.join(matrix.testbeds)} |"
    yield "|---" * (len(matrix.testbeds) + 1) + "|"
    for claim in matrix.claims:
        told = (matrix.verdicts.get((claim, name), "not run") for name in matrix.testbeds)
        yield f"| `{claim}` | {' | '.join(told)} |"
    told = (f"{matrix.held(name)}, {matrix.failed(name)}" for name in matrix.testbeds)
    yield f"| **confirmed, refuted** | {' | '.join(told)} |"
    yield ""
    yield f'Most claims of `{matrix.document}` hold on one testbed: "{matrix.best}".'
