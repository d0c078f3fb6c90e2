"""Figures of sweeps: what they describe, that they are drawn, and what they refuse."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import matplotlib.image
import numpy as np
import polars as pl
import pytest
from specimens import run_cli

from narrows import figures
from narrows.diff import diff
from narrows.errors import InputError
from narrows.figures import CATALOGUE, interactive, static
from narrows.figures.axes import axis
from narrows.figures.hiding import show_coinciding
from narrows.figures.model import Cloud, Heat, Line, Panel, heights
from narrows.figures.names import axes_in_words, setting, settings
from narrows.figures.shapes import ellipse
from narrows.figures.static.grid import thin_ticks
from narrows.figures.sweeps.panels import pages
from narrows.figures.sweeps.view import View
from narrows.metrics.headings import words
from narrows.report.single import page
from narrows.store import open_store
from narrows.sweeps.figure import describe, save
from narrows.sweeps.overview import overview

RATES, RTTS, BUFFERS = ("10mbit", "40mbit"), ("10ms", "50ms", "100ms"), ("0.5bdp", "1bdp", "8bdp")
AXES = ("path.rate", "path.rtt", "path.buffer")
Capture = pytest.CaptureFixture[str]


def summary() -> pl.DataFrame:
    """Two classes; BBR's share falls with the buffer and is the same for every rate and delay."""
    rows = []
    for cell, (rate, rtt, buffer) in enumerate(
        [(a, b, c) for a in RATES for b in RTTS for c in BUFFERS], start=1
    ):
        for trial in (1, 2, 3):
            share = 0.9 - 0.3 * BUFFERS.index(buffer) + 0.01 * (trial - 2)
            rows.append({
                "study": "made-up", "cell": cell, "trial": trial, "path.rate": rate,
                "path.rtt": rtt, "path.buffer": buffer, "flows": 4, "utilization": 0.9,
                "bbr.flows": 1, "bbr.share": share, "bbr.goodput_mbps": 10 * share,
                "bbr.delay_mean_ms": 5.0 * trial, "cubic.flows": 3, "cubic.share": 1 - share,
                "cubic.goodput_mbps": 10 * (1 - share), "cubic.delay_mean_ms": 6.0 * trial,
            })  # fmt: skip
    return pl.DataFrame(rows)


