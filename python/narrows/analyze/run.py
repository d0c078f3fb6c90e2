"""From the content of captures to a run, and to its results directory."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from narrows._native import MAX_NAME
from narrows.analyze.path import estimate, queue_distribution, queue_samples
from narrows.analyze.reading import Captures, Watcher, read_files, without_data
from narrows.analyze.scenario import BACKEND, plan_of_capture, specification
from narrows.analyze.sockets import join_logs
from narrows.errors import InputError
from narrows.late import pl
from narrows.metrics import summarise
from narrows.plan import Plan
from narrows.report import FINDINGS, write_report
from narrows.spec.reading import CheckedSpecification
from narrows.store import Result, RunInfo, RunRecord, default_directory, digest, new_result
from narrows.version import __version__


@dataclass(frozen=True)
class MeasuredRun:
    """A measurement of another program as a run: its specification, plan, tables and summary."""

    loaded: CheckedSpecification
    plan: Plan
    result: RunRecord
    summary: Mapping[str, Any]
    findings: Mapping[str, Any] = field(default_factory=dict)


def read_captures(
    files: Sequence[str | Path], *, packets: bool = False, watcher: Watcher | None = None
) -> MeasuredRun:
    """The results that `analyze` makes of captures, without writing them.

    Raises InputError for files that can't be read or hold no TCP data.
    """
    return understand(read_files(files, packets, watcher))


def write(
    run: MeasuredRun, out: str | Path | None, command: Sequence[str], *, force: bool
) -> Result:
    """Writes the results directory of a measurement, by default below `narrows-results`."""
    final = Path(out) if out is not None else default_directory(run.plan)
    with new_result(final, run.plan, __version__, command, force) as draft:
        draft.add_trial(run.plan.trials[0], run.result)
        written = draft.finish(run.loaded.text, {"runs": [run.summary]})
        write_report(written.path)
        return draft.publish()


def understand(read: Captures) -> MeasuredRun:
    """The run that captures show; raises InputError if they hold no TCP data."""
    findings, tables, logs = read.findings, read.tables, read.logs
    flows, place = findings["flows"], str(read.captures[0])
    if not flows:
        raise without_data(place, findings)
    samples, interval_ns = tables["flow_samples"], findings["sample_interval_ns"]
    if logs:
        samples, notes = _join(logs, findings, samples)
        findings["notes"] += notes
        tables["flow_samples"] = samples
    path = estimate(flows, samples, interval_ns / 1e9)
    end_s = max(findings["duration_s"], float(samples["time_s"].max() or 0.0))  # type: ignore[arg-type]
    loaded = specification(_name(read.captures), flows, path, (place, end_s), interval_ns)
    tables["queue_samples"] = queue_samples(flows, samples, path.known)
    tables["distributions"] = _append_queue(tables, queue_distribution(tables["queue_samples"]))
    info = RunInfo(
        backend=BACKEND,
        engine=f"{findings['engine']}",
        digest=digest(tables),
        end_s=end_s,
        packets=sum(flow["packets"] for flow in flows),
        cpu_s=time.process_time() - read.cpu_s,
        wall_s=time.perf_counter() - read.began_s,
        conditions={"files": [file["path"] for file in findings["files"]]},
    )
    content = _by_lines(findings).encode()
    plan = plan_of_capture(loaded, flows, info.digest, path)
    summary = summarise(plan.trials[0].scenario, tables, info, plan.groups)
    result = RunRecord(tables, info, files={FINDINGS: content})
    return MeasuredRun(loaded, plan, result, summary, findings)


def _join(
    logs: Sequence[Path], findings: dict[str, Any], samples: pl.DataFrame
) -> tuple[pl.DataFrame, list[str]]:
    texts = [log.read_text(encoding="utf-8", errors="replace") for log in logs]
    try:
        return join_logs(texts, findings, samples)
    except ValueError as error:
        raise InputError.at(str(logs[0]), str(error), "the time before each output") from None


def _append_queue(tables: Mapping[str, pl.DataFrame], queue: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([tables["distributions"], queue])


def _by_lines(findings: Mapping[str, Any]) -> str:
    """Findings as JSON with a line for each flow: with `indent` it would take ten times as long."""
    others = {name: value for name, value in findings.items() if name != "flows"}
    flows = ",\n".join(json.dumps(flow, allow_nan=False) for flow in findings["flows"])
    return f'{json.dumps(others, allow_nan=False)[:-1]}, "flows": [\n{flows}\n]}}\n'


def _name(files: Sequence[str | Path]) -> str:
    """The first file's name without the suffixes of captures."""
    stem = re.sub(r"(\.(pcap|pcapng|cap|dmp|gz))+\d*$", "", Path(files[0]).name)
    printable = "".join(c for c in stem if c.isprintable())
    return printable[:MAX_NAME].strip() or "capture"
