"""Figures of applications, from tables that can be counted by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import synthetic_run

import narrows as nw
from narrows.columns import Columns
from narrows.errors import InputError
from narrows.figures.model import Guide
from narrows.figures.runs.applications import applications
from narrows.figures.runs.tails import tails
from narrows.sweeps.figure import describe

TWO = ("cubic", "reno")


def scenario(*changes: dict[str, Any]) -> dict[str, Any]:
    found = synthetic_run.scenario(2.0, TWO)
    found["run"]["warmup_ns"] = 0
    for flow, change in zip(found["flows"], changes, strict=False):
        flow |= change
    return found


def samples(**own: list[float]) -> Columns:
    """Three samples of each of two flows, all counters of which are zero but those given."""
    rows = synthetic_run.tables(2.0, TWO)["flow_samples"]
    made = {name: np.zeros(6) for name in rows.columns}
    made["time_s"] = np.array([0.0, 1.0, 2.0] * 2)
    made["flow"] = np.array([0, 0, 0, 1, 1, 1], dtype=np.uint32)
    return Columns.of(made | {name: np.array(values, dtype=float) for name, values in own.items()})


def completions(*rows: tuple[int, float, float, int]) -> Columns:
    flow, start, end, size = (np.array(part) for part in zip(*rows, strict=True))
    number = np.arange(len(rows), dtype=np.uint32)
    return Columns.of(
        {"flow": flow.astype(np.uint32), "instance": number, "start_s": start.astype(float),
         "end_s": end.astype(float), "size_bytes": size.astype(np.uint64),
         "retransmitted": np.zeros(len(rows))}
    )  # fmt: skip


def tables(**own: Columns) -> dict[str, Any]:
    return {**synthetic_run.tables(2.0, TWO), "flow_samples": samples(), **own}


def test_a_run_without_applications_has_no_panels() -> None:
    plain = synthetic_run.scenario(2.0, TWO), synthetic_run.tables(2.0, TWO)
    assert applications(*plain).panels == ()
    assert tails(*plain).panels == ()


def test_a_film_shows_its_buffer_its_interruptions_and_its_chunks() -> None:
    work = {"kind": "video", "bitrate_bps": 4_000_000, "chunk_ns": 1_000_000_000,
            "start_ns": 1_000_000_000, "buffer_ns": 3_000_000_000}  # fmt: skip
    level, stalled = [0.0, 0.8, 0.0, 0.0, 0.9], [0.0, 0.0, 0.0, 0.5, 0.6]
    times = [0.0, 0.5, 1.0, 1.5, 2.0]
    internals = Columns.of(
        {
            "time_s": np.array(times * 2),
            "flow": np.zeros(10, dtype=np.uint32),
            "name": np.array(["playout_buffer_s"] * 5 + ["stalled_s"] * 5, dtype=object),
            "value": np.array(level + stalled),
        }
    )
    # 500 kB in a second and in half a second: 4 Mbit/s of video at 4 and 8 Mbit/s.
    chunks = completions((0, 0.0, 1.0, 500_000), (0, 1.0, 1.5, 500_000))
    figure = applications(
        scenario({"workload": work}), tables(internals=internals, completions=chunks)
    )
    buffer, bitrate = figure.panels
    assert buffer.lines[0].y.tolist() == level
    assert buffer.guides == (Guide(3.0, "room for 3 s"),)
    assert [(span.start, span.end, span.label) for span in buffer.spans] == [
        (1.0, 2.0, "rebuffering")
    ]
    assert [line.y.tolist() for line in bitrate.lines] == [[4.0, 4.0], [4.0, 8.0]]


def test_transfers_beyond_their_deadline_stand_out() -> None:
    sized = {"size_bytes": 1, "deadline_ns": 300_000_000}
    done = completions((0, 0.0, 0.1, 1), (0, 0.5, 0.8001, 1), (0, 1.0, 1.25, 1), (0, 1.5, 2.0, 1))
    figure = applications(scenario(sized), tables(completions=done))
    (panel,) = figure.panels
    on_time, late = panel.lines
    assert (on_time.x.tolist(), late.x.tolist()) == ([0.0, 1.0], [0.5, 1.5])
    assert panel.guides == (Guide(0.3, "deadline 0.3 s; 50 % are late"),)
    drawn = tails(scenario(sized), tables(completions=done))
    (tail,) = drawn.panels
    assert drawn.columns == 1  # one panel is as wide as the figure
    assert (tail.x_label, tail.y_label) == ("Completion time (s)", "Share that takes longer")
    assert tail.lines[0].x == pytest.approx([0.1, 0.25, 0.3001, 0.5])
    # All take 0.1 s or longer, three quarters longer than that, and so on.
    assert tail.lines[0].y == pytest.approx([1.0, 0.75, 0.5, 0.25])
    assert tail.guides == (Guide(0.3, "deadline 0.3 s", upright=True),)


def test_datagrams_show_what_was_sent_and_what_arrived() -> None:
    work = {"kind": "udp", "rate_bps": 1_000_000, "size_bytes": 1000, "burst": 1}
    # 125 packets a second are 1 Mbit/s; of the second 125, half arrive.
    made = samples(sent=[0, 125, 250, 0, 0, 0], received_bytes=[0, 125_000, 187_500, 0, 0, 0])
    figure = applications(scenario({"workload": work}), tables(flow_samples=made))
    sent, arrived = figure.panels[0].lines
    assert (sent.label, arrived.label) == ("CUBIC: sent", "CUBIC: arrived")
    assert sent.y == pytest.approx([1, 1, 1, 1, 1])
    assert arrived.y == pytest.approx([1, 1, 0.5, 0.5, 0.5])


def test_probes_stand_beside_both_directions() -> None:
    ping = {"kind": "ping", "interval_ns": 1_000_000_000, "size_bytes": 56}
    described = synthetic_run.scenario(2.0, ("none", *TWO))
    described["flows"][0] |= {"workload": ping, "rtt_ns": 30_000_000}
    described["flows"][2] |= {"reverse": True}
    made = samples(received_bytes=[0, 1e6, 1e6, 0, 0, 250_000], rtt_ms=[0, 30, 45, 0, 0, 0])
    flow, time_s = np.append(made["flow"] + 1, [0, 0, 0]), np.append(made["time_s"], [0, 1, 2])
    longer = {name: np.append(made[name], np.zeros(3)) for name in ("received_bytes", "rtt_ms")}
    longer["rtt_ms"][-3:] = [30, 31, 45]
    rows = Columns.of(longer | {"flow": flow.astype(np.uint32), "time_s": time_s})
    figure = applications(described, {**tables(), "flow_samples": rows})
    there, back, probes = figure.panels
    assert there.lines[0].y == pytest.approx([8, 8, 0, 0, 0])
    assert back.lines[0].y == pytest.approx([0, 0, 2, 2, 2])
    assert probes.lines[0].y.tolist() == [30, 31, 45]
    assert probes.guides == (Guide(30.0, "path 30 ms", below=True),)


def test_the_tail_of_probes_counts_their_histogram() -> None:
    ping = {"kind": "ping", "interval_ns": 1_000_000_000, "size_bytes": 56}
    rows = Columns.of(
        {
            "kind": np.array(["rtt_ms"] * 3, dtype=object),
            "id": np.zeros(3, dtype=np.uint32),
            "value": np.array([30.0, 31.0, 45.0]),
            "weight": np.array([6.0, 3.0, 1.0]),
        }
    )
    (panel,) = tails(scenario({"workload": ping}), tables(distributions=rows)).panels
    assert panel.lines[0].y == pytest.approx([1.0, 0.4, 0.1])


def test_a_figure_without_anything_to_show_is_refused(tmp_path: Path) -> None:
    made = tmp_path / "plain"
    text = '[path]\nrate = "10mbit"\nrtt = "20ms"\nbuffer = "1bdp"\n[[flows]]\ncca = "reno"\n'
    spec = tmp_path / "plain.toml"
    spec.write_text(text + '[run]\nduration = "1s"\n')
    nw.run(spec, out=made)
    with pytest.raises(InputError, match='"tails", for which this run has nothing to show'):
        describe(made, "tails")
