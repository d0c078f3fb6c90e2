"""`--set path.buffer=4bdp`: single values of a specification, from the command line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Override:
    """A place and its new value, from `PLACE=VALUE`, and the option that gave them."""

    text: str
    origin: str = "--set"
