"""From files of other programs to a results directory."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from narrows._native import MAX_NAME
from narrows.analyze import ss_log
from narrows.analyze.path import PathEstimate, estimate, queue_distribution, queue_samples
from narrows.analyze.run import MeasuredRun, write
from narrows.analyze.scenario import plan_of_capture, specification
from narrows.columns import empty
from narrows.errors import InputError
from narrows.exchange import flent, iperf3, mahimahi, ss, table
from narrows.exchange.measured import FileMeasurements, MeasuredFlow, check, distributions, join
from narrows.files import reason
from narrows.late import pl
from narrows.metrics import summarise
from narrows.spec import CheckedSpecification, parse
from narrows.spec.estimates import PARTS
from narrows.spec.registry import ccas
from narrows.spec.scenario import Scenario
from narrows.spec.suggest import one_of
from narrows.spec.values import spell
from narrows.store import Result, RunInfo, RunRecord, digest

FORMATS = ("iperf3", "flent", "csv", "mahimahi", "ss")
BACKEND = "import"
MAX_FILE_BYTES = 1_000_000_000


def import_files(
    files: Sequence[str | Path],
    form: str | None = None,
    overrides: Sequence[str] = (),
    *,
    out: str | Path | None = None,
    force: bool = False,
    command: Sequence[str] = (),
) -> Result:
    """Makes a results directory from files of other programs; their flows count as concurrent.

    The path is estimated from the flows; `overrides` such as "path.rate=100mbit" give its real
    values. Without `form` the format is recognised by the files' contents. Raises InputError for
    malformed files.
    """
    return write(read_files(files, form, overrides), out, command, force=force)


def read_files(
    files: Sequence[str | Path], form: str | None = None, overrides: Sequence[str] = ()
) -> MeasuredRun:
    """The results that `import_files` makes of files, without writing them.

    Raises InputError for malformed files.
    """
    if form is not None and form not in FORMATS:
        raise InputError.at("--format", f'"{form}"', one_of(form, FORMATS))
    parts = [_read(Path(file), form) for file in files]
    measured, place = _merge([part for part, _ in parts]), Path(files[0])
    loaded, flows, path = _describe(measured, place, overrides)
    tables = _tables(measured, flows, path)
    info = RunInfo(
        backend=BACKEND,
        engine=parts[0][1],
        digest=digest(tables),
        end_s=max(flow.end_s for flow in measured.flows),
        packets=int(tables["queue_samples"]["forwarded_packets"].max() or 0),  # type: ignore[arg-type]
        cpu_s=0.0,
        wall_s=0.0,
        conditions={
            "files": [Path(file).name for file in files],
            "systems": sorted({part.system for part, _ in parts if part.system}),
            "given": [place for place in PARTS.values() if place in _given_places(overrides)],
        },
    )
    plan = plan_of_capture(loaded, flows, info.digest, path)
    summary = summarise(plan.trials[0].scenario, tables, info, plan.groups)
    return MeasuredRun(loaded, plan, RunRecord(tables, info), summary)


def _read(path: Path, form: str | None) -> tuple[FileMeasurements, str]:
    """The contents of a file, and its format."""
    wanted = f"file of {form}" if form else f"file of {', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
    try:
        if not path.is_file():
            path.stat()
            raise InputError.at(
                str(path), "something other than a regular file", "a file that can be read"
            )
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InputError.at(str(path), "a file of more than 1 GB", "a smaller one")
        kind, source = _recognise(path, form)
        return check(_READERS[kind](source, _title(path))), kind
    except _NONSENSE as error:
        words = f"no {wanted} ({_reason(error)})"
        remedy = "a file as that program writes it"
        if _CAPTURE.search(path.name):
            remedy = "`narrows analyze`, which reads captures,"
        raise InputError.at(str(path), words, remedy) from None
    except OSError as error:
        raise InputError.at(str(path), reason(error), "a file that can be read") from None


_CAPTURE = re.compile(r"\.(pcap|pcapng|cap|s?qlog)(\.gz)?\d*$")
_NONSENSE = (
    *(KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError),
    *(EOFError, zlib.error, gzip.BadGzipFile, pl.exceptions.PolarsError),
)
"""Exceptions of readers for files that aren't in their format."""


def _reason(error: Exception) -> str:
    """The problem in words."""
    match error:
        case KeyError():
            return f"no {error}"
        case RecursionError():
            return "nested too deeply"
        case json.JSONDecodeError():
            return f"no JSON from line {error.lineno} on"
        case EOFError() | zlib.error() | gzip.BadGzipFile():
            return "its compression is broken"
        case ValueError() if type(error) is ValueError:
            return str(error)
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'nothing else'}"


_READERS: Mapping[str, Callable[[Any, str], FileMeasurements]] = {
    "iperf3": iperf3.read,
    "flent": flent.read,
    "csv": table.read,
    "mahimahi": mahimahi.read,
    "ss": ss.read,
}


def _recognise(path: Path, form: str | None) -> tuple[str, object]:
    """The format, and the input for its reader: a document, bytes or a text."""
    content = path.read_bytes()
    begin = content[:200].lstrip()
    if form in ("iperf3", "flent") or begin[:1] == b"{" or content[:2] == b"\x1f\x8b":
        document = flent.load(path)
        kind = form or ("flent" if flent.matches(document) else "iperf3")
        return kind, document
    if form == "mahimahi" or mahimahi.matches(begin.decode("utf-8", "replace")):
        return "mahimahi", content.decode("utf-8")
    if form == "ss" or (form is None and ss_log.matches(content)):
        return "ss", content.decode("utf-8")
    return "csv", content


