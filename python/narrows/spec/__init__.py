"""What a person writes: the specification, its units and its located errors."""

from __future__ import annotations

from narrows.spec.models import Flow, Host, Path, Run, Spec
from narrows.spec.naming import NamedFlow, named_flows
from narrows.spec.overrides import Override, parse_override
from narrows.spec.reading import Loaded, load, parse

__all__ = [
    "Flow",
    "Host",
    "Loaded",
    "NamedFlow",
    "Override",
    "Path",
    "Run",
    "Spec",
    "load",
    "named_flows",
    "parse",
    "parse_override",
]
