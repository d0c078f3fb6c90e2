"""Judges claims under changed conditions, and keeps each with its checks.

Claims on other testbeds, with rivals in BBR's place, with other seeds and under their negative
controls are all judged here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from narrows.backends import get_backend
from narrows.errors import InputError
from narrows.execute import Watcher
from narrows.report import Check
from narrows.reproduce.catalogue import claims_asked_for, select
from narrows.reproduce.changes import ConditionChange, merges
from narrows.reproduce.claims import claims
from narrows.reproduce.exhibit import Exhibit, Finding, Scope
from narrows.reproduce.gather import Work, missing, work
from narrows.reproduce.library import DATA, OURS, library
from narrows.reproduce.paths import with_at_most
from narrows.reproduce.records import OUT, read_list, write_list
from narrows.reproduce.settle import Settled, SettledFigure, is_open, looks_for, settle, verdict
from narrows.words import join_words

RECORD = "judgements.json"
AS_WRITTEN = ""
"""The name for no change at all."""
Changes = Callable[[Exhibit], Iterable[ConditionChange]]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A claim under a change: its verdict by the checks alone, and the checks without their rules.

    `merged` says that the change makes conditions of the figure equal that differ without it;
    `looks` is how often trials could be added until the verdict was settled.
    """

    claim: str
    change: str
    profile: str
    quick: bool
    verdict: str
    merged: bool = False
    checks: tuple[dict[str, Any], ...] = ()
    looks: int = 1

    @property
    def key(self) -> tuple[str, str, str, bool]:
        """The key under which another judgement replaces this one (`newest`)."""
        return (self.claim, self.change, self.profile, self.quick)

    @property
    def as_checks(self) -> list[Check]:
        """The checks."""
        return [Check(**check) for check in self.checks]


def without_reason(finding: Finding) -> str:
    """Returns a verdict by the checks alone, without the reason."""
    return replace(finding, reason=None).verdict


def judge(
    wanted: str,
    changes: Changes,
    *,
    quick: bool = False,
    profile: str | None = None,
    looks: int | None = None,
    trials: int | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    watcher: Watcher | None = None,
) -> list[Judgement]:
    """Judges the claims that `wanted` means as written and under the changes of their figures.

    They run in the simulator, by default with the documents' kernels, with trials added in up to
    `looks` looks, or to `trials` of each condition, until the verdicts are settled, and are kept in
    `out`. Figures that `left_out` names aren't run. Raises InputError for an unknown name or a
    directory that can't be used.
    """
    place = Path(out) if out is not None else OUT
    works = [
        (name, with_at_most(trials, item), merged)
        for name, item, merged in _works(wanted, changes, quick, profile)
    ]
    most = looks or looks_for([item for _, item, _ in works], trials, quick=quick)
    written = [one for one in works if one[0] == AS_WRITTEN]
    changed = [one for one in works if one[0] != AS_WRITTEN]
    asked = {claim for _, item, _ in works for claim in claims_asked_for(item.exhibit, wanted)}
    made: list[Judgement] = []

    def add(some: Sequence[tuple[str, Work, bool]], settled: Settled) -> None:
        items, until = [item for _, item, _ in some], only_of(asked, settled)
        outcomes, _ = settle(
            items, place, looks=most, trials=trials, until=until, jobs=jobs, watcher=watcher
        )
        for (name, _, merged), outcome in zip(some, outcomes, strict=True):
            made.extend(_judge(wanted, name, merged, outcome, most))

    add(written, verdict)
    met = {(one.claim, check.statement) for one in made for check in one.as_checks if check.passed}
    add(changed, lambda finding: verdict(finding) and notices(finding, met))
    _write(place, made)
    return made


def only_of(asked: Collection[str], settled: Settled) -> Settled:
    """Returns the same test for the claims asked for; for other claims no trials are added."""
    return lambda finding: finding.claim not in asked or settled(finding)


