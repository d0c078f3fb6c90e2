"""The values of several back ends, quantity by quantity, and the verdict on each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from narrows.backends import BACKENDS, OBSERVED
from narrows.compare.quantities import QUANTITIES, ComparedQuantity, Measured
from narrows.metrics import equivalence
from narrows.metrics import intervals as statistics
from narrows.metrics.equivalence import LEAST_TRIALS, Difference, EquivalenceVerdict
from narrows.spec.scenario import Scenario

REAL = tuple(entry.name for entry in BACKENDS.values() if entry.real)
"""Back ends that run or captured real TCP, the better reference first."""


@dataclass(frozen=True)
class CellComparison:
    """A cell (a quantity of a class) on the reference and on another back end.

    `values` and `reference` hold one value for each trial. Either may be shorter or empty if
    nothing could be measured, for instance because no flow of the class was done. `paired` says
    that the trials correspond one to one, because both back ends ran the same path; `observed` that
    the reference is one observation. `runs` is the number of valid runs of the back end with fewer
    of them.
    """

    cell: ComparedQuantity
    backend: str
    values: tuple[float, ...]
    reference: tuple[float, ...]
    paired: bool = False
    observed: bool = False
    runs: int = LEAST_TRIALS

    @property
    def reference_values(self) -> tuple[float, ...]:
        """The values of the reference; an observation, which no trial repeats, has one."""
        return self.reference[:1] if self.observed else self.reference

    @cached_property
    def difference(self) -> Difference | None:
        """This mean minus the reference's, with its interval; None if a side has no value."""
        if not self.values or not self.reference:
            return None
        if self.observed:
            return equivalence.of_observation(self.values, self.reference[0])
        if self.paired and len(self.values) == len(self.reference):
            return equivalence.of_pairs(self.values, self.reference)
        return equivalence.of_means(self.values, self.reference)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends of the interval of the difference; None if they aren't known."""
        return None if self.difference is None else self.difference.interval

    @property
    def limit(self) -> float:
        """The largest difference that the quantity allows, regardless of the noise."""
        return self.cell.of.allowed(statistics.mean(self.reference)) if self.reference else 0.0

    @property
    def verdict(self) -> EquivalenceVerdict:
        """Agree if the whole interval is within the limit, differ if all of it is outside.

        A quantity also differs if one side measured it in enough trials and the other in none.
        """
        if self.difference is not None:
            return self.difference.verdict(self.limit)
        return EquivalenceVerdict.UNDECIDED if self._missing_trials else EquivalenceVerdict.DIFFER

    @property
    def more_trials(self) -> int | None:
        """How many more trials would decide; zero if it is decided, None if too many would."""
        if self.difference is not None:
            return self.difference.more_trials(self.limit)
        return self._missing_trials

    @property
    def _missing_trials(self) -> int:
        """How many more trials a side without a value needs for a verdict."""
        measured = max(len(self.values), len(self.reference))
        return max(0, LEAST_TRIALS - min(measured, self.runs))


@dataclass(frozen=True)
class VerdictCounts:
    """The number of cells with each verdict."""

    agree: int
    differ: int
    undecided: int

    @classmethod
    def of(cls, rows: Iterable[CellComparison]) -> VerdictCounts:
        """Counts the rows' verdicts."""
        verdicts = [row.verdict for row in rows]
        return cls(*(verdicts.count(verdict) for verdict in EquivalenceVerdict))

    @property
    def verdict(self) -> EquivalenceVerdict:
        """The verdict on all cells: one that differs decides, and one undecided leaves it open."""
        if self.differ:
            return EquivalenceVerdict.DIFFER
        return (
            EquivalenceVerdict.UNDECIDED
            if self.undecided or not self.agree
            else EquivalenceVerdict.AGREE
        )

    def __str__(self) -> str:
        """Returns the counts in words."""
        return f"{self.agree} agree, {self.differ} differ, {self.undecided} undecided"


@dataclass(frozen=True)
class LeftOut:
    """A run that is marked invalid, and why."""

    backend: str
    trial: int
    seed: int
    reason: str

    def __str__(self) -> str:
        """Returns a sentence."""
        return f"Left out: {self.backend}, trial {self.trial}, seed {self.seed}: {self.reason}"