def flows() -> pl.DataFrame:
    rows = [
        {"study": "made-up", "cell": 1, "trial": 1, "path.rate": "10mbit", "class": cca,
         "fct_s": 0.1 * number, "share": 0.1}
        for cca in ("bbr", "cubic") for number in (3, 1, 2)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def view(**changes: str) -> View:
    return View("made-up", AXES, **changes)


def only(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter((pl.col("path.rate") == "10mbit") & (pl.col("path.rtt") == "10ms"))


def test_shares_stand_over_the_buffer_with_the_fair_line() -> None:
    (panel,) = figures.describe_sweep("share", only(summary()), view()).panels
    bbr, cubic = panel.marks
    assert isinstance(bbr, Line)
    assert isinstance(cubic, Line)
    assert bbr.x.tolist() == [0.5, 1.0, 8.0]
    assert bbr.y.tolist() == pytest.approx([90, 60, 30])
    assert (bbr.y + cubic.y).tolist() == pytest.approx([100] * 3)
    assert bbr.low is not None
    assert (bbr.y - bbr.low).tolist() == pytest.approx([4.30265 / 3**0.5] * 3, rel=1e-4)
    fair = [(guide.value, guide.label) for guide in panel.guides]
    assert fair == [(25, "fair for BBR"), (75, "fair for CUBIC")]
    assert panel.y_label == "Share of the goodput (%)"
    assert panel.x_scale == "log"
    assert panel.ticks == ((0.5, "0.5"), (1.0, "1"), (8.0, "8"))


def test_a_chart_for_every_combination_of_the_other_axes() -> None:
    panels = figures.describe_sweep("share", summary(), view()).panels
    assert len(panels) == 6
    assert panels[0].title == "Rate 10 Mbit/s, Two-way delay 10 ms"
    assert len(figures.describe_sweep("share", summary(), view(x="path.rate")).panels) == 9


def test_a_heat_map_diverges_from_the_fair_share() -> None:
    panels = figures.describe_sweep("heatmap", summary(), view()).panels
    assert [panel.title for panel in panels] == [f"Buffer {size} BDP" for size in ("0.5", "1", "8")]
    (heat,) = panels[0].marks
    assert isinstance(heat, Heat)
    assert heat.values.shape == (2, 3)
    assert heat.values == pytest.approx(np.full((2, 3), 90))
    assert heat.label == "Share of BBR (%)"
    assert heat.centre == 25
    assert heat.limits() == (0, 100)  # a share is never below 0
    assert heat.middle() == 0.25
    assert [words for _, words in panels[0].y_ticks] == ["10", "40"]


def test_the_delay_axis_is_reversed() -> None:
    (panel,) = figures.describe_sweep("scatter", only(summary()), View("made-up", ())).panels
    bbr, cubic = panel.marks
    assert isinstance(bbr, Cloud)
    assert bbr.colour == "bbr"
    assert len(bbr.x) == len(cubic.x) == 9  # type: ignore[union-attr]
    start, end = panel.x_range
    assert start is not None
    assert end == 0.0
    assert start > 18


def test_lines_of_a_metric_of_every_class_or_by_an_axis() -> None:
    frame = summary().filter(pl.col("path.rtt") == "10ms")
    panels = figures.describe_sweep("lines", frame, view(metric="goodput_mbps")).panels
    assert [len(panel.marks) for panel in panels] == [4]
    by = figures.describe_sweep("lines", frame, view(metric="bbr.share", by="path.rate")).panels
    assert [mark.label for mark in by[0].marks] == ["Rate 10 Mbit/s", "Rate 40 Mbit/s"]


def test_a_line_has_its_colour_in_every_chart_and_crowded_ticks_no_words() -> None:
    frame = summary().filter(pl.col("path.rtt") != "10ms")
    frame = frame.filter((pl.col("path.rate") != "10mbit") | (pl.col("path.rtt") != "50ms"))
    figure = figures.describe_sweep("lines", frame, view(metric="bbr.share", by="path.rate"))
    colours = {(m.label, m.colour) for c in figure.panels for m in c.marks if isinstance(m, Line)}
    assert len(colours) == 2
    sizes = [f"{size}bdp" for size in (0.25, 1, 1.25, 1.5, 1.75, 2, 8)]
    assert [words for _, words in axis("path.buffer", sizes).ticks] == [
        "0.25",
        "1",
        "1.5",
        "2",
        "8",
    ]


def test_a_distribution_steps_at_every_value() -> None:
    (panel,) = figures.describe_sweep("cdf", flows(), View("made-up", ("path.rate",))).panels
    line = panel.marks[0]
    assert isinstance(line, Line)
    assert line.x.tolist() == pytest.approx([0.1, 0.1, 0.2, 0.2, 0.3, 0.3])
    assert line.y.tolist() == pytest.approx([0, 1 / 3, 1 / 3, 2 / 3, 2 / 3, 1])


def transfers() -> pl.DataFrame:
    """Three transfers of each flow."""
    sizes = pl.DataFrame({"size_bytes": [2_000, 20_000, 200_000], "slowdown": [1.5, 2.0, 4.0]})
    fct_s = (pl.col("slowdown") * (0.02 + pl.col("size_bytes") / 1e6)).alias("fct_s")
    return (
        flows().drop("fct_s", "slowdown", strict=False).join(sizes, how="cross").with_columns(fct_s)
    )


@pytest.mark.parametrize("name", [entry.name for entry in figures.of("sweep")])
def test_every_figure_is_drawn_the_same_way_twice(name: str, tmp_path: Path) -> None:
    frame = {"flows": flows, "transfers": transfers, "summary": summary}[CATALOGUE[name].table]()
    shown = pl.col("path.rate") == "10mbit"
    if name != "heatmap" and "path.rtt" in frame.columns:
        shown &= pl.col("path.rtt") == "10ms"
    axes = tuple(axis for axis in AXES if axis in frame.columns)
    frame = frame.filter(shown)
    figure = figures.describe_sweep(name, frame, View("made-up", axes))
    first = static.save(figure, tmp_path / "one", ["png"])
    second = static.save(figure, tmp_path / "two", ["png"])
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]
    pixels = matplotlib.image.imread(first[0])
    assert pixels[..., :3].std() > 0.03, "an empty picture"
    for plot in interactive.plots(figure):
        assert json.loads(plot.json())["data"]
    text = page(figure)
    assert "://" not in re.sub(r"<script nonce=.*?</script>", "", text, count=1, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("name", "changes", "place"),
    [
        ("share", {"x": "path.bufer"}, "--x"),
        ("lines", {"metric": "godput"}, "--metric"),
        ("lines", {"by": "path.queue"}, "--by"),
        ("heatmap", {"metric": "bbr.shar"}, "--metric"),
        ("heatmap", {"x": "path.rate", "y": "path.rate"}, "--y"),
        ("cdf", {"metric": "class"}, "--metric"),
        ("scatter", {"by": "rate"}, "--by"),
    ],
)
def test_figures_of_missing_data(name: str, changes: dict[str, str], place: str) -> None:
    frame = flows() if CATALOGUE[name].table == "flows" else summary()
    with pytest.raises(InputError) as caught:
        figures.describe_sweep(name, frame, view(**changes))
    assert caught.value.place == place


def test_panels_have_one_y_axis_and_many_are_parted_among_pages() -> None:
    figure = figures.describe_sweep("lines", summary(), view(metric="bbr.goodput_mbps"))
    assert len({panel.y_range for panel in figure.panels}) == 1
    many = replace(figure, panels=figure.panels[:1] * 50)
    parts = list(pages(many))
    assert [len(part.panels) for part in parts] == [24, 24, 2]
    assert parts[1].subtitle.endswith("page 2 of 3")
    assert list(pages(figure)) == [figure]


def test_four_axes_are_drawn() -> None:
    frame = summary().with_columns(pl.lit("a").alias("host.profile"))
    other = frame.with_columns(pl.lit("b").alias("host.profile"))
    four = View("made-up", (*AXES, "host.profile"), "bbr.share", by="host.profile")
    figure = figures.describe_sweep("lines", pl.concat([frame, other]), four)
    assert len(figure.panels) == 6
    assert all(len(panel.marks) == 2 for panel in figure.panels)
    alone = figures.describe_sweep("lines", frame, replace(four, by=None))
    assert [len(panel.marks) for panel in alone.panels] == [3, 3]


def test_words_on_an_axis_have_points_and_no_lines() -> None:
    frame = summary().with_columns(
        pl.when(pl.col("path.buffer") == "8bdp").then(pl.lit("fq")).otherwise(pl.lit("red"))
        .alias("path.queue")
    )  # fmt: skip
    made = View("made-up", (*AXES, "path.queue"), "share", x="path.queue")
    lines = [m for p in figures.describe_sweep("lines", frame, made).panels for m in p.lines]
    assert {line.kind for line in lines} == {"points"}
    places = [float(x) for line in lines for x in line.x]
    assert len(places) > len(set(places)) >= 4  # beside each other, in several panels
    by_rate = figures.describe_sweep("lines", frame, view(metric="share")).panels[0].lines
    assert {line.kind for line in by_rate} == {"line"}


def test_an_interval_ends_where_values_do() -> None:
    frame = summary().filter(pl.col("path.rate") == "10mbit")
    noisy = frame.with_columns(pl.int_range(pl.len()).mod(2).cast(pl.Float64).alias("bbr.share"))
    figure = figures.describe_sweep("lines", noisy, view(metric="bbr.share"))
    for line in (line for panel in figure.panels for line in panel.lines):
        assert line.low is not None
        assert line.high is not None
        assert line.low.min() >= 0
        assert line.high.max() <= 100
        assert line.y.max() > 1


def test_a_figure_says_how_many_runs_it_leaves_out() -> None:
    whole = summary()
    alone = whole.head(2).with_columns(
        pl.lit(None, pl.Float64).alias("cubic.share"), pl.lit(None, pl.Int64).alias("cubic.flows"),
        pl.lit(99).alias("cell"),
    )  # fmt: skip
    frame = pl.concat([whole, alone], how="vertical_relaxed")
    shown = figures.describe_sweep("share", frame, view())
    assert "without 2 runs of a single class" in shown.subtitle
    count = whole.select("study", "cell", "trial").unique().height
    assert shown.subtitle.endswith(f"{count} of {count + 2} runs")


def test_axes_from_written_values() -> None:
    rates = axis("path.rate", ["1gbit", "40mbit", "80mbit"])
    assert rates.label_of_scale == "Rate (Mbit/s), log scale"
    assert list(rates.positions.values()) == [40.0, 80.0, 1000.0]
    assert rates.scale == "log"
    controls = axis("flows[0].cca", ["cubic", "bbr", "cubic"])
    assert controls.positions == {"cubic": 0.0, "bbr": 1.0}
    assert axis("path.loss", [0.0, 0.01]).scale == "linear"
    buffers = axis("path.buffer", ["1500kb", "64kb", "500b"])
    assert buffers.label == "Buffer (MB)"
    assert list(buffers.words.values()) == ["0.0005", "0.064", "1.5"]
    assert axis("path.buffer", ["64kb", "300kb"]).label == "Buffer (kB)"


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ("path.buffer", "1bdp", "Buffer 1 BDP"),
        ("path.buffer", "1500kb", "Buffer 1.5 MB"),
        ("path.buffer", "64kb", "Buffer 64 kB"),
        ("path.buffer", "900b", "Buffer 900 bytes"),
        ("path.queue", "fq_codel", "Queue: FQ-CoDel"),
        ("path.queue.kind", "codel", "Queue: CoDel"),
        ("flows[0].cca", "bbr", "BBR"),
        ("flows[1].cca", "mine:Mine", "mine:Mine"),
        ("flows[0].hystart", "off", "HyStart off"),
        ("flows[0].hystart", "hystart++", "HyStart++"),
        ("flows[1].rtt", "80ms", "Two-way delay 80 ms (flow 2)"),
        ("flows[0].fast_convergence", False, "Fast convergence off"),
        ("path.loss", 0.01, "Random loss 0.01"),
        ("flows[0].count", 4, "Number of flows 4"),
    ],
)
def test_places_and_values_are_said_as_people_do(place: str, value: object, words: str) -> None:
    assert setting(place, value) == words


