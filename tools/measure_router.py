"""Measures how much the router of `--backend kernel` carries, and how late it is.

    .venv/bin/python tools/measure_router.py [--runs 3] [--backend kernel] [--gso]

For each rate, runs of 5 s with one CUBIC and one Reno flow: the part of the rate that was carried,
how late packets were released (median, 99 % and 99.9 %), the processor time of router and hosts for
each gigabyte, and whether the run was valid. With `--gso` hosts send super-packets. Leave the
machine alone meanwhile; the load before each run is printed.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import narrows

SPEC = """\
name = "{name}"
[path]
rate = "{rate}"
rtt = "20ms"
buffer = "1bdp"
[[flows]]
cca = "cubic"
[[flows]]
cca = "reno"
[host]
gso = {gso}
[run]
duration = "{duration}"
warmup = "{warmup}"
"""
"""A CUBIC flow and a Reno flow."""
RATES = "100mbit,500mbit,1gbit,2500mbit,5gbit,10gbit"


def one(spec: Path, rate: str, seed: int, backend: str) -> None:
    """Makes a run and prints its line."""
    load, out = os.getloadavg()[0], spec.parent / "out"
    result = narrows.run(spec, [f"run.seed={seed}"], backend=backend, out=out, force=True)
    info = result.trials[0].info
    carried = result.summary["runs"][0]["bottleneck"]["utilization"]
    late = info.conditions["lateness_ns"]
    carried_gb = int(result.trials[0].tables["queue_samples"]["forwarded_bytes"][-1]) / 1e9
    times = " ".join(f"{name} {late[name] / 1e3:9.1f} us" for name in ("p50", "p99", "p999"))
    verdict = "invalid" if info.invalid else "valid"
    print(
        f"{rate:>9} load {load:5.2f} carried {carried:6.1%} {times} "
        f"cpu {info.cpu_s / carried_gb:5.2f} s/GB {verdict}",
        flush=True,
    )


def main() -> None:
    """All rates, one after the other."""
    parser = argparse.ArgumentParser(description="How fast is the router?")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rates", default=RATES)
    parser.add_argument("--backend", default="kernel:own")
    parser.add_argument("--gso", action="store_true", help="hosts send super-packets")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        spec = Path(directory) / "router.toml"
        for rate in options.rates.split(","):
            gso = str(options.gso).lower()
            text = SPEC.format(name="router", rate=rate, duration="5s", warmup="2s", gso=gso)
            spec.write_text(text, encoding="utf-8")
            for seed in range(1, options.runs + 1):
                one(spec, rate, seed, options.backend)


if __name__ == "__main__":
    main()
