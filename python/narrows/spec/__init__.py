"""What a person writes: the specification, its units and its located errors."""

from __future__ import annotations

from narrows.spec.expect import Expect, Until
from narrows.spec.models import Flow, Host, Path, Run, Spec
from narrows.spec.naming import NamedFlow, named_flows
from narrows.spec.overrides import Override, dotted, parse_override
from narrows.spec.reading import Loaded, Written, load, parse
from narrows.spec.study import Axis, Study, load_study, parse_study
from narrows.spec.values import same_value

__all__ = [
    "Axis",
    "Expect",
    "Flow",
    "Host",
    "Loaded",
    "NamedFlow",
    "Override",
    "Path",
    "Run",
    "Spec",
    "Study",
    "Until",
    "Written",
    "dotted",
    "load",
    "load_study",
    "named_flows",
    "parse",
    "parse_override",
    "parse_study",
    "same_value",
]
