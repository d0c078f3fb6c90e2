"""What a person writes: the specification, its units and its located errors."""

from __future__ import annotations

from narrows.spec.models import Flow, Host, Path, Run, Spec
from narrows.spec.naming import NamedFlow, named_flows
from narrows.spec.overrides import Override, dotted, parse_override
from narrows.spec.reading import Loaded, load, parse
from narrows.spec.study import Axis, Study, load_study, parse_study

__all__ = [
    "Axis",
    "Flow",
    "Host",
    "Loaded",
    "NamedFlow",
    "Override",
    "Path",
    "Run",
    "Spec",
    "Study",
    "dotted",
    "load",
    "load_study",
    "named_flows",
    "parse",
    "parse_override",
    "parse_study",
]
