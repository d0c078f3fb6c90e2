"""Measures the offset of a host's clocks from ours over the host's connection."""

from __future__ import annotations

import select
import subprocess
import time
from dataclasses import dataclass

from narrows.backends.hosts.session import HostError, Session

_QUESTIONS = 24
_ANSWER_S = 10.0


@dataclass(frozen=True)
class Offset:
    """A host's CLOCK_MONOTONIC and CLOCK_REALTIME minus ours, in ns.

    Both are accurate to `uncertainty_ns`: half the round trip of the quickest question.
    """

    monotonic_ns: int
    realtime_ns: int
    uncertainty_ns: int


def measure_offset(session: Session, program: str) -> Offset:
    """Asks for a host's clocks several times and keeps the quickest answer.

    `program` is the traffic tool in the session's directory.
    """
    channel = session.open_channel(
        [f"{session.home}/{program}", "clock"], subprocess.PIPE, subprocess.PIPE
    )
    with channel:
        best = min(
            (_ask(session, channel) for _ in range(_QUESTIONS)),
            key=lambda offset: offset.uncertainty_ns,
        )
        assert channel.stdin is not None  # noqa: S101 (for the type checker)
        channel.stdin.close()
    return best


def _ask(session: Session, channel: subprocess.Popen[bytes]) -> Offset:
    assert channel.stdin is not None  # noqa: S101
    assert channel.stdout is not None  # noqa: S101
    before = time.monotonic_ns()
    ahead = time.time_ns() - before
    try:
        channel.stdin.write(b"\n")
        channel.stdin.flush()
        if not select.select([channel.stdout], [], [], _ANSWER_S)[0]:
            raise HostError(session.name, "its clock doesn't answer")
        monotonic, realtime = map(int, channel.stdout.readline().split())
    except (OSError, ValueError):
        channel.kill()
        said = channel.stderr.read().decode("utf-8", "replace").strip() if channel.stderr else ""
        raise HostError(session.name, f"its clock can't be read: {said or 'no answer'}") from None
    after = time.monotonic_ns()
    middle = (before + after) // 2
    return Offset(monotonic - middle, realtime - middle - ahead, (after - before + 1) // 2)
