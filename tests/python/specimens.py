"""Specifications and frames that several tests start from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from narrows.cli import main
from narrows.plan import plan
from narrows.spec import Spec, parse

GOOD = """\
name = "good"

[path]
rate = "8mbit"
rtt = "20ms"
buffer = "1bdp"

[[flows]]
cca = "cubic"

[run]
duration = "2s"
warmup = "500ms"
"""
"""One CUBIC flow; 20 000 bytes of BDP; small enough to run in a test."""

TOGETHER = """\
name = "together"

[path]
rate = "8mbit"
rtt = "20ms"
buffer = "2bdp"
queue = "droptail"
loss = 0.001

[[flows]]
name = "large"
cca = "cubic"
size = "800kb"

[[flows]]
name = "chain"
cca = "reno"
size = "20kb"
start = "0.1s"
repeat_gap = "50ms"
while = "large"

[[flows]]
cca = "bbr"
count = 2
start = "200ms"
stop = "1s"
rtt = "30ms"

[host]
profile = "linux-6.12"
fq = true
jitter = "10us"
socket_buffers = "unlimited"

[run]
duration = "5s"
warmup = "100ms"
trials = 2
seed = 7
stop_when = "large"
sample_interval = "50ms"
record = "packets"
"""
"""Every field of a specification but `options`."""


def spec_of(text: str = GOOD, overrides: Sequence[str] = ()) -> Spec:
    """The checked specification of a text."""
    return parse(text, "test", overrides).spec


def scenario_of(text: str = GOOD, overrides: Sequence[str] = ()) -> dict[str, object]:
    """The scenario of the first trial of a text."""
    return plan(spec_of(text, overrides), "test").trials[0].scenario


def run_cli(*arguments: str) -> int:
    """The exit status of a command in this process."""
    return main(arguments)


def write(directory: Path, text: str = GOOD, name: str = "good.toml") -> str:
    """A specification file in `directory`; its path."""
    file = directory / name
    file.write_text(text, encoding="utf-8")
    return str(file)


def samples(rows: Sequence[tuple[object, ...]], columns: Sequence[str]) -> pl.DataFrame:
    """A frame from rows of values."""
    return pl.DataFrame(rows, schema=list(columns), orient="row")
