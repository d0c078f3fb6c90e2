"""Runs whose shares, goodput or queue still change say so; steady and cyclic ones don't."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from specimens import run_cli

import narrows
from narrows.answer import answer, lengthening
from narrows.answer.study import ask
from narrows.columns import Columns
from narrows.metrics.drifts import drifts
from narrows.metrics.duration import needed_s
from narrows.metrics.halves import halves, until_pass_ends
from narrows.metrics.settling import UnsettledRuns, note_of_run
from narrows.report import write_report
from narrows.sweeps.settling import unsettled_runs

MS = 1_000_000
SPEC = """
name = "rivals"
path = { rate = "20mbit", rtt = "30ms", buffer = "8bdp" }
run = { duration = "50s", warmup = "10s", trials = 2 }
host = { jitter = "100us" }
flows = [{ cca = "bbr" }, { cca = "cubic" }]
"""


def trace_of(pass_s: float) -> dict[str, Any]:
    """The service of a link whose trace repeats after so long."""
    return {"kind": "trace", "opportunities_ms": [0, round(1e3 * pass_s)]}


def scenario(span_s: float = 60.0, **changes: Any) -> Any:
    """A scenario of two endless flows that are measured for so long from 10 s on."""
    flow = {
        "start_ns": 0, "stop_ns": None, "size_bytes": None, "workload": None, "reverse": False,
        "rtt_ns": None,
    }  # fmt: skip
    run = {
        "warmup_ns": 10_000 * MS,
        "duration_ns": (10 + span_s) * 1e9,
        "sample_interval_ns": 100 * MS,
        "record": "samples",
    }
    path = {
        "rate_bps": 8_000_000,
        "rtt_ns": 30 * MS,
        "service": trace_of(17.0),
        "queue": {"kind": "droptail"},
        "buffer": {"bytes": 30_000},
    }
    whole: dict[str, Any] = {
        "run": run,
        "flows": [flow | {}, flow | {}],
        "path": path,
        "changes": [],
    }
    for place, value in changes.items():
        table, key = place.split("__")
        (whole["flows"][1] if table == "flow" else whole[table])[key] = value
    return whole


def halves_of(rates: Any, described: Any) -> dict[str, Any]:
    """The halves of two classes, "a" with these rates over time and "b" with the rest of 1000."""
    end_s = described["run"]["duration_ns"] / 1e9
    time_s = np.arange(0, end_s + 0.01, 0.1)
    rate = np.broadcast_to(rates(time_s), time_s.shape)
    counters = [np.cumsum(rate), np.cumsum(1000 - rate)]
    samples = Columns.of(
        {
            "time_s": np.tile(time_s, 2),
            "flow": np.repeat(np.array([0, 1], dtype=np.uint32), len(time_s)),
            "received_bytes": np.concatenate(counters),
        }
    )
    return halves(described, ["a", "b"], {"flow_samples": samples}, end_s)


def step(time_s: Any) -> Any:
    return np.where(time_s < 35, 600, 450)


def test_a_share_that_drifts_is_found_in_both_halves() -> None:
    goodputs = halves_of(step, scenario(50.0))["goodput_mbps"]
    assert goodputs["a"] == pytest.approx([0.048, 0.036], rel=0.01)
    assert goodputs["b"] == pytest.approx([0.032, 0.044], rel=0.01)


@pytest.mark.parametrize(
    ("rates", "span_s"),
    [
        (lambda t: 500 + 0 * t, 60.0),
        (lambda t: np.where(t < 40, 540, 460), 60.0),
        (lambda t: 500 + 400 * np.sign(np.sin(t * np.pi / 10)), 50.0),
        (lambda t: np.where(t % 10 < 0.5, 50, 700), 26.0),
        (step, 24.0),
    ],
    ids=["steady", "8 points", "turns of 10 s", "dips every 10 s", "too short"],
)
def test_steady_cyclic_and_short_runs_are_left_alone(rates: Any, span_s: float) -> None:
    assert halves_of(rates, scenario(span_s)).get("drifting", []) == []


def test_halves_have_values_without_a_drift() -> None:
    found = halves_of(lambda t: 500 + 0 * t, scenario(60.0))
    assert found["goodput_mbps"]["a"] == pytest.approx([0.04, 0.04], rel=0.01)
    assert found["drifting"] == []


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("flow__start_ns", 11_000 * MS),
        ("flow__stop_ns", 30_000 * MS),
        ("flow__size_bytes", 10**6),
        ("flow__workload", {"kind": "web"}),
        ("run__record", "summary"),
        ("path__capacity_known", False),
    ],
)
def test_flows_that_come_or_go_and_runs_without_samples_are_left_alone(
    place: str, value: object
) -> None:
    assert halves_of(step, scenario(50.0)) != {}
    assert halves_of(step, scenario(50.0, **{place: value})) == {}


def row(early: float, late: float, total: float = 10.0) -> dict[str, float]:
    """A row of `summary` with the goodput of "a" in both halves."""
    return {
        "a.goodput_early_mbps": early,
        "a.goodput_late_mbps": late,
        "b.goodput_early_mbps": total - early,
        "b.goodput_late_mbps": total - late,
    }


def test_most_trials_must_drift_the_same_way() -> None:
    none = dict.fromkeys(row(0, 0))
    assert drifts([none], 1) == []
    assert drifts([row(6, 4), none], 2) == []
    assert drifts([row(6, 4), row(4, 6)], 2) == []
    assert drifts([row(6, 4) | {"goodput_drifts": 0}], 1) == []
    (one,) = drifts([row(6, 4), none, row(8, 5) | {"goodput_drifts": 1}], 3)
    assert (one.quantity, one.owner, one.early, one.late) == ("shares", "a", 70.0, 45.0)


def test_trials_together_show_a_drift_that_none_shows_by_itself() -> None:
    def without_flags(*pairs: tuple[float, float]) -> list[dict[str, float]]:
        return [row(*pair) | {"goodput_drifts": 0} for pair in pairs]

    alike = ((3.2, 3.6), (3.2, 3.7), (3.2, 3.6))
    (one,) = drifts(without_flags(*alike), 3)
    assert (one.quantity, one.owner) == ("shares", "a")
    assert (round(one.early), round(one.late)) == (32, 36)
    assert drifts(without_flags(*alike[:2]), 2) == []
    assert drifts(without_flags((3.2, 4.3), (3.2, 3.3), (3.2, 4.0)), 3) == []
    assert drifts(without_flags((3.2, 3.4), (3.2, 3.5), (3.2, 3.4)), 3) == []


class Summaries:
    """Rows of the table `summary` in place of a store."""

    def __init__(self, rows: list[dict[str, float]]) -> None:
        self.frame = pl.DataFrame(rows).with_row_index("run")

    def columns(self, _: str) -> list[str]:
        return self.frame.columns

    def rows(self, _: str, columns: Sequence[str]) -> pl.DataFrame:
        return self.frame.select(columns)


def test_a_study_finds_such_a_drift_in_its_table_too() -> None:
    alike = ((3.2, 3.6), (3.2, 3.7), (3.2, 3.6), (3.2, 3.3), (3.2, 3.3), (3.2, 3.3))
    summaries: Any = Summaries([row(*pair) | {"goodput_drifts": 0} for pair in alike])
    runs = summaries.frame.select("run", cell=pl.col("run") // 3)
    assert list(unsettled_runs(summaries, runs).drifting) == [0]


def test_a_study_names_the_combination_that_drifts_most() -> None:
    none = dict.fromkeys(row(0, 0))
    found = UnsettledRuns.of(
        [("Buffer 1", [none]), ("Buffer 4", [row(6, 4)]), ("Buffer 8", [row(7, 2)])]
    )
    assert found.note() == (
        "Shares still change within the runs in 2 of 3 combinations: a 70 % in the first half, "
        "20 % in the second (Buffer 8); a longer `run.duration` would show whether that settles."
    )
    assert UnsettledRuns.of([("Buffer 1", [none])]).note() == ""


def test_a_run_without_samples_says_that_it_hides_a_drift(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rivals.toml").write_text(SPEC)
    summaries = ("--set", "run.record=summary")
    note = 'With record = "summary" nothing shows'
    one = ("--set", "path.buffer=1bdp")
    assert run_cli("run", "rivals.toml", *summaries, *one, "--out", "one") == 0
    assert note in capsys.readouterr().out
    buffers = 'path.buffer=["0.5bdp", "1bdp"]'
    assert run_cli("run", "rivals.toml", *summaries, "--set", buffers, "--out", "many") == 0
    assert note in capsys.readouterr().out
    short = (*one, "--set", "run.duration=20s")
    assert run_cli("run", "rivals.toml", *summaries, *short, "--out", "short") == 0
    told = capsys.readouterr().out
    assert note not in told
    assert TOO_SHORT in told


TOO_SHORT = (
    "Measured for 10 s, too short to tell shares: 25 s are the least that is asked for; "
    "`--set run.duration=50s --set run.warmup=25s` would do for most controls."
)


def test_short_runs_of_rivals_say_so_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rivals.toml").write_text(SPEC)
    short = ["run.duration=11s", 'path.buffer=["1bdp", "8bdp"]']
    note = (
        "The runs are too short to tell shares in 2 of 2 combinations: 400 round trips over a full "
        "buffer take up to 108 s; `--set run.duration=250s --set run.warmup=125s` would do for "
        "most controls."
    )
    swept = narrows.sweep("rivals.toml", short, out="many")
    assert repr(swept).endswith(f"\n{note}")
    assert note in swept._repr_html_()
    assert note.replace("`", "") in re.sub("</?code>", "", swept.page.read_text())
    made = narrows.run("rivals.toml", ["run.duration=20s", "path.buffer=1bdp"], out="one")
    assert repr(made).endswith(f"\n{TOO_SHORT}")
    assert TOO_SHORT in made._repr_html_()
    question = "path.buffer with the highest cubic.share"
    options = [word for one in short for word in ("--set", one)]
    options += ["--backend", "sim", "--trials", "2", "--max-trials", "2", "--out", "asked"]
    assert run_cli("search", "rivals.toml", "--for", question, *options) == 0
    answer_line = capsys.readouterr().out.splitlines()[0]
    assert answer_line.startswith("The path.buffer with the highest cubic.share is")
    assert answer_line.endswith(f", but that is provisional: t{note[1:]}")


@pytest.mark.parametrize(
    ("changes", "needed"),
    [
        ({}, 25.0),
        ({"path__buffer": {"bytes": 75_000}}, 42.0),
        ({"path__buffer": {"packets": 50}}, 42.0),
        ({"path__buffer": {"bytes": 75_000}, "path__queue": {"kind": "codel"}}, 25.0),
        ({"path__buffer": {"bytes": 75_000_000}}, 500.0),
        ({"flow__rtt_ns": 160 * MS}, 76.0),
        ({"flow__size_bytes": 10**6}, None),
        ({"flow__workload": {"kind": "video"}}, None),
        ({"flow__start_ns": 11_000 * MS}, None),
        ({"path__service": {"kind": "trace"}}, None),
        ({"path__capacity_known": True}, None),
    ],
)
def test_shares_need_400_round_trips_over_a_full_buffer(
    changes: dict[str, Any], needed: float | None
) -> None:
    assert needed_s(scenario(**({"path__service": {"kind": "constant"}} | changes))) == needed


def test_a_note_calls_the_least_and_the_most_what_they_are() -> None:
    def note(needed: float) -> str:
        return UnsettledRuns({}, {"a": needed}, 1).note(scenario())

    assert "400 round" not in note(25.0)
    assert ": 25 s are the least that is asked for; `--set run.duration=5" in note(25.0)
    assert ": 400 round trips over a full buffer take up to 180 s; `--set run.du" in note(180.0)
    assert note(500.0).endswith(
        "400 round trips over a full buffer take 500 s or more, and 500 s are the most that is "
        "asked for; `--set run.duration=1000s --set run.warmup=500s` would measure for those, "
        "which may still be too short."
    )


def test_one_flow_shares_with_none() -> None:
    alone = scenario(path__service={"kind": "constant"})
    del alone["flows"][1]
    assert needed_s(alone) is None


def halves_of_both(rates: Any, described: Any) -> dict[str, Any]:
    """The halves of two classes that both have these rates over time."""
    end_s = described["run"]["duration_ns"] / 1e9
    time_s = np.arange(0, end_s + 0.01, 0.1)
    received = np.cumsum(rates(time_s))
    flows = np.repeat(np.array([0, 1], dtype=np.uint32), len(time_s))
    both = {"time_s": np.tile(time_s, 2), "flow": flows, "received_bytes": np.tile(received, 2)}
    return halves(described, ["a", "b"], {"flow_samples": Columns.of(both)}, end_s)


@pytest.mark.parametrize(
    ("service", "drifting"), [(trace_of(17.0), []), ({"kind": "wifi"}, ["goodput_mbps"])]
)
def test_a_traces_own_rate_is_no_drift(service: dict[str, Any], drifting: list[str]) -> None:
    described = scenario(path__service=service)
    found = halves_of_both(lambda t: np.where(t < 40, 300, 600), described)
    assert found["drifting"] == drifting
    assert "queue_ms" not in found


@pytest.mark.parametrize(("late", "drifting"), [(300, []), (700, ["goodput_mbps"])])
def test_halves_with_whole_passes_of_a_trace_are_compared(
    late: int, drifting: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trace's own ups and downs are larger than the drift, and in both halves the same."""
    rising = [*range(100, 600, 100), *range(200, 700, 100)]
    monkeypatch.setattr("narrows.metrics.halves._queue", lambda *_: np.array(rising, float))

    def rates(t: Any) -> Any:
        return np.where((t - 10) % 15 < 6, 1200, np.where(t < 40, 300, late))

    found = halves_of_both(rates, scenario(path__service=trace_of(15.0)))
    assert found["drifting"] == [*drifting, "queue_ms"]
    assert found["queue_ms"] == [300.0, 400.0]
    assert "queue_ms" not in halves_of_both(rates, scenario(path__service=trace_of(16.0)))


