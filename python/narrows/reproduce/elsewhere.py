"""Judges claims under the changed conditions that a command asks for, and reports the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from narrows.execute import Watcher
from narrows.reproduce import fit, negative, rivals, seeds, testbeds
from narrows.reproduce.catalogue import exhibits, select
from narrows.reproduce.changes import ConditionChange
from narrows.reproduce.exhibit import Exhibit
from narrows.reproduce.judgements import Judgement, judge, left_out


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The requested changes: negative controls, testbeds, rivals, and a number of sets of seeds."""

    controls: bool = False
    testbeds: bool = False
    rivals: bool = False
    seeds: int | None = None

    @property
    def requests_any(self) -> bool:
        """Returns True if anything is requested."""
        return self.controls or self.testbeds or self.rivals or self.seeds is not None

    def of(self, exhibit: Exhibit) -> list[ConditionChange]:
        """Returns the changes of a figure, each once."""
        found = negative.named_changes(exhibit) if self.controls else []
        found += rivals.of(exhibit) if self.rivals else []
        found += testbeds.of(exhibit) if self.testbeds else []
        found += seeds.sets(self.seeds) if self.seeds else []
        return list({change.name: change for change in found}.values())


@dataclass(frozen=True, slots=True)
class Report:
    """The lines to print, and whether every requested negative control was noticed."""

    lines: Sequence[str]
    good: bool


def judge_elsewhere(
    wanted: str,
    elsewhere: Elsewhere,
    *,
    quick: bool = False,
    profile: str | None = None,
    trials: int | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    watcher: Watcher | None = None,
) -> Report:
    """Judges the claims that `wanted` means; raises the errors of `judgements.judge`."""
    judged = judge(
        wanted,
        elsewhere.of,
        quick=quick,
        profile=profile,
        trials=trials,
        out=out,
        jobs=jobs,
        watcher=watcher,
    )
    lines = [*_lines(wanted, elsewhere, judged), *left_out(wanted, quick=quick)]
    missed = [one for one in negative.controls(judged) if one.answer == negative.MISSED]
    return Report(lines, not (elsewhere.controls and missed))


def _lines(wanted: str, elsewhere: Elsewhere, judged: Sequence[Judgement]) -> Iterator[str]:
    if elsewhere.controls:
        yield from negative.describe(negative.controls(judged))
    if elsewhere.rivals:
        yield from rivals.describe(judged)
    if elsewhere.testbeds:
        for matrix in testbeds.matrices(judged, list(exhibits().values())):
            yield from testbeds.describe(matrix)
            yield ""
            yield from fit.describe(
                matrix.document, fit.fits(matrix.document, judged, select(wanted))
            )
    if elsewhere.seeds:
        yield from seeds.describe(judged)
