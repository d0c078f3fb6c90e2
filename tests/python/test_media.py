"""Video calls: laws that their controls must obey, and metrics counted by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from specimens import scenario_of

import narrows as nw
from narrows.console import application_lines
from narrows.figures.frames import flow_classes
from narrows.figures.runs.applications import applications
from narrows.figures.runs.tails import tails
from narrows.listing import listing
from narrows.metrics import flow_summaries
from narrows.spec import registry
from narrows.spec.datagrams import MEDIA_CONTROLS

CONTROLS = ("nada", "scream", "scream_program")


def call(control: str, **keys: Any) -> nw.Flow:
    work = {"kind": "media", "control": control, **keys.pop("work", {})}
    return nw.Flow(cca="none", workload=work, **keys)


def run(
    tmp_path: Any, flows: list[nw.Flow], rate: str, duration: str = "60s", **path: Any
) -> nw.RunResult:
    way = nw.Path(**{"rate": rate, "rtt": "100ms", "buffer": "3bdp"} | path)
    run = nw.Run(duration=duration, warmup="20s")
    scenario = nw.Scenario(name="calls", path=way, flows=flows, run=run)
    return nw.run(scenario, out=tmp_path / "run")


@pytest.mark.parametrize("control", CONTROLS)
def test_alone_it_reaches_the_most_that_its_encoder_has(control: str, tmp_path: Any) -> None:
    (row,) = run(tmp_path, [call(control)], "5mbit").table("flows").to_dicts()
    assert row["media_mbps"] == pytest.approx(1.5, rel=0.05)
    assert (row["freezes"], row["lost_frames"]) == (0, 0)
    # 50 ms of path, 33 ms of frames' pacing at most, and no queue.
    assert 0.05 < row["completion_p50_s"] < 0.12


@pytest.mark.parametrize("control", CONTROLS)
def test_below_that_it_takes_what_the_link_has_without_filling_the_queue(
    control: str, tmp_path: Any
) -> None:
    (row,) = run(tmp_path, [call(control)], "1mbit").table("flows").to_dicts()
    assert 0.6 < row["media_mbps"] < 1
    # SCReAM takes its own queue for that of others and raises its target (RFC 8298 section 4.1.2.3
    # warns of it), so its frames wait longer.
    assert row["completion_p95_s"] < {"nada": 0.25, "scream": 0.8, "scream_program": 0.3}[control]
    assert row["frozen_s"] < 1


@pytest.mark.parametrize("control", CONTROLS)
def test_equals_share_the_link(control: str, tmp_path: Any) -> None:
    flows = [call(control, name="a"), call(control, name="b", start="10s")]
    rates = run(tmp_path, flows, "2mbit", "120s").table("flows")["media_mbps"].to_list()
    assert min(rates) / max(rates) > 0.5
    assert 1.2 < sum(rates) < 2.05


@pytest.mark.parametrize("control", CONTROLS)
def test_it_follows_a_link_that_slows_down(control: str, tmp_path: Any) -> None:
    changes = [nw.Change(at="30s", rate="600kbit")]
    way = nw.Path(rate="2mbit", rtt="100ms", buffer="3bdp")
    scenario = nw.Scenario(
        name="slower", path=way, flows=[call(control)], changes=changes,
        run=nw.Run(duration="60s", warmup="0s"),
    )  # fmt: skip
    result = nw.run(scenario, out=tmp_path / "run")
    rates = result.table("internals").filter(pl.col("name") == "encoder_mbps")
    before, after = (
        rates.filter(pl.col("time_s").is_between(*span))["value"].mean()
        for span in ((25, 30), (45, 60))
    )
    assert before > 1.2
    # The pseudocode of RFC 8298 section 4.1.3 adds 40 kbit/s and takes 5 % each time that more than
    # 20 ms wait in the sender: it stays at 760 kbit/s and discards the rest.
    assert 0.2 < after < {"scream": 0.8}.get(control, 0.6)


def test_without_a_control_a_link_that_is_too_slow_freezes_the_picture(tmp_path: Any) -> None:
    (row,) = run(tmp_path, [call("none")], "1mbit").table("flows").to_dicts()
    assert row["media_mbps"] == pytest.approx(1.5, rel=0.02)
    # A third is lost, so hardly a frame arrives whole: of 1200 few are seen.
    assert (row["completed"] or 0) < 300


def test_the_summary_has_the_quality_of_calls_and_videos(tmp_path: Any) -> None:
    video = {"kind": "video", "bitrate": "1mbit", "chunk": "1s"}
    flows = [
        call("nada", name="call", count=2),
        nw.Flow(name="film", cca="cubic", workload=video),
    ]
    result = run(tmp_path, flows, "2mbit", "30s")
    (row,) = result.summary_table.to_dicts()
    calls = result.flows.filter(result.flows["class"] == "call")
    assert row["call.rate_changes"] == calls["rate_changes"].sum() > 0
    assert row["call.freezes"] == calls["freezes"].sum()
    assert row["call.frozen_s"] == pytest.approx(calls["frozen_s"].sum())
    assert row["call.media_mbps"] == pytest.approx(calls["media_mbps"].mean())
    (film,) = result.flows.filter(result.flows["class"] == "film").to_dicts()
    assert row["film.stalls"] == film["stalls"]
    assert "film.freezes" not in row
    assert "call.stalls" not in row


def test_the_terminal_tells_freezes_per_minute(tmp_path: Any) -> None:
    result = run(tmp_path, [call("none", name="call")], "1mbit", "50s")
    (line,) = application_lines(result.summary["runs"])
    told = re.search(r"freezes ([\d.]+) \(([\d.]+) a minute\)", line)
    assert told is not None, line
    assert float(told[2]) == pytest.approx(2 * float(told[1]), rel=0.2)


def test_media_metrics_can_be_checked_and_plotted(tmp_path: Any) -> None:
    expected = nw.Check(metric="call.media_mbps", at_most=0.6)
    scenario = nw.Scenario(
        name="calls",
        path=nw.Path(rate=["500kbit", "8mbit"], rtt="100ms", buffer="3bdp"),
        flows=[call("nada", name="call")],
        run=nw.Run(duration="20s"),
        check=[expected],
    )
    result = nw.sweep(scenario, out=tmp_path / "out")
    assert len(result.unmet) == 1
    assert "path.rate=8mbit: call.media_mbps is" in result.unmet[0]
    assert result.explore("lines", metric="call.media_mbps") is not None


@pytest.mark.parametrize("control", CONTROLS)
def test_marks_replace_losses(control: str, tmp_path: Any) -> None:
    """Behind CoDel with ECN it stays below the link's rate, and nothing is lost."""
    result = run(
        tmp_path, [call(control, ecn="classic")], "1mbit", queue={"kind": "codel", "ecn": True}
    )
    (row,) = result.table("flows").to_dicts()
    assert result.table("flow_samples")["lost"].max() == 0
    assert row["lost_frames"] == 0
    assert row["completed"] > 1000
    assert 0.3 < row["media_mbps"] < 0.98


