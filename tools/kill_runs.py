"""Ends commands at random moments by a signal and checks what they leave.

    python tools/kill_runs.py [--kills 30] [--seed 1] [--signals TERM,INT] [--commands run,sweep]

Every command gets every signal `--kills` times, each time at another moment between its beginning
and a bit after its usual end. After INT, TERM and HUP nothing may be left, after KILL nothing once
a short run has followed in the same place: no hidden file or directory, no lock, nothing in the
directory for temporary files and no process. Exit status 1 if there is something.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


def quiet(number: int) -> tuple[int, ...]:
    """How a signal may end a command.

    It was done, it reports the signal, or Python itself was still starting or already ending.
    """
    return (0, 1, 128 + number, -number)


SETTLING_S = 10.0
"""Processes of a killed run are gone within this time: the kernel takes some."""
_SPEC = """\
name = "kills"
[path]
rate = ["40mbit", "80mbit"]
rtt = "20ms"
buffer = "1bdp"
[[flows]]
cca = "cubic"
[run]
duration = "{duration}"
trials = 3
"""
_LONG = _SPEC.replace('["40mbit", "80mbit"]', '"80mbit"').format(duration="30s")
_SHORT = _LONG.replace('"30s"', '"200ms"').replace("trials = 3", "trials = 1")
_COMMAND = """
import sys
from narrows.start import main
print("ready", flush=True)  # until here Python is starting, not narrows
sys.exit(main())
"""
_FIGURE = "panaderia/fig9"
_CAPTURES = tuple(f"kept/run/trial-1/captures/{side}.pcapng" for side in ("sender", "receiver"))
"""Both ends of the run that is made first."""


@dataclass(frozen=True)
class Command:
    """The command to kill, and the run in the same place that cleans up after it."""

    name: str
    long: tuple[str, ...]
    short: tuple[str, ...]


COMMANDS = (
    Command(
        "run",
        ("run", "long.toml", "--force", "--out", "out/killed"),
        ("run", "short.toml", "--force", "--out", "out/next"),
    ),
    Command(
        "sweep",
        ("run", "study.toml", "--out", "sweep"),
        ("run", "short.toml", "--jobs", "1", "--out", "sweep"),
    ),
    Command(
        "reproduce",
        ("reproduce", _FIGURE, "--quick", "--out", "reproduced"),
        ("reproduce", _FIGURE, "--quick", "--out", "reproduced"),
    ),
    Command(
        "search",
        ("search", "copa", "--objective", "loss", "--tries", "20", "--out", "searched"),
        ("run", "short.toml", "--force", "--out", "out/next"),
    ),
    Command(
        "evaluate",
        ("evaluate", "reno", "--beside", "", "--out", "evaluated"),
        ("run", "short.toml", "--force", "--out", "out/next"),
    ),
    Command(
        "figure",
        ("figure", "kept/run", "timeline", "--out", "out/figure"),
        ("run", "short.toml", "--force", "--out", "out/next"),
    ),
    Command(
        "analyze",
        ("analyze", *_CAPTURES, "--force", "--out", "out/analyzed"),
        ("run", "short.toml", "--force", "--out", "out/next"),
    ),
    Command(
        "kernel",
        ("run", "real.toml", "--backend", "kernel:own", "--force", "--out", "out/real"),
        ("run", "short.toml", "--backend", "kernel:own", "--force", "--out", "out/next"),
    ),
)


class Site:
    """A directory with the specifications, where runs are killed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name, text in (
            ("long.toml", _LONG),
            ("short.toml", _SHORT),
            ("study.toml", _SPEC.format(duration="10s")),
            ("real.toml", _LONG.replace('"30s"', '"1s"')),
        ):
            (root / name).write_text(text, encoding="utf-8")
        (root / "tmp").mkdir()

    def start(self, arguments: tuple[str, ...]) -> subprocess.Popen[bytes]:
        """Starts narrows here, with its own temporary files."""
        process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND, *arguments],
            cwd=self.root,
            env=os.environ | {"TMPDIR": str(self.root / "tmp")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None  # noqa: S101
        process.stdout.readline()
        return process

    def finish(self, arguments: tuple[str, ...]) -> None:
        """Runs narrows to its end; raises RuntimeError if it ends badly."""
        process = self.start(arguments)
        _, said = process.communicate()
        if process.returncode not in (0, 1):  # 1: a claim that doesn't hold
            raise RuntimeError(f"{' '.join(arguments)}: {said.decode(errors='replace')}")

    def prepare(self) -> None:
        """Makes the run that `figure` and `analyze` read."""
        self.finish(("run", "real.toml", "--pcap", "--out", "kept/run"))
        self.clear()

    def clear(self) -> None:
        """Removes results, so that the next run has something to do."""
        for name in ("out", "sweep", "reproduced", "searched", "evaluated"):
            shutil.rmtree(self.root / name, ignore_errors=True)
        (self.root / "out").mkdir()

    def leftovers(self) -> Iterator[str]:
        """Everything that must not be here once nothing runs."""
        for path in self.root.rglob("*"):
            inside = path.relative_to(self.root).parts
            at_work = inside[:-1][-1:] in (("tmp",), ("locks",))
            if at_work or any(part.startswith(".") for part in inside):
                yield str(path)
        deadline = time.monotonic() + SETTLING_S
        while living := list(self._processes()):
            if time.monotonic() > deadline:
                yield from living
                return
            time.sleep(0.1)

    def _processes(self) -> Iterator[str]:
        mark = str(self.root).encode()
        for process in Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_bytes()
                environment = (process / "environ").read_bytes()
            except OSError:
                continue
            if mark in environment and int(process.name) != os.getpid():
                yield f"process {process.name}: {command.decode(errors='replace')}"


@dataclass
class Tally:
    """How a command ended after a signal."""

    command: str
    signal: str
    usual_s: float
    before: int = 0
    during: int = 0
    left: int = 0
    """Left something for the next run in the same place."""
    bad: int = 0


def kill(site: Site, command: Command, after_s: float, number: signal.Signals) -> tuple[int, str]:
    """Starts a command and ends it after some time; returns its status and output."""
    process = site.start(command.long)
    try:
        process.wait(after_s)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    _, said = process.communicate()
    return process.returncode, said.decode(errors="replace")


def main() -> int:
    """Kills runs, checks, and prints what was found."""
    options = _options()
    chance = random.Random(options.seed)  # noqa: S311
    wanted = [command for command in COMMANDS if command.name in options.commands.split(",")]
    tallies: list[Tally] = []
    with tempfile.TemporaryDirectory(prefix="kill-runs-") as root:
        site, usual = Site(Path(root)), {}
        site.prepare()
        for command in wanted:
            began = time.monotonic()
            site.finish(command.long)
            usual[command.name] = time.monotonic() - began
        for command in wanted:
            for name in options.signals.split(","):
                tally = Tally(command.name, name, usual[command.name])
                tallies.append(tally)
                for _ in range(options.kills):
                    after_s = chance.uniform(0, 1.1 * tally.usual_s)
                    for found in leave(site, command, after_s, tally):
                        print(f"{tally.command}, {name} after {after_s:.3f} s: {found}", flush=True)
    print_table(tallies)
    return 1 if any(tally.bad for tally in tallies) else 0


def leave(site: Site, command: Command, after_s: float, tally: Tally) -> list[str]:
    """Kills a command once, counts how it ended, and returns everything that is wrong."""
    number = signal.Signals[f"SIG{tally.signal}"]
    site.clear()
    status, said = kill(site, command, after_s, number)
    done = status in (0, 1)
    tally.before += done
    tally.during += not done
    left = list(site.leftovers())
    tally.left += bool(left) and not done
    found = [] if number is signal.SIGKILL else left
    site.finish(command.short)
    found += site.leftovers()
    if number is not signal.SIGKILL and status not in quiet(number):
        found.append(f"status {status}")
    if "Traceback" in said or "Exception" in said:
        found.append(said)
    tally.bad += bool(found)
    return found


def print_table(tallies: list[Tally]) -> None:
    """Prints how often each command ended in which way."""
    print("command    signal  usual s  at work  done  left for the next run  wrong")
    for one in tallies:
        print(
            f"{one.command:<10} {one.signal:<7} {one.usual_s:7.1f} {one.during:8} {one.before:5} "
            f"{one.left:22} {one.bad:6}"
        )
    kills = sum(one.during + one.before for one in tallies)
    print(f"{sum(one.bad for one in tallies)} of {kills} left something")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Kills runs at random moments.")
    parser.add_argument("--kills", type=int, default=30, help="of each command by each signal")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--signals", default="TERM,INT", help="of KILL, INT, TERM and HUP")
    parser.add_argument("--commands", default=",".join(command.name for command in COMMANDS))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
