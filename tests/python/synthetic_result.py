"""A results directory around the made-up run, without a simulator."""

from __future__ import annotations

from pathlib import Path

import synthetic_run

from narrows.metrics import summarise
from narrows.plan import Plan, Trial
from narrows.store import RunInfo, RunRecord, new_result

SPEC = 'name = "bbr-and-cubic-take-turns"\n\n[path]\nrate = "80mbit"\nrtt = "25ms"\n'
COMMAND = ("/somewhere/bin/narrows", "run", "fig9.toml", "--set", "path.buffer=1.75bdp")
CCAS = ("bbr", "bbr", "cubic", "cubic")


def write(
    path: Path,
    duration_s: float = 60.0,
    trials: int = 1,
    name: str = "bbr-and-cubic-take-turns",
    record: str = "samples",
) -> Path:
    """A complete result at `path`, without a report."""
    plan = Plan(name, tuple(_trials(duration_s, trials, name, record)), CCAS, "abcdef0123456789")
    with new_result(path, plan, "0.1.0", COMMAND) as draft:
        summaries = []
        for trial in plan.trials:
            info = RunInfo("sim", "narrows-sim 0.1.0", "d1", duration_s, 400_000, 0.3, 0.4)
            result = RunRecord(synthetic_run.tables(duration_s, CCAS), info)
            draft.add_trial(trial, result)
            summaries.append(summarise(trial.scenario, result.tables, info))
        draft.finish(SPEC, {"runs": summaries})
        return draft.publish().path


def _trials(duration_s, count, name, record):
    for number in range(1, count + 1):
        scenario = synthetic_run.scenario(duration_s, CCAS)
        scenario |= {"seed": number, "name": name}
        scenario["run"] |= {"record": record, "warmup_ns": 0}
        yield Trial.of(number, scenario, f"{number:016x}")