def queues(*pairs: tuple[float, float]) -> list[dict[str, float]]:
    """Rows of `summary` with the queue in both halves."""
    names = ("queue_early_ms", "queue_late_ms")
    return [dict(zip(names, pair, strict=True)) for pair in pairs]


def test_a_queue_may_drift_up_in_some_trials_and_down_in_others() -> None:
    up_and_down = [*queues((100, 900), (900, 300)), {"queue_drifts": 0}]
    (one,) = drifts(up_and_down, 3)
    told = one.words("at first", "at last")
    assert (one.quantity, told) == ("the queue", "in one trial 100 ms at first, 900 ms at last")
    assert drifts([*up_and_down, {"queue_drifts": 0}], 4) == []
    (one,) = drifts(queues((100, 900), (100, 300), (300, 100)), 3)
    assert one.words("at first", "at last") == "100 ms at first, 600 ms at last"


def test_trials_together_show_that_a_queue_drifts_if_one_does_by_itself() -> None:
    rows = queues((100, 130), (200, 215), (150, 170), (120, 135))
    flagged = [rows[0] | {"queue_drifts": 1}, *(one | {"queue_drifts": 0} for one in rows[1:])]
    (one,) = drifts(flagged, 4)
    told = one.words("at first", "at last")
    assert (one.quantity, told) == ("the queue", "142 ms at first, 162 ms at last")
    assert drifts([one | {"queue_drifts": 0} for one in rows], 4) == []
    assert drifts(flagged[:2], 2) == []
    mixed = [one | {"queue_drifts": 0} for one in queues((200, 150), (150, 190), (120, 100))]
    assert drifts([flagged[0], *mixed], 4) == []


