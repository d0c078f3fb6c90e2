"""The values of several back ends, quantity by quantity, and the verdict on each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from narrows.compare.quantities import QUANTITIES, Cell, Measured
from narrows.metrics import intervals as statistics

AGREE, DIFFER = "agree", "differ"
REAL = ("uml", "kernel")
"""Back ends that run a real kernel, the better reference first."""


@dataclass(frozen=True, slots=True)
class Row:
    """One cell on the reference and on another back end.

    `values` and `reference` hold one value for each trial, either may be empty
    where nothing could be measured (no flow of the class was done, say).
    """

    cell: Cell
    backend: str
    values: tuple[float, ...]
    reference: tuple[float, ...]

    @property
    def difference(self) -> float | None:
        """This mean less the reference's."""
        if not self.values or not self.reference:
            return None
        return statistics.mean(self.values) - statistics.mean(self.reference)

    @property
    def half_width(self) -> float:
        """Half of the 95 % interval of the difference; infinite with single trials."""
        return statistics.difference_half_width(self.values, self.reference)

    @property
    def limit(self) -> float:
        """How large the difference may be.

        It is what the quantity allows, or half of the 95 % interval of the
        reference's own mean where that is more.
        """
        if not self.reference:
            return 0.0
        own = statistics.half_width(self.reference)
        allowed = self.cell.of.allowed(statistics.mean(self.reference))
        return max(allowed, own if math.isfinite(own) else 0.0)

    @property
    def agrees(self) -> bool:
        """Whether the difference is within the limit; what neither could measure agrees."""
        if self.difference is None:
            return not self.values and not self.reference
        return abs(self.difference) <= self.limit

    @property
    def verdict(self) -> str:
        """In a word."""
        return AGREE if self.agrees else DIFFER

    @property
    def narrow(self) -> bool:
        """Whether more trials would hardly tell more."""
        if self.difference is None:
            return len(self.values) == len(self.reference)
        allowed = self.cell.of.allowed(statistics.mean(self.reference))
        return self.half_width <= allowed


@dataclass
class Comparison:
    """A scenario on several back ends.

    `measured` holds for each back end the cells of every trial; `engines` what
    computed. `varied` says that the seeds make no difference, so that the trials
    differ in buffer and delay instead. `conditions` is the scenario in a line.
    """

    name: str
    conditions: str
    scenario: Mapping[str, Any]
    groups: tuple[str, ...]
    engines: Mapping[str, str]
    measured: Mapping[str, Sequence[Measured]]
    varied: bool = False
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def backends(self) -> list[str]:
        """All back ends as given."""
        return list(self.measured)

    @property
    def reference(self) -> str:
        """The back end that the others are held against: a real kernel if there is one."""
        for real in REAL:
            for backend in self.backends:
                if backend.partition(":")[0] == real:
                    return backend
        return self.backends[0]

    @property
    def trials(self) -> int:
        """How many runs each back end had."""
        return len(self.measured[self.reference])

    @property
    def cells(self) -> list[Cell]:
        """Every cell that any trial measured: by quantity, then by class in the flows' order."""
        found = {cell for runs in self.measured.values() for run in runs for cell in run}
        quantities, classes = list(QUANTITIES), ["", *dict.fromkeys(self.groups)]
        return sorted(found, key=lambda c: (quantities.index(c.quantity), classes.index(c.flows)))

    @property
    def rows(self) -> list[Row]:
        """Every cell of every back end but the reference."""
        return [
            Row(cell, backend, self._values(backend, cell), self._values(self.reference, cell))
            for cell in self.cells
            for backend in self.backends
            if backend != self.reference
        ]

    def _values(self, backend: str, cell: Cell) -> tuple[float, ...]:
        return tuple(run[cell] for run in self.measured[backend] if cell in run)

    @property
    def agrees(self) -> bool:
        """Whether every cell does."""
        return all(row.agrees for row in self.rows)

    @property
    def narrow(self) -> bool:
        """Whether more trials would hardly tell more."""
        return all(row.narrow for row in self.rows)
