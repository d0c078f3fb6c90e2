"""Versions of kernels."""

from __future__ import annotations

import re


def kernel_version(text: str) -> tuple[int, int]:
    """Returns the first two numbers of a release ("6.18.44-fc") or a profile ("linux-7.3")."""
    major, minor, *_ = map(int, re.findall("[0-9]+", text))
    return major, minor
