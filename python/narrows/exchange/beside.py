"""Imports a file whose network a specification describes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from narrows.exchange.read import import_files, read_files
from narrows.plan import Selection
from narrows.spec import Spec, Study
from narrows.spec.scenario import Scenario
from narrows.store import Result


def import_beside(file: str | Path, study: Study, filters: Sequence[str] = ()) -> Result:
    """Imports a file with the path's rate and the RTTs that the study's combinations agree on.

    Raises InputError for a malformed file.
    """
    wanted = Selection(study, filters)
    scenarios = [
        spec.scenario
        for point, spec in study.specs()
        if isinstance(spec, Spec) and wanted.takes(point)
    ]
    each = [_known_values(scenario) for scenario in scenarios]
    common = [value for value in each[0] if all(value in one for one in each)] if each else []
    if any(value.startswith("flows") for value in common):
        # The comparison itself refuses a measurement with another number of flows.
        count = len(read_files([file]).plan.trials[0].scenario["flows"])
        if any(len(scenario["flows"]) != count for scenario in scenarios):
            common = [value for value in common if value.startswith("path")]
    return import_files([file], overrides=common)


def _known_values(scenario: Scenario) -> list[str]:
    """Returns the rate and the RTTs of a scenario as overrides; a rate that varies is left out."""
    path = scenario["path"]
    rate = [f"path.rate={path['rate_bps']}bit"] if path["service"]["kind"] == "constant" else []
    rtts = [
        f"flows[{number}].rtt={flow['rtt_ns']}ns"
        for number, flow in enumerate(scenario["flows"])
        if flow["rtt_ns"] is not None
    ]
    return [*rate, f"path.rtt={path['rtt_ns']}ns", *rtts]
