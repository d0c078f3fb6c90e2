"""Writes docs/reference/claims.md and the ledger that is shipped, from ledgers of reproductions.

    python tools/write_claims.py OUT...

Each OUT is a directory that `narrows reproduce` wrote, such as one of the simulator and one
of a real kernel; if two made the same figure in the same way, the later counts, and all count
before what is shipped. A claim that was judged as written with more looks has that verdict. Nothing
in the page is written by hand but for what kernel_notes.toml says of a kernel and its model, and
control_notes.toml of controls that weren't noticed.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from narrows.reproduce import fit, judgements, ledger, negative, rivals, seeds, testbeds
from narrows.reproduce.catalogue import exhibits
from narrows.reproduce.changes import changes
from narrows.reproduce.claims import KINDS, RIVALS, UNCHECKED, claims
from narrows.reproduce.exhibit import CONFIDENCE, Scope
from narrows.reproduce.judgements import Judgement
from narrows.reproduce.ledger import ClaimVerdicts, LedgerEntry
from narrows.reproduce.library import DATA, DOCUMENTS
from narrows.reproduce.negative import Control
from narrows.reproduce.rules import rules
from narrows.reproduce.settle import LOOKS, is_open
from narrows.reproduce.site import own_profiles
from narrows.store.atomic import write_text
from narrows.words import count_of

OPEN = ("differs", "refuted", "undecided", "partly", "depends")
"""Verdicts whose failed and undecided checks are listed."""
NOTES = Path(__file__).with_name("kernel_notes.toml")
CONTROL_NOTES = Path(__file__).with_name("control_notes.toml")
REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
TARGET = REFERENCE / "claims.md"
RIVALS_PAGE, SEEDS_PAGE = REFERENCE / "rivals.md", REFERENCE / "seeds.md"
HEAD = """\
# The verdict on every claim

[statements.md](statements.md) lists everything that the documents state, with the claims that
judge it. [rivals.md](rivals.md) has the claims about BBR with other controls in its place,
[seeds.md](seeds.md) the verdicts with other seeds.

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
A verdict with † was decided at 95 %, by the figure's own number of trials, on the chosen testbed
alone and without rivals. {told} "By an older rule" says that what a check of the claim measures, or
its limit, has changed since.
"""
LAST_AT_95 = "2026-11-24"
"""The day of the last verdicts at 95 %; a rule is newer that was made later or changed on it."""
FEWER = """\
The trials of a large figure are looked at less often than five times, each time with twice as many,
so more of its checks may be undecided; claims close to their limit may be looked at more often
(`--trials 384`). Most looks, and the number of the simulator's verdicts on
whole grids: {told}.
"""
REACH = """\
A verdict stands on the testbed that the figure chose and on the figure's own seeds, unless the
claim was judged elsewhere, too: of {all} claims with checks {seeds} with other seeds and {testbeds}
on other testbeds, on the whole grid. {naming} claims name rivals with which they must fail;
{rivals} of them were judged with each.{lacking} All of that is the second column: the first has
the chosen testbed alone, and no rivals.
"""
LACKING = """ Where rivals are missing, a confirmed claim says so
("rivals not run", or "not run with" some of them), and nobody knows yet whether it is specific to
BBR."""
LATER = "linux-6.12"

ANSWERS = {True: "met", False: "not met", None: "undecided"}
OTHERWISE = """\
### Where Linux 6.12 itself and its TCP in the simulator decide differently

"By older rules" says that the kernel wasn't judged by today's: the difference may be theirs.
"""

TESTBEDS_HEAD = """\
## Testbeds

Where the documents don't describe their testbeds, several are possible. All claims of a document
were judged on each, by their checks alone (`narrows reproduce DOCUMENT --testbeds`). A claim is
confirmed or refuted only if it is on each. It depends on the testbed if it is confirmed on one and
refuted on another, and is undecided if some testbed leaves it open. Until 2026-11-28, with the
results known, it depended in that case, too (decision 031). Below each matrix the published numbers
of the document that were judged on every testbed are asked of each at once.

