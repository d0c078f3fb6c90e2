"""Writes docs/reference/claims.md and the ledger that is shipped, from ledgers of reproductions.

    python tools/write_claims.py OUT...

Each OUT is a directory that `narrows reproduce` wrote, such as one of the simulator and one
of a real kernel; if two made the same figure in the same way, the later counts. Nothing in the page
is written by hand but for what kernel_notes.toml says of a kernel and its model.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from narrows.reproduce import fit, judgements, ledger, negative, rivals, seeds, testbeds
from narrows.reproduce.catalogue import exhibits
from narrows.reproduce.changes import changes
from narrows.reproduce.claims import KINDS, claims
from narrows.reproduce.judgements import Judgement
from narrows.reproduce.ledger import Entry, Line
from narrows.reproduce.library import DATA, DOCUMENTS
from narrows.reproduce.site import own_profiles
from narrows.store.atomic import write_text

OPEN = ("differs", "refuted", "undecided", "partly", "depends")
"""Verdicts whose failed and undecided checks are listed."""
NOTES = Path(__file__).with_name("kernel_notes.toml")
REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
TARGET = REFERENCE / "claims.md"
RIVALS_PAGE, SEEDS_PAGE = REFERENCE / "rivals.md", REFERENCE / "seeds.md"
HEAD = """\
# The verdict on every claim

[statements.md](statements.md) lists everything that the documents state, with the claims that
judge it.

This page lists each statement of the four documents with three verdicts, on the whole grid unless
it says otherwise. The first is the simulator's with its profile of Linux 6.12, which was compared
with that kernel ([trust.md](../explanation/trust.md)). The second is the simulator's with its
profile of the document's kernel: 4.9, 4.11 and 4.17 never ran, so nobody has compared these
profiles with them. The third is that of a real Linux 6.12 in virtual time (uml). A real kernel
lacks BBR's options and proposed changes, BBR Shallow, BBRv3 and the TCP of other versions: a
claim that needs these, or that wasn't run there, has no verdict in that column. Where a check is
met in one of the two columns of 6.12 and not in the other, both measurements stand below the
table. On uml hosts have no jitter, so trials may all be the same run. Equal values then count as
one trial, which decides nothing ("on one path"); "varied paths" says that each trial had its own
buffer and delay, "at most N trials" that no condition was run more often than that. The rules are
in docs/how-to/reproduce.md; measurements, rules and figures are on the pages that `narrows
reproduce all` makes. `tools/write_claims.py` made this page from such runs.
"""
EARLIER = """\
These verdicts of the simulator are older than some of the rules and their limits: they were
decided at 95 %, by the figures' own numbers of trials, on the chosen testbed alone and without
rivals.
"""
LATER = "linux-6.12"

ANSWERS = {True: "met", False: "not met", None: "undecided"}
OTHERWISE = """\
### Where Linux 6.12 itself and its TCP in the simulator decide differently
"""

TESTBEDS_HEAD = """\
## Testbeds

Where the documents don't describe their testbeds, several are possible. All claims of a document
were judged on each, by their checks alone (`narrows reproduce DOCUMENT --testbeds`). A claim is
confirmed or refuted only if it is on each. Below each matrix all published numbers of the
document are asked of each testbed at once.
"""
CONTROLS_HEAD = """\
## Negative controls

Conditions under which a claim must fail (`narrows reproduce all --mutations`). Of {all}, {whole}
of which ran on the whole grid, the checks noticed {noticed}: a check that is met without the
change fails with it. {missed} weren't noticed; an undecided check hasn't noticed. {open} show
nothing, because only checks fail that fail without the change as well ("fails anyway", {anyway}),
or that then compare a condition with itself and would fail under any rule ({itself}).
"""
RIVALS_HEAD = """\
# Claims about BBR with its rivals

