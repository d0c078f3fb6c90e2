"""docs/reference/bbr-draft.md from an evaluation of BBRv3 by the suite bbr-draft.

The verdicts and figures are those of the evaluation; the differences from the draft's text are
data, `tools/bbr_draft.toml`. The page ends with a digest of what it was made from.
"""

from __future__ import annotations

import json
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from narrows.cli import main
from narrows.evaluate import load_suite
from narrows.metrics.intervals import interval
from reference import PAGES, ROOT

TARGET = PAGES / "bbr-draft.md"
DIFFERENCES = ROOT / "tools" / "bbr_draft.toml"
SUITE = ROOT / "python" / "narrows" / "evaluate" / "suites" / "bbr-draft"
GOLDEN = ROOT / "crates/sim/tests/snapshots/all__golden__controls_on_paths.snap"
"""Results of every control, whose rows move with what a control does."""
DRAFT, CODE = "bbr3:rules=draft", "bbr3"
"""The controls: BBRv3 by the draft, and as Google publishes it."""
HEAD = f"""\
# BBRv3 and the test cases of its draft

The appendix "BBR Example Test Cases" of draft-ietf-ccwg-bbr (its source of 3 August 2026) has
22 cases. `narrows evaluate {DRAFT} {CODE} --suite bbr-draft` runs them with the states and
variables of the model as checks, three trials each, twelve for case 16; case 7 has two
situations, for STARTUP and for PROBE_UP. `{CODE}` is Google's `tcp_bbr.c`, which isn't the draft
in all places ([tcp.md](tcp.md#bbr-versions-2-and-3-and-how-googles-code-differs)); with
`rules = "draft"` it is the draft's pseudocode. The table has both verdicts, and what the draft's
rules gave: the mean of each check with its 95 % interval.
`make reference` makes this page from the results.
Specifications: `python/narrows/evaluate/suites/bbr-draft`.

"""
CODES = """
## What Google's code does otherwise

Every check that Google's code doesn't meet, with what it gave. The bounds are those of
the draft's text, so that one that isn't met is a difference, not a fault.

"""
MIDDLE = """
## Where the draft's text and its pseudocode differ

With `rules = "draft"`, `bbr3` follows the pseudocode. In these places the words of a test case say
something else, or the case as it is worded doesn't bring about what it is for.

"""


def pages() -> dict[Path, str]:
    """The files by their paths."""
    return {TARGET: page(evaluate())}


def page(entries: Sequence[Mapping[str, Any]]) -> str:
    """The whole page."""
    told = [HEAD, *_lines(_table(entries)), CODES, *_lines(_codes(entries))]
    return "".join(told) + MIDDLE + "\n".join(_differences()) + f"\n<!-- inputs: {inputs()} -->\n"


def inputs() -> str:
    """A digest of the suite, of the differences, and of what BBRv3 does on the golden paths."""
    golden = GOLDEN.read_text(encoding="utf-8").splitlines()
    rows = "\n".join(line for line in golden if CODE in line.split())
    files = [*sorted(SUITE.iterdir()), DIFFERENCES, Path(__file__)]
    texts = [file.read_text(encoding="utf-8") for file in files]
    return sha256("\0".join([rows, *texts]).encode()).hexdigest()[:16]


def evaluate() -> list[dict[str, Any]]:
    """The situations of a new evaluation; raises RuntimeError if it fails."""
    with tempfile.TemporaryDirectory() as place:
        wanted = ["evaluate", DRAFT, CODE, "--suite", "bbr-draft", "--out", place]
        if main(wanted) not in (0, 1):  # 1: Google's code breaks some
            raise RuntimeError(f"narrows {' '.join(wanted)} failed")
        (record,) = Path(place).glob("**/evaluation.json")
        found: list[dict[str, Any]] = json.loads(record.read_text(encoding="utf-8"))["situations"]
    return found


def _lines(lines: Iterable[str]) -> Iterator[str]:
    return (f"{line}\n" for line in lines)


def _table(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    draft, code = _verdicts(entries, DRAFT), _verdicts(entries, CODE)
    yield "| Case | Situation | Draft | Google's code | Expected: measured by the draft's rules |"
    yield "|---|---|---|---|---|"
    for situation in load_suite("bbr-draft").situations:
        entry = draft[situation.name]
        told = "; ".join(
            f"{one['check']} {one['bounds']}: {interval(one['values'])}" for one in entry["checks"]
        )
        asked = f"`{situation.name}`: {situation.asks}"
        verdicts = f"{entry['verdict']} | {code[situation.name]['verdict']}"
        yield f"| {situation.section} | {asked} | {verdicts} | {told} |"


def _codes(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    code = _verdicts(entries, CODE)
    for situation in load_suite("bbr-draft").situations:
        held = code[situation.name]["checks"]
        trials = max(len(one["values"]) for one in held)
        for one in held:
            if one["verdict"] != "met":
                without = trials - len(one["values"])
                told = f"{one['verdict']}, no value in {without} of {trials} trials"
                measured = f"{interval(one['values'])} ({told if without else one['verdict']})"
                yield f"- `{situation.name}`: {one['check']} {one['bounds']}: {measured}."


def _verdicts(entries: Sequence[Mapping[str, Any]], control: str) -> dict[str, Mapping[str, Any]]:
    return {one["situation"]: one for one in entries if one["control"] == control}


def _differences() -> Iterator[str]:
    for one in differences():
        yield f"**{one['case']}.** {one['words']} Code: `{one['file']}`, `{one['function']}`.\n"


def differences() -> list[dict[str, str]]:
    """The differences between the draft's test cases and its pseudocode."""
    found: list[dict[str, str]] = tomllib.loads(DIFFERENCES.read_text(encoding="utf-8"))[
        "difference"
    ]
    return found