Of {all} judgements on other testbeds {open} leave a check open, {few} of them after fewer than five
looks at growing data: more trials might decide these.
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
names the rivals with which it must fail. Where one of them meets it, too, or none makes a check
fail, what was confirmed is "not specific to BBR"; until 2026-11-29, with the results known, one
that failed was enough. Proposals compare BBR with itself, and claims about a part of BBR, such as
one of its states or BBR Shallow, need that part, so for these the question doesn't arise.
`tools/write_claims.py` made this page.
"""
SEEDS_HEAD = """\
# The same claims with other seeds

Each claim was judged with disjoint sets of seeds (`narrows reproduce all --seeds 5`), each time
with as many trials as it took. A rule that decides at 99 % should change at most one verdict in a
hundred. With the usual five looks five changed; four of these then got up to eight looks in each
set (decision 031), so the count below isn't one of untouched rules. `tools/write_claims.py` made
this page.
"""


def page(found: Sequence[ClaimVerdicts], judged: Sequence[Judgement] = ()) -> str:
    """The whole page, with the matrices of testbeds and the negative controls that were run."""
    simulated = [
        e for line in found for e in line.entries if e.way.backend == "sim" and not e.way.quick
    ]
    looks = [entry.way.looks for entry in simulated if not _older(entry)]
    parts = [HEAD, *_age(found), *_looks(looks), _reach(judged), *_counts(found)]
    parts += _chapters(found)
    parts += [*_matrices(judged), *_controls(judged)]
    return "\n".join(parts).rstrip() + "\n"


def _age(found: Sequence[ClaimVerdicts]) -> Iterator[str]:
    """How many verdicts were found by rules other than today's, if any were."""
    entries = [entry for line in found for entry in line.entries]
    told = [
        f"{sum(map(_older, mine))} of {len(mine)} {place}"
        for backend, place in (("sim", "of the simulator"), ("uml", "of Linux itself"))
        if any(map(_older, mine := [e for e in entries if e.way.backend == backend]))
    ]
    if told:
        yield EARLIER.format(told=f"So are {' and '.join(told)}.")


def _older(entry: LedgerEntry) -> bool:
    """Returns True if a finding was decided by less strict rules than today's."""
    return entry.way.confidence < CONFIDENCE


def _looks(looks: Sequence[int]) -> Iterator[str]:
    """How often trials could be added, where that is less often than usual."""
    counts = sorted(Counter(looks).items(), reverse=True)
    if any(number < LOOKS[False] for number, _ in counts):
        yield FEWER.format(told=", ".join(f"{number}: {count}" for number, count in counts))


def _reach(judged: Sequence[Judgement]) -> str:
    """How many claims were judged elsewhere than as written, on whole grids."""
    checked = {claim for claim, stated in claims().items() if stated.kind not in UNCHECKED}
    mine: dict[str, list[Judgement]] = {}
    for one in _own(judged):
        if not one.quick and one.claim in checked:
            mine.setdefault(one.claim, []).append(one)
    naming = [claim for claim in claims() if rivals.must_fail_with(claim)]
    whole = sum(not rivals.not_run(claim, mine.get(claim, ())) for claim in naming)
    return REACH.format(
        all=len(checked),
        seeds=sum(any(seeds.is_set(one.change) for one in some) for some in mine.values()),
        testbeds=sum(len(testbeds.on_testbeds(claim, some)) > 1 for claim, some in mine.items()),
        naming=len(naming),
        rivals=whole,
        lacking=LACKING * (whole < len(naming)),
    )


