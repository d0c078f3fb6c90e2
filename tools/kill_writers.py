"""Kills sweeps at random moments and tells how long before its end each finished what it lost.

    python tools/kill_writers.py [--kills 100] [--seed 1] [--jobs 2] [--longest 14]

A sweep says when it has finished how many runs. After a SIGKILL, at most `--longest` seconds after
its beginning, these are compared with the runs of its store. Exit status 1 if a lost run had been
finished for `DURABLE_S`.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from narrows.store import open_store

DURABLE_S = 10.0
"""A run that was finished this long before is never lost."""
_STUDY = """\
name = "written"
[path]
rate = "40mbit"
rtt = "20ms"
buffer = [{buffers}]
[[flows]]
cca = "cubic"
[run]
duration = "2s"
record = "summary"
trials = 50
"""
_CHILD = """
import sys, time
from narrows.sweeps import execute, prepare
def tell(state):
    print(time.monotonic(), state.done, flush=True)
execute(prepare(sys.argv[1], out=sys.argv[2]), jobs=int(sys.argv[3]), watcher=tell)
"""


@dataclass(frozen=True)
class Kill:
    """A killed sweep: its finished and kept runs, and the age of the oldest lost one."""

    after_s: float
    finished: int
    kept: int
    oldest_s: float


def write_study(folder: Path, buffers: int = 200) -> Path:
    """Writes a study with 50 short runs for each of `buffers` buffers."""
    file = folder / "study.toml"
    named = ", ".join(f'"{number}pkt"' for number in range(20, 20 + buffers))
    file.write_text(_STUDY.format(buffers=named), encoding="utf-8")
    return file


def kill(study: Path, out: Path, after_s: float, jobs: int) -> Kill:
    """Starts a sweep and kills it with its processes some time after its first run."""
    command = [sys.executable, "-c", _CHILD, str(study), str(out), str(jobs)]
    said = out.with_suffix(".txt")
    with said.open("wb") as file:
        child = subprocess.Popen(command, stdout=file, start_new_session=True)
        while not _reports(said) and child.poll() is None:
            sleep(0.01)
        sleep(after_s)
        killed = monotonic()
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    reports, kept = _reports(said), len(open_store(out).keys())
    lost = [when for when, done in reports if done > kept]
    finished = max((done for _, done in reports), default=0)
    return Kill(after_s, finished, kept, killed - min(lost, default=killed))


def _reports(said: Path) -> list[tuple[float, int]]:
    """When how many runs were finished; a line that the kill cut off isn't read."""
    lines = said.read_text().split("\n")[:-1]
    found = [line.split() for line in lines]
    return [(float(when), int(done)) for when, done in found if int(done)]


def main() -> int:
    """Kills sweeps and prints what was lost."""
    options = _options()
    chance = random.Random(options.seed)  # noqa: S311
    kills = []
    with tempfile.TemporaryDirectory(prefix="kill-writers-") as root:
        study = write_study(Path(root))
        for number in range(options.kills):
            after_s = chance.uniform(0, options.longest)
            kills.append(kill(study, Path(root, str(number)), after_s, options.jobs))
            print(kills[-1], flush=True)
    finished, oldest = sum(one.finished for one in kills), max(one.oldest_s for one in kills)
    lost = sum(max(one.finished - one.kept, 0) for one in kills)
    print(
        f"{len(kills)} kills, {finished} finished runs, {lost} lost, the oldest {oldest:.1f} s old"
    )
    return 1 if oldest >= DURABLE_S else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Kills sweeps at random moments.")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--longest", type=float, default=14.0, metavar="SECONDS")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
