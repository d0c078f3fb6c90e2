"""Compares the simulator with Linux on a few cases of the studies of agreement, drawn at random.

    python tools/compare_some.py [--cases 24] [--trials 4] [--seed DATE] [--kernel uml:NAME]
                                 [--profile NAME] [--out DIR]

The cases are drawn from all studies in experiments/agreement* that the profile can run; the seed,
by default today's date, says which. Exits with status 1 if any quantity differs: the published
tables have none. What few trials leave undecided is counted and passes.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from reference.agreement import specs

from narrows.errors import SpecError

ROOT = Path(__file__).resolve().parents[1]
CUSTOM = ("agreement-bbr2", "agreement-bbr3")
"""Studies of controls that no released kernel has; they need kernels of their own."""


def main() -> int:
    """Draws, compares and counts; returns the exit status."""
    options = _options()
    drawn = draw(options.cases, options.seed, settings(options))
    print(f"seed {options.seed}: {sum(map(len, drawn.values()))} cases")
    rows = [row for study, cases in drawn.items() for row in compare(study, sorted(cases), options)]
    counts = Counter(row["verdict"] for row in rows)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    for row in rows:
        if row["verdict"] == "differ":
            print("differs:", *(row[name] for name in SHOWN))
    return 1 if counts["differ"] or not rows else 0


SHOWN = ("case", "quantity", "flows", "mean", "reference_mean", "low", "high", "limit")
"""The columns that tell a difference."""


def settings(options: argparse.Namespace) -> list[str]:
    """The settings of every study."""
    return [f"host.profile={options.profile}"] if options.profile else []


def draw(count: int, seed: str, changed: Sequence[str]) -> dict[Path, list[str]]:
    """`count` cases of all studies, by the file of their study."""
    files = sorted((ROOT / "experiments").glob("agreement*/study.toml"))
    every = [
        (file, name)
        for file in files
        if file.parent.name not in CUSTOM
        for name in names(file, changed)
    ]
    found: dict[Path, list[str]] = {}
    for file, name in random.Random(seed).sample(every, min(count, len(every))):  # noqa: S311
        found.setdefault(file, []).append(name)
    return found


def names(study: Path, changed: Sequence[str]) -> list[str]:
    """The cases of a study; none if it can't run with these settings."""
    try:
        return [spec.name for spec in specs(study, changed)]
    except SpecError:
        return []


def compare(study: Path, cases: list[str], options: argparse.Namespace) -> list[dict[str, str]]:
    """The rows of the table that `narrows compare` writes for these cases of a study."""
    out = Path(options.out) / options.kernel.replace(":", "-") / study.parent.name
    table = out.with_suffix(".csv")
    table.parent.mkdir(parents=True, exist_ok=True)
    table.unlink(missing_ok=True)
    command = [
        str(Path(sys.executable).with_name("narrows")), "compare", str(study),
        "--filter", f"case={','.join(cases)}", "--backends", f"sim,{options.kernel}",
        "--trials", str(options.trials), "--max-trials", str(options.trials),
        "--table", str(table), "--out", str(out),
        *(word for one in settings(options) for word in ("--set", one)),
    ]  # fmt: skip
    status = subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode
    if status > 1:
        raise SystemExit(f"{study}: narrows compare ended with status {status}")
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=24)
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--seed", default=datetime.date.today().isoformat())
    parser.add_argument("--kernel", default="uml", help="a back end: uml, uml:NAME")
    parser.add_argument("--profile", help="of the hosts, such as linux-7.3")
    parser.add_argument("--out", default="target/compare-some")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
