"""Ends commands at random moments by a signal and checks what they leave.

    python tools/kill_runs.py [--kills 100] [--seed 1] [--signal KILL] [--commands run,sweep,...]

Each time one of the commands starts and gets the signal between its beginning and a bit after its
usual end. After INT, TERM and HUP nothing may be left, after KILL nothing once a short run has
followed in the same place: no hidden file or directory, no lock, nothing in the directory for
temporary files and no process. Exit status 1 if there is something.
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
        ("sweep", "study.toml", "--out", "sweep"),
        ("sweep", "short.toml", "--out", "sweep"),
    ),
    Command(
        "reproduce",
        ("reproduce", _FIGURE, "--quick", "--out", "reproduced"),
        ("reproduce", _FIGURE, "--quick", "--out", "reproduced"),
    ),
    Command(
        "search",
        ("search", "copa", "--objective", "loss", "--tries", "60", "--out", "searched"),
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
        """Starts narrows here, with temporary files of its own."""
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
    """What happened."""

    before: int = 0
    during: int = 0
    left: int = 0


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
    chance, number = random.Random(options.seed), signal.Signals[f"SIG{options.signal}"]  # noqa: S311
    wanted = [command for command in COMMANDS if command.name in options.commands.split(",")]
    bad = 0
    with tempfile.TemporaryDirectory(prefix="kill-runs-") as root:
        site, usual = Site(Path(root)), {}
        site.prepare()
        for command in wanted:
            began = time.monotonic()
            site.finish(command.long)
            usual[command.name] = time.monotonic() - began
        tallies = {command.name: Tally() for command in wanted}
        for index in range(options.kills):
            command = wanted[index % len(wanted)]
            site.clear()
            after_s = chance.uniform(0, 1.1 * usual[command.name])
            status, said = kill(site, command, after_s, number)
            tally = tallies[command.name]
            tally.before += status in (0, 1)
            tally.during += status not in (0, 1)
            tally.left += any(site.leftovers()) if status not in (0, 1) else 0
            found = [] if number is signal.SIGKILL else list(site.leftovers())
            site.finish(command.short)
            found += site.leftovers()
            if number is not signal.SIGKILL and status not in quiet(number):
                found.append(f"status {status}")
            if "Traceback" in said or "Exception" in said:
                found.append(said)
            for what in found:
                print(f"{command.name}, seed {options.seed}, after {after_s:.3f} s: {what}")
            bad += bool(found)
    for name, tally in tallies.items():
        print(
            f"{name} (usually {usual[name]:.1f} s): ended {tally.during} times at work and "
            f"{tally.before} times done; {tally.left} times something was left for the next run"
        )
    print(f"{bad} of {options.kills} left something")
    return 1 if bad else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Kills runs at random moments.")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--signal", default="KILL", choices=("KILL", "INT", "TERM", "HUP"))
    parser.add_argument("--commands", default=",".join(command.name for command in COMMANDS))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