def test_a_frame_without_a_queue_takes_the_path_and_its_packets(tmp_path: Any) -> None:
    """Frames of 1 packet: 50 ms and the packet's 0.4 ms at 10 Mbit/s."""
    work = {"min": "100kbit", "max": "100kbit", "variation": 0, "key_frame": 1}
    flow = call("none", work=work)
    result = run(tmp_path, [flow], "10mbit", "30s", buffer="100kb")
    done = result.table("completions")
    # 100 kbit/s in 30 frames: 416 bytes, and 28 of UDP and IP.
    assert done["size_bytes"].unique().to_list() == [416]
    delays = (done["end_s"] - done["start_s"]).unique().to_list()
    assert delays == pytest.approx([0.05 + 444 * 8 / 10e6] * len(delays), abs=1e-9)
    assert done["start_s"].to_list()[:3] == pytest.approx([0, 1 / 30, 2 / 30], abs=1e-8)


def frame(**columns: Sequence[Any]) -> pl.DataFrame:
    """A table with these columns about the only flow."""
    series = [
        pl.Series(name, list(values), None if name == "name" else pl.Float64, strict=False)
        for name, values in columns.items()
    ]
    zeros = pl.lit(0, pl.UInt32)
    return pl.DataFrame(series).with_columns(flow=zeros, instance=zeros)


MEDIA = 'flows.0.workload={ kind = "media", control = "nada" }'