def test_the_middle_of_an_odd_number_of_passes_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("narrows.metrics.halves._queue", lambda *_: np.zeros(10))

    def rates(t: Any) -> Any:
        return np.where((t >= 30) & (t < 50), 100, np.where(t < 40, 300, 450))

    found = halves_of_both(rates, scenario(path__service=trace_of(20.0)))
    assert found["goodput_mbps"]["a"] == pytest.approx([0.024, 0.036], rel=0.01)
    assert found["drifting"] == ["goodput_mbps"]


def test_a_replayed_trace_is_made_longer_by_whole_passes() -> None:
    found = UnsettledRuns.of([("", queues((100, 900)))])
    told = found.note(scenario(path__service=trace_of(15.0)))
    options = "`--set run.duration=195s --set run.warmup=75s`"
    assert told.endswith(f"900 ms in the second; {options} would show whether that settles.")
    shares = UnsettledRuns.of([("", [row(6, 4)])])
    options = "`--set run.duration=51s --set run.warmup=17s`"
    told = f"the trace's own rate may have changed; {options} compares pass 2 with pass 3."
    assert shares.note(scenario()).endswith(told)
    assert "a longer `run.duration`" in shares.note()


def test_a_run_says_that_it_measures_a_part_of_a_trace() -> None:
    found: UnsettledRuns[str] = UnsettledRuns.of([])
    told = found.note(scenario(path__service=trace_of(140.0)))
    assert told == (
        "Measured for 60 s of a trace that repeats after 140 s: other times may differ; "
        "`--set run.duration=420s --set run.warmup=140s` measures two passes."
    )
    assert found.note(scenario(path__service=trace_of(17.0))).startswith("Measured for 60 s of")
    assert found.note(scenario(path__service=trace_of(30.0))) == ""
    assert found.note(scenario(span_s=20.0, path__service=trace_of(140.0))) == ""
    assert found.note(scenario(path__service={"kind": "wifi"})) == ""


