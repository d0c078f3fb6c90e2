"""Possible testbeds, where a document doesn't describe its own, and what they decide together.

Whether offload was on, how late pacing timers were, how many flows a figure has, who started
first: each possibility is a testbed, on which all claims of the document are judged. A claim is
confirmed or refuted only if it is on each of them; otherwise it depends on the testbed. A
condition that makes one claim true explains nothing if others fail there, so all numbers of a
document are also asked at once (`narrows.reproduce.fit`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from narrows.reproduce.changes import Change, put
from narrows.reproduce.claims import claims
from narrows.reproduce.exhibit import Exhibit
from narrows.reproduce.judgements import AS_WRITTEN, Judgement
from narrows.reproduce.library import OURS, documents, library, per_library
from narrows.reproduce.study_files import studies

DESCRIBED = "as chosen"
"""The testbed that the figures are made with."""
CONVERSATION_RTTS = 4
AHEAD_S = 5.0
LATER_S = 0.25
"""Half of the 500 ms over which the documents average."""
CHOSEN_FLOWS = 4

Spec = dict[str, Any]
Edit = Callable[[Spec], None]


@dataclass(frozen=True, slots=True)
class Level:
    """One possibility of an axis: its name and how it changes a specification."""

    name: str
    edit: Edit


@dataclass(frozen=True, slots=True)
class Axis:
    """A property that a document leaves open: why, and what is possible beside what was chosen.

    It concerns the figures in `figures`, or all. Axes that are `crossed` are varied together.
    """

    why: str
    levels: tuple[Level, ...]
    figures: tuple[str, ...] = ()
    crossed: bool = False

    def concerns(self, exhibit: Exhibit) -> bool:
        """Whether it is open for a figure."""
        return not self.figures or exhibit.identifier in self.figures


@dataclass(frozen=True, slots=True)
class Testbed:
    """A combination of levels, each of another axis; none of them is the chosen testbed."""

    levels: tuple[tuple[Axis, Level], ...]

    @property
    def name(self) -> str:
        """The names of its levels."""
        return ", ".join(level.name for _, level in self.levels)

    def for_exhibit(self, exhibit: Exhibit) -> Testbed:
        """The same without what isn't open for a figure."""
        return Testbed(tuple(pair for pair in self.levels if pair[0].concerns(exhibit)))

    @property
    def change(self) -> Change:
        """The change of conditions that it is."""

        def edit(spec: Spec) -> None:
            for _, level in self.levels:
                level.edit(spec)

        return Change(self.name, self.name, edit=edit)


def _timers(lateness: str) -> Edit:
    def edit(spec: Spec) -> None:
        if not spec["host"].get("fq"):
            spec["host"]["timer_lateness"] = lateness

    return edit


def _flows(count: int) -> Edit:
    """Other numbers of flows where there are four of our choice."""

    def edit(spec: Spec) -> None:
        numbers = [flow.get("count", 1) for flow in spec["flows"]]
        if sum(numbers) == CHOSEN_FLOWS and all(n * count % CHOSEN_FLOWS == 0 for n in numbers):
            for flow, number in zip(spec["flows"], numbers, strict=True):
                flow["count"] = number * count // CHOSEN_FLOWS

    return edit


def _ahead(first: str) -> Edit:
    def edit(spec: Spec) -> None:
        kinds = {flow["cca"] for flow in spec["flows"]}
        for flow in spec["flows"]:
            together = _seconds(flow.get("start", "0s")) == 0
            if len(kinds) > 1 and not flow["cca"].startswith(first) and together:
                flow["start"] = f"{AHEAD_S:g}s"

    return edit


def _later(spec: Spec) -> None:
    """Every flow later, so that windows of time lie otherwise on what they do."""
    for flow in spec["flows"]:
        flow["start"] = f"{_seconds(flow.get('start', '0s')) + LATER_S:g}s"


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


def _seconds(text: str) -> float:
    """The seconds of values such as "5s" or "250ms"."""
    return _number(text) / (1000 if text.endswith("ms") else 1)


def _conversation(spec: Spec) -> None:
    for flow in spec["flows"]:
        if "repeat_gap" in flow:
            gap_s = _seconds(flow["repeat_gap"])
            more_s = CONVERSATION_RTTS * _number(spec["path"]["rtt"]) / 1000
            flow["repeat_gap"] = f"{gap_s + more_s:g}s"


def _metrics(spec: Spec) -> None:
    _conversation(spec)
    spec["host"]["metrics_save"] = True


def _buffer(room: str) -> Edit:
    def edit(spec: Spec) -> None:
        spec["path"]["buffer"] = room

    return edit