def _merge(parts: Sequence[FileMeasurements]) -> FileMeasurements:
    """The flows of several files as if they had run together."""
    if len(parts) == 1:
        return parts[0]
    flows = [flow for part in parts for flow in part.flows]
    rates = [part.rate_bps for part in parts if part.rate_bps]
    return FileMeasurements(
        flows, min(part.interval_s for part in parts), None, max(rates, default=None)
    )


def _describe(
    measured: FileMeasurements, place: Path, overrides: Sequence[str]
) -> tuple[CheckedSpecification, list[dict[str, Any]], PathEstimate]:
    """A specification of the measurement, each flow as `narrows.analyze` describes it, its path.

    The rate and the RTT that are given, or shown by the file, decide the estimate of the rest.
    """
    nothing = [None] * len(measured.flows)
    loaded, flows, path = _estimate(measured, place, measured.rate_bps, nothing)
    if not overrides:
        return loaded, flows, path
    scenario = parse(loaded.text, loaded.spec.name, overrides).spec.scenario
    given = _given_places(overrides)
    rate_bps = scenario["path"]["rate_bps"] if "path.rate" in given else measured.rate_bps
    rtts = _given_rtts_ms(scenario, overrides)
    loaded, flows, path = _estimate(measured, place, rate_bps, rtts, given)
    return parse(loaded.text, loaded.spec.name, overrides), flows, path


def _estimate(
    measured: FileMeasurements,
    place: Path,
    known_bps: int | None,
    empty_rtts_ms: Sequence[float | None],
    given: Collection[str] = (),
) -> tuple[CheckedSpecification, list[dict[str, Any]], PathEstimate]:
    """The measurement described with the rate and the flows' RTTs without a queue, if known."""
    flows = [_facts(flow, ms) for flow, ms in zip(measured.flows, empty_rtts_ms, strict=True)]
    path = estimate(flows, join(measured.flows), measured.interval_s, known_bps)
    path = replace(path, known=path.known or known_bps is not None)
    end_s = max(flow.end_s for flow in measured.flows)
    interval_ns = round(measured.interval_s * 1e9)
    origin = (str(place), end_s)
    loaded = specification(_title(place), flows, path, origin, interval_ns, given)
    return loaded, flows, path


def _facts(flow: MeasuredFlow, empty_rtt_ms: float | None) -> dict[str, Any]:
    rtts = flow.samples["rtt_ms"].drop_nulls()
    lowest = pl.concat([rtts, flow.samples["min_rtt_ms"].drop_nulls()])
    least = empty_rtt_ms or (float(str(lowest.min())) if len(lowest) else None)
    high = rtts.quantile(0.99, "higher") if len(rtts) else None
    mean = float(str(rtts.mean())) if len(rtts) else None
    return {
        "name": flow.name,
        "start_s": 0.0,
        "end_s": flow.end_s,
        "complete": False,
        "received_bytes": int(flow.samples["received_bytes"].max() or 0),  # type: ignore[arg-type]
        "control": {"control": flow.cca if flow.cca in ccas() else "hidden"},
        "rtt_ms": {"min": least, "mean": mean, "p99": high},
        "to_receiver_ms": least,
        "to_sender_ms": None,
    }


def given_rtt_ms(scenario: Scenario, overrides: Sequence[str]) -> float | None:
    """The path's round-trip time, if the overrides give it."""
    given = "path.rtt" in _given_places(overrides)
    return float(scenario["path"]["rtt_ns"]) / 1e6 if given else None


def _given_rtts_ms(scenario: Scenario, overrides: Sequence[str]) -> list[float | None]:
    """The RTT of each flow without a queue, if the overrides give it or the path's."""
    given, path_ms = _given_places(overrides), given_rtt_ms(scenario, overrides)
    return [
        flow["rtt_ns"] / 1e6 if f"flows[{number}].rtt" in given and flow["rtt_ns"] else path_ms
        for number, flow in enumerate(scenario["flows"])
    ]


def _given_places(overrides: Sequence[str]) -> set[str]:
    """The places that overrides give."""
    places = (spell(text.partition("=")[0].strip()) for text in overrides)
    return {place for place in places if place is not None}


def _tables(
    measured: FileMeasurements,
    flows: Sequence[Mapping[str, Any]],
    path: PathEstimate,
) -> dict[str, pl.DataFrame]:
    samples = join(measured.flows)
    queue = measured.queue
    if queue is None:
        queue = queue_samples(flows, samples, path.known, path.rate_bps)
    return {
        "flow_samples": samples,
        "queue_samples": queue,
        "internals": empty("internals"),
        "completions": empty("completions"),
        "distributions": pl.concat([distributions(measured.flows), queue_distribution(queue)]),
    }


def _title(path: Path) -> str:
    stem = re.sub(r"(\.(json|csv|log|flent|gz))+$", "", path.name)
    printable = "".join(c for c in stem if c.isprintable())
    return printable[:MAX_NAME].strip() or "imported"