def test_a_search_over_a_trace_measures_whole_passes(tmp_path: Path) -> None:
    (tmp_path / "link.trace").write_text("\n".join(map(str, range(1, 70_001))))
    sets = ('path.service={kind="trace", file="link.trace"}', 'path.buffer=["1bdp", "8bdp"]')
    spec = tmp_path / "rivals.toml"
    spec.write_text(SPEC)
    study = ask(spec, sets, "path.buffer with the highest cubic.share")
    longer = lengthening.lengthen(study, UnsettledRuns.of([("", [row(6, 4)])]), 2)
    assert longer is not None
    assert longer.longer_duration == "360s"
    assert until_pass_ends(scenario(path__service=trace_of(15.0)), 70.0) == 70.0
    assert until_pass_ends(scenario(path__service=trace_of(15.0)), 71.0) == 85.0
    assert until_pass_ends(scenario(path__service={"kind": "constant"}), 71.0) == 71.0


def test_runs_studies_and_searches_say_what_still_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rivals.toml").write_text(SPEC)
    assert run_cli("run", "rivals.toml", "--out", "one") == 0
    note = "Shares still change: bbr"
    told = capsys.readouterr().out
    assert note in told
    longer = "`--set run.duration=250s --set run.warmup=125s` would show whether that settles."
    assert f"in 30 to 50 s; {longer}" in told
    assert note in write_report("one").page.read_text()
    buffers = 'path.buffer=["1bdp", "8bdp"]'
    assert run_cli("run", "rivals.toml", "--set", buffers, "--out", "many") == 0
    note = "Shares still change within the runs in 1 of 2 combinations: bbr"
    assert note in capsys.readouterr().out
    assert note in Path("many/rivals.html").read_text()
    asked = "path.buffer with the highest cubic.share"
    assert run_cli("search", "rivals.toml", "--for", asked, "--set", buffers, "--out", "asked",
                   "--trials", "2", "--max-trials", "2") == 0  # fmt: skip
    told = capsys.readouterr().out
    assert "The runs last 150s; the study's own duration is too short for this." in told
    assert "provisional" not in told


