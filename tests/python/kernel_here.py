"""Runs on this machine's own kernel, in real time."""

from __future__ import annotations

from required import require

from narrows.store import RunRecord


def require_on_time(result: RunRecord) -> None:
    """Skips the rest of a test, which is about speed, if the machine didn't keep up with a run."""
    require("on-time", result.info.invalid or "")
