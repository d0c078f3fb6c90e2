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
from narrows.metrics import summarise
from narrows.plan import Plan
from narrows.report import FINDINGS, Verdicts, write_report
from narrows.spec.measured import capacity_known
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

_KEYS = re.compile(rb"^(?:CLIENT|SERVER)_\w*TRAFFIC_SECRET\w* [0-9a-fA-F]+ [0-9a-fA-F]+\s*$", re.M)
"""A line of a key log (RFC 9850)."""

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


@dataclass(frozen=True)
class Datagrams:
    """The findings in captures without TCP data: pings, UDP and QUIC.

    No table of a run describes them, so there is no results directory.
    """

    findings: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """The data for `--json`: all findings as `capture`."""
        return {"capture": self.findings}


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
    made = describe(files, packets=packets, out=out, force=force, watcher=watcher, command=command)
    if isinstance(made, Datagrams):
        raise _without_data(str(files[0]), made.findings)
    return made


def describe(
    files: Sequence[str | Path],
    *,
    packets: bool = False,
    out: str | Path | None = None,
    force: bool = False,
    watcher: Watcher | None = None,
    command: Sequence[str] = (),
) -> Analysis | Datagrams:
    """Like `analyze`, but describes captures that hold UDP or pings alone, too."""
    read = _read_files(files, packets, watcher)
    if not read.findings["flows"] and _has_datagrams(read.findings):
        return Datagrams(read.findings)
    made = _understand(read)
    final = Path(out) if out is not None else default_directory(made.plan)
    with new_result(final, made.plan, __version__, command, force) as draft:
        draft.add_trial(made.plan.trials[0], made.result)
        written = draft.finish(made.loaded.text, {"runs": [made.summary]})
        write_report(written.path, Verdicts(lead=lead(made)))
        return Analysis(draft.publish(), made.findings)


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
    return _understand(_read_files(files, packets, watcher))


@dataclass(frozen=True)
class _Read:
    """The content of captures, the logs of `ss` beside them, and when reading began."""

    captures: Sequence[str | Path]
    findings: dict[str, Any]
    tables: dict[str, pl.DataFrame]
    logs: Sequence[Path]
    began_s: float
    cpu_s: float


def _read_files(files: Sequence[str | Path], packets: bool, watcher: Watcher | None) -> _Read:
    began_s, cpu_s = time.perf_counter(), time.process_time()
    begins = {Path(file): _begin(Path(file)) for file in files}
    logs = [file for file, begin in begins.items() if ss_log.matches(begin)]
    keys = [file for file, begin in begins.items() if _KEYS.search(begin)]
    captures = [file for file in files if Path(file) not in (*logs, *keys)]
    if not captures:
        remedy = "a capture and its log of `ss`" if logs else "a capture of QUIC and its key log"
        raise InputError.at(str((*logs, *keys)[0]), "no capture beside it", remedy)
    secrets = "".join(file.read_text(encoding="ascii", errors="replace") for file in keys)
    findings, tables = _read(captures, packets, watcher, secrets)
    note_far_quic(findings)
    return _Read(captures, findings, tables, logs, began_s, cpu_s)


def _understand(read: _Read) -> MeasuredRun:
    findings, tables, logs = read.findings, read.tables, read.logs
    flows, place = findings["flows"], str(read.captures[0])
    if not flows:
        raise _without_data(place, findings)
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


def _read(
    files: Sequence[str | Path], packets: bool, watcher: Watcher | None, keys: str
) -> tuple[dict[str, Any], dict[str, pl.DataFrame]]:
    import polars as pl

    from narrows import _native

    try:
        output = _native.analyze([str(file) for file in files], packets, watcher, keys)
    except _native.CaptureError as error:
        said, remedy = error.args
        place, _, found = said.partition(": found ")
        if not Path(place).exists():
            found = "no such file"
        raise InputError.at(place, found or "files that can't be analysed", remedy) from None
    findings: dict[str, Any] = json.loads(output.summary)
    findings["engine"] = f"narrows {_native.engine_version}"
    return findings, {name: pl.DataFrame(table) for name, table in output.tables.items()}


def note_far_quic(findings: Mapping[str, Any]) -> None:
    """Adds to flows of QUIC that weren't captured at their sender what that leaves unsure.

    There the sender's round trips show by the spin bit; acknowledgements may be delayed.
    """
    every = [quic for file in findings["files"] for quic in file["quic"]]
    ends = {tuple(quic["name"].split(">")) for quic in every if quic["spin"] != "turns"}
    for flow in findings["flows"]:
        source = (flow["source"], flow["destination"])
        if flow["vantage"] != "sender" and (source in ends or source[::-1] in ends):
            flow["notes"].append(
                "QUIC captured away from its sender, whose round trips its spin bit doesn't show: "
                "the cause is unsure"
            )


def _has_datagrams(findings: Mapping[str, Any]) -> bool:
    return any(file["datagrams"] for file in findings["files"])


def _without_data(place: str, findings: Mapping[str, Any]) -> InputError:
    found = "UDP or pings alone" if _has_datagrams(findings) else "connections that carry no data"
    return InputError.at(place, found, "a capture with TCP data")


def _begin(file: Path) -> bytes:
    """The first bytes of a file, by which logs are told from captures."""
    if not file.is_file():
        return b""
    with file.open("rb") as stream:
        return stream.read(20_000)


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
