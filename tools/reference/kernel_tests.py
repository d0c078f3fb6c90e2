"""Makes docs/reference/kernel-tests.md from the verdicts in tools/kernel_tests."""

from __future__ import annotations

import csv
import json
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reference import PAGES, ROOT

DATA = ROOT / "tools" / "kernel_tests"
TARGET = PAGES / "kernel-tests.md"
EXCLUDED = ROOT / "python" / "narrows" / "kernel_tests" / "excluded.toml"
ENDS = {"uml": "kernel", "sim": "simulator"}
"""The ends in verdicts.csv, with their names in excluded.toml."""
WHERE = {"kernel": "on kernels", "simulator": "in the simulator"}
CONTROL = (
    "slow_start",
    "cubic",
    "cwnd_moderation",
    "fast_recovery",
    "fast_retransmit",
    "limited_transmit",
    "sack",
    "dsack",
    "rto",
    "user_timeout",
    "rcv",
    "ooo",
    "ts_recent",
    "ecn",
)
"""The kinds of scripts that test congestion control."""


@dataclass
class Script:
    """A script and, for each end, its verdicts: protocol, verdict, line and message."""

    name: str
    kind: str
    verdicts: dict[str, list[tuple[str, str, str, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def word(self, end: str) -> str:
        """The verdict over all protocols: the first that isn't "passed"."""
        words = [verdict[1] for verdict in self.verdicts[end]]
        return next((word for word in words if word != "passed"), "passed" if words else "")


def pages() -> dict[Path, str]:
    """The files by their paths."""
    return {TARGET: generate()}


def generate() -> str:
    """The page."""
    made = json.loads((DATA / "made.json").read_text(encoding="utf-8"))
    reasons = tomllib.loads((DATA / "reasons.toml").read_text(encoding="utf-8"))
    sets = read()
    kernels = ", ".join(f"{name} ({what})" for name, what in made["kernels"].items())
    head = (
        "# The kernel's own tests\n\n"
        "`make reference` makes this page from "
        "[all verdicts](../../tools/kernel_tests/verdicts.csv); not to be edited. "
        "[Real kernels](../how-to/real-kernels.md#the-kernels-own-tests) says how to play them.\n\n"
        f"narrows {made['version']} on {made['date']}; kernels: {kernels}. A script passes on a "
        "kernel if it does over each protocol that its own runner names. The simulator plays the "
        "scripts of a kernel with that kernel's profile, those of google/packetdrill with that "
        "of the newest.\n"
    )
    parts = [head, *totals(sets), *repetitions(DATA / "rounds"), *by_kind(sets), *left_out()]
    for name, scripts in sets.items():
        parts += failures(name, scripts, reasons)
    for name, scripts in sets.items():
        parts += all_scripts(name, scripts)
    return "\n".join(parts).rstrip() + "\n"


def read() -> dict[str, list[Script]]:
    """The scripts by their set, in the order of the file."""
    sets: dict[str, dict[str, Script]] = defaultdict(dict)
    with (DATA / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            known = sets[row["set"]]
            script = known.setdefault(row["script"], Script(row["script"], row["kind"]))
            found = (row["ip"], row["verdict"], row["line"], row["message"])
            script.verdicts[row["end"]].append(found)
    return {name: list(known.values()) for name, known in sets.items()}


def exclusions(end: str) -> dict[str, str]:
    """The kinds that don't apply to an end, with the reason."""
    listed = tomllib.loads(EXCLUDED.read_text(encoding="utf-8"))["excluded"]
    return {one["kind"]: one["reason"] for one in listed if ENDS[end] in one["ends"]}


def share(scripts: list[Script], end: str) -> str:
    """How many of the scripts that apply pass."""
    left = exclusions(end)
    applying = [script for script in scripts if script.kind not in left and script.word(end)]
    passing = sum(script.word(end) == "passed" for script in applying)
    if not applying:
        return "-"
    return f"{passing} of {len(applying)} ({100 * passing / len(applying):.0f} %)"


def totals(sets: Mapping[str, list[Script]]) -> Iterator[str]:
    """A row for each set."""
    yield "| Scripts | All | On the kernel | In the simulator | of those on congestion control |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for name, scripts in sets.items():
        control = [script for script in scripts if script.kind in CONTROL]
        numbers = [str(len(scripts)), share(scripts, "uml"), share(scripts, "sim")]
        yield f"| {name} | {' | '.join([*numbers, share(control, 'sim')])} |"
    yield ""
    yield f"{beside_linux(sets)}\n"
    both = [*sets.get("google/packetdrill", []), *sets.get("linux-7.3", [])]
    whole = [script for script in both if script.word("sim")]
    passing = sum(script.word("sim") == "passed" for script in whole)
    if not whole:
        return
    yield (
        f"Counted as by the developers of OMNeT++ INET (pull request 1155), who take every script "
        "of google/packetdrill and of a kernel whether it applies or not: the simulator passes "
        f"{passing} of {len(whole)}; INET passed 201 of 335 in the summer of 2026.\n"
    )


def repetitions(folder: Path) -> Iterator[str]:
    """How often each kernel's own scripts were played beside a load, with how many results."""
    files = sorted(folder.glob("*.json"))
    if not files:
        return
    yield "| Played again on | Rounds | Different results | Beside | CPU s a round |"
    yield "| --- | ---: | ---: | --- | ---: |"
    for file in files:
        known = json.loads(file.read_text(encoding="utf-8"))
        conditions, counts = known["conditions"], known["results"]
        rounds = sum(counts.values())
        beside = f"{conditions['load']} busy processes on {conditions['processors']} processors"
        row = (conditions["kernel"], rounds, len(counts), beside, f"{known['cpu_s'] / rounds:.1f}")
        yield f"| {file.stem} ({row[0]}) | {' | '.join(map(str, row[1:]))} |"
    yield ""
    yield (
        "A result is every verdict with its place and message, byte for byte; a round plays the "
        "kernel's own scripts. `python tools/repeat_kernel_tests.py` plays rounds.\n"
    )


def beside_linux(sets: Mapping[str, list[Script]]) -> str:
    """How many scripts on congestion control pass, and how many of the rest fail on Linux too."""
    control = [one for scripts in sets.values() for one in scripts if one.kind in CONTROL]
    failing = [one for one in control if one.word("sim") != "passed"]
    alike = sum(one.word("uml") == one.word("sim") for one in failing)
    return (
        f"Of the scripts on congestion control the simulator passes {share(control, 'sim')}; "
        f"{alike} of the other {len(failing)} fail on the kernel, too."
    )


def by_kind(sets: Mapping[str, list[Script]]) -> Iterator[str]:
    """A row for each kind of scripts on congestion control."""
    yield "## Congestion control\n"
    yield f"| Kind | {' | '.join(sets)} |"
    yield f"| --- |{' ---: |' * len(sets)}"
    for kind in (*CONTROL, "accecn"):
        cells = [
            share([script for script in scripts if script.kind == kind], "sim")
            for scripts in sets.values()
        ]
        if any(cell != "-" for cell in cells):
            yield f"| {kind} | {' | '.join(cells)} |"
    yield ""


def left_out() -> Iterator[str]:
    """The kinds that don't apply."""
    yield "## What doesn't apply\n"
    yield "The list was committed before any script ran; every other script counts.\n"
    yield "| Kind | Isn't played | Why |"
    yield "| --- | --- | --- |"
    for one in tomllib.loads(EXCLUDED.read_text(encoding="utf-8"))["excluded"]:
        where = " and ".join(WHERE[end] for end in one["ends"])
        yield f"| {one['kind']} | {where} | {one['reason']} |"
    yield ""


def failures(
    name: str, scripts: list[Script], reasons: Mapping[str, Mapping[str, str]]
) -> Iterator[str]:
    """The scripts that apply and don't pass, with the reason."""
    for end, title in (("uml", "on the kernel"), ("sim", "in the simulator")):
        left = exclusions(end)
        failing = [
            script
            for script in scripts
            if script.kind not in left and script.word(end) not in ("passed", "")
        ]
        if not failing:
            continue
        yield f"## {name}: not passed {title}\n"
        yield "| Script | Protocols | Found | Reason |"
        yield "| --- | --- | --- | --- |"
        for script in failing:
            other = [verdict for verdict in script.verdicts[end] if verdict[1] != "passed"]
            where = ", ".join(verdict[0] for verdict in other)
            _, word, line, message = other[0]
            found = f"{word} at line {line}: {message}" if line else f"{word}: {message}"
            known = reasons.get(end, {})
            reason = known.get(script.name) or known.get(script.kind, "open")
            yield f"| {script.name} | {where} | {cell(found)} | {cell(reason)} |"
        yield ""


def all_scripts(name: str, scripts: list[Script]) -> Iterator[str]:
    """Every script with its verdicts."""
    yield f"## {name}: all scripts\n"
    yield "| Script | On the kernel | In the simulator |"
    yield "| --- | --- | --- |"
    for script in scripts:
        words = [
            "doesn't apply" if script.kind in exclusions(end) else script.word(end) for end in ENDS
        ]
        yield f"| {script.name} | {' | '.join(words)} |"
    yield ""


def cell(text: str) -> str:
    """Escapes a text for a table's cell, and shortens it."""
    for letter in "|<>*_`[]":
        text = text.replace(letter, f"\\{letter}")
    return text[:300]
