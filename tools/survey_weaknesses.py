"""Searches for weaknesses of all controls, and writes docs/reference/known-failures.md.

    python tools/survey_weaknesses.py STORE [--minutes N] [--tries N]
    python tools/survey_weaknesses.py STORE --confirm bbr:loss cubic:delay      # on Linux

STORE keeps what was searched, so that the survey can be done in parts. The page tells what is
there. Nothing in it is written by hand.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from weakness_page import page
from weakness_survey import confirm, survey, weaknesses

from narrows.spec.registry import ccas

FIRST = ("bbr", "bbr3", "copa", "cubic", "prague", "reno")
"""The controls that are searched first."""
TARGET = Path(__file__).parents[1] / "docs" / "reference" / "known-failures.md"


def main() -> None:
    """Continues the survey."""
    options = argparse.ArgumentParser()
    options.add_argument("store", type=Path)
    options.add_argument("--minutes", type=float)
    options.add_argument("--tries", type=int, default=60)
    options.add_argument("--jobs", type=int)
    options.add_argument("--confirm", nargs="+", default=[], metavar="CONTROL:OBJECTIVE")
    asked = options.parse_args()
    for pair in asked.confirm:
        control, _, objective = pair.partition(":")
        print(f"{pair} {confirm(control, objective, asked.store, 'uml')}", flush=True)
    controls = sorted(ccas(), key=lambda name: (name not in FIRST, name))
    done = survey(
        controls, asked.store, tries=asked.tries, minutes=asked.minutes, jobs=asked.jobs,
        report=lambda pair, part: print(f"{part:4.0%} {pair}", flush=True),
    )  # fmt: skip
    found = list(weaknesses(controls, asked.store, asked.tries))
    print(f"{len(found)} searches are there{'' if done else '; call again for the others'}")
    TARGET.write_text(page(found, asked.tries, len(controls)), encoding="utf-8")
    print(TARGET)


if __name__ == "__main__":
    main()
