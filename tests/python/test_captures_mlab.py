"""The comparison with the kernel's own account on M-Lab's files (tools/captures/mlab.py)."""

from __future__ import annotations

import io
import struct
import sys
import tarfile
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools/captures"))

import mlab

BEGIN_S = 1_000_000
HEADER = """2.5.27 201001301335 net100

/spec
RemPort 0 8 2

/read
StartTimeSec 0 4 4
StartTimeUsec 4 1 4
Duration 8 7 8
SndLimTimeRwin 16 3 4
SndLimTimeCwnd 20 3 4
SndLimTimeSender 24 3 4
SndLimTransRwin 28 3 4
SndLimTransCwnd 32 3 4
SndLimTransSender 36 3 4

/tune
LimRwin 0 4 4
\0----End-Of-Header---- -1 -1
"""


Row = tuple[float, float, float, float]


def log(*rows: Row, entered: Sequence[tuple[int, int, int]] = ()) -> bytes:
    """A log of Web100: seconds since the connection began, those in each state, and entries."""
    content = HEADER.encode()
    for row, entries in zip_longest(rows, entered, fillvalue=(0, 0, 0)):
        after, *spent = (round(value * 1e6) for value in row)
        content += b"----Begin-Snap-Data----\n"
        content += struct.pack("<IIQ6I", BEGIN_S, 0, after, *spent, *entries)
    return content


def test_a_counter_that_grows_covers_the_time_before() -> None:
    """Half a second before the capture begins was counted in it, and isn't the flow's."""
    rows = mlab.snapshots(log((1.0, 0, 0, 0), (1.1, 0, 0, 0.6), (3.1, 2.0, 0, 0.6)))
    assert [row.time_s for row in rows] == [BEGIN_S + 1.0, BEGIN_S + 1.1, BEGIN_S + 3.1]
    shares = mlab.shares_by_kernel(rows, BEGIN_S + 1.0, BEGIN_S + 3.1)
    assert shares == pytest.approx({"receiver": 2 / 2.1, "network": 0, "sender": 0.1 / 2.1})
    assert mlab.shares_by_kernel(rows, BEGIN_S + 5.0, BEGIN_S + 6.0) == {}


def test_time_after_the_last_count_belongs_to_the_state_entered_last() -> None:
    """The kernel counts a state when it leaves it: of the last one nothing is counted."""
    spent: list[Row] = [(1, 0, 0, 0), (2, 0, 1, 0), (3, 0, 1.5, 0.5), (5, 0, 1.5, 0.5)]
    entered = [(0, 1, 0), (0, 1, 0), (0, 1, 1), (0, 1, 1)]
    rows = mlab.snapshots(log(*spent, entered=entered))
    shares = mlab.shares_by_kernel(rows, BEGIN_S + 1.0, BEGIN_S + 5.0)
    assert shares == pytest.approx({"receiver": 0, "network": 1.5 / 4, "sender": 2.5 / 4})
    left_and_entered = [*entered[:2], (0, 2, 1), (0, 2, 1)]
    rows = mlab.snapshots(log(*spent, entered=left_and_entered))
    assert mlab.shares_by_kernel(rows, BEGIN_S + 1.0, BEGIN_S + 5.0) == pytest.approx(
        {"receiver": 0, "network": 3.5 / 4, "sender": 0.5 / 4}
    )


def test_a_log_that_breaks_off_counts_up_to_there() -> None:
    whole = log((1.0, 0, 0, 0), (2.0, 0, 1.0, 0))
    assert len(mlab.snapshots(whole[:-3])) == 1


def test_only_tests_with_both_files_are_compared(tmp_path: Path) -> None:
    names = ("20170509T13:45:13.5Z_10.0.0.1", "20170509T13:45:14.5Z_10.0.0.2")
    files = [f"{names[0]}.s2c_ndttrace", f"{names[0]}:80.s2c_snaplog", f"{names[1]}.s2c_ndttrace"]
    with tarfile.open(tmp_path / "ndt.tgz", "w:gz") as archive:
        for name in files:
            member = tarfile.TarInfo(f"2017/05/09/{name}")
            member.size = len(name)
            archive.addfile(member, io.BytesIO(name.encode()))
    (found,) = mlab.tests(tmp_path / "ndt.tgz")
    assert found == ("20170509T13:45:13.5Z", files[0].encode(), files[1].encode())


def test_causes_are_those_of_the_state_in_which_the_kernel_counts() -> None:
    shares = {"receiver_window": 0.2, "application": 0.1, "send_buffer": 0.3, "random_loss": 0.4}
    parts = [{"cause": c, "share": s, "time_s": 10 * s} for c, s in shares.items()]
    flow: dict[str, Any] = {"causes": {"shares": parts, "evidence": {"drained_s": 0.0}}}
    found = mlab.shares_by_packets(flow)
    assert found == pytest.approx({"receiver": 0.2, "network": 0.4, "sender": 0.4})
    flow["causes"]["evidence"]["drained_s"] = 1.0
    found = mlab.shares_by_packets(flow)
    assert found == pytest.approx({"receiver": 0.2, "network": 0.3, "sender": 0.5})
