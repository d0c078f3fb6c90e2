"""Figures of published documents, made again and held against what they say.

    narrows reproduce panaderia/fig9

An entry names a specification, the stretch of time that its figure shows, and
checks: each computes one number of a run and compares it by a rule that is
printed beside it. Adding a figure takes a specification in `data` and a line in
`narrows.reproduce.registry`.
"""

from __future__ import annotations

from narrows.reproduce.make import Reproduction, describe, run
from narrows.reproduce.registry import REGISTRY, Entry, find, listing

__all__ = ["REGISTRY", "Entry", "Reproduction", "describe", "find", "listing", "run"]