def test_zipped_axes_are_one() -> None:
    pairs = {"bbr": "cubic", "reno": "vegas"}
    frame = summary().filter(pl.col("path.rate") == "10mbit", pl.col("path.rtt") == "10ms")
    parts = [
        frame.with_columns(pl.lit(a).alias("flows[0].cca"), pl.lit(b).alias("flows[1].cca"))
        for a, b in pairs.items()
    ]
    both = View("made-up", ("path.buffer", "flows[0].cca", "flows[1].cca"), metric="utilization")
    shown = figures.describe_sweep("lines", pl.concat(parts), replace(both, by="flows[0].cca"))
    assert len(shown.panels) == 1
    assert [mark.label for mark in shown.panels[0].marks] == ["BBR", "Reno"]
    alone = figures.describe_sweep("lines", pl.concat(parts), both)
    assert [mark.label for mark in alone.panels[0].marks] == ["BBR", "Reno"]


def test_the_length_of_runs_goes_with_the_axis_that_decides_it() -> None:
    frame = summary().filter(pl.col("path.rate") == "10mbit", pl.col("path.rtt") == "10ms")
    deep = pl.col("path.buffer") == frame["path.buffer"][-1]
    longer = pl.when(deep).then(pl.lit("900s")).otherwise(pl.lit("60s"))
    for place, count in (("run.duration", 1), ("path.rate", 2)):
        view = View("made-up", ("path.buffer", place), metric="bbr.share")
        rows = frame.with_columns(longer.alias(place))
        panels = figures.describe_sweep("lines", rows, replace(view, x="path.buffer")).panels
        assert sum(len(panel.marks) for panel in panels) == count
    other = pl.when(pl.col("trial") == 1).then(pl.lit("900s")).otherwise(pl.lit("60s"))
    view = View("made-up", ("path.buffer", "run.duration"), metric="bbr.share")
    rows = frame.with_columns(other.alias("run.duration"))
    (panel,) = figures.describe_sweep("lines", rows, view).panels
    assert len(panel.marks) == 2


