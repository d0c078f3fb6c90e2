"""Turns measurements into verdicts: compares means over trials, with their intervals, to rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from narrows.late import pl
from narrows.metrics import intervals
from narrows.metrics.bounds import Decision, combine, decide, decide_share
from narrows.metrics.intervals import half_width, mean, share_interval
from narrows.report import Check, UnjudgedCheck
from narrows.reproduce.exhibit import Data, Finding
from narrows.reproduce.rules import Rule, rule

T = TypeVar("T")
Samples = Sequence[float]
"""A measurement in each trial; infinity stands for an event that never happens."""
MOST_TOLD = 6
"""With more conditions, only those outside the limits are listed."""
SAME = 1e-6
"""Values with a smaller relative difference count as the same."""
OWN_PATH = "the number is of the document's path"
MISSING = (
    "A trial in which it never happens has no value: then the rule is met only if every trial lies "
    "inside, and not met only if every one lies outside."
)
STRAIGHT = (
    "A small grid decides only what holds wherever the lines cross between its values, as their "
    "crossing is read off straight lines."
)
EQUAL = "Equal values count as one trial, as all trials of a condition were the same run here."


def interval(data: Data, values: Sequence[float], digits: int = 3, unit: str = "") -> str:
    """Returns the mean and half of the interval that decides, such as "10.3 ± 0.2 %"."""
    return intervals.interval(values, digits, unit, data.confidence)


def judge_bounds(
    data: Data,
    claim: str,
    check: str,
    statement: str,
    how: str,
    samples: Samples | Mapping[str, Samples],
    more: str = "",
    grid: Samples = (),
) -> Check:
    """Judges a measurement by the rule of a check; several by name are all judged.

    `how` says how it was measured; `more` is added after the measurement. The measurement of a
    `grid` is where straight lines between the grid's values cross.
    """
    held_to = rule(claim, check)
    every = samples if isinstance(samples, Mapping) else {"": samples}
    named = {name: _observations(data, values) for name, values in every.items()}
    if data.changed_path and held_to.is_of_path:
        told = _all_measured_text(data, replace(held_to, stated=None), named, {}, grid)
        return UnjudgedCheck(statement, how, OWN_PATH, told or "nothing", None)
    decisions = [_decide(data, held_to, values, grid) for values in named.values()]
    shown = dict(zip(named, decisions, strict=True))
    told = _all_measured_text(data, held_to, named, shown, grid)
    how = f"{how} {STRAIGHT}" if grid else how
    return Check(
        statement,
        _rule_text(data, how, held_to, named.values()),
        held_to.says,
        f"{told or 'nothing'}{more}{_expected_text(data, named, shown, grid)}",
        combine(decision.passed for decision in decisions),
        {name: _number(data, values) for name, values in named.items()},
        held_to.stated,
    )


def _decide(data: Data, held_to: Rule, values: Samples, grid: Samples) -> Decision:
    """Compares a measurement with the limits of a rule.

    Crossings on a small grid decide only if all values between its neighbours say the same.
    """
    decision = decide(values, held_to.low, held_to.high, data.confidence)
    if not (grid and data.scope.quick and len(values)):
        return decision
    reach = 0.0 if decision.passed is None else half_width(values, data.confidence)
    low, high = _gap(grid, values, reach)
    inside = held_to.low <= low and high <= held_to.high
    outside = high <= held_to.low or held_to.high <= low
    return decision if inside or outside else Decision(None, None)


def _gap(grid: Samples, values: Samples, reach: float) -> tuple[float, float]:
    """Returns the values of a grid next to both ends of the interval of crossings."""
    if all(map(math.isfinite, values)):
        first, last, beyond = mean(values) - reach, mean(values) + reach, max(grid)
    else:
        first = min(filter(math.isfinite, values), default=math.inf)
        last = beyond = math.inf
    return (
        max((x for x in grid if x <= first), default=min(grid)),
        min((x for x in grid if x >= last), default=beyond),
    )


def judge_share(
    data: Data, claim: str, check: str, statement: str, how: str, met: Sequence[bool]
) -> Check:
    """Judges in how many trials something happens, by a rule in % of the trials.

    The interval is exact (Clopper and Pearson), since equal answers leave a mean without spread.
    """
    held_to = rule(claim, check)
    known = _observations(data, [float(one) for one in met])
    level, count = data.confidence, round(sum(known))
    decision = decide_share(count, len(known), held_to.low / 100, held_to.high / 100, level)
    told = "nothing"
    if known:
        low, high = share_interval(count, len(known), level)
        told = f"{count} of {len(known)} trials ({100 * low:.0f} to {100 * high:.0f} %)"
    return Check(
        statement,
        _rule_text(data, how, held_to, [known]),
        held_to.says,
        f"{told}{_expected_text(data, {'': known}, {'': decision})}",
        decision.passed,
        {"": (100 * count / len(known) if known else None, None)},
        held_to.stated,
    )


def _rule_text(data: Data, how: str, held_to: Rule, samples: Iterable[Samples]) -> str:
    """How a check is measured, when it is met, and how equal and missing values count."""
    missing = [MISSING] if any(map(_is_mixed, samples)) else []
    return " ".join([how, held_to.words, *missing, *([EQUAL] if data.same_runs else [])])


def _number(data: Data, values: Samples) -> tuple[float | None, float | None]:
    """Returns the mean of the known values and half of its interval; None where there is none."""
    known = [float(value) for value in values if math.isfinite(value)]
    reach = half_width(known, data.confidence)
    return (mean(known) if known else None, reach if math.isfinite(reach) else None)


def _observations(data: Data, values: Samples) -> Samples:
    """Returns the values; only one if all are equal and trials were the same run."""
    if not data.same_runs or len(values) < 2:
        return values
    first = values[0]
    return values[:1] if all(math.isclose(v, first, rel_tol=SAME) for v in values) else values


def _all_measured_text(
    data: Data,
    held_to: Rule,
    named: Mapping[str, Samples],
    decisions: Mapping[str, Decision],
    grid: Samples = (),
) -> str:
    """Returns every measurement in words; for many, their range and those outside the limits."""
    if len(named) <= MOST_TOLD:
        return "; ".join(
            _measured_text(data, held_to, name, values, grid) for name, values in named.items()
        )
    means = sorted(mean(values) for values in named.values() if len(values))
    rest = [name for name, decision in decisions.items() if not decision.passed]
    words = f"{means[0]:.3g} to {means[-1]:.3g}{held_to.unit} in {len(named)} conditions"
    if not rest:
        return words
    listed = "; ".join(
        _measured_text(data, held_to, name, named[name], grid) for name in rest[:MOST_TOLD]
    )
    return f"{words}, {len(rest)} of them not within: {listed}"


def _measured_text(
    data: Data, held_to: Rule, name: str, values: Samples, grid: Samples = ()
) -> str:
    if len(values) and all(math.isinf(v) for v in values):
        words = "never"
    else:
        words = interval(data, values, 3, held_to.unit)
    if _is_mixed(values):
        missing = sum(map(math.isinf, values))
        words += f" in {len(values) - missing} of {len(values)} trials, never in {missing}"
    if data.same_runs and len(values) == 1:
        words += " on one path"
    known = [v for v in values if math.isfinite(v)]
    if grid and known:
        words = _crossing_text(data, held_to, values, grid, words)
    elif held_to.stated and known and not _is_mixed(values):
        words += f" ({100 * (mean(known) / held_to.stated - 1):+.0f} %)"
    return f"{name}: {words}" if name else words


def _crossing_text(
    data: Data, held_to: Rule, values: Samples, grid: Samples, interpolated: str
) -> str:
    """Says between which values of a grid lines cross.

    On the whole grid also where they do if they are straight: a small one's gaps are too wide.
    """
    reach = half_width(values, data.confidence) if len(values) > 1 else 0.0
    low, high = _gap(grid, values, reach)
    between = f"between {low:g} and {high:g}{held_to.unit}"
    between = between if math.isfinite(high) else f"above {low:g}{held_to.unit}, or never"
    straight = "" if data.scope.quick else f" ({interpolated} if they are straight)"
    return f"the lines cross {between}{straight}"


def _is_mixed(values: Samples) -> bool:
    """Returns True if an event happens in some of the trials and never in others."""
    return any(map(math.isinf, values)) and any(map(math.isfinite, values))


def _expected_text(
    data: Data,
    named: Mapping[str, Samples],
    decisions: Mapping[str, Decision],
    grid: Samples = (),
) -> str:
    """Says how many more trials would decide the undecided checks with measurements."""
    open_ = {
        name: decisions[name].more
        for name, values in named.items()
        if len(values) and decisions[name].passed is None
    }
    if not open_:
        return ""
    if data.same_runs and any(len(values) == 1 for values in named.values()):
        return "; only trials on other paths would decide it"
    known = {name: more for name, more in open_.items() if more is not None}
    if len(known) < len(open_):
        between = ", `narrows search` between these values would" if grid else ""
        return f"; more trials wouldn't decide it{between}"
    most = max(known.values())
    return f"; {most} more {'trial' if most == 1 else 'trials'} would decide it"


def make_note(statement: str, how: str, measured: str) -> Check:
    """Returns a measurement that decides nothing."""
    return Check(statement, f"{how} Decides nothing.", "not said", measured, None)


def per_trial(data: Data, value: Callable[[Data], T], by: str = "trial") -> list[T]:
    """Returns a measurement in each trial by itself, or for each value of another column."""
    numbers = sorted({n for frame in data.frames.values() for n in frame[by].unique().to_list()})
    return [value(rows_where(data, by, number)) for number in numbers]


def rows_where(data: Data, column: str, wanted: object) -> Data:
    """Returns the rows of every frame with one value of a column."""
    frames = {name: rows.filter(pl.col(column) == wanted) for name, rows in data.frames.items()}
    return replace(data, frames=frames)


def ratios(over: Samples, under: Samples) -> list[float]:
    """Returns the ratios trial by trial; 1 for zero over zero, as neither is larger."""
    return [_ratio(a, b) for a, b in zip(over, under, strict=False)]


def _ratio(over: float, under: float) -> float:
    if under:
        return over / under
    return math.inf if over else 1.0


def differences(first: Samples, second: Samples) -> list[float]:
    """Returns the differences trial by trial."""
    return [a - b for a, b in zip(first, second, strict=False)]


def version(
    finding: Finding, document: Finding, profile: str, simulated: Finding | None = None
) -> Check:
    """Checks by the document's kernel whether a claim fails because of the kernel's version.

    `document` is the finding of the same claim under `profile`, the document's kernel. For a
    finding of a real kernel, both are the simulator's: `simulated` is that of the same version.
    """
    failed = _failed_checks(finding)
    there = [check for check in document.checks if check.statement in failed]
    alike = simulated is None or failed <= _failed_checks(simulated)
    return Check(
        f"The version makes the difference: the profile of the document's kernel is {profile}.",
        "The checks that fail here, of the same runs with the profile of the document's kernel"
        + (", in the simulator, in which they fail with this version, too" if simulated else "")
        + ". Shown if all of them are met there.",
        "; ".join(check.expected for check in there),
        "; ".join(check.measured for check in there) or "not checked there",
        alike and len(there) == len(failed) and all(check.passed for check in there),
    )


def _failed_checks(finding: Finding) -> set[str]:
    return {check.statement for check in finding.checks if check.passed is False}


def crossing(x: Sequence[float], first: Sequence[float], second: Sequence[float]) -> float | None:
    """Returns the smallest x at which `first`, until then above `second`, crosses it.

    The lines are straight between the points. None if they don't cross.
    """
    above = [a - b for a, b in zip(first, second, strict=True)]
    for i in range(1, len(above)):
        if above[i - 1] > 0 >= above[i]:
            part = above[i - 1] / (above[i - 1] - above[i])
            return x[i - 1] + part * (x[i] - x[i - 1])
    return None