def _matrices(judged: Sequence[Judgement]) -> Iterator[str]:
    """The claims of each document on every possible testbed."""
    own = _own(judged)
    matrices = list(testbeds.matrices(own, list(exhibits().values())))
    if matrices:
        names = {change.name for exhibit in exhibits().values() for change in testbeds.of(exhibit)}
        elsewhere = [one for one in own if one.change in names]
        left = [one for one in elsewhere if any(map(is_open, one.as_checks))]
        few = sum(one.looks < LOOKS[False] for one in left)
        yield TESTBEDS_HEAD.format(all=len(elsewhere), open=len(left), few=few)
    for matrix in matrices:
        mine = [one for one in own if claims()[one.claim].document == matrix.document]
        quick = any(one.quick for one in mine if one.change in names)
        yield f"### {matrix.document}{', quick forms' if quick else ''}\n"
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
    """Judgements under the profile of the claim's document, on the whole grid if there is one."""
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
        grid = f", {_quick_form(one.claim)}" if one.quick else ""
        told = f"{one.failed} {one.measured}".replace("|", "\\|")
        yield f"| `{one.claim}` | {changes()[one.change].words}{grid} | {one.answer} | {told} |"
    yield ""
    yield from _why_unnoticed(controls)
    yield from _silent_claims(controls, _own(judged))


def _quick_form(claim: str) -> str:
    """How much of the claim's figure its quick form makes: "quick: shorter runs"."""
    exhibit = next(one for one in exhibits().values() if claim in one.claims)
    return exhibit.in_words(Scope(exhibit.profile, quick=True))


def _why_unnoticed(controls: Sequence[Control]) -> Iterator[str]:
    """The reasons, where they were looked into."""
    for one in controls:
        note = control_notes().get(one.claim, {}).get(one.change)
        if note and not one.is_noticed:
            yield f"**`{one.claim}`** with {changes()[one.change].words}: {one.answer}. {note}\n"


def control_notes() -> dict[str, dict[str, str]]:
    """Explanations of controls that weren't noticed, by claim and change."""
    found: dict[str, dict[str, str]] = tomllib.loads(CONTROL_NOTES.read_text(encoding="utf-8"))
    return found


def _silent_claims(controls: Sequence[Control], own: Sequence[Judgement]) -> Iterator[str]:
    """The claims of which no control was noticed, apart those that have no check to break."""
    noticed = {one.claim for one in controls if one.is_noticed}
    silent = dict.fromkeys(one.claim for one in controls if one.claim not in noticed)
    met = {
        one.claim
        for one in own
        if one.change == judgements.AS_WRITTEN and any(check.passed for check in one.as_checks)
    }
    unmet = [f"`{claim}`" for claim in silent if claim not in met]
    others = [f"`{claim}`" for claim in silent if claim in met]
    if unmet:
        yield f"No check of these is met without a change, so none can break: {', '.join(unmet)}.\n"
    if others:
        yield f"No control of these was noticed, though a check is met: {', '.join(others)}.\n"


def other_pages(judged: Sequence[Judgement]) -> Iterator[tuple[Path, str]]:
    """The pages of rivals and of seeds, as far as these were judged."""
    own = _own(judged)
    with_rivals = [one for one in own if one.change in (judgements.AS_WRITTEN, *RIVALS.values())]
    with_seeds = [
        one for one in own if one.change == judgements.AS_WRITTEN or seeds.is_set(one.change)
    ]
    if any(rivals.answers(claim, with_rivals) for claim in claims()):
        yield RIVALS_PAGE, _other_page(RIVALS_HEAD, with_rivals, rivals.describe)
    if seeds.verdicts(with_seeds):
        yield SEEDS_PAGE, _other_page(SEEDS_HEAD, with_seeds, seeds.describe)


def _other_page(
    head: str,
    judged: Sequence[Judgement],
    describe: Callable[[Sequence[Judgement]], Iterator[str]],
) -> str:
    return "\n".join([head, *_grid(judged), *describe(judged)]).rstrip() + "\n"


def _grid(judged: Sequence[Judgement]) -> Iterator[str]:
    """How many were judged in a quick form, and how often trials could be added."""
    every, small = {one.claim for one in judged}, {one.claim for one in judged if one.quick}
    if small:
        were = "was" if len(small) == 1 else "were"
        yield f"{len(small)} of {count_of(len(every), 'claim')} {were} judged in a quick form.\n"
    yield from _looks([one.looks for one in judged if not one.quick])


