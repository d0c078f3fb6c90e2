"""Runs the test cases of BBR's draft with several BBRv3, and keeps what each sender tells as qlog.

    python tools/trace_bbr_draft.py OUT [CASE...]

Each case of the suite bbr-draft becomes OUT/CASE/CONTROL, a results directory with one trial, whose
`captures` have the qlogs; what is there isn't run again. `traces.csv` in OUT says what each sender
did: a first look at where two traces differ.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from narrows.api.results import of_run
from narrows.errors import SpecError
from narrows.evaluate import load_suite
from narrows.evaluate.suite import Situation, select
from narrows.runner import execute, prepare
from narrows.store import CaptureOptions

CONTROLS = {
    "narrows-draft": ("cca=bbr3", "options.rules=draft"),
    "narrows-google": ("cca=bbr3",),
    "noq": ("cca=bbr3", "stack=noq"),
}
"""The changes that each makes to the flows under test."""


def traces(out: Path, names: list[str]) -> Iterator[dict[str, object]]:
    """A row for each sender in each case; what a stack can't run is a row with the reason."""
    suite = load_suite("bbr-draft")
    for situation in (select(suite, names) if names else suite).situations:
        for control in CONTROLS:
            yield {"case": situation.name, "control": control} | trace(situation, control, out)


def trace(situation: Situation, control: str, out: Path) -> dict[str, object]:
    """Runs a case with a control; says where its qlog is and what the sender did."""
    changes = [f"flows.{at}.{change}" for at in situation.subjects for change in CONTROLS[control]]
    try:
        experiment = prepare(situation.path, [*changes, "run.trials=1"])
    except SpecError as error:
        problem = error.problems[0]
        return {"refused": f"{problem.place}: {problem.found}"}
    impairments = experiment.plan.trials[0].scenario["path"]["impairments"]
    has_stack = any(change.startswith("stack=") for change in CONTROLS[control])
    if has_stack and any(one["kind"] == "ack_thinning" for one in impairments):
        return {"refused": "path.impairments: `ack_thinning`, which merges ACKs of TCP only"}
    directory = out / situation.name / control
    result = execute(experiment, out=directory, captures=CaptureOptions(qlog=True)).result
    number = result.groups.index("subject")
    samples = of_run(result).table("flow_samples").filter(pl.col("flow") == number)
    last = samples.sort("time_s").row(-1, named=True)
    qlog = next(directory.rglob("subject*.sqlog"))
    told = {key: last[key] for key in ("sent", "lost", "received_bytes")}
    return {"qlog": str(qlog.relative_to(out)), "bytes": qlog.stat().st_size, **told}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    table = pl.DataFrame(list(traces(folder, sys.argv[2:])), infer_schema_length=None)
    table.write_csv(folder / "traces.csv")
    print(table)
