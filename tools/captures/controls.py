"""Says what `analyze` makes of every control: `controls.py DIRECTORY`.

Prints a table of confusion in Markdown. Each control has a transfer of 30 s, captured at its sender
in the simulator, on each of `PATHS`, which were not used to set thresholds.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from judge import table

from narrows.analyze.run import read_captures
from narrows.runner import execute, prepare
from narrows.spec.registry import ccas
from narrows.store import CaptureOptions

PATHS = {
    "low": 'rate = "12mbit"\nrtt = "30ms"\nbuffer = "1bdp"',
    "deep": 'rate = "25mbit"\nrtt = "50ms"\nbuffer = "2bdp"',
    "shallow": 'rate = "40mbit"\nrtt = "15ms"\nbuffer = "0.7bdp"',
    "long": 'rate = "15mbit"\nrtt = "90ms"\nbuffer = "1.5bdp"',
    "lossy": 'rate = "20mbit"\nrtt = "40ms"\nbuffer = "1bdp"\nloss = 0.001',
}
SPEC = '[path]\n{path}\n[[flows]]\ncca = "{cca}"\n[run]\nduration = "30s"\n'
GIVEN = ("fixed", "none")
"""Controls without a behaviour of their own."""


def main() -> None:
    """Runs, captures and identifies every control on every path."""
    place = Path(sys.argv[1])
    place.mkdir(parents=True, exist_ok=True)
    found: Counter[tuple[str, str]] = Counter()
    for cca in (name for name in ccas() if name not in GIVEN):
        for name, path in PATHS.items():
            spec = place / f"{cca}-{name}.toml"
            spec.write_text(SPEC.format(path=path, cca=cca), encoding="utf-8")
            ran = execute(prepare(spec), out=place / spec.stem, captures=CaptureOptions(pcap=True))
            file = ran.result.trials[0].path / "captures" / "sender.pcapng"
            (flow,) = read_captures([file]).findings["flows"]
            found[cca, flow["control"]["control"]] += 1
            print(f"{cca} {name}: {flow['control']['control']}", file=sys.stderr, flush=True)
    print(*table(found), sep="\n")


if __name__ == "__main__":
    main()