def test_the_axes_can_be_chosen_and_bounds_are_drawn() -> None:
    wanted = View(
        "made-up", AXES, metric="utilization", ylim="auto", xscale="linear",
        bounds=(("utilization", "at least", 0.95), ("bbr.share", "at most", 0.5)),
    )  # fmt: skip
    (panel,) = figures.describe_sweep("lines", only(summary()), wanted).panels
    assert [(guide.value, guide.label) for guide in panel.guides] == [(95, "at least 95")]
    assert panel.x_scale == "linear"
    low, high = panel.y_range
    assert low is not None
    assert high is not None
    assert 89 < low < 90 < 95 < high < 96
    (chosen,) = figures.describe_sweep(
        "lines", only(summary()), replace(wanted, ylim=(0, 92))
    ).panels
    assert chosen.y_range == (0, 92)


@pytest.mark.parametrize(
    ("name", "ends", "found", "remedy"),
    [
        (
            "lines",
            (0.5, 1),
            '"0.5:1", which leaves out all values: "Utilization (%)" is 90',
            "such as 85.5:94.5,",
        ),
        ("box", (100, 200), '"100:200", which leaves out all values: "Util', "such as 85.5:94.5,"),
        ("heatmap", (90, 100), '"90:100" for a heat map', "no --ylim"),
    ],
)
def test_ends_that_leave_out_all_values_are_refused(
    name: str, ends: tuple[float, float], found: str, remedy: str
) -> None:
    view = View("made-up", AXES, metric="utilization", ylim=ends)
    with pytest.raises(InputError) as caught:
        figures.describe_sweep(name, summary(), view)
    assert caught.value.place == "--ylim"
    assert caught.value.problems[0].found.startswith(found)
    assert remedy in caught.value.remedy


def test_an_ellipse_follows_the_cloud() -> None:
    along = np.linspace(-3, 3, 50)
    width, height, angle = ellipse(along, along) or (0, 0, 0)
    assert height == pytest.approx(0, abs=1e-6)
    assert width == pytest.approx(2 * np.sqrt(2) * along.std(ddof=1))
    assert angle % 180 == pytest.approx(45)
    assert ellipse(along[:2], along[:2]) is None