def notices(finding: Finding, met: Collection[tuple[str, str]]) -> bool:
    """Returns True if more trials can't change the reaction of the checks to a change.

    `met` has the checks that are met as written: claims with their statements. Either one of them
    fails, or each is decided; a check that fails anyway says nothing.
    """
    own = [check for check in finding.checks if (finding.claim, check.statement) in met]
    return any(check.passed is False for check in own) or not any(map(is_open, own))


def _works(
    wanted: str, changes: Changes, quick: bool, profile: str | None
) -> Iterator[tuple[str, Work, bool]]:
    backend = get_backend("sim")
    for exhibit in select(wanted):
        scope = exhibit.scope(profile or exhibit.profile, quick=quick)
        if not exhibit.claims or missing(exhibit, scope, backend):
            continue
        yield AS_WRITTEN, work(exhibit, scope, backend), False
        cases = list(exhibit.method().cases(scope))
        for change in changes(exhibit):
            yield change.name, work(exhibit, scope, backend, change), merges(change, cases)


def _judge(
    wanted: str, change: str, merged: bool, outcome: SettledFigure, looks: int
) -> Iterator[Judgement]:
    item = outcome.work
    for finding in outcome.findings:
        if finding.claim in claims_asked_for(item.exhibit, wanted):
            yield Judgement(
                finding.claim,
                change,
                item.scope.profile,
                item.scope.quick,
                without_reason(finding),
                merged,
                tuple({**asdict(check), "rule": ""} for check in finding.checks),
                looks,
            )


def left_out(wanted: str, *, quick: bool = False) -> Iterator[str]:
    """Yields a line for each figure that needs a back end that isn't set up here."""
    for exhibit in select(wanted):
        needed = missing(exhibit, Scope(exhibit.profile, quick), get_backend("sim"))
        if needed:
            yield f"not run here: {exhibit.identifier}, which needs {join_words(needed)}"


def read(out: Path) -> list[Judgement]:
    """Returns the kept judgements; none if nothing was judged there."""

    def read(fields: dict[str, Any]) -> Judgement:
        return Judgement(**{**fields, "checks": tuple(fields["checks"])})

    return [one for one in read_list(out / RECORD, "judgements", read) if one.claim in claims()]


def read_recorded() -> list[Judgement]:
    """Returns the judgements that are shipped with the package; none for an own paper."""
    return read(DATA) if library() is OURS else []


def read_known(out: Path) -> list[Judgement]:
    """Returns the judgements made here, and the recorded ones that they don't replace."""
    return newest((*read_recorded(), *read(out)))


def _write(out: Path, new: Sequence[Judgement]) -> None:
    write_list(out / RECORD, "judgements", newest((*read(out), *new)))


def newest(judgements: Iterable[Judgement]) -> list[Judgement]:
    """Returns the last judgement under each key, in the order of the claims.

    One with fewer looks replaces none: it may be undecided where the other is settled.
    """
    kept: dict[tuple[str, str, str, bool], Judgement] = {}
    for one in judgements:
        if one.looks >= kept.get(one.key, one).looks:
            kept[one.key] = one
    order = {identifier: place for place, identifier in enumerate(claims())}
    return sorted(kept.values(), key=lambda one: (order[one.claim], one.key))


def on_one_grid(judgements: Iterable[Judgement]) -> list[Judgement]:
    """Drops judgements of a small grid where the same was judged on the whole one."""
    known = list(judgements)
    whole = {one.key[:3] for one in known if not one.quick}
    return [one for one in known if not one.quick or one.key[:3] not in whole]


def only_simulated(backend: str, *, vary_paths: bool) -> None:
    """Raises InputError for options that changed conditions don't have."""
    if backend != "sim":
        reason = "changed conditions run in the simulator"
        raise InputError.at("--backend", f'"{backend}"', f"leaving it out, as {reason},")
    if vary_paths:
        reason = "changed conditions have the paths of their figure"
        raise InputError.at("--vary-paths", '"on"', f"leaving it out, as {reason},")
