"""Measures what a large sweep costs, alone and on a local Dask cluster that loses a worker.

    python tools/measure_scale.py [--runs 100000] [--folder .] [--json FILE] [--write]

Two sweeps of two-second runs (BBR beside CUBIC at 10 Mbit/s, level summary), each into a new store
below `--folder`, which should be on a disk:

- two processes (`--jobs 2`): bytes and files in the store, runs a second, memory of the first
  process;
- two workers of Dask (`--cluster local --jobs 2`), one of which is killed when half of the runs are
  stored: every run has to be there once, and what a run costs more than in the first sweep.

The machine should be idle: the table has the load before each sweep. `--write` puts the table into
docs/explanation/scale.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from narrows.store import open_store

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "scale.md"
REGION = re.compile(
    r"(?<=<!-- measured: tools/measure_scale.py -->\n).*?(?=<!-- end -->)", re.DOTALL
)
DELAYS, BUFFERS = 50, 20
TICK_S = 0.25
BLOCK = 512
"""Bytes of a block in `st_blocks`."""
_STUDY = """\
name = "scale"
[path]
rate = "10mbit"
rtt = [{delays}]
buffer = [{buffers}]
[[flows]]
cca = "bbr"
[[flows]]
cca = "cubic"
[run]
duration = "2s"
record = "summary"
trials = {trials}
"""


@dataclass(frozen=True)
class Sweep:
    """A sweep with all of its processes: what it took, and what it left."""

    kind: str
    runs: int
    failed: int
    load: float
    """The load of the machine over the last minute, before the sweep."""
    whole_s: float
    """From the command to its end, with the plan and the page."""
    runs_s: float
    """The part of it in which runs were done."""
    cpu_s: float
    first_process_mb: float
    """The most memory of the process that was started, without its children."""
    disk_bytes: int
    files: int
    parts: int
    killed: int
    """The worker processes that were killed."""


def write_study(folder: Path, runs: int) -> Path:
    """Writes a study of about this many runs: up to 1,000 combinations with equal trials."""
    delays, buffers = min(DELAYS, max(runs // BUFFERS, 1)), min(BUFFERS, runs)
    file = folder / "study.toml"
    file.write_text(
        _STUDY.format(
            delays=", ".join(f'"{2 * number}ms"' for number in range(5, 5 + delays)),
            buffers=", ".join(f'"{10 * number}pkt"' for number in range(1, 1 + buffers)),
            trials=max(round(runs / (delays * buffers)), 1),
        ),
        encoding="utf-8",
    )
    return file


def sweep(kind: str, study: Path, out: Path, runs: int, options: Sequence[str]) -> Sweep:
    """Does a sweep and measures it; with a cluster a worker is killed half-way."""
    command = [sys.executable, "-m", "narrows", "run", str(study), "--out", str(out), "--json"]
    load, began, most_kb, killed = os.getloadavg()[0], time.monotonic(), 0, 0
    said = out.with_suffix(".json")
    with said.open("wb") as file:
        child = subprocess.Popen([*command, *options], stdout=file)
        while True:
            most_kb = max(most_kb, _peak_kb(child.pid))
            gone, status, used = os.wait4(child.pid, os.WNOHANG)
            if gone:
                break
            if "--cluster" in options and not killed and _count_stored(out) >= runs / 2:
                killed = _kill_one(child.pid)
            time.sleep(TICK_S)
    child.returncode = os.waitstatus_to_exitcode(status)
    whole_s = time.monotonic() - began
    told: dict[str, Any] = json.loads(said.read_text(encoding="utf-8"))
    _check(child.returncode, told, out, runs)
    files = [path for path in out.rglob("*") if path.is_file()]
    return Sweep(
        kind, runs, len(told["failed"]), round(load, 2), whole_s, told["wall_s"],
        used.ru_utime + used.ru_stime, most_kb / 1e3,
        sum(path.lstat().st_blocks * BLOCK for path in out.rglob("*")), len(files),
        len(list((out / "parts").iterdir())), killed,
    )  # fmt: skip


def _check(status: int, told: dict[str, Any], out: Path, runs: int) -> None:
    """Raises RuntimeError unless every run is in the store once."""
    stored = open_store(out).keys()
    if status or told["failed"] or len(stored) != runs:
        raise RuntimeError(f"status {status}, {len(stored)} of {runs} runs, {told['failed'][:3]}")


def _peak_kb(process: int) -> int:
    """The most memory of a process by now; 0 once it is over."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s*(\d+) kB", status, re.MULTILINE)
    return int(found[1]) if found else 0