@dataclass
class Comparison:
    """A scenario on several back ends.

    `measured` holds for each back end the cells of every trial, except for the runs that are
    `left_out` because they are invalid; `engines` names the versions that computed them. `varied`
    says that the trials differ in buffer and delay, and `seeded` that their seeds make a
    difference. `conditions` describes the scenario in a line, and `cpu_s` is the processor time of
    all runs of each back end. `notes` say what measurements don't show.
    """

    name: str
    conditions: str
    scenario: Scenario
    groups: tuple[str, ...]
    engines: Mapping[str, str]
    measured: dict[str, list[Measured]]
    varied: bool = False
    seeded: bool = True
    left_out: Sequence[LeftOut] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    cpu_s: Mapping[str, float] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def backends(self) -> list[str]:
        """All back ends as given."""
        return list(self.measured)

    @property
    def reference(self) -> str:
        """The back end that the others are compared with: a real kernel if there is one."""
        for real in REAL:
            for backend in self.backends:
                if backend.partition(":")[0] == real:
                    return backend
        return self.backends[0]

    @property
    def empty(self) -> tuple[str, ...]:
        """The back ends without a single valid run, if nothing can be compared because of them."""
        without = tuple(name for name, runs in self.measured.items() if not any(runs))
        left = len(self.measured) - len(without)
        return without if self.reference in without or left < 2 else ()

    @property
    def chance(self) -> Sequence[Measured]:
        """The trials that show whether seeds make a difference.

        An observation has only one outcome.
        """
        repeatable = [name for name in self.backends if not _is_observed(name)]
        known = self.reference in repeatable or not repeatable
        return [run for run in self.measured[self.reference if known else repeatable[0]] if run]

    @property
    def trials(self) -> int:
        """The number of runs of each back end."""
        return len(self.measured[self.reference])

    @property
    def cells(self) -> list[ComparedQuantity]:
        """Every cell that any trial measured: by quantity, then by class in the flows' order.

        Quantities that an observation doesn't show are unknown there, and aren't compared.
        """
        told = [self.reference] if self.is_single_observation else self.backends
        found = {cell for backend in told for run in self.measured[backend] for cell in run}
        found -= {
            replace(cell, quantity="retransmissions")
            for cell in found
            if cell.quantity == "retransmission_rate"
        }
        quantities, classes = list(QUANTITIES), ["", *dict.fromkeys(self.groups)]
        return sorted(found, key=lambda c: (quantities.index(c.quantity), classes.index(c.flows)))

    @property
    def rows(self) -> list[CellComparison]:
        """Every cell of every back end but the reference."""
        others = [backend for backend in self.backends if backend != self.reference]
        return [self._row(cell, backend) for cell in self.cells for backend in others]

    @property
    def is_paired(self) -> bool:
        """Returns True if the trials correspond one to one.

        They do if only buffers and delays differ, which both back ends share, and if both run the
        same impairments: real packets, too, cross the simulator's impairments, whose draws follow
        from the seed. Otherwise each back end draws for itself, and Welch's interval is at worst
        too wide.
        """
        shared = bool(self.scenario["path"]["impairments"]) and not self.is_single_observation
        return (self.varied and not self.seeded) or shared

    @property
    def is_single_observation(self) -> bool:
        """Returns True if the reference is one observation."""
        return _is_observed(self.reference)

    def _row(self, cell: ComparedQuantity, backend: str) -> CellComparison:
        ours, theirs = self.measured[backend], self.measured[self.reference]
        both = [
            pair for pair in zip(ours, theirs, strict=False) if all(cell in run for run in pair)
        ]
        paired = self.is_paired and bool(both)
        if paired:  # a trial without a value removes its partner
            ours, theirs = [pair[0] for pair in both], [pair[1] for pair in both]
        return CellComparison(
            cell,
            backend,
            tuple(run[cell] for run in ours if cell in run),
            tuple(run[cell] for run in theirs if cell in run),
            paired=paired,
            observed=self.is_single_observation,
            runs=min(sum(map(bool, self.measured[name])) for name in (backend, self.reference)),
        )

    @property
    def counts(self) -> VerdictCounts:
        """The number of cells with each verdict."""
        return VerdictCounts.of(self.rows)

    @property
    def more_trials(self) -> int | None:
        """How many more trials would decide every cell that a feasible number decides.

        Zero if all are decided; None if all undecided cells would need too many.
        """
        open_rows = [row for row in self.rows if row.verdict is EquivalenceVerdict.UNDECIDED]
        wanted = [more for row in open_rows if (more := row.more_trials) is not None]
        if wanted:
            return max(wanted)
        return None if open_rows else 0


def _is_observed(backend: str) -> bool:
    return backend.partition(":")[0] in OBSERVED
