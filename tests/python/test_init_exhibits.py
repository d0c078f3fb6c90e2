"""Copies exhibits as studies to start from, by `narrows init`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from specimens import run_cli

from narrows.reproduce import copies
from narrows.reproduce.catalogue import exhibits
from narrows.reproduce.exhibit import Case, Exhibit, Scope
from narrows.reproduce.own import open_library
from narrows.spec.permission import allowing

REFUSED = "cs244/two-environments"
WRITTEN = [one for one in exhibits().values() if one.identifier != REFUSED]


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("exhibit", WRITTEN, ids=lambda one: one.identifier)
def test_a_copy_has_the_conditions_of_the_exhibit(exhibit: Exhibit, tmp_path: Path) -> None:
    file = copies.write(exhibit.identifier, [], tmp_path)
    scope = Scope(exhibit.profile)
    with allowing([file.parent]), open_library(str(file.parent), None):
        (own,) = exhibits().values()
        found = list(own.method().cases(scope))
    meant = [case for case in exhibit.method().cases(scope) if not case.aside]
    assert sorted(map(_text, found)) == sorted(map(_text, meant))
    assert len(own.claims) == (0 if exhibit.code else len(exhibit.claims))


def _text(case: Case) -> str:
    def sort_keys(value: Any) -> Any:
        if isinstance(value, Mapping):
            return sorted((key, sort_keys(one)) for key, one in value.items() if key != "name")
        return [sort_keys(one) for one in value] if isinstance(value, list) else value

    return repr(sort_keys(case.spec))


def test_a_copy_is_run_and_judged(capsys: pytest.CaptureFixture[str]) -> None:
    short = ("--set", "run.duration=3s", "--set", "run.warmup=1s", "--set", "path.rtt=50ms")
    assert run_cli("init", "panaderia/fig9", *short) == 0
    assert capsys.readouterr().out.split() == ["fig9/study.toml"]
    assert "Code judges its claims" in Path("fig9/study.toml").read_text()
    assert run_cli("reproduce", "./fig9") == 0
    picture = Path("narrows-results/fig9.study/site/fig9-linux-4.17-sim.svg").read_text()
    assert "Figure 9, with run.duration=3s, run.warmup=1s and path.rtt=50ms" in picture
    assert run_cli("init", "ietf98/initial-window", "--json") == 0
    study = tomllib.loads(Path("initial-window/study.toml").read_text())
    assert study["paper"].startswith("BBR Congestion Control: An Update")
    assert run_cli("init", "ietf98/initial-window") == 2
    assert "found a file of that name" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["panaderia/fig99"], 'found "panaderia/fig99"; "panaderia/fig'),
        ([REFUSED], "found a figure that compares back ends; an exhibit that is a study, such as"),
        (["panaderia/fig10", "--set", "path.buffer=1bdp"], "a place that the study varies"),
        (["panaderia/copa", "--set", "path.buffer=1bdp"], "a place that the study varies"),
        (["panaderia/copa", "--set", "flows.cubic.size=1mb"], "no such flow; one of flows.copa"),
        (["panaderia/copa", "--set", "paths.rtt=1ms"], "no such place; one such as path.rtt"),
        (["panaderia/copa", "--set", "rtt"], 'found "rtt"; PLACE=VALUE'),
        (["fair", "--set", "path.rtt=1ms"], "--set of the next command"),
    ],
)
def test_exhibits_that_cannot_be_written_are_refused(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli("init", *arguments) == 2
    assert said in capsys.readouterr().err
    assert not list(Path().iterdir())