def call_summary(
    lives: tuple[Sequence[float], Sequence[float]],
    internals: tuple[Sequence[float], Sequence[str], Sequence[float]],
) -> dict[str, Any]:
    """The summary of a call with a warm-up of 1 s, from starts and ends, and from internals."""
    (starts, ends), (times, names, values) = lives, internals
    scenario = scenario_of(overrides=["run.warmup=1s", "flows.0.cca=none", MEDIA])
    tables = {
        "completions": frame(start_s=starts, end_s=ends, size_bytes=starts, retransmitted=starts),
        "internals": frame(time_s=times, name=names, value=values),
    }
    (found,) = flow_summaries(scenario, tables, 4.0)
    return found["workload"]


def test_metrics_are_growths_since_the_warm_up() -> None:
    names = ("freezes", "frozen_s", "lost_frames", "rate_changes", "encoded_bytes")
    at_one, at_three = (1, 0.5, 2, 3, 1_000), (4, 2.0, 7, 9, 501_000)
    internals = (np.repeat([1.0, 3.0], 5), names * 2, [*at_one, *at_three])
    found = call_summary(([0.5, 1.5, 2.5], [0.6, 1.8, 2.6]), internals)
    assert [found[name] for name in names[:4]] == [3, 1.5, 5, 6]
    assert found["media_mbps"] == pytest.approx(2.0)
    assert found["completed"] == 2
    assert found["completion_s"]["max"] == pytest.approx(0.3)


def test_the_figures_show_encoder_and_frames(tmp_path: Any) -> None:
    result = run(tmp_path, [call("nada", name="call", deadline="100ms")], "1mbit", "30s")
    one = result.trials[0]
    figure = applications(one.scenario, one.tables, result.groups)
    media, delays = figure.panels
    assert [line.label.split(": ")[1] for line in media.lines] == ["encoder", "arrived"]
    done = result.table("completions")
    assert delays.lines[0].y == pytest.approx(1e3 * (done["end_s"] - done["start_s"]).to_numpy())
    (tail,) = tails(one.scenario, one.tables, result.groups).panels
    assert tail.title == "Frames of calls"


@pytest.mark.parametrize(
    ("shown_s", "still_s"), [((1.5, 2.6), 0.4), ((2.9,), 0.0), ((), 2.0), ((3.2,), 0.0)]
)
def test_a_picture_stands_still_from_the_last_frame_to_the_last_encoded(
    shown_s: tuple[float, ...], still_s: float
) -> None:
    """The encoder sends until 3 s; without a frame, the time counts from the warm-up on."""
    internals = ([1.0, 2.0, 3.0, 4.0], ["encoded_bytes"] * 4, [1e3, 2e3, 3e3, 3e3])
    found = call_summary(([at - 0.1 for at in shown_s], shown_s), internals)
    assert found["still_s"] == pytest.approx(still_s)


def test_a_call_that_ends_in_an_outage_is_frozen_until_the_end(tmp_path: Any) -> None:
    outage = nw.impairments.Outage(outages={"25s": "100s"})
    result = run(tmp_path, [call("scream", name="call")], "4mbit", "40s", impairments=[outage])
    (row,) = result.summary_table.to_dicts()
    assert (row["call.freezes"], row["call.still_s"]) == (0, pytest.approx(15, abs=0.1))
    assert row["call.frozen_s"] == row["call.still_s"]
    one = result.trials[0]
    _, delays = applications(one.scenario, one.tables, result.groups).panels
    assert [(span.label, round(span.start), round(span.end)) for span in delays.spans] == [
        ("freeze", 25, 40)
    ]


def test_calls_and_probes_are_named_for_what_they_are(tmp_path: Any) -> None:
    probe = nw.Flow(cca="none", name="probe", workload={"kind": "ping"})
    result = run(tmp_path, [call("scream", name="call"), probe], "1mbit", "21s")
    shown = flow_classes(result.trials[0].scenario, result.groups)
    assert [members.label for members in shown] == ["call (call, SCReAM)", "probe (probes)"]


def test_every_control_of_calls_is_listed() -> None:
    (control,) = [
        parameter
        for parameter in registry.elements("workloads")["media"]["parameters"]
        if parameter["name"] == "control"
    ]
    assert sorted(dict(listing("media"))) == sorted(control["words"])


def test_each_control_of_calls_that_the_engine_knows_has_words() -> None:
    control = next(
        p for p in registry.elements("workloads")["media"]["parameters"] if p["name"] == "control"
    )
    assert set(MEDIA_CONTROLS) == set(control["words"])
