"""The lessons in a real browser: each asks for a guess, and a run says who was right."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser
from playing import FOLDER, NEEDED
from serving import Server

from narrows.backends.sim import Simulator
from narrows.metrics.summary import summarise
from narrows.spec import parse

pytestmark = NEEDED
LESSONS = sorted(file.stem for file in (FOLDER / "lessons").glob("*.html") if file.stem != "index")
DIGEST = "document.querySelector('live-run').dataset.digest"
VERDICT = "document.querySelector('.verdict').textContent"
DRAG = "document.querySelector('.drag input[type=range]')"
BEYOND = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
MEASURES: dict[str, Callable[[Any], float]] = {
    "rtt": lambda flow: flow["rtt_ms"]["mean"],
    "share": lambda flow: flow["share"] * 100,
    "goodput": lambda flow: flow["goodput_mbps"],
}


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with Browser(tmp_path) as found:
        yield found
        assert found.said == []


def visit(browser: Browser, server: Server, lesson: str, width: int = 1400) -> None:
    """Opens a lesson and waits for the run that it begins with."""
    browser.visit(f"{server.address}lessons/{lesson}.html", width)
    browser.wait(f"!!{DIGEST}")


def slide(browser: Browser, element: str, value: int) -> None:
    """Moves a slider."""
    browser.value(
        f"(one => {{ one.value = {value}; one.dispatchEvent(new Event('input')); }})({element})"
    )


def attribute(lesson: str, name: str) -> str:
    page = (FOLDER / "lessons" / f"{lesson}.html").read_text(encoding="utf-8")
    found = re.search(rf'<live-run [^>]*\b{name}="([^"]*)"', page)
    assert found, f"{lesson} has no {name}"
    return found[1]


def expect(lesson: str) -> float:
    """The number that the simulator gives with the slider at its end."""
    measure, _, cca = attribute(lesson, "value").partition(":")
    place = attribute(lesson, "slide").split()[0]
    example = (FOLDER / "examples" / f"{attribute(lesson, 'src')}.toml").read_text()
    spec = parse(example, lesson, [f"{place}={attribute(lesson, 'to')}"]).spec
    result = Simulator().run(spec.scenario)
    flows = summarise(spec.scenario, result.tables, result.info)["flows"]
    names = [flow["name"] for flow in spec.scenario["flows"]]
    mine = [one for one, name in zip(flows, names, strict=True) if name.startswith(cca)]
    values = [MEASURES[measure](one) for one in mine]
    return sum(values) if measure == "share" else sum(values) / len(values)


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_run_says_who_was_right(lesson: str, browser: Browser, server: Server) -> None:
    value = expect(lesson)
    for guess in (0, 2):
        browser.visit("about:blank")
        visit(browser, server, lesson)
        assert browser.value("document.querySelector('.why').hidden")
        assert browser.value("document.querySelectorAll('live-run input[type=range]').length") == 0
        begins = browser.value(DIGEST)
        browser.value(f"document.querySelectorAll('.guess input')[{guess}].click()")
        slide(browser, DRAG, 200)
        browser.wait(f"{DIGEST} !== {json.dumps(begins)}")
        assert browser.value(VERDICT) == "", "halfway there is no answer"
        slide(browser, DRAG, 400)
        browser.wait(f"{VERDICT} !== ''")
        verdict = browser.value(VERDICT)
        said = float(re.findall(r"The run says ([0-9.]+) ", verdict)[0])
        assert said == pytest.approx(value, rel=5e-3)
        bounds = [float(one) for one in browser.value(BOUNDS)]
        right = sum(value >= bound for bound in bounds)
        assert ("You were right." in verdict) == (guess == right)
        answered = browser.value("document.querySelectorAll('.guess label.answer').length")
        assert answered == 1
        assert not browser.value("document.querySelector('.why').hidden")


BOUNDS = """fetch(location.href).then((page) => page.text()).then((text) =>
  [...text.matchAll(/data-below="([0-9.]+)"/g)].map(([, bound]) => bound))"""


@pytest.mark.parametrize("lesson", [*LESSONS, "index"])
@pytest.mark.parametrize("width", [390, 1400])
def test_a_lesson_fits_and_its_figure_changes(
    lesson: str, width: int, browser: Browser, server: Server
) -> None:
    if lesson == "index":
        browser.visit(f"{server.address}lessons/", width)
    else:
        visit(browser, server, lesson, width)
        begins = browser.value(DIGEST)
        browser.value("document.querySelector('.guess button').click()")  # skips the question
        browser.wait("document.querySelector('.controls input[type=range]') !== null")
        slide(browser, "document.querySelector('.controls input[type=range]')", 350)
        browser.wait(f"{DIGEST} !== {json.dumps(begins)}")
        assert browser.value(VERDICT) == ""
    assert browser.value(BEYOND) <= 0
