"""How long a run will take is estimated, and told if that is long."""

from __future__ import annotations

from pathlib import Path

import pytest
from specimens import GOOD, scenario_of

from narrows import runner
from narrows.console import note_cost
from narrows.execute import load


def test_flows_and_samples_make_a_run_longer() -> None:
    summary, often = f'{GOOD}record = "summary"\n', f'{GOOD}sample_interval = "1ms"\n'
    crowd = summary.replace('"cubic"', '"cubic"\ncount = 1000')
    small, plain, large, many = (load(scenario_of(t)) for t in (summary, GOOD, often, crowd))
    assert small < plain < large
    assert many > small + 50_000


@pytest.mark.parametrize(
    ("path", "flow", "run", "packets"),
    [
        ("", "", "", 83_333),
        ("", 'size = "1448kb"', "", 1_000),
        ("", 'name = "one"\nsize = "1mb"', 'stop_when = "one"', 691),
        ("", 'stop = "10s"', "", 8_333),
        ("", 'workload = { kind = "poisson", rate = "1/s", size = "144800b" }', "", 10_800),
        ("", 'workload = { kind = "on_off", on = "1us", off = "1us" }', "", 41_667 + 4_000_000),
        ("loss = 0.01", "", "", 83_333),
        ("loss = 0.04", "", "", 50_000),
    ],
)
def test_only_what_flows_can_send_is_expected(
    path: str, flow: str, run: str, packets: float
) -> None:
    text = f"""
[path]
rate = "10mbit"
rtt = "20ms"
buffer = "1bdp"
{path}
[[flows]]
cca = "cubic"
{flow}
[run]
duration = "100s"
record = "summary"
{run}
"""
    assert load(scenario_of(text)) == pytest.approx(packets + 13_100, rel=0.01)


@pytest.mark.parametrize(
    ("cca", "work", "told"),
    [
        ("none", 'kind = "udp", rate = "10gbit", size = "1b"', "1,250,000,000 datagrams"),
        ("reno", 'kind = "on_off", on = "1ns", off = "1ns"', "500,000,000 times on and off"),
        ("reno", 'kind = "poisson", rate = "1000000/s", size = "1b"', "1,000,000 connections"),
    ],
)
def test_a_run_that_takes_long_says_so_before(
    cca: str, work: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"""
[path]
rate = "10gbit"
rtt = "20ms"
buffer = "10pkt"
[[flows]]
cca = "{cca}"
workload = {{ {work} }}
[run]
duration = "20s"
record = "summary"
"""
    (tmp_path / "long.toml").write_text(text)
    note_cost(runner.prepare(tmp_path / "long.toml"))
    assert f'most of it for flow "{cca}-1", which has {told} a second' in capsys.readouterr().err
    (tmp_path / "short.toml").write_text(text.replace("20s", "1ms"))
    note_cost(runner.prepare(tmp_path / "short.toml"))
    assert capsys.readouterr().err == ""