def _confirming(**options: float) -> Edit:
    """Other options of a BBR whose RTprop rises once it is confirmed."""

    def edit(spec: Spec) -> None:
        for flow in spec["flows"]:
            if flow.get("options", {}).get("rtprop") == "confirm":
                flow["options"] |= options

    return edit


def _shape(spec: Spec, **service: Any) -> bool:  # noqa: ANN401 (parameters of a service)
    """Gives the bottleneck a service where it has the usual one at a known rate."""
    path = spec["path"]
    plain = "rate" in path and not {"preset", "service", "links"} & path.keys()
    if plain:
        path["service"] = service
    return plain


def _token_buckets(spec: Spec) -> None:
    """Two token bucket filters with small buckets, one after the other."""
    if _shape(spec, kind="tbf", burst="5kb"):
        path = spec["path"]
        path["links"] = [{"name": "second bucket", "rate": path["rate"], "buffer": "1mb",
                          "service": path["service"]}]  # fmt: skip


def _htb(spec: Spec) -> None:
    _shape(spec, kind="htb", device="10gbit")


_CUBIC_FIRST = Level("CUBIC first", _ahead("cubic"))
_BBR_FIRST = Level("BBR first", _ahead("bbr"))
_CLOCK = Axis(
    "When a clock of windows begins isn't said: a quarter of a second before the flows.",
    (Level("windows shifted", _later),),
)
_OFFLOAD = Axis(
    "Whether segmentation offload was on isn't said; by default it is. A burst can then reach the "
    "bottleneck as one super-packet, and netem's limit counts it as one packet.",
    (Level("offload", _offload),),
    crossed=True,
)

AXES: Mapping[str, tuple[Axis, ...]] = {
    "panaderia": (
        Axis(
            "How late pacing timers were isn't known. 50 us were chosen, and that choice was made "
            "beside this paper's losses (decision 006): not at all, by 30 or by 100 us.",
            (Level("timers on time", _timers("0s")), Level("timers 30 us late", _timers("30us")),
             Level("timers 100 us late", _timers("100us"))),
            crossed=True,
        ),
        Axis(
            "How many flows these figures have isn't said; Table I has 2, 4 and 8.",
            (Level("2 flows", _flows(2)), Level("8 flows", _flows(8))),
            tuple(f"panaderia/fig{n}" for n in (6, 7, 8, 10, 11, 12)),
            crossed=True,
        ),
        Axis("Who starts first isn't said: one kind, 5 s ahead.", (_BBR_FIRST, _CUBIC_FIRST)),
        _CLOCK,
        Axis(
            "The router has two token bucket filters with small buckets, of which nothing more is "
            "said: 5 KB each, in place of a link.",
            (Level("two token buckets", _token_buckets),),
        ),
        Axis(
            "A higher RTprop counts if it is consistently higher for many probes or drastically "
            "higher for one. How many and how much isn't said: 3 or 10 probes instead of 5; only "
            "many probes; only a single one.",
            (Level("3 probes", _confirming(rtprop_probes=3)),
             Level("10 probes", _confirming(rtprop_probes=10)),
             Level("many probes alone", _confirming(rtprop_jump=1000)),
             Level("a drastic probe alone", _confirming(rtprop_probes=100))),
            ("panaderia/fix-rtprop",),
        ),
    ),
    "mixed": (
        _OFFLOAD,
        Axis(
            "The bottleneck is a class of htb between links of 10 Gbit/s, which lets bursts pass "
            "that a link would spread.",
            (Level("htb", _htb),),
        ),
        Axis(
            "Between two flows iperf3 also talks to its server: three round trips before the data "
            "connection and one before its data (iperf_client_api.c). The study's 0.1 s may be the "
            "gap between two calls. And Linux 4.11 remembers the slow-start threshold of a "
            "destination (tcp_no_metrics_save = 0), unless a flow is reset at its end, as iperf3's "
            "may be.",
            (Level("iperf3", _conversation), Level("iperf3, metrics", _metrics)),
            crossed=True,
        ),
    ),
    "ietf98": (
        _OFFLOAD,
        Axis(
            "The buffer isn't said: 2 BDP instead of 5.",
            (Level("2 BDP", _buffer("2bdp")),),
            ("ietf98/state-walk",),
        ),
    ),
    "cs244": (
        Axis(
            "How late Mininet's pacing timers were isn't known: not at all, or by 100 us instead "
            "of 50.",
            (Level("timers on time", _timers("0s")),
             Level("timers 100 us late", _timers("100us"))),
            crossed=True,
        ),
        Axis("Who starts first isn't said: one kind, 5 s ahead.", (_BBR_FIRST, _CUBIC_FIRST)),
        _CLOCK,
    ),
}  # fmt: skip
"""What each document leaves open."""