def test_the_command_draws_sweeps_and_runs(tmp_path: Path, capsys: Capture) -> None:
    from specimens import GOOD, write

    text = GOOD.replace('"8mbit"', '["4mbit", "8mbit"]') + "\n"
    text = text.replace("[run]", '[[flows]]\ncca = "bbr"\n\n[run]')
    out = str(tmp_path / "out")
    assert run_cli("run", write(tmp_path, text), "--out", out) == 0
    stem = str(tmp_path / "share")
    assert run_cli("figure", out, "share", "--out", stem, "--format", "png,svg,html") == 0
    assert sorted(p.suffix for p in tmp_path.glob("share.*")) == [".html", ".png", ".svg"]
    assert run_cli("figure", out, "timeline", "--where", "path.rate=4mbit", "--out", stem) == 0
    for wrong in (["cwnd"], ["shaer"], ["share", "--where", "path.rate=1mbit"],
                  ["share", "--format", "gif"], ["timeline", "--where", "path.rate=4mbit",
                                                 "--trial", "2"]):  # fmt: skip
        assert run_cli("figure", out, *wrong) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert 'found "path.rate=1mbit"; one of 4mbit, 8mbit would be right' in said
    assert run_cli("list", "figures") == 0
    assert "heatmap" in capsys.readouterr().out


def negative(buffer: str) -> pl.Expr:
    """A metric with values on both sides of zero, and only below it at 8 BDP."""
    place = pl.col("path.buffer").replace_strict({b: n for n, b in enumerate(BUFFERS)})
    return (0.3 - place + 0.01 * pl.col("trial")).alias(buffer)


@pytest.mark.parametrize("name", ["lines", "box"])
@pytest.mark.parametrize("offset", [0.0, -2.0])
def test_values_below_zero_are_within_a_shared_axis(name: str, offset: float) -> None:
    frame = summary().with_columns(negative("rtt_bias") + offset)
    figure = figures.describe_sweep(name, frame, view(metric="rtt_bias"))
    drawn = [axes for axes in static.draw(figure).axes if axes.get_visible()]
    assert len(drawn) == len(figure.panels) == (2 if name == "lines" else 6)
    for panel, axes in zip(figure.panels, drawn, strict=True):
        values = np.concatenate([heights(mark) for mark in panel.marks])
        low, high = axes.get_ylim()
        assert low < values.min() < -1.6 + offset
        assert high > values.max()
    for plot in interactive.plots(figure):
        assert plot.layout["yaxis"]["range"] == list(axes.get_ylim())


def test_delays_below_zero_are_on_the_chart() -> None:
    frame = only(summary()).with_columns(pl.col("bbr.delay_mean_ms") - 7.0)
    (panel,) = figures.describe_sweep("scatter", frame, view(by="path.buffer")).panels
    assert panel.x_range[1] == pytest.approx(-2.0 * 1.08)


def test_parts_above_one_are_on_the_chart() -> None:
    frame = only(summary()).with_columns(utilization=2.0 + 0.1 * pl.col("trial"))
    (panel,) = figures.describe_sweep("lines", frame, view(metric="utilization")).panels
    (line,) = panel.lines
    assert line.high is not None
    assert panel.y_range[1] > line.high.max()
    assert (line.high >= line.y).all()


def test_an_axis_begins_where_the_data_are_and_is_shared() -> None:
    frame = summary().with_columns(utilization=0.95 + 0.01 * pl.col("trial"))
    panels = figures.describe_sweep(
        "lines", frame, view(metric="utilization", by="path.rtt")
    ).panels
    assert len(panels) > 1
    assert len({panel.y_range for panel in panels}) == 1
    low, high = panels[0].y_range
    assert 90 < low < 96
    assert high > 98
    wide = figures.describe_sweep("lines", frame, view(metric="bbr.share")).panels
    assert {panel.y_range[0] for panel in wide} == {0.0}
    for name in ("lines", "box"):
        even = frame.with_columns(
            pl.lit(0.9).alias("bbr.share"), pl.lit(36.0).alias("bbr.goodput_mbps")
        )
        for metric in ("bbr.share", "bbr.goodput_mbps"):
            made = figures.describe_sweep(name, even, view(metric=metric)).panels
            assert {panel.y_range[0] for panel in made} == {0.0}
    shares = figures.describe_sweep("share", only(frame), view()).panels
    assert shares[0].y_range == (0.0, 100.0)


