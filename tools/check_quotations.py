"""Checks the sentences that crates/cc/src/bbr/v3 quotes from draft-ietf-ccwg-bbr.

    python tools/check_quotations.py DRAFT.md

DRAFT.md is the draft's source, draft-ietf-ccwg-bbr.md of tag draft-ietf-ccwg-bbr-06 in
https://github.com/ietf-wg-ccwg/draft-ietf-ccwg-bbr. A quotation is a comment such as

    // 5.3.2: "In that case, BBR enters ProbeBW after 3 round-trips"

and must stand in the section that it names. Ends with status 1 and a line for each that doesn't.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "crates" / "cc" / "src" / "bbr" / "v3"
LONGEST = 25
"""The most words of a quotation, which points to a sentence and doesn't replace it."""


def read_sections(draft: str) -> dict[str, str]:
    """The text of each numbered section of the draft's source, without those below it."""
    numbers: list[int] = []
    texts: dict[str, list[str]] = {}
    current = ""
    for line in draft.split("--- middle", 1)[-1].splitlines():
        if heading := re.match(r"(#+) ", line):
            level = len(heading[1])
            numbers = [*numbers, *[0] * level][:level]
            numbers[-1] += 1
            current = ".".join(map(str, numbers))
        texts.setdefault(current, []).append(line)
    return {section: normalize("\n".join(lines)) for section, lines in texts.items()}


def normalize(text: str) -> str:
    """The words alone, without line breaks, references and escapes."""
    return " ".join(re.sub(r"\{\{[^}]*\}\}|\\", "", text).split())


def find_quotations(source: str) -> Iterator[tuple[str, str]]:
    """Each quotation in a file of Rust, behind its section."""
    text = re.sub(r"\n\s*//[/!]? ", " ", source)
    for found in re.finditer(r'(?:// |\s)(\d(?:\.\d+)+): "((?:[^"\\]|\\.)*)"', text):
        yield found[1], normalize(found[2])


def find_faults(draft: str) -> Iterator[str]:
    """A line for each quotation that the draft doesn't have, or that is too long."""
    sections = read_sections(draft)
    for path in sorted(SOURCES.glob("*.rs")):
        for section, words in find_quotations(path.read_text(encoding="utf-8")):
            place = f'{path.name}: {section}: "{words}"'
            if words not in sections.get(section, ""):
                yield f"{place} isn't in that section"
            if len(words.split()) > LONGEST:
                yield f"{place} has more than {LONGEST} words"


def main() -> int:
    """Prints the faults; returns the status."""
    faults = list(find_faults(Path(sys.argv[1]).read_text(encoding="utf-8")))
    print(*faults, sep="\n") if faults else print("every quotation is the draft's")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