def _count_stored(out: Path) -> int:
    """How many runs the parts of a store have, without those that another part replaces."""
    known: dict[str, dict[str, Any]] = {}
    for line in out.glob("parts/*/part.json"):
        try:
            known[line.parent.name] = json.loads(line.read_text(encoding="utf-8"))
        except OSError:  # merged since
            continue
    old = {name for part in known.values() for name in part["replaces"]}
    return sum(part["runs"] for name, part in known.items() if name not in old)


def _kill_one(process: int) -> int:
    """Kills one of the workers that a sweep has started; returns how many were killed."""
    for child in _children(process):
        try:
            command = Path(f"/proc/{child}/cmdline").read_bytes()
        except OSError:
            continue
        if b"spawn_main" in command:
            os.kill(child, signal.SIGKILL)
            return 1
    return 0


def _children(process: int) -> Iterator[int]:
    for task in Path(f"/proc/{process}/task").iterdir():
        yield from map(int, (task / "children").read_text().split())


def rows(alone: Sweep, dask: Sweep) -> Iterator[tuple[str, str, str, str]]:
    """Each figure: before stores had parts, its goal, its value."""
    runs = alone.runs
    more_ms = 1e3 * (dask.cpu_s - alone.cpu_s) / runs
    per_file, whole = f"{runs / alone.files:,.0f}", f"{runs / alone.whole_s:,.0f}"
    first, first_dask = f"{alone.first_process_mb:,.0f} MB", f"{dask.first_process_mb:,.0f} MB"
    yield "Bytes on disk, per run", "45,000", "at most 2,000", f"{alone.disk_bytes / runs:,.0f}"
    yield "Runs per file, once merged", "0.1", "at least 500", per_file
    yield "Runs a second, with plan and page", "256 to 368", "at least 600", whole
    yield "Runs a second, without them", "", "", f"{runs / alone.runs_s:,.0f}"
    yield "Processor time a run", "", "", f"{1e3 * alone.cpu_s / runs:.2f} ms"
    yield "Memory of the first process", "", "at most 300 MB", first
    yield "Dask: more processor time a run", "12 ms", "at most 1 ms", f"{more_ms:.2f} ms"
    yield "Dask: runs a second, without plan and page", "", "", f"{runs / dask.runs_s:,.0f}"
    yield "Dask: memory of the first process", "", "", first_dask
    yield "Dask: workers killed half-way", "", "1", str(dask.killed)
    yield "Dask: runs lost or failed", "", "0", str(dask.failed)


def table(alone: Sweep, dask: Sweep) -> str:
    """The figures as Markdown, with how they were measured."""
    made = f"{datetime.now(UTC):%d %B %Y}".lstrip("0")
    machine = f"{len(os.sched_getaffinity(0))} cores ({platform.machine()})"
    lines = [
        f"{alone.runs:,} runs of two seconds, measured on {made} on {machine}.",
        f"The load of the last minute before the sweeps was {alone.load:g} and {dask.load:g}.",
        "",
        "| | Before | Goal | Measured |",
        "| --- | --- | --- | --- |",
        *(f"| {' | '.join(row)} |" for row in rows(alone, dask)),
    ]
    return "\n".join(lines) + "\n"


def measure(
    runs: int, folder: Path, tell: Callable[[str], object] = lambda _: None
) -> tuple[Sweep, Sweep]:
    """Both sweeps, in new directories below `folder` that are removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="measure-scale-", dir=folder) as place:
        root = Path(place)
        study = write_study(root, runs)
        command = [sys.executable, "-m", "narrows", "run", str(study), "--dry-run", "--json"]
        asked = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
        count = int(json.loads(asked.stdout)["runs"])
        found = []
        for kind, options in (
            ("processes", ["--jobs", "2"]),
            ("dask", ["--cluster", "local", "--jobs", "2"]),
        ):
            os.sync()  # what the sweep before wrote isn't written during the next one
            found.append(sweep(kind, study, root / kind, count, options))
            tell(str(found[-1]))
    return found[0], found[1]


def main() -> int:
    """Measures, and prints the table."""
    parser = argparse.ArgumentParser(description="Measures what a large sweep costs.")
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, default=Path())
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    both = measure(options.runs, options.folder, lambda line: print(line, file=sys.stderr))
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in both], indent=1) + "\n")
    print(table(*both), end="")
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(REGION.sub(lambda _: table(*both), page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
