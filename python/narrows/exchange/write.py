"""Writes a run in the format of another program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.errors import InputError
from narrows.exchange import flent, iperf3, mahimahi
from narrows.late import pl
from narrows.spec.scenario import Scenario
from narrows.spec.suggest import one_of
from narrows.store import is_store, open_result
from narrows.store.atomic import writing

if TYPE_CHECKING:
    Writer = Callable[[Scenario, Mapping[str, pl.DataFrame], Path], list[Path]]

WRITERS: Mapping[str, Writer] = {
    "iperf3": iperf3.write,
    "flent": flent.write,
    "mahimahi": mahimahi.write,
}


def export_run(directory: str | Path, form: str, stem: Path) -> list[Path]:
    """Writes every trial of a result in a format of another program; returns the files.

    Their names begin with `stem`, and with `stem-TRIAL` if there are several
    trials. Raises InputError for an unsuitable directory or format.
    """
    if form not in WRITERS:
        raise InputError.at("--format", f'"{form}"', one_of(form, list(WRITERS)))
    if is_store(directory):
        remedy = "the directory of a run (`narrows run`)"
        raise InputError.at(str(directory), "a sweep", remedy)
    result = open_result(directory)
    paths: list[Path] = []
    for trial in result.trials:
        name = stem.name if len(result.trials) == 1 else f"{stem.name}-{trial.number}"
        if "flow_samples" not in trial.tables or trial.tables["flow_samples"].height < 2:
            raise InputError.at(str(directory), "a run without samples", 'run.record = "samples"')
        with writing(stem):
            paths += WRITERS[form](trial.scenario, trial.tables, stem.with_name(name))
    return paths