def test_one_panel_compares_controls_in_their_colours() -> None:
    parts = [
        only(summary()).with_columns(pl.lit(cca).alias("flows[0].cca"), utilization=level)
        for cca, level in (("bbr", pl.lit(0.9)), ("reno", pl.lit(0.9)), ("cubic", pl.lit(0.7)))
    ]
    axes = (*AXES, "flows[0].cca")
    made = figures.describe_sweep("lines", pl.concat(parts), View("made-up", axes, "utilization"))
    (panel,) = made.panels
    assert [(line.label, line.colour) for line in panel.lines] == [
        ("BBR", "bbr"), ("Reno", "reno"), ("CUBIC", "cubic"),
    ]  # fmt: skip
    assert panel.title == "BBR and Reno coincide"


def test_the_label_of_a_lower_bound_is_below_it() -> None:
    bounds = (("utilization", "at least", 0.8), ("utilization", "at most", 0.95))
    made = View("made-up", AXES, "utilization", bounds=bounds)
    (panel,) = figures.describe_sweep("lines", only(summary()), made).panels
    assert [(guide.label, guide.below) for guide in panel.guides] == [
        ("at least 80", True), ("at most 95", False),
    ]  # fmt: skip


def test_bounds_are_drawn_where_their_metric_is() -> None:
    bounds = (
        ("utilization", "at least", 0.8), ("bbr.delay_mean_ms", "at most", 30.0),
        ("cubic.goodput_mbps", "at least", 12.0), ("bbr.completion_p99_s", "at most", 0.25),
        ("bbr.slowdown_p50", "at most", 3.0), ("jain", "at least", 0.9),
    )  # fmt: skip
    made = View("made-up", AXES, bounds=bounds)

    def guides(name: str, frame: pl.DataFrame, shown: View) -> set[tuple[float, str, bool]]:
        [panel, *_] = figures.describe_sweep(name, frame, shown).panels
        return {(guide.value, guide.label, guide.upright) for guide in panel.guides}

    assert guides("box", summary(), made) == {(80, "at least 80", False)}
    scatter = figures.describe_sweep("scatter", summary(), made).panels[0]
    assert {(one.value, one.upright) for one in scatter.guides} == {(30.0, True), (12.0, False)}
    assert scatter.x_range[0] is not None
    assert scatter.y_range[1] is not None
    assert scatter.x_range[0] > 30  # the bounds are within the axes
    assert scatter.y_range[1] > 12
    transfers = flows().with_columns(size_bytes=pl.lit(5000), slowdown=pl.lit(2.0))
    shown = replace(made, axes=("path.rate",))
    assert guides("completion_times", transfers, shown) == {(0.25, "p99 at most 0.25", True)}
    assert guides("slowdown", transfers, shown) == {(3.0, "p50 at most 3", False)}


def test_lines_of_a_call_show_what_its_user_notices_above_the_delay() -> None:
    call = summary().with_columns(
        pl.lit(3.0).alias("bbr.freezes"), pl.lit(1.0).alias("bbr.frozen_s"),
        pl.lit(9.0).alias("bbr.delay_p95_ms"),
    )  # fmt: skip
    made = figures.describe_sweep("lines", call, View("made-up", AXES))
    labels = list(dict.fromkeys(panel.y_label for panel in made.panels))
    assert labels == ["Frozen time of BBR (s)", "Delay p95 of BBR (ms)"]
    assert made.title.startswith("Frozen time and delay p95 of BBR by ")
    chosen = figures.describe_sweep("lines", call, View("made-up", AXES, "bbr.delay_p95_ms"))
    assert {panel.y_label for panel in chosen.panels} == {"Delay p95 of BBR (ms)"}
    plain = figures.describe_sweep("lines", summary(), View("made-up", AXES))
    assert plain.panels[0].y_label == "Utilization (%)"


def test_a_scatter_overlays_an_axis_and_shares_its_scales() -> None:
    made = figures.describe_sweep("scatter", summary(), view())
    assert len(made.panels) == 6
    assert len({(panel.x_range, panel.y_range) for panel in made.panels}) == 1
    clouds = [mark for mark in made.panels[0].marks if isinstance(mark, Cloud)]
    assert len(clouds) == 6
    notes = [cloud.note for cloud in clouds if cloud.note]
    assert set(notes) <= {"0.5 BDP", "8 BDP"}
    assert "Buffer 0.5 BDP to 8 BDP" in made.subtitle


def test_controls_of_one_class_have_their_colours_in_a_scatter() -> None:
    one = {"flow.share": 1.0, "flow.goodput_mbps": 9.0, "flow.delay_mean_ms": 20.0}
    rows = [
        {"study": "x", "cell": n, "trial": 1, "flows[0].cca": cca, **one}
        for n, cca in enumerate(("bbr", "cubic"))
    ]
    shown = View("x", ("flows[0].cca",), by="flows[0].cca")
    (panel,) = figures.describe_sweep("scatter", pl.DataFrame(rows), shown).panels
    clouds = [mark for mark in panel.marks if isinstance(mark, Cloud)]
    assert [(one.label, one.colour) for one in clouds] == [("BBR", "bbr"), ("CUBIC", "cubic")]


