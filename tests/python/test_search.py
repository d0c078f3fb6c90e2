"""`narrows search` finds planted faults, reduces them, and says nothing of what doesn't fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from narrows.backends import get_backend
from narrows.cli import main
from narrows.errors import InputError, SpecError
from narrows.evaluate.runs import modules_here
from narrows.search import OBJECTIVES, search
from narrows.search.hunt import hunt
from narrows.search.log import Log
from narrows.search.make import REFERENCES, _keep, _specification
from narrows.search.minimise import findings, minimise
from narrows.search.space import Value, departures, join_words, sentence
from narrows.search.trying import PointResults, PointRunner
from narrows.spec import load
from narrows.spec.permission import allowing

FAULTY = """
class Faulty:
    def on_ack(self, sample): pass
    def on_congestion(self, event): pass
    def control(self): return 4.0
"""


class FakeRuns:
    """Stands for runs: a control fails as a rule says, and the others never do."""

    def __init__(self, name: str, rule: Any) -> None:
        self.subject, self.rival, self.references = "copa", None, ("reno",)
        self.objective, self.backend = OBJECTIVES[name], get_backend("sim")
        self.space = self.objective.space
        self.rule, self.asked = rule, 0
        self.sources: dict[str, str] = {}

    def all(self, points: Any, seeds: Any) -> list[PointResults]:
        tried = []
        for point in points:
            chosen = list(seeds)
            self.asked += len(chosen)
            bad = tuple(2.0 if self.rule(point) else 0.5 for _ in chosen)
            tried.append(PointResults(point, bad, bad, tuple((1.0,) for _ in chosen)))
        return tried

    def fails(self, point: Any, seeds: Any) -> bool:
        return self.all([point], seeds)[0].fails


def plain(name: str, **changes: Value) -> dict[str, Value]:
    return {one.name: one.plain for one in OBJECTIVES[name].space} | changes


def entry_of(**changes: Any) -> str:
    """A line of a log, with other values in it or in its point."""
    point = plain("loss") | {name: changes.pop(name) for name in plain("loss") if name in changes}
    entry = {"point": point, "badness": [1.0], "values": [1.0], "references": [[1.0]]}
    return json.dumps(entry | changes)


def test_only_the_conditions_that_matter_stay() -> None:
    trying: Any = FakeRuns("loss", lambda p: p["buffer_bdp"] < 0.3 and p["subjects"] >= 2)
    point = plain("loss", buffer_bdp=0.15, subjects=6, loss=0.01, rate_mbit=100.0, queue="pie")
    small = minimise(trying, trying.all([point], [1])[0])
    assert small is not None
    assert departures(trying.space, small.point) == ("buffer_bdp", "subjects")
    assert small.point["subjects"] == 2, "half of the way is taken as often as it fails"
    assert 0.15 <= float(small.point["buffer_bdp"]) < 0.3


def test_one_seeds_luck_is_no_finding() -> None:
    trying: Any = FakeRuns("loss", lambda _: False)
    lucky = PointResults(plain("loss"), (3.0,), (1.0,), ((1.0,),))
    assert minimise(trying, lucky) is None
    assert findings(trying, [lucky], 3) == []


def test_a_finding_is_reported_once() -> None:
    trying: Any = FakeRuns("loss", lambda p: p["rtt_ms"] > 100 or p["queue"] == "pie")
    points = [
        plain("loss", rtt_ms=300.0, loss=0.01), plain("loss", rtt_ms=200.0, subjects=4),
        plain("loss", queue="pie", subjects=3),
    ]  # fmt: skip
    found = findings(trying, trying.all(points, [1]), 3)
    assert [departures(trying.space, one.point) for one in found] == [("rtt_ms",), ("queue",)]


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_limit_is_kept_by_who_does_as_the_references(name: str) -> None:
    objective = OBJECTIVES[name]
    point = plain(name)
    fair = {"rival.share": 0.5, "subject.share": 0.5}.get(objective.metric, 0.9)
    assert 0 < objective.badness(fair, [fair, fair], point) < 1
    much_worse = fair / 50 if objective.more else fair * 500
    assert objective.badness(much_worse, [fair, fair], point) > 1
    assert objective.badness(much_worse, [None], point) == 0
    if objective.metric in ("rival.share", "subject.share", "subject.jain"):
        assert objective.badness(0.01, [0.02], point) == 0, "the conditions are at fault"


def test_a_search_goes_on_where_it_was(tmp_path: Path) -> None:
    trying: Any = FakeRuns("loss", lambda p: p["subjects"] > 4)
    log = Log(tmp_path / "tries.jsonl", trying)
    first = hunt(trying, log, 10, lambda *_: None)
    with log.path.open("a") as file:
        file.write('{"point": {"rate')  # a kill in the middle of a line
    asked = trying.asked
    whole = hunt(trying, log, 16, lambda *_: None)
    assert trying.asked - asked == 6
    assert [one.point for one in whole[:10]] == [one.point for one in first]
    assert log.read() == whole, "what followed the incomplete line isn't lost"


@pytest.mark.parametrize(
    "other", [("subject", "bbr"), ("references", ("bbr",)), ("rival", "cubic")]
)
def test_the_log_of_another_search_is_refused(tmp_path: Path, other: tuple[str, Any]) -> None:
    trying: Any = FakeRuns("loss", lambda _: False)
    hunt(trying, Log(tmp_path / "log", trying), 1, lambda *_: None)
    setattr(trying, *other)
    with pytest.raises(InputError, match="the log of another search"):
        Log(tmp_path / "log", trying).read()


@pytest.mark.parametrize(
    "line",
    [
        "{", "[]", "{}", "3", "\xff", '{"point": 3}',
        '{"point": {}, "badness": [1], "values": [1], "references": [[1]]}',
        entry_of(subjects=0), entry_of(subjects=1.5), entry_of(queue="x"), entry_of(queue=3),
        entry_of(rate_mbit=1e999), entry_of(rate_mbit="10"), entry_of(loss=float("nan")),
        entry_of(badness=[]), entry_of(badness=["1"]), entry_of(references=[3]),
    ],
)  # fmt: skip
def test_a_damaged_log_is_reported_with_its_line(tmp_path: Path, line: str) -> None:
    trying: Any = FakeRuns("loss", lambda _: False)
    log = Log(tmp_path / "log", trying)
    hunt(trying, log, 1, lambda *_: None)
    with log.path.open("ab") as file:
        file.write(line.encode("latin-1") + b"\n")
    with pytest.raises(InputError, match=r"log:3: found no try of this search"):
        log.read()


def test_a_search_needs_a_directory_and_a_file_for_its_log(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "place" / "tries.jsonl").mkdir(parents=True)
    for out, said in (("file", "File exists"), ("place", "Is a directory")):
        assert main(["search", "cubic", "--tries", "1", "--out", str(tmp_path / out)]) == 2
        assert said in capsys.readouterr().err


def test_guided_tries_come_near_the_failure(tmp_path: Path) -> None:
    class GradedRuns(FakeRuns):
        def all(self, points: Any, _: Any) -> list[PointResults]:
            return [PointResults(p, (p["rtt_ms"] / 400,), (1.0,), ((1.0,),)) for p in points]

    trying: Any = GradedRuns("loss", None)
    tried = hunt(trying, Log(tmp_path / "log", trying), 112, lambda *_: None)
    halves = [[one.badness[0] for one in part] for part in (tried[:56], tried[-32:])]
    assert sum(halves[1]) / 32 > 1.5 * sum(halves[0]) / 56


def test_a_known_weakness_is_found_in_runs(tmp_path: Path, capsys: Any) -> None:
    """Several Copa flows lose most of what they send where the buffer holds few packets."""
    point = plain("loss", rate_mbit=4.0, rtt_ms=60.0, subjects=6)
    objective = OBJECTIVES["loss"]
    log = Log(
        tmp_path / "tries.jsonl",
        PointRunner("copa", None, REFERENCES, objective, get_backend("sim")),
    )
    assert log.read() == []
    log.append([PointResults(point, (5.0,), (0.7,), ((0.1, 0.1, 0.1),))])
    out = ["--tries", "2", "--findings", "1", "--out", str(tmp_path)]
    assert main(["search", "copa", "--objective", "loss", *out]) == 1
    assert "Copa loses" in capsys.readouterr().out
    (finding,) = json.loads((tmp_path / "search.json").read_text())["findings"]
    assert len(finding["departures"]) <= 3
    assert finding["seeds"]["failing"] > 5
    assert (tmp_path / "1" / "results" / "report.html").exists()
    # Whoever gets the specification sees it fail its check.
    again = ["--out", str(tmp_path / "again")]
    assert main(["run", str(tmp_path / "1" / "finding.toml"), *again]) == 1


def test_a_finding_of_an_own_control_has_its_module_beside_it(
    tmp_path: Path, monkeypatch: Any
) -> None:
    (tmp_path / "faulty.py").write_text(FAULTY)
    monkeypatch.chdir(tmp_path)
    tried = PointResults(plain("utilization"), (2.0,), (0.1,), ((0.9,),))
    trying = PointRunner(
        "faulty:Faulty", None, ("reno",), OBJECTIVES["utilization"], get_backend("sim")
    )
    with modules_here(), allowing([tmp_path]):
        found = _keep(trying, tried, tmp_path / "1", "capture")
    assert (tmp_path / "1" / "faulty.py").read_text() == FAULTY
    assert found.confirmed.startswith("capture: can't be run there")


def test_bad_input_is_reported(tmp_path: Path) -> None:
    for wrong, said in (
        ({"objective": "los"}, "not an objective"),
        ({"than": "reno"}, "only there"),
        ({"objective": "slower"}, "only there"),
        ({"confirm": "umll"}, "not a back end"),
        ({"confirm": "capture"}, "not a back end"),
    ):
        with pytest.raises(InputError, match=said):
            search("cubic", tries=1, out=tmp_path, **wrong)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="cubik"):
        search("cubik", tries=1, out=tmp_path)


def test_a_finding_is_a_specification(tmp_path: Path) -> None:
    objective = OBJECTIVES["starves"]
    trying = PointRunner("bbr", "cubic", ("cubic",), objective, get_backend("sim"))
    point = plain("starves", loss=0.001, jitter_ms=5.0, rival_rtt_ratio=2.0)
    (tried,) = trying.all([point], [1])
    file = tmp_path / "finding.toml"
    file.write_text(_specification(trying, tried, "A sentence."))
    spec = load(file).spec
    assert [flow["rtt_ns"] for flow in spec.scenario["flows"]] == [None, 80_000_000]
    assert spec.checks[0].metric == "rival.share"


def test_conditions_are_joined_in_a_sentence() -> None:
    assert join_words(["a"]) == "a"
    assert join_words(["a", "b", "c"]) == "a, b and c"
    space = OBJECTIVES["loss"].space
    assert sentence(space, plain("loss", subjects=3, queue="pie")) == "pie as the queue and 3 flows"


def test_decisive_conditions_are_run_first() -> None:
    """No references for a control that keeps every limit; no third seed once two agree."""
    asked: list[tuple[str, int]] = []

    class CountingRunner(PointRunner):
        def _job(self, point: Any, control: str, seed: int) -> Any:  # noqa: ARG002
            asked.append((control, seed))
            return None

        def _values(self, asked: Any) -> list[float | None]:
            return [values[control] for control, _ in log[-len(asked) :]] if asked else []

    log = asked
    trying = CountingRunner("copa", None, ("reno",), OBJECTIVES["loss"], get_backend("sim"))
    values: dict[str, float | None] = {"copa": 0.05, "reno": 0.0}
    assert not trying.fails(plain("loss"), (1, 2, 3))
    assert asked == [("copa", 1), ("copa", 2)]
    asked.clear()
    values["copa"] = 0.5
    assert trying.fails(plain("loss"), (1, 2, 3))
    assert {seed for _, seed in asked} == {1, 2}
    assert ("reno", 1) in asked
    asked.clear()
    values["reno"] = 0.4
    assert not trying.fails(plain("loss"), (1, 2, 3)), "the conditions are to blame"


OWN = """
class Mine:
    def on_ack(self, sample): pass
    def on_congestion(self, event): pass
    def control(self): return {window}.0
"""


def test_a_search_does_not_go_on_with_another_source_of_the_control(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["search", "mine:Mine", "--tries", "2", "--findings", "1", "--out", "found"]
    (tmp_path / "mine.py").write_text(OWN.format(window=2))
    assert main(words) in (0, 1)
    assert main(words) in (0, 1)
    (tmp_path / "mine.py").write_text(OWN.format(window=40))
    assert main(words) == 2
    assert "a search with another source of the control" in capsys.readouterr().err
