"""Prints verdicts as text, TAP and JUnit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from narrows.kernel_tests.make import ScriptRun
from narrows.kernel_tests.verdict import PASSED, UNSUPPORTED, ScriptVerdict
from narrows.words import count_of

_PLACE = re.compile(r"(\d+:\d+): ")


def lines(run: ScriptRun) -> Iterator[str]:
    """Yields a line for each script that didn't pass, then their number."""
    for verdict in run.verdicts:
        if not verdict.is_pass:
            place, why = _place_and_reason(verdict)
            yield f"{verdict.verdict}: {place} ({verdict.mode}): {why}"
    counts = Counter(verdict.verdict for verdict in run.verdicts)
    others = [f"{count} {word}" for word, count in sorted(counts.items()) if word != PASSED]
    scripts = len({verdict.script for verdict in run.verdicts})
    where = f"{count_of(scripts, 'script')} on {run.where}"
    yield ", ".join([f"{counts[PASSED]} of {len(run.verdicts)} passed", *others, where])


def tap(run: ScriptRun) -> Iterator[str]:
    """Yields the Test Anything Protocol, version 13, with a diagnosis after each failure."""
    yield "TAP version 13"
    yield f"1..{len(run.verdicts)}"
    for number, verdict in enumerate(run.verdicts, 1):
        skipped = verdict.verdict == UNSUPPORTED
        result = "ok" if verdict.is_pass or skipped else "not ok"
        directive = f" # SKIP {_one_line(verdict.message)}" if skipped else ""
        yield f"{result} {number} - {verdict.script.stem} {verdict.mode}{directive}"
        if result == "not ok":
            yield from (f"# {line}" for line in _diagnosis(verdict).splitlines())


def junit(run: ScriptRun) -> str:
    """Returns the XML of JUnit, which services of continuous integration read."""
    suite = ET.Element(
        "testsuite",
        name=f"packetdrill on {run.name}",
        tests=str(len(run.verdicts)),
        failures=str(sum(_is_failure(verdict) for verdict in run.verdicts)),
        skipped=str(sum(verdict.verdict == UNSUPPORTED for verdict in run.verdicts)),
    )
    for verdict in run.verdicts:
        case = ET.SubElement(suite, "testcase", classname=verdict.script.stem, name=verdict.mode)
        if verdict.verdict == UNSUPPORTED:
            ET.SubElement(case, "skipped", message=_printable(verdict.message))
        elif not verdict.is_pass:
            failure = ET.SubElement(case, "failure", message=_one_line(verdict.message))
            failure.text = _printable(_diagnosis(verdict))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _is_failure(verdict: ScriptVerdict) -> bool:
    return not verdict.is_pass and verdict.verdict != UNSUPPORTED


def _diagnosis(verdict: ScriptVerdict) -> str:
    return ": ".join(_place_and_reason(verdict))


def _place_and_reason(verdict: ScriptVerdict) -> tuple[str, str]:
    """Where and why a script didn't pass; a message that begins with a place has the exact one."""
    exact = _PLACE.match(verdict.message)
    if exact is None:
        return verdict.place, verdict.message
    return f"{verdict.script.name}:{exact[1]}", verdict.message[exact.end() :]


def _one_line(text: str) -> str:
    return _printable(text.partition("\n")[0])


def _printable(text: str) -> str:
    """Returns the text without the characters that XML can't contain."""
    return "".join(letter for letter in text if letter.isprintable() or letter in "\n\t")