@per_library
def axes(document: str) -> tuple[Axis, ...]:
    """The open properties of a document, in general and of the studies that are files."""
    own = [
        Axis(level["why"], (Level(name, _setting(level["set"])),), (figure,))
        for figure, study in studies(document).items()
        for name, level in study.get("testbeds", {}).items()
    ]
    general = AXES[document] if library() is OURS else ()
    return (*general, *own)


def _setting(values: Mapping[str, Any]) -> Edit:
    def edit(spec: Spec) -> None:
        for place, value in values.items():
            put(spec, place, value)

    return edit


def testbeds(document: str) -> list[Testbed]:
    """The chosen one first, then all combinations of crossed axes, then each other level alone."""
    crossed = [axis for axis in axes(document) if axis.crossed]
    options = [[None, *((axis, level) for level in axis.levels)] for axis in crossed]
    made = [Testbed(tuple(pair for pair in pairs if pair)) for pairs in product(*options)]
    rest = [axis for axis in axes(document) if not axis.crossed]
    return made + [Testbed(((axis, level),)) for axis in rest for level in axis.levels]


def of(exhibit: Exhibit) -> list[Change]:
    """The changes that make the other possible testbeds of a figure."""
    own = [testbed.for_exhibit(exhibit) for testbed in testbeds(exhibit.document)]
    named = {testbed.name: testbed.change for testbed in own if testbed.levels}
    return list(named.values())


def verdict_over(verdicts: Mapping[str, str]) -> str:
    """The verdict on a claim by its verdicts on every testbed.

    It is that of each if all are the same; undecided if none is decided; else it depends.
    """
    kinds = set(verdicts.values())
    if len(kinds) == 1:
        return kinds.pop()
    return "undecided" if kinds <= {"undecided", "partly"} else "depends"


def on_testbeds(claim: str, judged: Sequence[Judgement]) -> dict[str, str]:
    """The verdict on a claim on each testbed on which it was judged."""
    names = {AS_WRITTEN: DESCRIBED} | {
        testbed.name: testbed.name for testbed in testbeds(claims()[claim].document)[1:]
    }
    mine = [one for one in judged if one.claim == claim and one.change in names]
    return {names[one.change]: one.verdict for one in mine}


def dependence(verdicts: Mapping[str, str]) -> str:
    """In words, on what a claim depends: the verdict as chosen, and where it is another."""
    chosen = verdicts.get(DESCRIBED, "not run")
    told = [f"{chosen} as chosen"]
    for kind in dict.fromkeys(verdicts.values()):
        places = [name for name, verdict in verdicts.items() if verdict == kind != chosen]
        if places:
            told.append(f"{kind} with {'; '.join(places)}")
    return ", ".join(told)


@dataclass(frozen=True, slots=True)
class Matrix:
    """A document's claims, its testbeds, and the verdicts by both."""

    document: str
    claims: tuple[str, ...]
    testbeds: tuple[str, ...]
    verdicts: dict[tuple[str, str], str]


def matrices(judged: Sequence[Judgement], exhibits: Sequence[Exhibit]) -> Iterator[Matrix]:
    """A matrix for every document that was judged on more than the chosen testbed."""
    figures = {claim: exhibit for exhibit in exhibits for claim in exhibit.claims}
    for document in documents():
        mine = [one for one in judged if claims()[one.claim].document == document]
        order = tuple(dict.fromkeys(one.claim for one in mine))
        found = {claim: on_testbeds(claim, mine) for claim in order}
        judged_on = [claim for claim in order if len(found[claim]) > 1]
        places = {testbed.name or DESCRIBED: testbed for testbed in testbeds(document)}
        own = {
            (claim, name): testbed.for_exhibit(figures[claim]).name or DESCRIBED
            for claim in judged_on
            for name, testbed in places.items()
        }
        names = _different({name: [own[claim, name] for claim in judged_on] for name in places})
        verdicts = {
            (claim, name): found[claim].get(own[claim, name], "not run")
            for claim in judged_on
            for name in names
        }
        if judged_on:
            yield Matrix(document, tuple(judged_on), tuple(names), verdicts)


def _different(columns: Mapping[str, Sequence[str]]) -> list[str]:
    """The names of the columns that are unlike every one before."""
    first: dict[tuple[str, ...], str] = {}
    for name, column in columns.items():
        first.setdefault(tuple(column), name)
    return list(first.values())


def describe(matrix: Matrix) -> Iterator[str]:
    """A matrix as lines of Markdown, with the verdict over all testbeds."""
    yield f"| Claim | on all | {' | '.join(matrix.testbeds)} |"
    yield "|---" * (len(matrix.testbeds) + 2) + "|"
    for claim in matrix.claims:
        found = {name: matrix.verdicts[claim, name] for name in matrix.testbeds}
        yield f"| `{claim}` | {verdict_over(found)} | {' | '.join(found.values())} |"
