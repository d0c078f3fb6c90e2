"""Writes docs/reference/bbr-draft.md from an evaluation of BBRv3 by the suite bbr-draft.

    narrows evaluate bbr3 --suite bbr-draft --out OUT
    python tools/write_bbr_draft.py OUT

The verdicts and figures are those of the evaluation; the differences from the draft's text are
data, `tools/bbr_draft.toml`.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from narrows.evaluate import load_suite
from narrows.metrics.intervals import interval

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "reference" / "bbr-draft.md"
DIFFERENCES = Path(__file__).parent / "bbr_draft.toml"
HEAD = """\
# BBRv3 and the test cases of its draft

The appendix "BBR Example Test Cases" of draft-ietf-ccwg-bbr (its source of 3 August 2026) has
22 cases. `narrows evaluate bbr3 --suite bbr-draft` runs them with the states and variables of
the model as expectations, three trials each; case 7 has two situations, for STARTUP and for
PROBE_UP. `tools/write_bbr_draft.py` makes this page from the results; the table has the mean of
each expectation with its 95 % interval. Specifications:
`python/narrows/evaluate/suites/bbr-draft`.

"""
MIDDLE = """
## Where the draft's text and its pseudocode differ

`bbr3` follows the pseudocode. In these places the words of a test case say something else, or the
case as it is worded doesn't bring about what it is for.

"""


def page(entries: Sequence[Mapping[str, Any]]) -> str:
    """The whole page."""
    return HEAD + "\n".join(_table(entries)) + "\n" + MIDDLE + "\n".join(_differences()) + "\n"


def _table(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    verdicts = {one["situation"]: one for one in entries if one["control"] == "bbr3"}
    yield "| Case | Situation | BBRv3 | Expected: measured |"
    yield "|---|---|---|---|"
    for situation in load_suite("bbr-draft").situations:
        entry = verdicts[situation.name]
        told = "; ".join(
            f"{one['metric']} {one['bound']}: {interval(one['values'])}"
            for one in entry["expectations"]
        )
        name = f"`{situation.name}`"
        yield f"| {situation.section} | {name}: {situation.asks} | {entry['verdict']} | {told} |"


def _differences() -> Iterator[str]:
    for one in differences():
        yield f"**{one['case']}.** {one['words']} Code: `{one['file']}`, `{one['function']}`.\n"


def differences() -> list[dict[str, str]]:
    """The differences between the draft's test cases and its pseudocode."""
    found: list[dict[str, str]] = tomllib.loads(DIFFERENCES.read_text(encoding="utf-8"))[
        "difference"
    ]
    return found


if __name__ == "__main__":
    record = json.loads((Path(sys.argv[1]) / "evaluation.json").read_text(encoding="utf-8"))
    TARGET.write_text(page(record["situations"]), encoding="utf-8")
    print(TARGET)
