"""From capture files to a results directory."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrows._native import MAX_NAME
from narrows.analyze import ss_log
from narrows.analyze.path import estimate, queue_distribution, queue_samples
from narrows.analyze.scenario import BACKEND, plan_of_capture, specification
from narrows.analyze.sockets import join_logs
from narrows.errors import InputError
from narrows.figures.frames import capacity_known
from narrows.metrics import summarise
from narrows.plan import Plan
from narrows.report import FINDINGS, Verdicts, write_report
from narrows.spec.reading import CheckedSpecification
from narrows.store import Result, RunInfo, RunRecord, default_directory, digest, new_result
from narrows.version import __version__

if TYPE_CHECKING:
    import polars as pl

_LEAD = (
    "This is a measurement. The path's rate, delay, buffer and queue are estimates: the highest "
    "rate of all flows together, the shortest round trip, and the excess of the others over it."
)
_UNREACHED = " The capacity wasn't reached, so it is unknown: no queue was filled."

Watcher = Callable[[int], None]
"""A function that is called with the number of segments read so far."""


@dataclass(frozen=True)
class Analysis:
    """A results directory made from captures, and what was found in them."""

    result: Result
    findings: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The data for `--json`: the summary of a run, and all findings as `capture`."""
        summary = self.result.summary
        return {**summary, "capture": self.findings, "directory": str(self.result.path)}


def analyze(
    files: Sequence[str | Path],
    *,
    packets: bool = False,
    out: str | Path | None = None,
    force: bool = False,
    watcher: Watcher | None = None,
    command: Sequence[str] = (),
) -> Analysis:
    """Analyses captures and keeps the findings in a results directory.

    With `packets`, every packet is a row of the table `packets`. The directory
    is `out`, or one below `narrows-results`; an older result of the same captures is
    replaced. Raises InputError for files that can't be read or hold no TCP data,
    and StoreError if the directory can't be written.
    """
    run = read_captures(files, packets=packets, watcher=watcher)
    final = Path(out) if out is not None else default_directory(run.plan)
    with new_result(final, run.plan, __version__, command, force) as draft:
        draft.add_trial(run.plan.trials[0], run.result)
        written = draft.finish(run.loaded.text, {"runs": [run.summary]})
        write_report(written.path, Verdicts(lead=lead(run)))
        return Analysis(draft.publish(), run.findings)


@dataclass(frozen=True)
class MeasuredRun:
    """A measurement of another program as a run: its specification, plan, tables and summary."""

    loaded: CheckedSpecification
    plan: Plan
    result: RunRecord
    summary: Mapping[str, Any]
    findings: Mapping[str, Any] = field(default_factory=dict)


def lead(run: MeasuredRun) -> str:
    """The sentence under the title of a measurement's page."""
    known = capacity_known(run.plan.trials[0].scenario)
    return _LEAD if known else _LEAD + _UNREACHED


def read_captures(
    files: Sequence[str | Path], *, packets: bool = False, watcher: Watcher | None = None
) -> MeasuredRun:
    """The results that `analyze` makes of captures, without writing them.

    Raises InputError for files that can't be read or hold no TCP data.
    """
    began, cpu = time.perf_counter(), time.process_time()
    logs = [Path(file) for file in files if _is_log(Path(file))]
    files = [file for file in files if Path(file) not in logs]
    if not files:
        raise InputError.at(str(logs[0]), "no capture beside it", "a capture and its log of `ss`")
    findings, tables = _read(files, packets, watcher)
    flows, place = findings["flows"], str(files[0])
    if not flows:
        raise InputError.at(place, "connections that carry no data", "a capture with data")
    samples, interval_ns = tables["flow_samples"], findings["sample_interval_ns"]
    if logs:
        samples, notes = _join(logs, findings, samples)
        findings["notes"] += notes
        tables["flow_samples"] = samples
    path = estimate(flows, samples, interval_ns / 1e9)
    end_s = max(findings["duration_s"], float(samples["time_s"].max() or 0.0))  # type: ignore[arg-type]
    loaded = specification(_name(files), flows, path, (place, end_s), interval_ns)
    tables["queue_samples"] = queue_samples(flows, samples, path.known)
    tables["distributions"] = _append_queue(tables, queue_distribution(tables["queue_samples"]))
    info = RunInfo(
        backend=BACKEND,
        engine=f"{findings['engine']}",
        digest=digest(tables),
        end_s=end_s,
        packets=sum(flow["packets"] for flow in flows),
        cpu_s=time.process_time() - cpu,
        wall_s=time.perf_counter() - began,
        conditions={"files": [file["path"] for file in findings["files"]]},
    )
    content = json.dumps(findings, indent=1, allow_nan=False).encode() + b"\n"
    plan = plan_of_capture(loaded, flows, info.digest, path)
    summary = summarise(plan.trials[0].scenario, tables, info, plan.groups)
    result = RunRecord(tables, info, files={FINDINGS: content})
    return MeasuredRun(loaded, plan, result, summary, findings)


def _read(
    files: Sequence[str | Path], packets: bool, watcher: Watcher | None
) -> tuple[dict[str, Any], dict[str, pl.DataFrame]]:
    import polars as pl

    from narrows import _native

    try:
        output = _native.analyze([str(file) for file in files], packets, watcher)
    except _native.CaptureError as error:
        said, remedy = error.args
        place, _, found = said.partition(": found ")
        if not Path(place).exists():
            found = "no such file"
        raise InputError.at(place, found or "files that can't be analysed", remedy) from None
    findings: dict[str, Any] = json.loads(output.summary)
    findings["engine"] = f"narrows {_native.engine_version}"
    return findings, {name: pl.DataFrame(table) for name, table in output.tables.items()}


def _is_log(file: Path) -> bool:
    """Returns whether a file is a log of `ss` instead of a capture."""
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return ss_log.matches(stream.read(20_000))


def _join(
    logs: Sequence[Path], findings: dict[str, Any], samples: pl.DataFrame
) -> tuple[pl.DataFrame, list[str]]:
    texts = [log.read_text(encoding="utf-8", errors="replace") for log in logs]
    try:
        return join_logs(texts, findings, samples)
    except ValueError as error:
        raise InputError.at(str(logs[0]), str(error), "the time before each output") from None


def _append_queue(tables: Mapping[str, pl.DataFrame], queue: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return pl.concat([tables["distributions"], queue])


def _name(files: Sequence[str | Path]) -> str:
    """The first file's name without the suffixes of captures."""
    stem = re.sub(r"(\.(pcap|pcapng|cap|dmp|gz))+\d*$", "", Path(files[0]).name)
    printable = "".join(c for c in stem if c.isprintable())
    return printable[:MAX_NAME].strip() or "capture"