def test_distributions_share_their_axes() -> None:
    frame = pl.concat(
        pl.DataFrame({"cell": n, "path.rate": rate, "fct_s": [0.1 * n, 0.3 * n, 1.0 * n]})
        for n, rate in ((1, "10mbit"), (7, "40mbit"))
    )
    same = {"study": "made-up", "class": "cubic", "path.rtt": "x", "path.buffer": "y"}
    frame = frame.with_columns(trial=1, **{name: pl.lit(text) for name, text in same.items()})
    alone = view(by="path.rtt")
    panels = figures.describe_sweep("completion_times", frame, alone).panels
    assert len(panels) == 2
    assert len({panel.x_range for panel in panels}) == 1
    assert panels[0].x_range[1] > 7.0
    for readers, named in (
        ((), ("Completion time (s), log scale", "Fraction of transfers")),
        (("cubic",), ("Page load time (s), log scale", "Fraction of pages")),
    ):
        shown = figures.describe_sweep("completion_times", frame, replace(alone, readers=readers))
        assert {(panel.x_label, panel.y_label) for panel in shown.panels} == {named}


def test_a_setting_that_all_flows_share_is_named_once():
    counts = [("flows[0].count", 2), ("flows[1].count", 2)]
    assert settings([*counts, ("path.rate", "40mbit")]) == [
        "Number of flows 2 each", "Rate 40 Mbit/s",
    ]  # fmt: skip
    assert settings([counts[0], ("flows[1].count", 4)]) == [
        "Number of flows 2", "Number of flows 4 (flow 2)",
    ]  # fmt: skip
    assert settings([("flows[0].cca", "bbr"), ("flows[1].cca", "bbr")]) == ["BBR"]
    assert settings(counts[1:]) == ["Number of flows 2 (flow 2)"]


def test_labels_of_a_narrow_logarithmic_axis_do_not_touch():
    ticks = tuple((at, f"{at:g}") for at in (0.25, 0.5, 0.75, 1, 1.5, 2, 4, 8))
    assert [words for _, words in thin_ticks(ticks, 200)] == [words for _, words in ticks]
    assert [words for _, words in thin_ticks(ticks, 24)] == ["0.25", "0.5", "1", "2", "4", "8"]


NAMED = """
name = "named"
path = { rate = "2mbit", rtt = "10ms", buffer = ["1bdp", "4bdp"] }
flows = [
  { name = "bbr", cca = "cubic" }, { name = "download", cca = "bbr" },
  { name = "backup", cca = "bbr", count = 2 },
]
run = { duration = "2s" }
"""


def test_timelines_of_an_axis_are_beside_each_other_on_common_scales(tmp_path: Path) -> None:
    from specimens import GOOD, write

    text = GOOD.replace('"8mbit"', '["4mbit", "8mbit"]').replace("500ms", "0s")
    assert run_cli("run", write(tmp_path, text), "--out", str(tmp_path / "out")) == 0
    both = describe(tmp_path / "out", "timeline")
    slow, fast = (
        describe(tmp_path / "out", "timeline", where=[f"path.rate={rate}"])
        for rate in ("4mbit", "8mbit")
    )
    assert (both.columns, both.stack) == (2, None)
    assert both.title == "Over time, by rate"
    assert len(both.panels) == 2 * len(slow.panels)
    for number, (left, right) in enumerate(zip(both.panels[::2], both.panels[1::2], strict=True)):
        ends = [one.panels[number].limits()[1] for one in (slow, fast)]
        assert left.y_range[1] == right.y_range[1] == max(ends)
        assert left.title.startswith("Rate 4 Mbit/s: ")
        assert right.title.startswith("Rate 8 Mbit/s: ")
        for panel, single in ((left, slow), (right, fast)):
            drawn, alone = panel.lines[0].y, single.panels[number].lines[0].y
            assert np.array_equal(drawn, alone, equal_nan=True)
    save(both, tmp_path / "both", ["svg", "html"])


def test_a_class_named_like_another_control_is_called_after_its_own() -> None:
    known = {"bbr": "cubic", "reno": None, "cubic-80ms": "cubic", "web": "cubic"}
    said = [words(group, known) for group in (*known, "vegas")]
    assert said == ["bbr (CUBIC)", "reno", "CUBIC, 80 ms", "web", "Vegas"]
    assert words("bbr") == "BBR"


