"""Throws mutated specifications, captures and results at the command, in this process.

    .venv/bin/python tools/throw_nonsense.py --seconds 3600 --seed 1

Each must end with status 0, 1 or 2, and without a traceback. A case has a number, and
`--only NUMBER` runs it alone; `--cases` says how many there are at least. It prints the counts of
each kind and how they ended. Most cases go directly to the functions that a command calls first;
one in a few hundred goes through the whole command.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from narrows import _native
from narrows.cli import main
from narrows.errors import InputError, NarrowsError
from narrows.plan import plan
from narrows.spec import parse
from narrows.store import open_result

ROOT = Path(__file__).parents[1]
WORDS = (
    *("0", "-1", "1e999", "-0.0", "nan", "inf", "9" * 401, "1e-400", "true", "[]", "{}", '""'),
    *('"0s"', '"-1s"', '"1e999999999/s"', '"99999999999999s"', '"0.5bdp"', '"1pkt"', '"1ns"'),
    *('"\\u0000"', '"../../x"', '"a:b"', '"=1+1"', '"<!--<script>"', '"all"', '"__class__"'),
    *('"cubic"', '"bbr3"', '"fq_codel"', '"poisson"', '{ kind = "codel" }', '{ kind = "x" }'),
    *("1979-05-27T07:32:00Z", "0x7fffffffffffffffffff", "[[1, 2], [3]]", '"\\ud7ff"', "10000"),
)
"""Plausible and implausible values."""
SMALL = """name = "small"
[path]
rate = "8mbit"
rtt = "20ms"
buffer = "1bdp"
[[flows]]
cca = "cubic"
[run]
duration = "300ms"
"""


_LEFT_OUT = shutil.ignore_patterns("captures", "*.html")
"""Files that a damaged result doesn't need."""


class Kinds:
    """The kinds of mutated input, and the command that reads each."""

    def __init__(self, place: Path) -> None:
        self.place = place
        found = sorted((ROOT / "experiments").glob("*/*.toml"))
        self.specs = [file.read_bytes() for file in found if file.stat().st_size < 5000]
        spec, out = place / "small.toml", place / "result"
        spec.write_text(SMALL)
        self._say(["run", str(spec), "--out", str(out), "--pcap"])
        self.files = sorted(path for path in out.rglob("*") if path.suffix in (".json", ".parquet"))
        self.captures = sorted(out.rglob("*.pcapng"))
        self.out = out

    def _say(self, command: list[str]) -> None:
        if main(command) != 0:
            raise SystemExit(f"{command} failed")

    def plan_one(self, moves: random.Random) -> int:
        """A specification that is read, checked and planned, without the command around it."""
        text = mutate(moves.choice(self.specs), moves, lines=True).decode("utf-8", "replace")
        sets = [f"path.rate={moves.choice(WORDS)}"] if moves.random() < 0.1 else []
        try:
            plan(parse(text, "case", sets).spec, "nonsense")
        except InputError as error:
            return 2 if str(error) else 70
        return 0

    def analyse_one(self, moves: random.Random) -> int:
        """A capture that is read and analysed, without the command and its page."""
        file = self.place / "case.pcapng"
        content = moves.choice(self.captures).read_bytes()[: moves.randrange(100_000)]
        file.write_bytes(mutate(content, moves))
        try:
            _native.analyze([str(file)], packets=True)
        except _native.CaptureError as error:
            return 2 if str(error) else 70
        return 0

    def open_one(self, moves: random.Random) -> int:
        """A results directory with a damaged file, read completely."""
        broken = self.place / "opened"
        if not broken.exists():
            shutil.copytree(self.out, broken, ignore=_LEFT_OUT)
        name = moves.choice(self.files).relative_to(self.out)
        file = broken / name
        file.write_bytes(mutate(file.read_bytes(), moves))
        try:
            result = open_result(broken)
            for trial in result.trials:
                len(trial.scenario), [trial.tables[name] for name in trial.tables]
            len(result.summary)
        except NarrowsError as error:
            return 1 if str(error) else 70
        finally:
            shutil.copyfile(self.out / name, file)
        return 0

    def specification(self, moves: random.Random) -> list[str]:
        """A specification that is planned, not run."""
        file = self.place / "case.toml"
        file.write_bytes(mutate(moves.choice(self.specs), moves, lines=True))
        command = ["run", str(file), "--dry-run"]
        if moves.random() < 0.2:
            keys = ("path.rate", "run.seed", "flows.0.cca", "flows.0.workload", "path.queue", "x")
            command += ["--set", f"{moves.choice(keys)}={moves.choice(WORDS)}"]
        return command

    def short_run(self, moves: random.Random) -> list[str]:
        """A small specification, which is run if it is right."""
        file = self.place / "case.toml"
        file.write_bytes(mutate(SMALL.encode(), moves, lines=True))
        shutil.rmtree(self.place / "out", ignore_errors=True)
        limits = ["--set", "run.duration=50ms", "--set", "run.warmup=0s", "--set", "run.trials=1"]
        limits += ["--set", "path.rate=8mbit"]
        return ["run", str(file), *limits, "--out", str(self.place / "out"), "--json"]

    def capture(self, moves: random.Random) -> list[str]:
        """A capture of a run of narrows."""
        file = self.place / "case.pcapng"
        file.write_bytes(mutate(moves.choice(self.captures).read_bytes(), moves))
        shutil.rmtree(self.place / "analysis", ignore_errors=True)
        return ["analyze", str(file), "--out", str(self.place / "analysis"), "--json"]

    def result(self, moves: random.Random) -> list[str]:
        """A results directory, one of whose files is damaged."""
        broken = self.place / "broken"
        shutil.rmtree(broken, ignore_errors=True)
        shutil.copytree(self.out, broken, ignore=_LEFT_OUT)
        file = broken / moves.choice(self.files).relative_to(self.out)
        file.write_bytes(mutate(file.read_bytes(), moves))
        return moves.choice(
            [
                ["open", "--no-show", "--rebuild", str(broken)],
                ["export", str(broken), "flow_samples"],
            ]
        )


