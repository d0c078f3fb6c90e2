"""docs/reference/rfc9743.md: every requirement of the RFC with what tests it."""

from __future__ import annotations

from pathlib import Path

from narrows.evaluate.suite import Suite, load_suite
from reference import PAGES

TARGET = PAGES / "rfc9743.md"
HEAD = """\
# What tests each requirement of RFC 9743

This page is made by `make reference` from `python/narrows/evaluate/suites/rfc9743/suite.toml`.
It has every "must", "should" and "ought" of the RFC's sections 3 to 7 in our own words, with
the situations of `narrows evaluate CONTROL --suite rfc9743` that test it, or the reason why
none does. The RFC gives no thresholds (section 5): where a bound is ours, the situation's page
says so.

| Section | Level | Requirement | Situations, or the reason why there are none |
|---|---|---|---|
"""


def pages() -> dict[Path, str]:
    """The files by their paths."""
    return {TARGET: generate(load_suite("rfc9743"))}


def generate(suite: Suite) -> str:
    """The page."""
    rows = []
    for one in suite.requirements:
        names = ", ".join(f"`{name}`" for name in one.situations)
        every = len(one.situations) == len(suite.situations)
        told = "all" if every else names or f"Not tested: {one.reason}"
        rows.append(f"| {one.section} | {one.level} | {one.words} | {told} |")
    listed = [f"| `{one.name}` | {one.section} | {one.asks} |" for one in suite.situations]
    table = [
        "",
        "## Situations",
        "",
        "| Situation | Section | Question |",
        "|---|---|---|",
        *listed,
    ]
    return HEAD + "\n".join([*rows, *table]) + "\n"
