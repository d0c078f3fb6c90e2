"""Runs the negative controls: every claim under the conditions in which its checks must fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from narrows.backends import get_backend
from narrows.errors import InputError
from narrows.execute import Watcher
from narrows.reproduce.catalogue import asked, select
from narrows.reproduce.claims import claims
from narrows.reproduce.exhibit import Exhibit, Finding, Scope
from narrows.reproduce.gather import Work, gather, measured, work
from narrows.reproduce.make import OUT
from narrows.reproduce.mutations import mutations
from narrows.reproduce.records import read_list, write_list

RECORD = "mutations.json"


@dataclass(frozen=True, slots=True)
class Control:
    """A claim under changed conditions: the failed check and its measurement, or nothing."""

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

    They run in the simulator with the documents' kernels, and are kept in `out`. Raises
    InputError for an unknown name or a directory that can't be used.
    """
    place = Path(out) if out is not None else OUT
    works = list(_works(select(wanted), wanted, quick))
    gather(works, place, jobs=jobs, watcher=watcher)
    made = [one for item in works for one in _judged(item, wanted, place)]
    _write(place, made)
    return made


def only_simulated(backend: str, profile: str | None) -> None:
    """Raises InputError if changed conditions are asked for on another back end or kernel."""
    remedy = "nothing: these run in the simulator, with the documents' kernels"
    for option, found in (
        ("--backend", "" if backend == "sim" else backend),
        ("--profile", profile),
    ):
        if found:
            raise InputError.at(option, f'"{found}"', remedy)


def _works(chosen: Sequence[Exhibit], wanted: str, quick: bool) -> Iterator[Work]:
    backend = get_backend("sim")
    for exhibit in chosen:
        named = [name for claim in asked(exhibit, wanted) for name in claims()[claim].fails_under]
        for name in dict.fromkeys(named):
            yield work(exhibit, Scope(exhibit.profile, quick), backend, mutations()[name])


def _judged(item: Work, wanted: str, out: Path) -> Iterator[Control]:
    findings = item.exhibit.method().judge(measured(item, out))
    for finding in findings:
        meant = finding.claim in asked(item.exhibit, wanted)
        if meant and item.variation in claims()[finding.claim].fails_under:
            yield control(finding, item.variation, item.scope.quick)


def control(finding: Finding, mutation: str, quick: bool) -> Control:
    """A finding under changed conditions: noticed if a check failed; undecided isn't failed."""
    for check in finding.checks:
        if check.passed is False:
            return Control(finding.claim, mutation, quick, check.statement, check.measured)
    told = "; ".join(check.measured for check in finding.checks)
    return Control(finding.claim, mutation, quick, "", told)


def read(out: Path) -> list[Control]:
    """The kept controls; none if none were run there."""
    return read_list(out / RECORD, "controls", lambda fields: Control(**fields))


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
