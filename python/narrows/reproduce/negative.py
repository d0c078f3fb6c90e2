"""Runs the negative controls: every claim under the conditions in which its checks must fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from narrows.backends import get_backend
from narrows.errors import InputError
from narrows.execute import Watcher
from narrows.reproduce import ledger
from narrows.reproduce.catalogue import asked, exhibits, select
from narrows.reproduce.claims import claims
from narrows.reproduce.exhibit import Exhibit, Finding, Scope
from narrows.reproduce.gather import Work, gather, measured, missing, work
from narrows.reproduce.make import OUT
from narrows.reproduce.mutations import mutations
from narrows.reproduce.paths import judged
from narrows.reproduce.records import read_list, write_list

RECORD = "mutations.json"


@dataclass(frozen=True, slots=True)
class Control:
    """A claim under changed conditions: the failed check and its measurement, or nothing.

    Of several failed checks it is one that is met without the change, or else is undecided there.
    """

    claim: str
    mutation: str
    quick: bool
    failed: str
    measured: str

    @property
    def noticed(self) -> bool:
        """Whether its checks noticed the change."""
        return bool(self.failed)


def run(
    wanted: str,
    *,
    quick: bool = False,
    out: str | Path | None = None,
    jobs: int | None = None,
    watcher: Watcher | None = None,
) -> list[Control]:
    """Runs the negative controls of `wanted`: a figure, a claim, a document or "all".

    They run in the simulator with the documents' kernels, and are kept in `out`. Figures that
    `left_out` names aren't run. Raises InputError for an unknown name or a directory that can't
    be used.
    """
    place = Path(out) if out is not None else OUT
    works = list(_works(select(wanted), wanted, quick))
    gather(works, place, jobs=jobs, watcher=watcher)
    before = unchanged([entry for part in ledger.known(place) for entry in part], quick)
    made = [one for item in works for one in _judged(item, wanted, place, before)]
    _write(place, made)
    return made


Answers = Mapping[tuple[str, str], bool | None]
"""Whether a check is met, by its claim and statement."""


def unchanged(entries: Iterable[ledger.Entry], quick: bool) -> Answers:
    """The checks without any change, in the simulator with the documents' kernels.

    Those on the grid that is meant if it was run, else those on the whole one.
    """
    profiles = {
        claim: exhibit.profile for exhibit in exhibits().values() for claim in exhibit.claims
    }
    found: dict[str, ledger.Entry] = {}
    for entry in sorted(entries, key=lambda one: one.way.quick == quick):
        own = entry.way.backend == "sim" and entry.way.profile == profiles.get(entry.claim)
        if own and entry.way.quick <= quick:
            found[entry.claim] = entry
    return {
        (entry.claim, check["statement"]): check["passed"]
        for entry in found.values()
        for check in entry.checks
    }


def only_simulated(backend: str, profile: str | None) -> None:
    """Raises InputError if changed conditions are asked for on another back end or kernel."""
    _refuse(
        {"--backend": "" if backend == "sim" else backend, "--profile": profile},
        "these run in the simulator with the documents' kernels",
    )


def only_as_written(*, vary_paths: bool, trials: int | None) -> None:
    """Raises InputError if other paths or fewer trials are asked for with changed conditions."""
    _refuse(
        {"--vary-paths": "on" if vary_paths else "", "--trials": trials},
        "changed conditions have the trials and the paths of their figure",
    )


def _refuse(options: Mapping[str, object], reason: str) -> None:
    """Raises InputError at the first option that has a value."""
    for option, found in options.items():
        if found:
            raise InputError.at(option, f'"{found}"', f"leaving it out, as {reason},")


def _works(chosen: Sequence[Exhibit], wanted: str, quick: bool) -> Iterator[Work]:
    backend = get_backend("sim")
    for exhibit in chosen:
        if missing(exhibit, Scope(exhibit.profile, quick), backend):
            continue
        named = [name for claim in asked(exhibit, wanted) for name in claims()[claim].fails_under]
        for name in dict.fromkeys(named):
            yield work(exhibit, Scope(exhibit.profile, quick), backend, mutations()[name])


def left_out(wanted: str, *, quick: bool = False) -> Iterator[str]:
    """A line for each figure that needs a back end that isn't set up here."""
    for exhibit in select(wanted):
        needed = missing(exhibit, Scope(exhibit.profile, quick), get_backend("sim"))
        if needed:
            yield f"not run here: {exhibit.identifier}, which needs {' and '.join(needed)}"


def _judged(item: Work, wanted: str, out: Path, before: Answers) -> Iterator[Control]:
    for finding in judged(item, measured(item, out)):
        meant = finding.claim in asked(item.exhibit, wanted)
        if meant and item.variation in claims()[finding.claim].fails_under:
            yield control(finding, item.variation, item.scope.quick, before)


def control(finding: Finding, mutation: str, quick: bool, before: Answers | None = None) -> Control:
    """A finding under changed conditions: noticed if a check failed; undecided isn't failed.

    `before` has the checks without the change.
    """
    rank = {True: 0, None: 1, False: 2}
    known = before or {}
    failed = [check for check in finding.checks if check.passed is False]
    failed.sort(key=lambda check: rank[known.get((finding.claim, check.statement), False)])
    if failed:
        first = failed[0]
        return Control(finding.claim, mutation, quick, first.statement, first.measured)
    told = "; ".join(check.measured for check in finding.checks)
    return Control(finding.claim, mutation, quick, "", told)


def read(out: Path) -> list[Control]:
    """The kept controls that claims still name; none if none were run there."""
    kept = read_list(out / RECORD, "controls", lambda fields: Control(**fields))
    named = {(claim.identifier, name) for claim in claims().values() for name in claim.fails_under}
    return [one for one in kept if (one.claim, one.mutation) in named]


def _write(out: Path, new: Sequence[Control]) -> None:
    kept = {(one.claim, one.mutation, one.quick): one for one in (*read(out), *new)}
    order = {identifier: place for place, identifier in enumerate(claims())}
    known = sorted(kept.values(), key=lambda one: (order.get(one.claim, -1), one.mutation))
    write_list(out / RECORD, "controls", known)


def describe(made: Sequence[Control]) -> Iterator[str]:
    """The lines to print: each control, and how many went unnoticed."""
    for one in made:
        words = mutations()[one.mutation].words
        yield f"{'noticed' if one.noticed else 'NOT NOTICED'}: {one.claim}, with {words}"
        yield f"  {one.failed or 'no check failed'} Measured {one.measured}"
    lost = [one for one in made if not one.noticed]
    yield f"{len(made)} negative controls, {len(lost)} of them not noticed"
