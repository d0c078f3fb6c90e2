"""A survey of weaknesses resumes where it stopped, and a page reports it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import weakness_survey as module
from weakness_page import PUBLISHED, find_published, page
from weakness_survey import ASKED, Weakness, survey, weaknesses

from narrows.search.objectives import OBJECTIVES
from narrows.search.space import dimensions


def test_a_survey_resumes_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ASKED", ("utilization", "loss"))
    asked: list[str] = []
    out = tmp_path / "store"
    assert not survey(["reno"], out, tries=1, minutes=0, report=lambda pair, _: asked.append(pair))
    assert not asked
    assert survey(["reno"], out, tries=1, report=lambda pair, _: asked.append(pair))
    assert asked == ["reno utilization", "reno loss"]
    assert survey(["reno"], out, tries=1, report=lambda pair, _: asked.append(pair))
    assert len(asked) == 2, "nothing is searched again"
    found = list(weaknesses(["reno"], out, 1))
    assert [(one.objective, one.tries) for one in found] == [("utilization", 1), ("loss", 1)]


def finding(*departures: str) -> dict[str, object]:
    return {"says": "With 4 flows: it fails.", "departures": list(departures), "confirmed": None}


def test_published_weaknesses_are_found_again_by_their_departures() -> None:
    known = {"control": "bbr", "objective": "loss", "departures": ["subjects"]}
    right = Weakness("bbr", "loss", 60, 9, finding("subjects", "buffer_bdp"))
    assert (
        find_published(known, [Weakness("bbr", "delay", 60, 9, finding("subjects")), right])
        == right
    )
    assert find_published(known, [Weakness("bbr", "loss", 60, 9, finding("rate_mbit"))]) is None
    assert find_published(known, [Weakness("bbr", "loss", 60, 9, None)]) is None


def test_the_page_reports_findings_and_their_absence() -> None:
    found = [
        Weakness("bbr", "loss", 60, 9, finding("subjects")),
        Weakness("bbr", "delay", 60, 2, None),
        Weakness("reno", "loss", 60, 0, None),
    ]
    found += [Weakness("reno", name, 60, 0, None) for name in ASKED if name != "loss"]
    found += [Weakness("bbr", name, 60, 0, None) for name in ASKED if name not in ("loss", "delay")]
    text = page(found, 60, 2)
    assert "- loss: With 4 flows: it fails." in text
    assert "- delay: fails in 2 of 60 conditions, but not with most seeds" in text
    assert "None of the conditions showed a failure." in text
    assert "| BBR |" in text
    assert "| ? |" not in text
    assert "searches are done" not in text
    part = page(found[:3], 60, 2)
    assert "| ? |" in part
    assert "3 of 12 searches are done" in part


def test_published_weaknesses_name_what_exists() -> None:
    for known in tomllib.loads(PUBLISHED.read_text(encoding="utf-8"))["weakness"]:
        objective = OBJECTIVES[known["objective"]]
        names = {one.name for one in dimensions(rivals=objective.rivals, equals=objective.equals)}
        assert set(known["departures"]) <= names
