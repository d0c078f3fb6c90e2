"""Plays a kernel's own scripts many times beside a load and counts the different results.

    python tools/repeat_kernel_tests.py linux-6.12-tests --rounds 100 --load 15

The load is processes that never wait, at the lowest priority (nice 19); the rounds have nice 5. A
result is everything that `narrows kernel test --json` says. A file in tools/kernel_tests/rounds has
the counts after each round; to stop it loses nothing. Further rounds under the same conditions are
added.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from narrows.backends.linux.tools import drill_tool
from narrows.backends.uml.kernels import BuiltKernel
from narrows.kernel_tests import choose_kernel, play_cases, selftests

FOLDER = Path(__file__).parent / "kernel_tests" / "rounds"
LOAD = "while True: pass"
LOWEST, LOW = 19, 5


def main(arguments: list[str]) -> None:
    """Plays the rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernel")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--load", type=int, default=15)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args(arguments)
    kernel = choose_kernel(chosen.kernel)
    file: Path = chosen.folder / f"{kernel.name}.json"
    file.parent.mkdir(exist_ok=True)
    conditions = describe(kernel, chosen.load)
    os.nice(LOW)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the load ends, too
    with busy(chosen.load):
        for _ in range(chosen.rounds):
            before = cpu_s()
            mark = play(kernel)
            counts = add(file, conditions, mark, cpu_s() - before)
            print(mark, counts, flush=True)


def describe(kernel: BuiltKernel, load: int) -> dict[str, Any]:
    """The conditions of rounds that count together."""
    return {
        "kernel": f"{kernel.release} {kernel.digest[:12]}",
        "drill": hashlib.sha256(drill_tool().read_bytes()).hexdigest()[:12],
        "load": load,
        "processors": len(os.sched_getaffinity(0)),
    }


def play(kernel: BuiltKernel) -> str:
    """Plays a round; returns the digest of its result."""
    run = play_cases(selftests(kernel), kernel)
    text = json.dumps([verdict.document() for verdict in run.verdicts])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def cpu_s() -> float:
    """CPU seconds of this process and of the guests that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@contextmanager
def busy(count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Keeps processes busy until the end of the block."""
    command = ["nice", "-n", str(LOWEST), sys.executable, "-c", LOAD]
    started = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()


def add(file: Path, conditions: dict[str, Any], mark: str, cpu: float) -> dict[str, int]:
    """Adds a round to the file; returns how many had each result."""
    known: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    if known.get("conditions") != conditions:
        known = {"conditions": conditions, "results": {}, "cpu_s": 0.0}
    counts: dict[str, int] = known["results"]
    counts[mark] = counts.get(mark, 0) + 1
    known["cpu_s"] = round(known["cpu_s"] + cpu, 1)
    file.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    return counts


if __name__ == "__main__":
    main(sys.argv[1:])