def mutate(content: bytes, moves: random.Random, *, lines: bool = False) -> bytes:
    """`content` after random changes; for a text, of its lines and values."""
    changed = bytearray(content)
    for _ in range(moves.randrange(1, 5)):
        if lines and moves.random() < 0.8:
            changed = bytearray(_other_line(bytes(changed), moves))
            continue
        at = moves.randrange(len(changed) + 1)
        match moves.randrange(4):
            case 0 if at < len(changed):
                changed[at] = moves.randrange(256)
            case 1:
                del changed[at : at + moves.randrange(1, 64)]
            case 2:
                changed[at:at] = moves.randbytes(moves.randrange(1, 16))
            case _:
                changed[at:at] = changed[at // 2 : at // 2 + moves.randrange(1, 64)]
    return bytes(changed)


def _other_line(text: bytes, moves: random.Random) -> bytes:
    lines = text.split(b"\n")
    at = moves.randrange(len(lines))
    key, equals, _ = lines[at].partition(b"=")
    match moves.randrange(5):
        case 0 | 1 if equals:
            lines[at] = key + b"= " + moves.choice(WORDS).encode()
        case 2:
            del lines[at]
        case 3:
            lines.insert(at, moves.choice(lines))
        case _:
            lines[at] = lines[at].replace(b"1", moves.choice([b"9" * 30, b"0", b"-1", b"1e9"]), 1)
    return b"\n".join(lines)


@contextlib.contextmanager
def hear_errors() -> Iterator[io.StringIO]:
    """The command's error output; nothing else is shown."""
    said, output = io.StringIO(), io.TextIOWrapper(io.BytesIO())
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(said):
        yield said


def case(number: int, kinds: Kinds, share: Counter[str]) -> None:
    """One input; counts how it ended, and raises AssertionError if that wasn't in words."""
    moves = random.Random(number)  # noqa: S311 (a case is to come again)
    commands = (kinds.specification, kinds.capture, kinds.result, kinds.short_run)
    makers: tuple[Callable[[random.Random], list[str] | int], ...] = (
        *((kinds.plan_one,) * 300),
        *((kinds.analyse_one,) * 100),
        *((kinds.open_one,) * 100),
        *commands,
    )
    make = moves.choice(makers)
    command, told = make(moves), ""
    if isinstance(command, int):
        status = command
    else:
        with hear_errors() as said:
            status = main(command)
            sys.stdout.flush()
        told = said.getvalue()
    share[f"{make.__name__} {status}"] += 1
    if status not in (0, 1, 2) or "Traceback" in told:
        raise AssertionError(f"case {number}: status {status} of {command}\n{told}")


def throw() -> int:
    """The script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--cases", type=int, default=0, help="continue until this many are done")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first case")
    parser.add_argument("--only", type=int, help="the number of a single case")
    arguments = parser.parse_args()
    share: Counter[str] = Counter()
    failed = 0
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        with contextlib.redirect_stdout(io.StringIO()):
            kinds = Kinds(Path(place))
        if arguments.only is not None:
            case(arguments.only, kinds, share)
            return 0
        number, ends = arguments.seed, time.monotonic() + arguments.seconds
        while time.monotonic() < ends or number < arguments.seed + arguments.cases:
            try:
                case(number, kinds, share)
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                failed += 1
                print(f"case {number}:", file=sys.stderr)
                traceback.print_exception(error, limit=-4)
            number += 1
    print(
        f"{number - arguments.seed} cases, {failed} of them without words; {os.cpu_count()} cores"
    )
    for name, count in sorted(share.items()):
        print(f"  {count:9} {name}")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(throw())
