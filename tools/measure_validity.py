"""Measures how well `--backend kernel` recognises a busy machine, with and without busy loops.

    .venv/bin/python tools/measure_validity.py [--runs 20] [--rates 20mbit,100mbit,500mbit]

Runs of 3 s alternate: one alone, one beside a busy loop on each core. It prints for each kind how
many runs were invalid, how long the hosts waited and ran, and how late the router was. Leave the
machine idle meanwhile; the load before each run is printed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from measure_router import SPEC

import narrows

BUSY = "while True: pass"


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Starts `count` busy loops, each in its own session as a user's would be."""
    command = [sys.executable, "-c", BUSY]
    loops = [subprocess.Popen(command, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def run_once(spec: Path, seed: int, backend: str, loops: int) -> bool:
    """Runs `spec` once, prints the measurements, and returns whether the run was invalid."""
    load = os.getloadavg()[0]
    with busy_loops(loops):
        result = narrows.run(
            spec, [f"run.seed={seed}"], backend=backend, out=spec.parent / "out", force=True
        )
    info = result.trials[0].info
    hosts, late = info.conditions["hosts"], info.conditions["lateness_ns"]
    taking = info.conditions["taking_ns"]
    waited, ran = hosts["waited_ns"], hosts["ran_ns"]
    print(
        f"  loops {loops} load {load:5.2f} {'invalid' if info.invalid else 'valid  '} "
        f"waited {waited / 1e6:7.1f} ms ran {ran / 1e6:7.1f} ms ({waited / (waited + ran):.2f}) "
        f"per turn {waited / hosts['turns'] / 1e3:6.1f} us dry {max(hosts['dry'].values()):.3f} "
        f"released p99 {late['p99'] / 1e3:7.1f} us taken p99 {taking['p99'] / 1e3:7.1f} us",
        flush=True,
    )
    return info.invalid is not None


def main() -> None:
    """Alternates between the kinds at each rate, and counts the invalid runs."""
    parser = argparse.ArgumentParser(description="How well is a busy machine recognised?")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--rates", default="20mbit,100mbit,500mbit")
    parser.add_argument("--backend", default="kernel")
    parser.add_argument("--gso", action="store_true", help="hosts send super-packets")
    parser.add_argument("--kinds", default="quiet,starved", help="one of them, or both alternately")
    options = parser.parse_args()
    gso = str(options.gso).lower()
    kinds = {"quiet": 0, "starved": os.cpu_count() or 1}
    chosen = {kind: kinds[kind] for kind in options.kinds.split(",")}
    with tempfile.TemporaryDirectory() as directory:
        spec = Path(directory) / "validity.toml"
        for rate in options.rates.split(","):
            text = SPEC.format(name="validity", rate=rate, duration="3s", warmup="500ms", gso=gso)
            spec.write_text(text, encoding="utf-8")
            invalid = dict.fromkeys(chosen, 0)
            for seed in range(1, options.runs + 1):
                for kind, loops in chosen.items():
                    invalid[kind] += run_once(spec, seed, options.backend, loops)
            for kind, count in invalid.items():
                print(f"{rate}: {kind}: {count} of {options.runs} invalid")


if __name__ == "__main__":
    main()