def test_an_answer_that_longer_runs_could_change_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lengthening, "MOST_LOAD", 0.0)
    Path("rivals.toml").write_text(SPEC)
    sets = ('path.buffer=["1bdp", "8bdp"]',)
    options: dict[str, Any] = {"trials": 2, "most_trials": 2, "out": "asked"}
    made = answer("rivals.toml", "path.buffer with the highest cubic.share", sets, **options)
    told = made.lines()[0]
    assert told.startswith("The path.buffer with the highest cubic.share is")
    reservation = "but that is provisional: shares still change within the runs in 1 of 2"
    assert reservation in told
    assert reservation in Path("asked/rivals-answer.html").read_text()
    lead, *answers = made._with_reservation(["One.", "Two."])
    assert lead.startswith("These answers are provisional: shares still change")
    assert answers == ["One.", "Two."]
    calm = answer("rivals.toml", "path.buffer with the highest utilization", sets, **options)
    assert "provisional" not in calm.lines()[0]


@pytest.mark.parametrize("ccas", [["reno"], ["cubic", "cubic"], ["bbr"]], ids="-".join)
def test_steady_rivals_have_settled(ccas: list[str], tmp_path: Path) -> None:
    spec = {
        "name": "steady",
        "path": {"rate": "20mbit", "rtt": "30ms", "buffer": "1bdp"},
        "flows": [{"cca": cca} for cca in ccas],
        "run": {"duration": "120s", "warmup": "10s"},
    }
    made = narrows.run(spec, out=tmp_path / "out")
    assert note_of_run(made.summary["runs"], ccas) == ""