def _counts(found: Sequence[ClaimVerdicts]) -> Iterator[str]:
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
    pairs = [(one, _later(line, "sim")) for line in found if (one := line.decisive)]
    verdicts = [(one.verdict, other.verdict) for one, other in pairs if other and one is not other]
    differ = sum(one != other for one, other in verdicts)
    yield f"The two profiles decide {differ} of {len(verdicts)} claims differently, as chosen.\n"


def _verdict(line: ClaimVerdicts) -> str:
    """The verdict of the simulator's profile of the later kernel."""
    if line.claim.kind == "deployment":
        return line.verdict
    entry = _later(line, "sim")
    return "not run" if entry is None or entry.way.quick else line.standing(entry).verdict


def _chapters(found: Sequence[ClaimVerdicts]) -> Iterator[str]:
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


def _cells(line: ClaimVerdicts) -> Iterator[str]:
    yield f"`{line.claim.identifier}`"
    yield line.claim.kind
    yield line.claim.expect.replace("|", "\\|")
    yield _way(line, "sim")
    yield line.headline + (" †" if line.decisive and _older(line.decisive) else "")
    yield _way(line, "uml")


def _profiles(document: str) -> str:
    """The kernels of a document, as its profiles are called."""
    own = {exhibit.profile for exhibit in exhibits().values() if exhibit.document == document}
    return " or ".join(sorted(profile.removeprefix("linux-") for profile in own))


def _way(line: ClaimVerdicts, backend: str) -> str:
    """The verdict of a back end under the later kernel."""
    entry = _later(line, backend)
    if entry is None:
        return ""
    varied = ", varied paths" if entry.way.has_varied_paths else ""
    told = f"{line.standing(entry).verdict}{line.more(entry)}"
    age = (
        f"{', by an older rule' if _has_older_rule(entry, line) else ''} †" if _older(entry) else ""
    )
    return f"{told}{entry.extent}{varied}{entry.way.limit}{age}"


def _has_older_rule(entry: LedgerEntry, line: ClaimVerdicts) -> bool:
    """Returns True if a rule of the claim is newer than its verdict at 95 %."""
    mine = [rule for (claim, _), rule in rules().items() if claim == entry.claim]
    steps = [step for rule in mine for step in rule.history]
    if any(step.since >= LAST_AT_95 if step.was else step.since > LAST_AT_95 for step in steps):
        return True
    simulated = _later(line, "sim")
    today = {check["statement"] for check in simulated.checks} if simulated else set()
    return not today <= {check["statement"] for check in entry.checks}


def _later(line: ClaimVerdicts, backend: str) -> LedgerEntry | None:
    """The finding of a back end under the later kernel, on the whole grid if there is one."""
    for entry in line.entries:
        if (entry.way.backend, entry.way.profile) == (backend, LATER):
            return entry
    return None


def _otherwise(found: Sequence[ClaimVerdicts]) -> Iterator[str]:
    """The checks of which the kernel itself and its TCP in the simulator say different things."""
    told = [part for line in found for part in _unlike(line)]
    if told:
        yield OTHERWISE
        yield from told


def _unlike(line: ClaimVerdicts) -> Iterator[str]:
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
        rules = " by older rules" if _older(real) and not _older(simulated) else ""
        verdicts = f"{real.verdict}{rules}, in the simulator {simulated.verdict}"
        yield f"**`{line.claim.identifier}`** {verdicts}."
        note = kernel_notes().get(line.claim.identifier)
        yield "\n".join([*told, note] if note else told) + "\n"


def kernel_notes() -> dict[str, str]:
    """Explanations of such differences, by claim."""
    found: dict[str, str] = tomllib.loads(NOTES.read_text(encoding="utf-8"))
    return found


def _answer(check: dict[str, Any]) -> str:
    return f"{check['measured']} ({ANSWERS[check['passed']]})"


def _why(entry: LedgerEntry) -> Iterator[str]:
    """The failed checks, and the reason if one is shown; nothing if all are met."""
    failed = [check for check in entry.checks if not check["passed"]]
    if not failed:
        return
    yield f"**`{entry.claim}`** {entry.verdict}."
    for check in failed:
        yield f"{check['statement']} Measured {check['measured']}; stated: {check['expected']}."
    if entry.reason:
        yield f"Reason: {entry.reason['statement']} Measured: {entry.reason['measured']}."
    yield ""