Each claim about BBR was judged with another control in BBR's place (`narrows reproduce all
--rivals`). "fails": a check that BBR meets fails. "fails anyway": only checks fail that fail with
BBR as well. "compared with itself": the rival makes both sides of the comparison equal. A claim
names the rivals with which it must fail; where none of them makes a check fail, what was
confirmed is "not specific to BBR". Proposals compare BBR with itself, so for them the question
doesn't arise. `tools/write_claims.py` made this page.
"""
SEEDS_HEAD = """\
# The same claims with other seeds

Each claim was judged with disjoint sets of seeds (`narrows reproduce all --seeds 5`), each time
with as many trials as it took. A rule that decides at 99 % should change at most one verdict in a
hundred. `tools/write_claims.py` made this page.
"""


def page(found: Sequence[Line], judged: Sequence[Judgement] = ()) -> str:
    """The whole page, with the matrices of testbeds and the negative controls that were run."""
    parts = [HEAD, *_age(found), *_counts(found), *_chapters(found)]
    parts += [*_matrices(judged), *_controls(judged)]
    return "\n".join(parts).rstrip() + "\n"


def _age(found: Sequence[Line]) -> Iterator[str]:
    """A warning if verdicts were found by other rules than today's."""
    ways = [entry.way for line in found for entry in line.entries if entry.way.backend == "sim"]
    if any(way.looks == 1 for way in ways):
        yield EARLIER


def _matrices(judged: Sequence[Judgement]) -> Iterator[str]:
    """The claims of each document on every possible testbed."""
    own = _own(judged)
    matrices = list(testbeds.matrices(own, list(exhibits().values())))
    if matrices:
        yield TESTBEDS_HEAD
    for matrix in matrices:
        mine = [one for one in own if claims()[one.claim].document == matrix.document]
        quick = any(one.quick for one in mine)
        yield f"### {matrix.document}{', smaller grids' if quick else ''}\n"
        yield from testbeds.describe(matrix)
        yield ""
        yield from fit.describe(
            matrix.document, fit.fits(matrix.document, mine, list(exhibits().values()))
        )
        yield ""
        for axis in testbeds.axes(matrix.document):
            yield f"- {', '.join(level.name for level in axis.levels)}: {axis.why}"
        yield ""


def _own(judged: Sequence[Judgement]) -> list[Judgement]:
    """Those under the profile of the claim's document, on the whole grid where there is one."""
    profiles = own_profiles()
    own = [one for one in judged if one.profile == profiles.get(one.claim)]
    return judgements.on_one_grid(own)


def _controls(judged: Sequence[Judgement]) -> Iterator[str]:
    """The result of each negative control."""
    controls = negative.controls(_own(judged))
    if not controls:
        return
    numbers = Counter(control.answer for control in controls)
    yield CONTROLS_HEAD.format(
        all=len(controls),
        whole=sum(not control.quick for control in controls),
        noticed=numbers[negative.NOTICED],
        missed=numbers[negative.MISSED],
        open=numbers[negative.ANYWAY] + numbers[negative.ITSELF],
        anyway=numbers[negative.ANYWAY],
        itself=numbers[negative.ITSELF],
    )
    yield "| Claim | With | Noticed | Measured |\n|---|---|---|---|"
    for one in controls:
        grid = ", smaller grid" if one.quick else ""
        told = f"{one.failed} {one.measured}".replace("|", "\\|")
        yield f"| `{one.claim}` | {changes()[one.change].words}{grid} | {one.answer} | {told} |"
    yield ""


def other_pages(judged: Sequence[Judgement]) -> Iterator[tuple[Path, str]]:
    """The pages of rivals and of seeds, as far as these were judged."""
    own = _own(judged)
    for target, head, lines in (
        (RIVALS_PAGE, RIVALS_HEAD, list(rivals.describe(own))[2:]),
        (SEEDS_PAGE, SEEDS_HEAD, list(seeds.describe(own)) if seeds.verdicts(own) else []),
    ):
        if lines:
            table = list(rivals.describe(own)) if target == RIVALS_PAGE else lines
            yield target, "\n".join([head, *_grid(own), *table]).rstrip() + "\n"


def _grid(judged: Sequence[Judgement]) -> Iterator[str]:
    if any(one.quick for one in judged):
        yield "Some were judged on smaller grids.\n"


def _counts(found: Sequence[Line]) -> Iterator[str]:
    yield f"There are {len(found)} claims.\n"
    yield "| Kind | Claims | Simulator, profile 6.12 | Simulator, the document's profile |"
    yield "|---|---|---|---|"
    for kind, told in ledger.counts_by_kind(found).items():
        mine = [line for line in found if line.claim.kind == kind]
        compared = Counter(_verdict(line) for line in mine)
        later = {name: compared[name] for name in ledger.VERDICTS if compared[name]}
        both = f"{ledger.in_words(later)} | {ledger.in_words(told)}"
        yield f"| {KINDS[kind]} | {len(mine)} | {both} |"
    yield ""


def _verdict(line: Line) -> str:
    """The verdict of the simulator's profile of the later kernel."""
    if line.claim.kind == "deployment":
        return line.verdict
    entry = _later(line, "sim")
    return "not run" if entry is None or entry.way.quick else line.standing(entry).verdict


def _chapters(found: Sequence[Line]) -> Iterator[str]:
    for document, title in DOCUMENTS.items():
        yield f"## {title}\n"
        simulated = f"Simulator, 6.12 | Simulator, {_profiles(document)}"
        yield f"| Claim | Kind | Stated | {simulated} | Linux 6.12 itself |"
        yield "|---|---|---|---|---|---|"
        mine = [line for line in found if line.claim.document == document]
        for line in mine:
            yield f"| {' | '.join(_cells(line))} |"
        yield ""
        for line in mine:
            if line.decisive and line.verdict in OPEN:
                yield from _why(line.decisive)
        yield from _otherwise(mine)


def _cells(line: Line) -> Iterator[str]:
    yield f"`{line.claim.identifier}`"
    yield line.claim.kind
    yield line.claim.expect.replace("|", "\\|")
    yield _way(line, "sim")
    yield line.headline
    yield _way(line, "uml")


def _profiles(document: str) -> str:
    """The kernels of a document, as its profiles are called."""
    own = {exhibit.profile for exhibit in exhibits().values() if exhibit.document == document}
    return " or ".join(sorted(profile.removeprefix("linux-") for profile in own))


def _way(line: Line, backend: str) -> str:
    """The verdict of a back end under the later kernel."""
    entry = _later(line, backend)
    if entry is None:
        return ""
    varied = ", varied paths" if entry.way.varied else ""
    told = f"{line.standing(entry).verdict}{line.more(entry)}"
    return f"{told}{', smaller grid' if entry.way.quick else ''}{varied}{entry.way.limit}"


def _later(line: Line, backend: str) -> Entry | None:
    """The finding of a back end under the later kernel, on the whole grid if there is one."""
    for entry in line.entries:
        if (entry.way.backend, entry.way.profile) == (backend, LATER):
            return entry
    return None


def _otherwise(found: Sequence[Line]) -> Iterator[str]:
    """The checks of which the kernel itself and its TCP in the simulator say different things."""
    told = [part for line in found for part in _unlike(line)]
    if told:
        yield OTHERWISE
        yield from told


def _unlike(line: Line) -> Iterator[str]:
    """A sentence for each check that is met in one and not in the other."""
    real, simulated = (_later(line, backend) for backend in ("uml", "sim"))
    if real is None or simulated is None or real.way.quick != simulated.way.quick:
        return
    there = {check["statement"]: check for check in simulated.checks}
    told = [
        f"{check['statement']} Measured {_answer(check)}; in the simulator {_answer(other)}."
        for check in real.checks
        if (other := there.get(check["statement"])) and other["passed"] != check["passed"]
    ]
    if told:
        yield f"**`{line.claim.identifier}`** {real.verdict}, in the simulator {simulated.verdict}."
        note = kernel_notes().get(line.claim.identifier)
        yield "\n".join([*told, note] if note else told) + "\n"


def kernel_notes() -> dict[str, str]:
    """Explanations of such differences, by claim."""
    found: dict[str, str] = tomllib.loads(NOTES.read_text(encoding="utf-8"))
    return found


def _answer(check: dict[str, Any]) -> str:
    return f"{check['measured']} ({ANSWERS[check['passed']]})"


def _why(entry: Entry) -> Iterator[str]:
    """The failed checks, and the reason if one is shown."""
    yield f"**`{entry.claim}`** {entry.verdict}."
    for check in entry.checks:
        if not check["passed"]:
            yield f"{check['statement']} Measured {check['measured']}; stated: {check['expected']}."
    if entry.reason:
        yield f"Reason: {entry.reason['statement']} Measured: {entry.reason['measured']}."
    yield ""


def main(places: Sequence[str]) -> None:
    """Writes the pages from the ledgers and judgements in the directories."""
    entries = {entry.key: entry for place in places for entry in ledger.read(Path(place))}
    judged = [one for place in places for one in judgements.read(Path(place))]
    judged = judgements.sort({one.key: one for one in judged}.values())
    found = ledger.lines(whole(list(entries.values())), own_profiles(), judged)
    TARGET.write_text(page(found, judged), encoding="utf-8")
    for target, text in other_pages(judged):
        target.write_text(text, encoding="utf-8")
    write_text(
        DATA / ledger.LEDGER, shipped_ledger([entry for line in found for entry in line.entries])
    )
    write_text(DATA / judgements.RECORD, shipped_judgements(judged))


def shipped_judgements(judged: Sequence[Judgement]) -> str:
    """The judgements that the package includes: those on whole grids that a verdict rests on."""
    kept = [
        asdict(replace(one, checks=_brief(one.checks)))
        for one in sorted(judged, key=lambda one: one.key)
        if not one.quick and not one.change.startswith("seeds ")
    ]
    return a_line_each("judgements", kept)


def _brief(checks: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Checks without what only the pages show."""
    return tuple({**check, "expected": "", "measured": ""} for check in checks)


def whole(entries: Sequence[Entry]) -> list[Entry]:
    """Those of smaller grids only where there is none of the whole one."""
    made = {(*entry.key[:3],) for entry in entries if not entry.way.quick}
    return [entry for entry in entries if not entry.way.quick or entry.key[:3] not in made]


def shipped_ledger(entries: Sequence[Entry]) -> str:
    """The ledger that the package includes, without the rules, which it contains anyway."""
    in_order = sorted(entries, key=lambda entry: entry.key)
    return a_line_each("entries", [asdict(_short(entry)) for entry in in_order])


def a_line_each(key: str, items: Iterable[Mapping[str, Any]]) -> str:
    """A JSON document with a line for each item, so that a diff shows which changed."""
    lines = [json.dumps(one, separators=(",", ":"), ensure_ascii=False) for one in items]
    return f'{{"{key}":[\n' + ",\n".join(lines) + "\n]}\n"


def _short(entry: Entry) -> Entry:
    return replace(entry, checks=_without_rules(entry.checks), notes=_without_rules(entry.notes))


def _without_rules(checks: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    return tuple({**check, "rule": ""} for check in checks)


if __name__ == "__main__":
    main(sys.argv[1:])
