"""A statement checked against data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from narrows.metrics.bounds import CheckVerdict


@dataclass(frozen=True, slots=True)
class Check:
    """A statement checked against the data of a figure's runs.

    `rule` says in words how the number is measured and what passes. It is shown beside the verdict,
    so that the verdict can be checked. `passed` is None if the data can't decide. `values`
    has each number behind the verdict by name: the mean and half of its interval, None where there
    is none. `stated` is the number with which the measured one is compared, if there is one.
    """

    statement: str
    rule: str
    expected: str
    measured: str
    passed: bool | None
    values: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    stated: float | None = None
    is_judged: ClassVar[bool] = True

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return CheckVerdict.of(self.passed)

    @property
    def expectation(self) -> str:
        """The document's statement, as a clause."""
        return f"expected {self.expected}"


class UnjudgedCheck(Check):
    """A check that isn't judged, as its bounds are of another path than the measured one."""

    is_judged: ClassVar[bool] = False

    @property
    def verdict(self) -> str:
        """The words in place of a verdict."""
        return "not judged"

    @property
    def expectation(self) -> str:
        """Why it isn't judged."""
        return self.expected
