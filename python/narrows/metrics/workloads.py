"""Workloads whose applications have their own metrics; docs/reference/metrics.md lists them."""

from __future__ import annotations

VIDEOS = ("video", "adaptive_video")
"""Workloads with a player."""
BUFFER = "playout_buffer_s"
MEDIA = "media"
"""The workload of a video call."""
LEAST_STILL_S = 1.0
"""A picture that stands still for this long at the end is frozen, not only late."""
