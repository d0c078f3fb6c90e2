"""Reproduces published figures: runs, measures, draws, judges, writes the site and the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from narrows.backends import Backend, get_backend
from narrows.errors import InputError, Problem, SpecError
from narrows.execute import BatchOutcome, RunProgress, Watcher
from narrows.metrics.duration import lacking_s
from narrows.metrics.settling import UnsettledRuns
from narrows.reproduce import judgements, ledger
from narrows.reproduce.catalogue import select
from narrows.reproduce.exhibit import CONFIDENCE, Data, Exhibit, Finding, Picture, Scope
from narrows.reproduce.gather import Work, work
from narrows.reproduce.judging import version
from narrows.reproduce.paths import on_varied_paths, with_at_most
from narrows.reproduce.records import OUT as OUT
from narrows.reproduce.settle import SettledFigure, looks_for, settle
from narrows.reproduce.site import (
    ChangedFigure,
    StoredFigure,
    own_profiles,
    write_changed_page,
    write_figure_files,
    write_site,
)
from narrows.reproduce.unchanged import with_unchanged, without_documents_lines
from narrows.reproduce.values_set import as_change, values_in
from narrows.spec.suggest import one_of

ELSEWHERE = "its conditions run on back ends of their own, whichever is asked for"


@dataclass(frozen=True, slots=True)
class ReproducedFigure:
    """A figure reproduced in one way: its data, its pictures and the verdicts on its claims.

    `variation` says how its conditions were changed; the figure as written is then `unchanged`,
    and the pictures show both. `too_short` is a sentence if changed runs are too short for shares.
    """

    exhibit: Exhibit
    scope: Scope
    data: Data
    stored: StoredFigure
    findings: tuple[Finding, ...]
    variation: str = ""
    unchanged: SettledFigure | None = None
    too_short: str = ""


@dataclass(frozen=True, slots=True)
class UnsupportedFigure:
    """A figure that the back end can't run, and why."""

    exhibit: Exhibit
    scope: Scope
    reason: str


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The result of one call: `pages` by figure, the index, and the runs."""

    made: tuple[ReproducedFigure, ...]
    refused: tuple[UnsupportedFigure, ...]
    gathered: BatchOutcome
    pages: dict[str, Path]
    index: Path | None
    whole: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """The verdicts on whole figures that are known, by claim and kernel."""

    @property
    def none_refuted(self) -> bool:
        """Returns True if no claim was refuted; none is about changed conditions."""
        written = [item for item in self.made if not item.variation]
        return all(finding.verdict != "refuted" for item in written for finding in item.findings)


def reproduce(
    wanted: str,
    *,
    backend: str = "sim",
    profile: str | None = None,
    quick: bool = False,
    sets: Sequence[str] = (),
    vary_paths: bool = False,
    trials: int | None = None,
    looks: int | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    watcher: Watcher | None = None,
) -> Reproduction:
    """Makes the figures that `wanted` means: a figure, a claim, a document or "all".

    Without a `profile` each is made with its document's kernel and, where the answer depends on the
    version, with others; a back end of real kernels has its own. `sets` has values of all
    conditions ("path.rtt=50ms"); such figures are drawn and judged beside those as written, and not
    recorded, as the claims aren't about them. With `vary_paths` every trial but
    the first has its own buffer and delay. Otherwise the simulator adds trials until every check is
    decided, in up to `looks` looks. No condition has more than `trials`, if they are given.
    Existing runs aren't repeated.
    Raises InputError for an unknown name or back end, or a directory that can't be used.
    """
    engine = get_backend(backend)
    place = Path(out) if out is not None else OUT
    works, refused = _plan(select(wanted), engine, profile, quick, sets)
    if sets:
        works += _plan([item.exhibit for item in works], engine, profile, quick, ())[0]
    works = [with_at_most(trials, item) for item in works]
    if vary_paths:
        works = [on_varied_paths(item) for item in works]
    smaller = any(item.scope.quick for item in works)
    grows = engine.name == "sim" and not vary_paths
    most = (looks or looks_for(works, trials, quick=smaller)) if grows else 1
    outcomes, gathered = settle(works, place, looks=most, trials=trials, jobs=jobs, watcher=watcher)
    if sets:
        both = _beside_unchanged(outcomes, place, watcher)
        return Reproduction(both, refused, gathered, _changed_pages(both, place, sets), None)
    kept = [entry for part in ledger.read_known(place) for entry in part]
    made = with_versions(
        [_make(item, place) for item in _report_each(outcomes, watcher)],
        kept,
        real=backend != "sim",
    )
    ran = f"{engine.engine}{ledger.VARIED}" if vary_paths else engine.engine
    place.mkdir(parents=True, exist_ok=True)  # it doesn't exist if all figures were refused
    known = ledger.write(place, list(_entries(made, engine.name, ran, trials, most)))
    pages, index = write_site(place, known, [item.stored for item in made], engine.name)
    whole = _whole_verdicts(kept, place, engine.name) if smaller else {}
    return Reproduction(made, refused, gathered, pages, index, whole)


def _beside_unchanged(
    outcomes: Sequence[SettledFigure], out: Path, watcher: Watcher | None
) -> tuple[ReproducedFigure, ...]:
    """Makes each figure whose conditions were changed, with the same figure as written."""
    written = {_key(one.work): one for one in outcomes if not one.work.variation}
    changed = [one for one in outcomes if one.work.variation]
    return tuple(
        _make(one, out, written.get(_key(one.work))) for one in _report_each(changed, watcher)
    )


def _entries(
    made: Sequence[ReproducedFigure], backend: str, engine: str, trials: int | None, looks: int
) -> Iterator[ledger.LedgerEntry]:
    for item in made:
        scope = item.scope
        way = ledger.Way(backend, engine, scope.profile, scope.quick, trials, looks, CONFIDENCE)
        for finding in item.findings:
            yield ledger.entry(item.exhibit, finding, way)


def _whole_verdicts(
    entries: Sequence[ledger.LedgerEntry], out: Path, backend: str
) -> dict[tuple[str, str], str]:
    """Returns the verdicts on whole figures by claim and kernel, with the judgements in `out`."""
    return {
        (entry.claim, entry.way.profile): line.standing(entry).verdict
        for line in ledger.lines(entries, own_profiles(), judgements.read_known(out))
        for entry in line.entries
        if not entry.way.quick and entry.way.backend == backend
    }


def _changed_pages(
    made: Sequence[ReproducedFigure], out: Path, sets: Sequence[str]
) -> dict[str, Path]:
    """Writes a page for each figure whose conditions were changed; returns their paths."""
    by_figure: dict[str, list[ReproducedFigure]] = {}
    for item in made:
        by_figure.setdefault(item.exhibit.identifier, []).append(item)
    pages = {}
    for identifier, items in by_figure.items():
        ways = [
            ChangedFigure(
                one.stored,
                one.variation,
                one.findings,
                one.unchanged.findings if one.unchanged else (),
                one.too_short,
            )
            for one in items
        ]
        pages[identifier] = write_changed_page(out, items[0].exhibit, ways, sets)
    return pages


def _plan(
    chosen: Sequence[Exhibit],
    backend: Backend,
    profile: str | None,
    quick: bool,
    sets: Sequence[str],
) -> tuple[list[Work], tuple[UnsupportedFigure, ...]]:
    works, refused = [], []
    for exhibit in chosen:
        for name in _profiles(exhibit, backend, profile):
            scope = exhibit.scope(name, quick=quick)
            try:
                item = work(exhibit, scope, backend, as_change(sets, exhibit, scope))
                item = replace(item, changed_path=any(one.startswith("path.") for one in sets))
            except SpecError as error:
                if sets:
                    raise _of_sets(error) from None
                if backend.name == "sim":
                    raise
                refused.append(UnsupportedFigure(exhibit, scope, str(error)))
                continue
            if any(condition.engine is backend for condition in item.cells):
                works.append(item)
            else:
                refused.append(UnsupportedFigure(exhibit, scope, ELSEWHERE))
    return works, tuple(refused)


def _of_sets(error: SpecError) -> InputError:
    """The error of a changed condition, which a value that was set must have made."""
    return InputError(
        [Problem(f"--set {one.place}", one.found, one.remedy) for one in error.problems]
    )


def _profiles(exhibit: Exhibit, backend: Backend, wanted: str | None) -> Sequence[str]:
    known = backend.capabilities().profiles
    if wanted is not None and wanted not in known:
        raise InputError.at("--profile", f'"{wanted}"', one_of(wanted, known))
    if wanted is not None:
        return (wanted,)
    own = [name for name in (exhibit.profile, *exhibit.also) if name in known]
    return own or known[:1]


def _key(item: Work) -> tuple[str, Scope]:
    return item.exhibit.identifier, item.scope


def _report_each(
    outcomes: Sequence[SettledFigure], watcher: Watcher | None
) -> Iterator[SettledFigure]:
    """Yields the figures to draw, each reported to the watcher."""
    for number, outcome in enumerate(outcomes, 1):
        if watcher is not None:
            watcher(RunProgress.beyond_runs(f"drawing figure {number} of {len(outcomes)}"))
        yield outcome


def _make(
    outcome: SettledFigure, out: Path, unchanged: SettledFigure | None = None
) -> ReproducedFigure:
    item, data, draw = outcome.work, outcome.data, outcome.work.exhibit.method().draw
    pictures = draw(data)
    if item.variation:
        if item.changed_path:
            pictures = [replace(p, figure=without_documents_lines(p.figure)) for p in pictures]
        before = {} if unchanged is None else {one.name: one for one in draw(unchanged.data)}
        pictures = [_beside(before.get(one.name), one, item.variation) for one in pictures]
    told = item.exhibit.in_words(item.scope)
    stored = write_figure_files(item, [_say(picture, told) for picture in pictures], data, out)
    return ReproducedFigure(
        item.exhibit, item.scope, data, stored, outcome.findings, item.variation, unchanged,
        too_short_note(item) if item.variation else "",
    )  # fmt: skip


def too_short_note(item: Work) -> str:
    """Returns a sentence on conditions whose runs are too short for shares; empty without any."""
    scenarios = [condition.cell.plan.trials[0].scenario for condition in item.cells]
    needed = {n: lacking for n, one in enumerate(scenarios) if (lacking := lacking_s(one))}
    longest = scenarios[max(needed, key=needed.__getitem__)] if needed else None
    return UnsettledRuns({}, needed, len(scenarios)).note(longest, called="conditions")


def _beside(before: Picture | None, picture: Picture, variation: str) -> Picture:
    """The picture of changed conditions with that of the conditions as written, if it has one.

    Subtitles are a study's own words, so they name the conditions as written and not the change.
    """
    change = values_in(variation)
    both = before and with_unchanged(before.figure, picture.figure, change)
    figure = both or picture.figure
    as_written = replace(figure, subtitle=f"as written: {figure.subtitle}")
    return _say(replace(picture, figure=as_written), variation)


def _say(picture: Picture, words: str) -> Picture:
    """The picture with words in its subtitle, such as the change of its conditions."""
    if not words:
        return picture
    subtitle = f"{picture.figure.subtitle}; {words}"
    return replace(picture, figure=replace(picture.figure, subtitle=subtitle))


def with_versions(
    made: Sequence[ReproducedFigure], kept: Sequence[ledger.LedgerEntry] = (), *, real: bool = False
) -> tuple[ReproducedFigure, ...]:
    """Compares failures under another kernel with the findings under the document's kernel.

    The latter are the simulator's in `made`, or else in `kept`. Failures on a `real` kernel are
    compared through the simulator's findings under both versions.
    """
    found = simulator_entries(kept)
    if not real:
        found |= {
            (finding.claim, item.scope): finding for item in made for finding in item.findings
        }
    return tuple(
        replace(item, findings=tuple(_of_version(item, f, found, real) for f in item.findings))
        for item in made
    )


Simulated = Mapping[tuple[str, Scope], Finding]
"""The simulator's findings by claim, kernel and size of the grid."""


def simulator_entries(kept: Sequence[ledger.LedgerEntry]) -> dict[tuple[str, Scope], Finding]:
    """Returns the simulator's findings among the entries of a ledger."""
    return {
        (entry.claim, Scope(entry.way.profile, entry.way.quick)): ledger.finding(entry)
        for entry in kept
        if entry.way.backend == "sim"
    }


def _of_version(item: ReproducedFigure, finding: Finding, found: Simulated, real: bool) -> Finding:
    own, scope = item.exhibit.profile, item.scope
    document = found.get((finding.claim, replace(scope, profile=own)))
    alike = found.get((finding.claim, scope)) if real else None
    if finding.verdict != "refuted" or scope.profile == own or document is None:
        return finding
    if real and alike is None:
        return finding
    return replace(finding, reason=version(finding, document, own, alike))