SHORT = """
name = "short"
path = { rate = "20mbit", rtt = "40ms", buffer = "16bdp" }
host = { jitter = "100us" }

[[flows]]
cca = "cubic"

[[flows]]
name = "short"
cca = "cubic"
workload = { kind = "poisson", rate = "10/s", size = "20kb" }

[run]
duration = "30s"
warmup = "0s"
trials = 3
"""


def test_transfers_behind_a_queue_that_still_fills_become_slower(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("short.toml").write_text(SHORT)
    assert run_cli("run", "short.toml", "--out", "one") == 0
    note = "Completion times still change: short "
    assert note in capsys.readouterr().out
    buffers = 'path.buffer=["1bdp", "16bdp"]'
    assert run_cli("run", "short.toml", "--set", buffers, "--out", "many") == 0
    told = capsys.readouterr().out
    assert "Completion times still change within the runs in 1 of 2 combinations: short" in told


@pytest.mark.parametrize("workload", ["poisson", "web"])
def test_times_of_a_settled_queue_do_not_drift(workload: str, tmp_path: Path) -> None:
    """Of 30 runs of each, at most 2 drift by chance, and no condition does."""
    kinds = {
        "poisson": {"kind": "poisson", "rate": "10/s", "size": "20kb"},
        "web": {
            "kind": "web", "html": "50kb", "think": {"kind": "exponential", "mean": "1s"},
            "size": {"kind": "lognormal", "median": "20kb", "sigma": 1},
        },
    }  # fmt: skip
    spec = {
        "name": "steady",
        "path": {"rate": "20mbit", "rtt": "40ms", "buffer": "1bdp"},
        "host": {"jitter": "100us"},
        "flows": [{"cca": "cubic"}, {"cca": "cubic", "workload": kinds[workload], "count": 6,
                                     "name": "short"}],
        "run": {"duration": "65s", "warmup": "5s", "trials": 30},
    }  # fmt: skip
    if workload == "poisson":
        spec["flows"][1]["count"] = 1  # type: ignore[index]
    made = narrows.run(spec, out=tmp_path / "out")
    runs = made.summary["runs"]
    assert sum(bool(run["halves"]["completion_s"]) for run in runs) == 30
    assert sum(bool(run["halves"]["drifting"]) for run in runs) <= 2
    assert note_of_run(runs, made.groups) == ""
