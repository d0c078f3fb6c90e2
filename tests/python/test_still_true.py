"""Is it still true: problems and versions as data, and the table that answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import write_still_true

from narrows.backends import get_backend
from narrows.execute import run_all
from narrows.reproduce.claims import claims
from narrows.reproduce.exhibit import Case
from narrows.reproduce.gather import FigureCondition, conditions
from narrows.reproduce.study_code import load
from narrows.reproduce.today import page, table
from narrows.reproduce.today.problems import (
    TRIALS,
    BbrProblem,
    BbrVersion,
    case,
    problems,
    versions,
)
from narrows.store import open_store

outcome = load("still_true", "measures.py").outcome

LOSS = BbrProblem(
    "loss", "Loses much", "panaderia/fig7", "How", {}, [], "loss", " %", "Why.", above=2
)
SHARE = BbrProblem(
    "s", "Takes all", "panaderia/fig8", "How", {}, [], "share", " %", "Why.", below=25
)


@pytest.mark.parametrize(
    ("problem", "values", "answer"),
    [
        (LOSS, [5.0, 5.1, 4.9], "yes"),
        (LOSS, [0.5, 0.6, 0.5], "no"),
        (LOSS, [1.5, 2.5, 2.0], "undecided"),
        (LOSS, [5.0, 5.0], "undecided"),
        (SHARE, [3.0, 4.0, 3.5], "yes"),
        (SHARE, [45.0, 46.0, 44.0], "no"),
    ],
)
def test_an_answer_takes_the_whole_interval(problem, values, answer) -> None:
    assert table.answer(problem, values) == answer


def test_every_problem_comes_from_a_claim_and_every_version_can_run() -> None:
    assert {problem.claim for problem in problems().values()} <= set(claims())
    simulated = [v for v in versions().values() if not v.backend]
    assert {"bbr", "bbr2", "bbr3", "bbr_shallow", "cubic"} == {v.cca for v in simulated}
    cases = [case(p, v) for p in problems().values() for v in simulated]
    ran = list(conditions(cases, get_backend("sim")))
    assert len(ran) == len(cases) == len(problems()) * len(simulated)


def test_every_change_that_is_an_option_of_bbr_for_a_proposal_has_a_version() -> None:
    tried = {key for version in versions().values() for key in version.options}
    proposed = {"adaptive_cap", "rtprop", "bw_window_rounds", "startup_hystart", "buffer_model",
                "probe_rtt_gain", "full_bw_rounds", "prr_recovery", "drain_to_target",
                "startup_capacity"}  # fmt: skip
    assert tried == proposed


def test_the_version_takes_the_place_of_the_tested_flows() -> None:
    version = BbrVersion("v", "bbr3", options={"beta": 0.5})
    spec = case(problems()["shallow-cubic"], version).spec
    tested, cubic = spec["flows"]
    assert tested == {"name": "tested", "cca": "bbr3", "count": 2, "options": {"beta": 0.5}}
    assert cubic == {"cca": "cubic", "count": 2}
    named = case(problems()["bursts-pin"], version).spec["flows"][1]
    assert named["name"] == "tested"


def test_trials_on_a_real_kernel_have_paths_of_their_own() -> None:
    (simulated,) = conditions([case(problems()["cycle"], BbrVersion("v"))], get_backend("sim"))
    real = SimpleNamespace(name="uml", engine_of=simulated.engine.engine_of)

    def paths(condition: FigureCondition) -> set[int]:
        trials = table.distinguish_trials(condition).cell.plan.trials
        return {trial.scenario["path"]["rtt_ns"] for trial in trials}

    assert len(paths(simulated)) == 1
    assert len(paths(replace(simulated, engine=real))) == TRIALS


CELLS = (
    table.ProblemCell("shallow-loss", "v1, Linux 6.12", "yes", "10 ± 1 %"),
    table.ProblemCell("shallow-loss", "v3", "no", "0.1 ± 0.1 %"),
    table.ProblemCell("cycle", "v3", "undecided", "25 ± 3 points"),
)
TABLE = table.ProblemTable(CELLS, "engine", 4)


def test_the_table_says_what_was_found_and_what_was_not_run(tmp_path) -> None:
    lines = list(table.text(TABLE))
    assert lines[0].startswith("Loses much in shallow buffers? Loss of 4 flows")
    assert lines[1].split() == ["v1,", "Linux", "6.12", "yes", "10", "±", "1", "%"]
    rows = list(write_still_true.markdown(TABLE))
    first, *_ = problems().values()
    assert rows[0].startswith(f"| | {first.words} | ")
    rest = " | ".join(["not run"] * (len(problems()) - 4))
    assert f"| v1, Linux 6.12 | yes | not run | not run | not run | {rest} |" in rows
    assert f"| v3 | no | not run | not run | undecided | {rest} |" in rows
    text = page.write(TABLE, tmp_path).read_text()
    assert 'class="yes" title="10 ± 1 %"' in text


def test_measurements_of_a_run(tmp_path) -> None:
    """One flow beside CUBIC, and small flows that complete: every column has its value."""
    spec = {
        "path": {"rate": "10mbit", "rtt": "20ms", "buffer": "1bdp"},
        "flows": [
            {"name": "tested", "cca": "bbr"},
            {"name": "small", "cca": "cubic", "size": "100kb", "repeat_gap": "0.1s"},
        ],
        "run": {"duration": "12s", "warmup": "2s", "sample_interval": "100ms"},
    }
    (ran,) = conditions([_case(spec)], get_backend("sim"))
    run_all(list(ran.jobs()), tmp_path)
    (row,) = outcome(next(ran.stored_trials(open_store(tmp_path / "runs")))).to_dicts()
    assert row["share"] + row["others_share"] == pytest.approx(100)
    assert 50 < row["share"] < 100
    assert 0.08 < row["completion"] < 5
    assert 90 < row["utilization"] <= 100
    assert 0 < row["swing"] <= 100
    assert 0 <= row["dip"] < 100


def _case(spec):
    return Case({"problem": "x", "version": "y"}, {"name": "x", **spec})


def test_the_page_names_versions_that_ran_earlier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "tools"))
    import write_still_true

    real = table.ProblemCell("cycle", "v1, real Linux 6.12", "yes", "58 ± 8 points")
    older = table.ProblemCell("cycle", "v3", "yes", "99 ± 1 points")
    text = write_still_true.page(TABLE, table.ProblemTable((real, older), "earlier", 4))
    assert "differ only in their seeds:\nv1, real Linux 6.12.\n" in text
    assert "v1, real Linux 6.12 58 ± 8 points" in text
    assert "99 ± 1" not in text
    assert "earlier version" not in write_still_true.page(TABLE)
