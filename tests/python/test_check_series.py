"""Checks of time series: read, counted by hand, and able to fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from specimens import GOOD, run_cli, spec_of, write

from narrows.errors import InputError, SpecError
from narrows.metrics.series import RunSeries
from narrows.metrics.taken import take
from narrows.runner import prepare

STATES = ("startup", "startup", "drain", "up", "down", "up", "down", "down", "up", "down", "down")
"""One a second, from 0 to 10 s."""


def checking(text: str, base: str = GOOD) -> str:
    return f"{base}\n[[check]]\n{text}\n"


def made_up() -> RunSeries:
    """Two flows of the class `a` over ten seconds with known values, and a link."""
    numbers = range(11)
    flows = [
        {
            "time_s": float(at), "flow": flow, "cwnd": 10 * (flow + 1) + at,
            "received_bytes": 125_000 * at * (flow + 1), "wire_bytes": 1000 * at * (flow + 1),
            "sent": 100 * at, "lost": 5 * at, "retransmitted": 0,
            "cca_state": STATES[at] if flow == 0 else "startup",
        }
        for at in numbers
        for flow in (0, 1)
    ]  # fmt: skip
    bandwidth = [
        {"time_s": float(at), "flow": 0, "name": "max_bw", "value": float(2**at)} for at in numbers
    ]
    bound = [{"time_s": 6.0, "flow": 0, "name": "bound", "value": 7.0}]
    queue = [
        {
            "time_s": float(at), "link": 0, "backlog_bytes": 1000 * (at % 4), "backlog_packets": 0,
            "arrived_packets": 10 * at, "dropped_packets": at, "marked_packets": 0,
            "forwarded_packets": 0, "forwarded_bytes": 100_000 * at,
        }
        for at in numbers
    ]  # fmt: skip
    done = [
        {"flow": 0, "start_s": start, "end_s": start + lasted}
        for start, lasted in ((0.5, 9.0), (3.0, 0.2), (4.0, 0.4), (8.0, 0.6))
    ]
    scenario: Any = {
        "path": {"rate_bps": 1_000_000, "rtt_ns": 500_000_000, "links": [], "reverse": None},
        "flows": [{"name": "a-1"}, {"name": "a-2"}],
        "run": {"warmup_ns": 2 * 10**9, "duration_ns": 10 * 10**9},
    }
    tables = {
        "flow_samples": pl.DataFrame(flows),
        "internals": pl.DataFrame([*bandwidth, *bound]),
        "queue_samples": pl.DataFrame(queue),
        "completions": pl.DataFrame(done),
    }
    return RunSeries(scenario, ("a", "a"), tables)


def state(name: str, nth: int = 1) -> str:
    """The condition of a state."""
    return f'{{ series = "a-1.cca_state", is = ["{name}"], nth = {nth} }}'


LAST = 'series = "a-1.cwnd"\ntake = "last"\n'


def value(text: str) -> float | None:
    (check,) = spec_of(checking(f"{text}\nat_least = 0")).checks
    assert check.taken is not None
    return take(check.taken, made_up()).value


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # From the warm-up at 2 s to the end, for one flow and for the class.
        ('series = "a-1.cwnd"\ntake = "first"', 12),
        ('series = "a-1.cwnd"\ntake = "last"', 20),
        ('series = "a.cwnd"\ntake = "mean"', 21),
        ('series = "a.cwnd"\ntake = "max"\nover = "max"', 30),
        ('series = "a.cwnd"\ntake = "max"\nover = "min"', 20),
        ('series = "a.cwnd"\ntake = "max"\nover = "sum"', 50),
        ('series = "a-1.cwnd"\ntake = "p50"', 16),
        ('series = "a-1.cwnd"\ntake = "min"\nfrom = "4s"\nto = "6s"', 14),
        # Derived from counters.
        ('series = "a-2.goodput_mbps"\ntake = "mean"', 2),
        ('series = "a-1.share"\ntake = "mean"', 1 / 3),
        ('series = "a.share"\ntake = "min"', 1),
        ('series = "a.sending_pps"\ntake = "mean"', 100),
        ('series = "a-1.cwnd"\ntake = "spread"', 7.2),
        ('series = "a.loss_rate"\ntake = "max"', 0.05),
        ('series = "bottleneck.loss_rate"\ntake = "max"', 0.1),
        ('series = "bottleneck.utilization"\ntake = "mean"', 0.8),
        ('series = "bottleneck.queue_ms"\ntake = "max"', 24),
        # Internals.
        ('series = "a.max_bw"\ntake = "growth"\nfrom = "3s"\nto = "5s"', 4),
        ('series = "a.bound"\ntake = "max"', 7),
        ('series = "a.bound"\ntake = "share"\nabove = 1', 1 / 9),
        ('series = "a.nothing"\ntake = "max"', None),
        ('series = "a.nothing"\ntake = "times"\nabove = 1', None),
        # States: how often, how long, when.
        ('series = "a-1.cca_state"\ntake = "times"\nis = ["up"]', 3),
        ('series = "a-1.cca_state"\ntake = "times"\nis = ["up"]\nfrom = "4s"\nto = "7s"', 1),
        ('series = "a-1.cca_state"\ntake = "times"\nis = ["probe"]', 0),
        ('series = "a-1.cca_state"\ntake = "share"\nis = ["up", "down"]', 8 / 9),
        ('series = "a-1.cca_state"\ntake = "after_s"\nis = ["down"]', 2),
        ('series = "a-1.cca_state"\ntake = "after_rtts"\nis = ["down"]', 4),
        ('series = "a-1.cca_state"\ntake = "after_s"\nis = ["never"]', None),
        ('series = "a-1.cca_state"\ntake = "longest_s"\nis = ["down"]', 2),
        ('series = "a-1.cca_state"\ntake = "longest_rtts"\nis = ["startup"]\nfrom = "0s"', 4),
        # Periods that begin and end with what happens.
        (f'series = "a-1.cwnd"\ntake = "first"\nafter = {state("up", nth=2)}', 15),
        (f'{LAST}after = {state("up")}\nuntil = {state("down")}', 14),
        (f'{LAST}lasting_rtts = 4\nafter = {state("drain")}', 14),
        (f'{LAST}lasting = "1s"', 13),
        (f'{LAST}after = {state("x")}', None),
        (f'series = "a-1.cwnd"\ntake = "min"\nwhile = {state("down")}', 14),
        (f'{LAST}while = {{ series = "bottleneck.queue_ms", below = 1 }}', 18),
        # Windows: means of 2 s from the warm-up on.
        ('series = "a-1.cwnd"\ntake = "min"\nwindow = "2s"', 13.5),
        ('series = "a-1.cwnd"\ntake = "max"\nwindow = "4s"', 18.5),
        # Completion times of the transfers that began within the period.
        ('series = "a.completion_s"\ntake = "max"', 0.6),
        ('series = "a.completion_s"\ntake = "max"\nto = "5s"', 0.4),
        ('series = "a.completion_s"\ntake = "p50"', 0.4),
    ],
)  # fmt: skip
def test_numbers_taken_from_a_series_match_those_counted_by_hand(
    text: str, found: float | None
) -> None:
    assert value(text) == (None if found is None else pytest.approx(found))


def test_missing_series_are_reported() -> None:
    (check,) = spec_of(checking('series = "a.max"\ntake = "max"\nat_least = 0')).checks
    assert check.taken is not None
    said = take(check.taken, made_up()).why
    assert said == "the run has no a.max; the control tells bound, max_bw"


@pytest.mark.parametrize(
    ("text", "place", "remedy"),
    [
        ("at_least = 1", "check[0]", "`metric` or `series`"),
        ('metric = "jain"\nseries = "a.b"', "check[0].series", "one of the two"),
        ('metric = "jain"\ntake = "max"', "check[0].take", "beside `series`"),
        ('metric = "jain"\nfrom = "1s"', "check[0].from", "beside `series`"),
        ('series = "cwnd"\ntake = "max"', "check[0].series", '"bbr.cwnd"'),
        ('series = "a.b"', "check[0].take", "mean, min"),
        ('series = "a.b"\nabove = 1', "check[0].take", "times, share"),
        ('series = "a.b"\ntake = "maxx"', "check[0].take", '"max"'),
        ('series = "a.b"\ntake = "times"', "check[0].take", "`is`, `above` or `below`"),
        ('series = "a.b"\ntake = "max"\nabove = 1', "check[0].take", "times, share"),
        ('series = "a.b"\ntake = "times"\nis = "x"', "check[0].is", '["startup"]'),
        ('series = "a.b"\ntake = "max"\nlasting_rtts = 0', "check[0].lasting_rtts", "above zero"),
        ('series = "a.b"\ntake = "max"\nfrom = "2s"\nto = "1s"', "check[0].to", "later"),
        ('series = "a.b"\ntake = "max"\nafter = {}', "check[0].after.series", "a text"),
        ('series = "a.b"\ntake = "max"\nafter = { series = "a.b" }', "check[0].after", "`is`"),
        (
            'series = "a.b"\ntake = "max"\nuntil = { series = "a.b", is = ["x"], below = 1 }',
            "check[0].until",
            "`above` and `below`",
        ),
        (
            'series = "a.b"\ntake = "max"\nwhile = { series = "a.b", abve = 1 }',
            "check[0].while.abve",
            '"above"',
        ),
    ],
)
def test_malformed_checks_of_series(text: str, place: str, remedy: str) -> None:
    with pytest.raises(SpecError) as caught:
        spec_of(checking(f"{text}\nat_most = 1"))
    assert (caught.value.place, remedy in caught.value.remedy) == (place, True)


def test_a_run_without_samples_has_no_series() -> None:
    base = GOOD.replace("[run]", '[run]\nrecord = "summary"')
    with pytest.raises(SpecError) as caught:
        spec_of(checking('series = "cubic.cwnd"\ntake = "max"\nat_most = 1', base))
    assert caught.value.place == "check[0].series"
    assert "run.record" in caught.value.remedy


@pytest.mark.parametrize(
    ("text", "place", "remedy"),
    [
        ('series = "cubik.cwnd"\ntake = "max"', "check[0].series", '"cubic"'),
        ('series = "bottleneck.bcklog_bytes"\ntake = "max"', "check[0].series", "backlog_bytes"),
        (
            'series = "cubic.cwnd"\ntake = "max"\nafter = { series = "cubi.cwnd", above = 1 }',
            "check[0].after.series",
            '"cubic"',
        ),
    ],
)
def test_series_of_what_is_not_there(text: str, place: str, remedy: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        prepare(write(tmp_path, checking(f"{text}\nat_most = 1")))
    assert (caught.value.place, remedy in caught.value.remedy) == (place, True)


KEPT = """series = "cubic.cca_state"
take = "times"
is = ["congestion_avoidance"]
from = "0s"
at_least = 1
at_most = 1
"""


def test_a_run_and_a_sweep_keep_checks_of_series_or_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = checking('series = "cubic.cwnd"\ntake = "max"\nat_most = 3', checking(KEPT))
    spec = write(tmp_path, broken)
    assert run_cli("run", spec, "--out", str(tmp_path / "run")) == 1
    said = capsys.readouterr().out
    assert said.count("not met") == 1
    assert "good: highest cubic.cwnd is" in said
    swept = write(tmp_path, broken.replace('"8mbit"', '["4mbit", "8mbit"]'))
    assert run_cli("run", swept, "--out", str(tmp_path / "sweep")) == 1
    assert capsys.readouterr().out.count("not met") == 2
    assert run_cli("run", write(tmp_path, checking(KEPT)), "--out", str(tmp_path / "kept")) == 0
