"""Measures packets per CPU second, also beside another simulator.

make bench
.venv/bin/python tools/bench.py --against ns3
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import bench_against
import bench_loads

from narrows.cli.status import exit_status


def main(arguments: Sequence[str]) -> int:
    """Measures what the arguments ask for; returns the exit status of `narrows`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    parser.add_argument("--quick", action="store_true", help="Shorter runs, rougher numbers.")
    parser.add_argument(
        "--against", metavar="PEER", help="Also in ns-3 (`ns3`), or in a program with this path."
    )
    return exit_status(partial(_measure, parser.parse_args(arguments)), ())


def _measure(wanted: argparse.Namespace) -> int:
    if wanted.against is not None:
        return _compare(wanted)
    results = bench_loads.measure(wanted.quick)
    if wanted.json:
        print(json.dumps({"quick": wanted.quick, "scenarios": results}, indent=1))
    else:
        bench_loads.print_measurements(results, wanted.quick)
    return 0


def _compare(wanted: argparse.Namespace) -> int:
    with bench_against.peer(wanted.against) as program:
        results = bench_against.compare(program, wanted.quick)
        if wanted.json:
            head = {"quick": wanted.quick, "against": wanted.against}
            print(json.dumps({**head, "scenarios": list(results)}, indent=1))
        else:
            bench_against.print_comparison(results, Path(wanted.against).name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