def test_named_classes_have_the_colours_of_their_controls(tmp_path: Path) -> None:
    (tmp_path / "named.toml").write_text(NAMED)
    out = tmp_path / "named"
    assert run_cli("run", str(tmp_path / "named.toml"), "--out", str(out)) == 0
    (panel,) = describe(out, "share").panels
    assert {line.label: line.colour for line in panel.lines if not line.hollow} == {
        "bbr (CUBIC)": "cubic", "download (BBR)": "bbr", "backup (BBR)": "bbr#1",
    }  # fmt: skip
    assert {guide.label: guide.value for guide in panel.guides} == {
        "fair for backup": 50, "fair for bbr (CUBIC), download": 25,
    }  # fmt: skip
    rates = describe(out, "timeline", where=["path.buffer=1bdp"]).panels[0]
    assert [line.label for line in rates.lines] == ["bbr (CUBIC)", "download (BBR)", "backup (BBR)"]
    store = open_store(out)
    [(stem, record)] = store.studies().items()
    labels = overview(store, stem, record, {}).metrics
    assert labels["bbr.share"] == "Share of bbr (CUBIC) (%)"
    assert labels["backup.share"] == "Share of backup (%)"
    told = {row.label for row in diff(out, out, out=tmp_path / "diff").rows}
    assert {"Share of bbr (CUBIC)", "Share of backup"} <= told
    with pytest.raises(InputError, match="a sweep with one axis"):
        describe(out, "heatmap")


def test_lines_over_time_that_coincide_are_named_and_have_rims() -> None:
    x = np.arange(5.0)
    lines = [
        Line("a", x, np.full(5, 2.0), "flow:0", width=1.6),
        Line("c", x, x, "cubic", width=1.6),
        Line("b", x, np.full(5, 2.001), "flow:1", width=1.6),
    ]
    panel = show_coinciding(Panel("Time (s)", "Mbit/s", tuple(lines), "Goodput"))
    assert panel.title == "Goodput; a and b coincide"
    widths = {line.label: line.width for line in panel.lines}
    assert widths["a"] >= widths["b"] + 2
    assert widths["b"] == widths["c"] == 1.6


def test_lines_with_points_at_different_times_may_coincide() -> None:
    acks, packets = np.arange(0.0, 20.02, 0.02), np.arange(0.05, 20.0, 0.07)
    window = Line("window", acks, 4 * acks + 0.26, "window", kind="step")
    acknowledged = Line("acknowledged", acks, 4 * acks, "ack", kind="step")
    gaps = np.where(np.arange(len(packets)) % 3, 4 * packets + 0.26, np.nan)
    sent = Line("sent", packets, gaps, "neutral")
    panel = Panel("Time (s)", "MB", (acknowledged, window, sent), "a flow")
    tall = show_coinciding(panel, 1.0)
    assert tall.title == "a flow; acknowledged, window and sent coincide"
    assert show_coinciding(panel, 2.0).title == "a flow; window and sent coincide"


def test_a_title_says_what_is_shown_over_which_axes_and_the_study_is_below() -> None:
    frame = only(summary())
    shares = figures.describe_sweep("share", frame, view())
    assert shares.title == "Shares of BBR and CUBIC by buffer"
    assert shares.subtitle.startswith("made-up: ")
    every = summary()
    assert figures.describe_sweep("lines", every, view(metric="bbr.share")).title.startswith(
        "Share of BBR by buffer"
    )
    own = replace(view(), title="BBR and CUBIC in deep buffers")
    spoken = figures.describe_sweep("share", frame, own)
    assert (spoken.title, spoken.study) == (own.title, own.title)
    assert own.title not in spoken.subtitle


@pytest.mark.parametrize(
    ("place", "values", "label", "words"),
    [
        ("run.duration", ["60s", "300s"], "Duration (s)", ["60", "300"]),
        ("path.rtt", ["20ms", "2s"], "Two-way delay (ms)", ["20", "2000"]),
        ("flows[0].size", ["100kb", "1mb"], "Size of flow 1 (kB)", ["100", "1000"]),
        ("flows[0].size", ["10kb", "200mb"], "Size of flow 1 (MB)", ["0.01", "200"]),
    ],
)
def test_an_axis_has_the_unit_in_which_its_numbers_are_short(
    place: str, values: list[str], label: str, words: list[str]
) -> None:
    found = axis(place, values)
    assert (found.label, list(found.words.values())) == (label, words)
    assert setting("run.duration", "90s") == "Duration 90 s"


def test_axes_in_a_title_are_in_small_letters_unless_they_are_names() -> None:
    assert axes_in_words(["path.buffer", "flows[0].hystart"]) == "buffer and HyStart"
    assert axes_in_words(["flows[1].cca"]) == "control"
    assert axes_in_words(["flows[0].cca", "flows[1].cca"]) == (
        "control of flow 1 and control of flow 2"
    )
    assert axes_in_words(["flows[0].cca", "flows[0].workload.control"]) == (
        "control and rate control"
    )
    assert axes_in_words(["path.queue.ecn"]) == "ECN"
