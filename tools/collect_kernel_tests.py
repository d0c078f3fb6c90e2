"""Merges verdicts of `narrows kernel test --json` into tools/kernel_tests/verdicts.csv.

    narrows kernel test FOLDER --kernel linux-7.3-tests --json > a.json
    narrows kernel test FOLDER --profile linux-7.3 --json > b.json
    python tools/collect_kernel_tests.py linux-7.3:uml=a.json linux-7.3:sim=b.json

Each argument gives the set of scripts, the end that they tested (uml or sim) and the file. Rows of
the same set and end are replaced, others stay. `make reference` makes the page.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from narrows.backends.uml import kernels
from narrows.version import __version__

PLACE = Path(__file__).parent / "kernel_tests"
COLUMNS = ("set", "script", "kind", "ip", "end", "verdict", "line", "message")
FOLDERS = (
    "fast_recovery",
    "limited_transmit",
    "slow_start",
    "syscall_bad_arg",
    "tcp_info",
    "ts_recent",
    "user_timeout",
)
"""Folders of google/packetdrill whose names have an underscore themselves."""


def main(arguments: list[str]) -> None:
    """Reads the files and writes the table."""
    table = PLACE / "verdicts.csv"
    rows: list[dict[str, object]] = []
    if table.is_file():
        with table.open(encoding="utf-8", newline="") as file:
            rows += csv.DictReader(file)
    for argument in arguments:
        place, _, path = argument.partition("=")
        scripts, _, end = place.rpartition(":")
        rows = [row for row in rows if (row["set"], row["end"]) != (scripts, end)]
        rows += read(scripts, end, Path(path))
    rows.sort(key=lambda row: (str(row["set"]), str(row["script"]), str(row["end"])))
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    made = {
        "version": __version__,
        "date": datetime.now(UTC).date().isoformat(),
        "kernels": {**known_kernels(), **kernels_here(arguments)},
    }
    (PLACE / "made.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def known_kernels() -> dict[str, str]:
    """The kernels of verdicts that were collected before."""
    made = PLACE / "made.json"
    if not made.is_file():
        return {}
    kernels = json.loads(made.read_text(encoding="utf-8"))["kernels"]
    return {str(name): str(what) for name, what in kernels.items()}


def kernels_here(arguments: list[str]) -> dict[str, str]:
    """The kernels of this machine, if verdicts of kernels are among the files."""
    if not any(argument.partition("=")[0].endswith(":uml") for argument in arguments):
        return {}
    return {
        kernel.name: f"{kernel.release} {kernel.digest[:12]}"
        for kernel in kernels()
        if kernel.name.endswith("-tests")
    }


def read(scripts: str, end: str, path: Path) -> Iterator[dict[str, object]]:
    """Yields a row for each script and protocol."""
    for found in json.loads(path.read_text(encoding="utf-8")):
        script = Path(found["script"])
        yield {
            "set": scripts,
            "script": name(script),
            "kind": kind(script),
            "ip": found["ip"],
            "end": end,
            "verdict": found["verdict"],
            "line": found["line"] or "",
            "message": found["message"].partition("\n")[0],
        }


def name(script: Path) -> str:
    """A selftest's file name, or a path below the folder gtests/net/tcp."""
    parts = script.with_suffix("").parts
    if "gtests" in parts:
        return "/".join(parts[parts.index("gtests") + 2 :]).removeprefix("tcp/")
    return script.stem.removeprefix("tcp_")


def kind(script: Path) -> str:
    """The folder in google/packetdrill, or the start of a selftest's name."""
    short = name(script)
    if "/" in short:
        return short.partition("/")[0]
    folder = next((known for known in FOLDERS if short.startswith(known)), None)
    return folder or short.replace("-", "_").partition("_")[0]


if __name__ == "__main__":
    main(sys.argv[1:])
