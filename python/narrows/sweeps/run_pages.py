"""Writes pages of the single runs of a sweep into its folder `pages`.

They share one copy of the chart library, so that a page is only as large as its data.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from narrows.late import pl
from narrows.metrics import summarise
from narrows.metrics.settling import note_of_run
from narrows.plan import Trial
from narrows.report.page import PageContents, Run, plotly_js, render
from narrows.store import Store
from narrows.store.atomic import write_text
from narrows.store.maintenance import classes
from narrows.sweeps.copies import copies_in, with_copy
from narrows.version import __version__

SCRIPT = "plotly-basic.min.js"
MOST_AUTOMATIC = 24
"""Sweeps with more runs make their pages only on request: each takes as long as a short run."""


def write_run_pages(store: Store, folder: Path, stem: str, record: Mapping[str, Any]) -> list[Path]:
    """Writes into `folder` a page for every stored run of a study that lacks one; returns all.

    Raises OSError if they can't be written.
    """
    folder.mkdir(exist_ok=True)
    runs, present = store.study_runs(stem), store.keys()
    paths = []
    for row in runs.filter(pl.col("run").is_in(sorted(present))).iter_rows(named=True):
        path = folder / f"{row['run']}.html"
        paths.append(path)
        if not path.is_file():
            write_text(path, _page(store, folder, stem, record, row))
    if paths and not (folder / SCRIPT).is_file():
        write_text(folder / SCRIPT, plotly_js())
    return paths


def _page(
    store: Store, folder: Path, stem: str, record: Mapping[str, Any], row: Mapping[str, Any]
) -> str:
    key, axes = str(row["run"]), list(record["axes"])
    scenario = store.scenario(key)
    trial = store.stored_run(Trial.of(int(row["trial"]), scenario, key))
    groups = classes(scenario, trial.tables["flows"])
    summary = summarise(scenario, trial.tables, trial.info, groups)
    values = ", ".join(f"{axis.rpartition('.')[2]} {row[axis]}" for axis in axes)
    label = f"trial {row['trial']}, seed {row['seed']}"
    study = PageContents(
        title=f"{record['name']}: {values}" if values else str(record["name"]),
        version=__version__,
        backend=f"{record['backend']} ({record['engine']})",
        command=_command(stem, record, row, copies_in(folder.parent, record)),
        spec=str(record["spec"]).strip(),
        groups=groups,
        runs=[Run(label, scenario, trial.tables, summary, trial.info.end_s)],
        drawable=scenario["run"]["record"] != "summary",
        lead=label[0].upper() + label[1:],
        notes=[note_of_run([summary], groups)],
        script=SCRIPT,
    )
    return render(study)


def _command(
    stem: str, record: Mapping[str, Any], row: Mapping[str, Any], copies: Mapping[str, str]
) -> str:
    """Returns the command for this run alone, from the file beside the study's page.

    For a study with a table `sweep` the command runs all trials.
    """
    alone = "sweep" not in tomllib.loads(str(record["spec"]))
    option = "--set" if alone else "--filter"
    words = ["narrows", "run", f"../{stem}.toml", "--backend", str(record["backend"])]
    for axis in record["axes"]:
        words += [option, with_copy(f"{axis}={_as_text(row[axis])}", copies)]
    return shlex.join([*words, *(["--trials", "1", "--seed", str(row["seed"])] if alone else [])])


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
