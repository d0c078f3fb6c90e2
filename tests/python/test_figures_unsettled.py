"""Points of combinations whose runs haven't settled are hollow in every figure."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import polars as pl
import pytest
from specimens import run_cli

import narrows as nw
from narrows import figures
from narrows.figures import interactive, static
from narrows.figures.model import Figure, Line
from narrows.figures.sweeps.unsettled import SPLIT
from narrows.figures.sweeps.view import View
from narrows.metrics.settling import UNSETTLED

BUFFERS = ("0.5bdp", "1bdp", "8bdp")


def summary(**drift: Any) -> pl.DataFrame:
    """Two classes over the RTT and the buffer; with `drift`, columns of the runs behind 8 BDP."""
    rows = []
    cells = [(rtt, buffer) for rtt in ("10ms", "50ms") for buffer in BUFFERS]
    for cell, (rtt, buffer) in enumerate(cells, start=1):
        for trial in (1, 2, 3):
            share = 0.9 - 0.3 * BUFFERS.index(buffer) + 0.01 * trial
            halves = {
                "bbr.goodput_early_mbps": 5.0, "bbr.goodput_late_mbps": 5.0, "goodput_drifts": 0,
                "cubic.goodput_early_mbps": 5.0, "cubic.goodput_late_mbps": 5.0,
                "queue_early_ms": 9.0, "queue_late_ms": 9.0, "queue_drifts": 0, "needed_s": None,
            } | (drift if buffer == "8bdp" else {})  # fmt: skip
            rows.append({
                "study": "made-up", "cell": cell, "trial": trial, "path.rtt": rtt,
                "path.buffer": buffer, "flows": 2, "utilization": 0.9, "queue_mean_ms": 9.0,
                "bbr.flows": 1, "bbr.share": share, "bbr.goodput_mbps": 10 * share,
                "bbr.delay_mean_ms": 5.0 * trial, "cubic.flows": 1, "cubic.share": 1 - share,
                "cubic.goodput_mbps": 10 * (1 - share), "cubic.delay_mean_ms": 6.0 * trial,
            } | halves)  # fmt: skip
    return pl.DataFrame(rows)


SHARES = {"bbr.goodput_late_mbps": 1.0, "cubic.goodput_late_mbps": 9.0, "goodput_drifts": 1}
QUEUE = {"queue_late_ms": 20.0, "queue_drifts": 1}


def rings(figure: Figure) -> list[tuple[float, float]]:
    """The hollow points of a figure."""
    hollow = [line for panel in figure.panels for line in panel.lines if line.hollow]
    return [(x, y) for one in hollow for x, y in zip(one.x.tolist(), one.y.tolist(), strict=True)]


def figure_of(name: str, frame: pl.DataFrame, **options: Any) -> Figure:
    one_rtt = frame if name == "heatmap" else frame.filter(pl.col("path.rtt") == "10ms")
    return figures.describe_sweep(
        name, one_rtt, View("made-up", ("path.rtt", "path.buffer"), **options)
    )


@pytest.mark.parametrize(
    ("name", "options", "points"),
    [
        ("share", {}, [(8.0, 32.0), (8.0, 68.0)]),
        ("lines", {"metric": "bbr.goodput_mbps"}, [(8.0, 3.2)]),
        ("box", {"metric": "bbr.share"}, [(2.0, 32.0)]),
        ("heatmap", {"metric": "bbr.share"}, [(0.36, 2.36), (1.36, 2.36)]),
        ("scatter", {}, [(10.0, 3.2), (12.0, 6.8)]),
    ],
)
def test_combinations_that_drift_are_hollow(
    name: str, options: dict[str, Any], points: list[tuple[float, float]], tmp_path: Path
) -> None:
    steady = figure_of(name, summary(), **options)
    assert rings(steady) == []
    made = figure_of(name, summary(**SHARES), **options)
    assert sorted(rings(made)) == [pytest.approx(one) for one in points]
    assert list(made.legend()) == [*steady.legend(), UNSETTLED]
    assert made.alt.endswith("Hollow points: runs still drift or are too short.")
    (file,) = static.save(made, tmp_path / name, ("png",))
    assert np.ptp(matplotlib.image.imread(file)) > 0
    [plot] = interactive.plots(made)
    entries = [trace["name"] for trace in plot.data if trace.get("showlegend")]
    assert entries.count(UNSETTLED) == 1
    [*_, hollow] = [trace for trace in plot.data if trace["name"] == UNSETTLED]
    assert hollow["marker"]["color"] == "@ground"


def test_only_what_tells_shares_is_hollow_where_runs_are_too_short() -> None:
    short = summary(needed_s=60.0)
    assert len(rings(figure_of("share", short))) == 2
    assert len(rings(figure_of("lines", short, metric="bbr.goodput_mbps"))) == 1
    assert rings(figure_of("lines", short, metric="utilization")) == []


def test_only_what_drifts_is_hollow() -> None:
    queue = summary(**QUEUE)
    assert rings(figure_of("share", queue)) == []
    assert rings(figure_of("lines", queue, metric="queue_mean_ms")) == [(8.0, 9.0)]
    shares = summary(**SHARES)
    assert rings(figure_of("lines", shares, metric="queue_mean_ms")) == []
    assert rings(figure_of("lines", shares, metric="utilization")) == []


def test_trials_in_two_groups_are_dots() -> None:
    halved = summary().with_columns(
        pl.when((pl.col("path.buffer") == "8bdp") & (pl.col("trial") == 1))
        .then(pl.col("bbr.share") + 0.5)
        .otherwise(pl.col("bbr.share"))
        .alias("bbr.share")
    )
    twice = pl.concat([halved, halved.with_columns(pl.col("trial") + 3)])
    made = figure_of("lines", twice, metric="bbr.share")
    assert list(made.legend()) == ["BBR", SPLIT]
    [dots] = [line for line in made.panels[0].lines if line.label == SPLIT]
    assert sorted(dots.y.tolist()) == pytest.approx([32, 32, 33, 33, 81, 81])
    assert made.alt.endswith("Dots: single trials, where they fall into two groups.")
    assert SPLIT not in figure_of("lines", summary(), metric="bbr.share").legend()


def test_frames_of_earlier_versions_have_no_halves() -> None:
    old = summary().select(
        name
        for name in summary().columns
        if not re.search("early|late_|drifts|needed_s|needed", name)
    )
    assert rings(figure_of("share", old)) == []


def test_entries_share_one_ring_in_ink() -> None:
    key = figure_of("share", summary(**SHARES)).legend()[UNSETTLED]
    assert isinstance(key, Line)
    assert (key.colour, key.hollow) == ("ink", True)


SPEC = """
name = "rivals"
path = { rate = "20mbit", rtt = "30ms", buffer = ["1bdp", "8bdp"] }
run = { duration = "50s", warmup = "10s", trials = 2 }
host = { jitter = "100us" }
flows = [{ cca = "bbr" }, { cca = "cubic" }]
"""


def test_the_page_the_figure_and_the_chart_of_an_answer_show_what_drifts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rivals.toml").write_text(SPEC)
    assert run_cli("run", "rivals.toml", "--out", "many") == 0
    html = Path("many/rivals.html").read_text()
    opened = nw.open_result("many")
    [note] = opened.notes
    assert note.startswith("Shares still change within the runs")
    assert note in html.replace("<code>", "`").replace("</code>", "`")
    assert repr(opened).endswith(note)
    data = json.loads(re.search(r'id="data"[^>]*>(.*?)</script>', html, re.DOTALL)[1])  # type: ignore[index]
    calm, moving = data["cells"]
    assert calm["unsettled"] == []
    assert "shares" in moving["unsettled"]
    told = data["unsettled"][",".join(moving["unsettled"])]
    assert {"bbr.share", "cubic.share", "jain"} <= {*told}
    assert run_cli("figure", "many", "share", "--out", "shares", "--format", "svg") == 0
    assert UNSETTLED in Path("shares.svg").read_text()
    asked = "path.buffer with the highest cubic.share"
    fixed = ("--set", "run.duration=50s", "--trials", "2", "--max-trials", "2", "--out", "asked")
    assert run_cli("search", "rivals.toml", "--for", asked, *fixed) == 0
    assert UNSETTLED in Path("asked/rivals-answer.svg").read_text()
