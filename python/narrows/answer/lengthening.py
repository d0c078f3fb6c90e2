"""Lengthens the runs behind an answer until what it is about has settled, if that is affordable."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from narrows.answer.question import OPTION, metrics_in
from narrows.answer.study import AskedStudy
from narrows.execute.cost import load
from narrows.metrics.drifts import SHORT, concerns
from narrows.metrics.duration import lacking_s
from narrows.metrics.halves import until_pass_ends
from narrows.metrics.settling import UnsettledRuns, lasting_s
from narrows.spec import Override
from narrows.spec.scenario import Scenario

DURATION = "run.duration"
LONG_S, LONGEST_S = 300.0, 600.0
"""The least and the greatest duration of runs that are lengthened because something drifts."""
MOST_LOAD = 3e8
"""The largest cost of a search with longer runs, in packets: about two minutes on two cores."""
FIRST_RUNS = 40
"""About as many runs does a combination of the other axes take."""


def is_unsettled(study: AskedStudy, found: UnsettledRuns[Any]) -> bool:
    """Returns True if runs drift, or are too short, in what the question is about."""
    quantities = {quantity for one in found.combinations for quantity in found.quantities(one)}
    return any(concerns(quantities, name) for name in _metrics(study))


def _metrics(study: AskedStudy) -> list[str]:
    return [name for one in study.question.quantities for name in metrics_in(one)]


def lengthen(
    study: AskedStudy, found: UnsettledRuns[Any] | None = None, runs: int | None = None
) -> AskedStudy | None:
    """Returns the study with longer runs if the answer needs them and they are affordable.

    Before any run the path says it (`narrows.metrics.duration`); then the runs, of which there are
    so many, show it by those `found` unsettled.
    """
    if study.backend.name != "sim" or DURATION in study.places or _is_given(study):
        return None
    if found is not None and not is_unsettled(study, found):
        return None
    scenarios = study.scenarios()
    lacking = max(lacking_s(one) or 0.0 for one in scenarios)
    if found is None and not (lacking and any(concerns([SHORT], name) for name in _metrics(study))):
        return None
    drifting = found is not None and bool(found.drifting)
    wanted_s = max(lasting_s(one, lacking, drifting) for one in scenarios)
    wanted_s = min(max(wanted_s, LONG_S) if drifting else wanted_s, LONGEST_S)
    wanted_s = max(until_pass_ends(one, wanted_s) for one in scenarios)
    count = FIRST_RUNS * len(study.cases) if runs is None else runs
    longer = [_lasting(one, wanted_s) for one in scenarios]
    present_s = max(one["run"]["duration_ns"] for one in scenarios) / 1e9
    if wanted_s <= present_s or count * sum(map(load, longer)) / len(longer) > MOST_LOAD:
        return None
    longest = f"{wanted_s:g}s"
    overrides = (*study.overrides, Override(f"{DURATION}={longest}", OPTION))
    return replace(study, overrides=overrides, longer_duration=longest)


def _is_given(study: AskedStudy) -> bool:
    """Returns True if a person set the duration with the question."""
    given = (one if isinstance(one, str) else one.text for one in study.overrides)
    return not study.longer_duration and any(one.startswith(f"{DURATION}=") for one in given)


def _lasting(scenario: Scenario, duration_s: float) -> Scenario:
    run = scenario["run"].copy()
    run["duration_ns"] = round(duration_s * 1e9)
    changed = scenario.copy()
    changed["run"] = run
    return changed
