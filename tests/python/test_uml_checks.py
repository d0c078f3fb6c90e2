"""Checks of series on real Linux TCP; needs a kernel from `narrows kernel build`."""

from __future__ import annotations

from pathlib import Path

from required import needs
from specimens import GOOD, run_cli, write

pytestmark = needs("uml")

EXPECTED = """
[[check]]
series = "bbr.cca_state"
is = ["probe_bw"]
take = "after_s"
from = "0s"
at_most = 1

[[check]]
series = "bbr.cca_state"
is = ["startup"]
take = "times"
from = "0s"
at_least = 1
at_most = 1

[[check]]
series = "bbr.bw_mbps"
take = "last"
at_least = 7.5
at_most = 8.5

[[check]]
series = "bottleneck.backlog_packets"
take = "max"
from = "0s"
at_least = 5
"""
"""Checks of Linux's own BBR on this path: phases, estimate, the queue of its STARTUP."""
BROKEN = """
[[check]]
series = "bbr.cca_state"
is = ["probe_bw"]
take = "after_s"
from = "0s"
at_most = 0.02
"""


def test_series_of_a_kernel_are_judged(tmp_path: Path) -> None:
    bbr = GOOD.replace('"cubic"', '"bbr"').replace('buffer = "1bdp"', 'buffer = "4bdp"')
    for name, text, status in (("kept", EXPECTED, 0), ("broken", EXPECTED + BROKEN, 1)):
        spec = write(tmp_path, bbr + text, name=f"{name}.toml")
        out = str(tmp_path / name)
        assert run_cli("run", spec, "--backend", "uml", "--out", out) == status, name
