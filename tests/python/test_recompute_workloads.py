"""Metrics of applications, computed again by other code: transfers, videos, calls.

Transfers are found in the table of packets: one of a given size is done when its last packet is
acknowledged. Players and screens are simulated from the times at which chunks and frames arrived.
"""

from __future__ import annotations

import math
import os
import random
from itertools import pairwise
from typing import Any

import pytest
from recomputed import SEGMENT, agree, quantile

from narrows.backends import get_backend
from narrows.metrics.summary import summarise
from narrows.metrics.tables import summary_row, summary_tables
from narrows.plan import plan
from narrows.spec import parse

FIRST = int(os.environ.get("NARROWS_FUZZ_FIRST", "1")) % 2**31
SEEDS = range(FIRST, FIRST + int(os.environ.get("NARROWS_SEEDS", "12")))
RATE_BPS, DURATION_S = 3e6, 20.0
Row = dict[str, Any]


def run(seed: int, rtt_s: float, warmup_s: float, workloads: dict[str, str]) -> tuple[Row, Row]:
    """The tables of a run of these workloads, with the rows of `flows` and that of `summary`."""
    text = f'[path]\nrate = "{RATE_BPS:.0f}bit"\nrtt = "{rtt_s * 1e3:.0f}ms"\nbuffer = "1.5bdp"\n'
    for name, workload in workloads.items():
        cca = "none" if "media" in workload else "cubic"
        text += f'[[flows]]\nname = "{name}"\ncca = "{cca}"\nworkload = {{ {workload} }}\n'
    text += f'[run]\nduration = "{DURATION_S}s"\nwarmup = "{warmup_s}s"\nseed = {seed}\n'
    spec = parse(text + 'record = "packets"\n', "test").spec
    scenario = plan(spec, "test").trials[0].scenario
    result = get_backend("sim").run(scenario)
    names = list(workloads)
    summary = summarise(scenario, result.tables, result.info, names)
    rows = summary_tables(summary, names)["flows"].to_dicts()
    tables = {name: result.tables[name].to_dicts() for name in ("packets", "completions")}
    return tables, {
        "summary": summary_row(summary, names),
        **{row["name"]: row for row in rows},
    }


def acknowledgements(tables: Row, flow: int, instance: int) -> list[tuple[float, int]]:
    """When how many packets of a connection were acknowledged."""
    return [
        (row["time_s"], row["seq"])
        for row in tables["packets"]
        if (row["flow"], row["instance"], row["event"]) == (flow, instance, "ack_received")
    ]


def successive(tables: Row, flow: int, size: int, think_s: float) -> list[tuple[float, float]]:
    """Starts and ends of transfers that follow one another on one connection."""
    packets, found, start_s = math.ceil(size / SEGMENT), list[tuple[float, float]](), 0.0
    for at, seq in acknowledgements(tables, flow, 0):
        if seq >= packets * (len(found) + 1):
            found.append((start_s, at))
            start_s = at + think_s
    return found


def separate(tables: Row, flow: int, size: int) -> list[tuple[float, float]]:
    """Starts and ends of transfers with a connection each."""
    begins: dict[int, float] = {}
    for row in tables["packets"]:
        if row["flow"] == flow:
            begins.setdefault(row["instance"], row["time_s"])
    packets, found = math.ceil(size / SEGMENT), []
    for instance, begin in begins.items():
        ends = [at for at, seq in acknowledgements(tables, flow, instance) if seq >= packets]
        found += [(begin, ends[0])] if ends else []
    return found


