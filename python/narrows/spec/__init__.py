"""What a person writes: the specification, its units and its located errors."""

from __future__ import annotations

from narrows.spec.load import Loaded, load, parse
from narrows.spec.models import Flow, Host, Path, Run, Spec
from narrows.spec.naming import NamedFlow, named_flows

__all__ = [
    "Flow",
    "Host",
    "Loaded",
    "NamedFlow",
    "Path",
    "Run",
    "Spec",
    "load",
    "named_flows",
    "parse",
]