def main(places: Sequence[str]) -> None:
    """Writes the pages from the ledgers and judgements in the directories."""
    directories = [DATA, *map(Path, places)]
    entries = {entry.key: entry for place in directories for entry in ledger.read(place)}
    judged = judgements.newest(one for place in directories for one in judgements.read(place))
    settled = with_more_looks(whole(list(entries.values())), judged)
    found = ledger.lines(settled, own_profiles(), judged)
    TARGET.write_text(page(found, judged), encoding="utf-8")
    for target, text in other_pages(judged):
        target.write_text(text, encoding="utf-8")
    write_text(
        DATA / ledger.LEDGER, shipped_ledger([entry for line in found for entry in line.entries])
    )
    write_text(DATA / judgements.RECORD, shipped_judgements(judged))


def with_more_looks(
    entries: Iterable[LedgerEntry], judged: Iterable[Judgement]
) -> list[LedgerEntry]:
    """The entries, with the checks of claims that were judged as written with more looks.

    Those that differ for a reason keep it; a judgement has none.
    """
    written = {
        (one.claim, one.profile): one
        for one in judged
        if one.change == judgements.AS_WRITTEN and not one.quick and _has_words(one)
    }
    return [
        _with_checks_of(entry, written.get((entry.claim, entry.way.profile))) for entry in entries
    ]


def _with_checks_of(entry: LedgerEntry, judged: Judgement | None) -> LedgerEntry:
    way = entry.way
    is_simulated = way.backend == "sim" and not (way.quick or way.limit or way.has_varied_paths)
    if judged is None or not is_simulated or entry.reason or judged.looks <= way.looks:
        return entry
    more = replace(way, looks=judged.looks, confidence=CONFIDENCE)
    return replace(entry, way=more, verdict=judged.verdict, checks=judged.checks)


def _has_words(judged: Judgement) -> bool:
    """Returns True unless the measurements were left out, as from what is shipped."""
    return all(check["measured"] for check in judged.checks)


def shipped_judgements(judged: Sequence[Judgement]) -> str:
    """The judgements that the package includes, with as much of their checks as the pages need."""
    kept = [
        asdict(replace(one, checks=_brief(one)))
        for one in sorted(judgements.on_one_grid(judged), key=lambda one: one.key)
    ]
    return a_line_each("judgements", kept)


def _brief(judged: Judgement) -> tuple[dict[str, Any], ...]:
    """The checks without words, but for the measurements of negative controls; none of seeds."""
    if seeds.is_set(judged.change):
        return ()
    shown = judged.change in claims()[judged.claim].fails_under
    emptied = {"expected": ""} if shown else {"expected": "", "measured": ""}
    return tuple({**check, **emptied} for check in judged.checks)


def whole(entries: Sequence[LedgerEntry]) -> list[LedgerEntry]:
    """The entries of whole figures; of quick forms only if there is no whole one."""
    made = {(*entry.key[:3],) for entry in entries if not entry.way.quick}
    return [entry for entry in entries if not entry.way.quick or entry.key[:3] not in made]


def shipped_ledger(entries: Sequence[LedgerEntry]) -> str:
    """The ledger that the package includes, without the rules, which it contains anyway."""
    in_order = sorted(entries, key=lambda entry: entry.key)
    return a_line_each("entries", [asdict(_short(entry)) for entry in in_order])


def a_line_each(key: str, items: Iterable[Mapping[str, Any]]) -> str:
    """A JSON document with a line for each item, so that a diff shows which changed."""
    lines = [json.dumps(one, separators=(",", ":"), ensure_ascii=False) for one in items]
    return f'{{"{key}":[\n' + ",\n".join(lines) + "\n]}\n"


def _short(entry: LedgerEntry) -> LedgerEntry:
    return replace(entry, checks=_without_rules(entry.checks), notes=_without_rules(entry.notes))


def _without_rules(checks: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    return tuple({**check, "rule": ""} for check in checks)


if __name__ == "__main__":
    main(sys.argv[1:])