def wrong_transfers(
    row: Row, name: str, lives: list[tuple[float, float]], since_s: float, least_s: float
) -> list[str]:
    """The statistics of transfers that their times contradict."""
    times = [end - start for start, end in lives if start >= since_s]
    slow = [took / least_s for took in times]
    expected: dict[str, float] = {"completed": len(times)}
    for kind, values in (("completion", times), ("slowdown", slow)):
        unit = "_s" if kind == "completion" else ""
        expected[f"{kind}_mean{unit}"] = math.fsum(values) / len(values)
        expected |= {f"{kind}_p{p}{unit}": quantile(values, p) for p in (50, 95, 99)}
    expected["completion_max_s"] = max(times)
    found = {key: row["summary"][f"{name}.{key}"] for key in expected}
    return [
        f"{name}.{key}: {found[key]}, packets {value}"
        for key, value in expected.items()
        if not agree(value, float(found[key]) if isinstance(value, float) else found[key])
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_transfers_are_what_the_packets_tell(seed: int) -> None:
    draw = random.Random(seed)
    rtt_s, warmup_s = draw.choice([0.02, 0.08]), draw.choice([0.0, 2.3])
    size, think_s = draw.choice([2_000, 90_000, 400_000]), draw.choice([0.05, 0.6])
    arriving = draw.choice([6_000, 60_000])
    tables, row = run(
        seed,
        rtt_s,
        warmup_s,
        {
            "asked": f'kind = "requests", size = "{size}b", think = "{think_s}s"',
            "crowd": f'kind = "poisson", size = "{arriving}b", rate = "3/s"',
        },
    )
    byte_s = 8 * 1500 / SEGMENT / RATE_BPS
    asked, crowd = successive(tables, 0, size, think_s), separate(tables, 1, arriving)
    wrong = wrong_transfers(row, "asked", asked, warmup_s, rtt_s + size * byte_s)
    wrong += wrong_transfers(row, "crowd", crowd, warmup_s, 2 * rtt_s + arriving * byte_s)
    assert not wrong, f"seed {seed}"


def player(ends_s: list[float], chunk_s: float, start_s: float) -> dict[str, float | None]:
    """The figures of a player that gets chunks at these times."""
    fetched = played = 0.0
    now, startup_s, stalls, stalled_s, plays = 0.0, None, 0, 0.0, False
    for at in [*ends_s, DURATION_S]:
        if plays and played + at - now > fetched + 1e-9:
            dry = now + fetched - played
            stalls, stalled_s, plays, played = stalls + 1, stalled_s - dry, False, fetched
        elif plays:
            played += at - now
        now = at
        if at == DURATION_S:
            break
        fetched += chunk_s
        if not plays and fetched - played >= start_s - 1e-9:
            plays = True
            startup_s, stalled_s = (at, 0.0) if startup_s is None else (startup_s, stalled_s + at)
    stalled_s += 0.0 if plays or startup_s is None else DURATION_S
    shown = {"startup_s": startup_s, "stalls": float(stalls), "stalled_s": stalled_s}
    return {**shown, "between_stalls_s": played / stalls if stalls else None}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_video_plays_what_has_arrived(seed: int) -> None:
    draw = random.Random(seed)
    bitrate, chunk_s = draw.choice([1.2, 2.4, 3.3]) * 1e6, draw.choice([1.0, 2.0])
    start_s = draw.choice([1, 2]) * chunk_s
    video = f'kind = "video", bitrate = "{bitrate:.0f}bit", chunk = "{chunk_s}s", '
    video += f'start = "{start_s}s", buffer = "{start_s + 2 * chunk_s}s"'
    tables, row = run(seed, 0.04, 0.0, {"video": video})
    packets = math.ceil(bitrate * chunk_s / 8 / SEGMENT)
    ends_s = list[float]()
    for at, seq in acknowledgements(tables, 0, 0):
        if seq >= packets * (len(ends_s) + 1):
            ends_s.append(at)
    wrong = {
        key: (row["video"][key], value)
        for key, value in player(ends_s, chunk_s, start_s).items()
        if not agree(value, row["video"][key])
    }
    assert not wrong, f"seed {seed}: {video}"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_call_freezes_where_no_frame_was_shown(seed: int) -> None:
    draw = random.Random(seed)
    control, most = draw.choice([("nada", 2), ("scream", 2), ("none", 0.8)])
    call = f'kind = "media", control = "{control}", max = "{most}mbit"'
    other = f'kind = "requests", size = "{draw.choice([300, 900])}kb", think = "1s"'
    tables, row = run(seed, 0.04, 0.0, {"call": call, "other": other})
    frames = [frame for frame in tables["completions"] if frame["flow"] == 0]
    shown = sorted(frame["end_s"] for frame in frames)
    freezes = list[float]()
    gaps = [later - earlier for earlier, later in pairwise(shown)]
    for number, gap in enumerate(gaps):
        last = gaps[max(number - 30, 0) : number]
        mean = sum(last) / len(last) if last else math.inf
        freezes += [gap] if gap >= max(3 * mean, mean + 0.15) else []
    expected = {
        "completed": len(frames),
        "mean_bytes": sum(frame["size_bytes"] for frame in frames) / len(frames),
        "freezes": float(len(freezes)),
        "frozen_s": sum(freezes),
        "lost_frames": max(frame["instance"] for frame in frames) + 1.0 - len(frames),
    }
    wrong = {k: (row["call"][k], v) for k, v in expected.items() if not agree(v, row["call"][k])}
    assert not wrong, f"seed {seed}: {call}"
    sent = sum(
        packet["size"] - 28
        for packet in tables["packets"]
        if (packet["flow"], packet["event"]) == (0, "sent")
    )
    assert row["call"]["media_mbps"] == pytest.approx(sent * 8e-6 / DURATION_S, rel=0.05)
