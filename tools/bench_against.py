"""The loads of tools/bench.py in another simulator, alternating with narrows.

A peer is a program with the options of `bench_ns3.cc` beside this file. It prints the packets that
left the bottleneck and the CPU time of the simulation as a line of JSON, so a peer for another
simulator needs no change here.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bench_loads import QUICK, SCENARIOS, Scenario, cpu_seconds, plan_of

from narrows.errors import InputError, NarrowsError

if TYPE_CHECKING:
    from narrows.spec.scenario import Scenario as Trial

PAIRS = 3
NS3 = "ns3"
COMPILER = "g++"
PARTS = ("applications", "point-to-point", "internet", "network", "core")
LIBRARIES = tuple(f"ns3-{part}" for part in PARTS)
SOURCE = Path(__file__).with_name("bench_ns3.cc")


@contextmanager
def peer(name: str) -> Iterator[Path]:
    """The program to compare with: a path, or `ns3`, which is compiled."""
    if name != NS3:
        if not Path(name).is_file():
            raise InputError.at("--against", f"`{name}`", f"`{NS3}`, or the path of a program")
        yield Path(name).resolve()
        return
    with tempfile.TemporaryDirectory(prefix="narrows-ns3-") as directory:
        program = Path(directory) / NS3
        _compile(program)
        yield program


def _compile(program: Path) -> None:
    flags = _run(["pkg-config", "--cflags", "--libs", *LIBRARIES])
    if flags.returncode:
        remedy = (
            "an installed ns-3 (Debian: apt-get install libns3-dev libgsl-dev), or a program's path"
        )
        found = f"no ns-3 that pkg-config knows: {_last_line(flags.stderr)}"
        raise InputError.at("--against", found, remedy)
    words = shlex.split(flags.stdout)
    command = [COMPILER, "-std=c++17", "-O3", "-o", str(program), str(SOURCE), *words]
    print(f"Compiling {SOURCE.name} with {COMPILER}, once.", file=sys.stderr, flush=True)
    done = _run(command)
    if done.returncode:
        raise NarrowsError(
            f"{SOURCE.name} didn't compile with the ns-3 here: {_first_error(done.stderr)}\n"
            f"The command was: {shlex.join(command)}"
        )


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Runs a command; one that isn't there fails with 127, as in a shell."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return subprocess.CompletedProcess(command, 127, "", f"{command[0]}: {error.strerror}")


def _first_error(text: str) -> str:
    """Returns a compiler's first error: the other lines mostly follow from it."""
    lines = [line.strip() for line in text.splitlines()]
    return next((line for line in lines if "error" in line.lower()), _last_line(text))


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it printed nothing"


def compare(
    program: Path, quick: bool = False, scenarios: Sequence[Scenario] = SCENARIOS
) -> Iterator[dict[str, Any]]:
    """Yields both rates of each scenario, and the ratio of ours to the peer's: median and range.

    The two take turns, so other load on the machine affects both.
    """
    for scenario in scenarios:
        yield _compare(program, scenario, QUICK if quick else 1)


def _compare(program: Path, scenario: Scenario, divisor: int) -> dict[str, Any]:
    trial = plan_of(scenario, divisor)
    pairs = [(_ours(trial), _theirs(program, trial)) for _ in range(PAIRS)]
    ratios = sorted(ours / theirs for ours, theirs in pairs)
    return {
        "name": scenario.name,
        "title": scenario.title,
        "buffer": scenario.buffer,
        "duration_s": trial["run"]["duration_ns"] / 1e9,
        "packets_per_cpu_s": median(ours for ours, _ in pairs),
        "peer_packets_per_cpu_s": median(theirs for _, theirs in pairs),
        "ratio": median(ratios),
        "ratio_range": [ratios[0], ratios[-1]],
    }


def _ours(trial: Trial) -> float:
    packets, cpu_s = cpu_seconds(trial)
    return packets / cpu_s


def _theirs(program: Path, trial: Trial) -> float:
    """The peer's packets per CPU second."""
    command = [str(program), *options(trial)]
    done = _run(command)
    if done.returncode:
        raise NarrowsError(
            f"the program to compare with ended with status {done.returncode}: "
            f"{_last_line(done.stderr)}\nThe command was: {shlex.join(command)}"
        )
    text = done.stdout
    try:
        found = json.loads(text)
        return float(found["packets"] / found["cpu_s"])
    except (ValueError, KeyError, TypeError, ZeroDivisionError):
        wanted = '{"packets": 39586, "cpu_s": 0.5}'
        raise InputError.at(str(program), f"the output {text[:80]!r}", wanted) from None


def options(trial: Trial) -> list[str]:
    """The options of a peer for a scenario: bit/s, ns and bytes."""
    path = trial["path"]
    return [
        f"--rate={path['rate_bps']}",
        f"--rtt={path['rtt_ns']}",
        f"--buffer={path['buffer']['bytes']}",
        f"--flows={','.join(flow['cca'] for flow in trial['flows'])}",
        f"--duration={trial['run']['duration_ns']}",
    ]


def print_comparison(results: Iterable[Mapping[str, Any]], name: str) -> None:
    """Prints a line for every scenario, as soon as it has been measured."""
    for result in results:
        low, high = result["ratio_range"]
        print(
            f"{result['name']}  {result['title'] + ', ' + result['buffer'].upper():46}"
            f"{result['packets_per_cpu_s']:>12,.0f} packets per CPU second, {name}"
            f" {result['peer_packets_per_cpu_s']:,.0f}: {result['ratio']:.0f} times"
            f" ({low:.0f} to {high:.0f})",
            flush=True,
        )
