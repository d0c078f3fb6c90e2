"""Runs narrows on a testbed of namespaces with an sshd each, which is the inventory `bed`.

    python tools/on_hosts.py [--pairs 5] [--by narrows] ARGUMENT...

The arguments are those of narrows: `compare SPEC --backends kernel:own,hosts:bed`, for example, or
`reproduce panaderia/fig6 --quick --backend hosts:bed`. It needs root. The exit status is that of
narrows, or 3 if a host isn't as it was before.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "python"))

from namespaced_hosts import build_bed, missing, states

SETTLING_S = 30.0
"""Within this time hosts undo what a run left."""


def main() -> int:
    """Runs narrows on the testbed; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--by", default="narrows", help="what makes the bottleneck")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    if lacking := missing():
        sys.exit(lacking)
    with build_bed(pairs=given.pairs) as bed:
        place = bed.folder / "narrows" / "hosts"
        place.mkdir(parents=True)
        (place / "bed.toml").write_text(bed.inventory(method=given.by, pairs=given.pairs))
        before = states(bed)
        command = ["nsenter", f"--target={bed.controller.init}", "--net", sys.executable, "-m"]
        environment = {**bed.environment(), "XDG_CONFIG_HOME": str(bed.folder)}
        began = time.monotonic()
        status = subprocess.call([*command, "narrows", *given.arguments], env=environment)
        print(f"{time.monotonic() - began:.0f} s on {len(before)} hosts", file=sys.stderr)
        ends = time.monotonic() + SETTLING_S
        while (after := states(bed)) != before:
            if time.monotonic() > ends:
                changed = [name for name, state in before.items() if after[name] != state]
                print(f"not as before: {', '.join(changed)}", file=sys.stderr)
                return 3
            time.sleep(1)
    return status


if __name__ == "__main__":
    sys.exit(main())
