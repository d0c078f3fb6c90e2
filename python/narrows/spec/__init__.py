"""Specifications, which this package finds and the native module (crates/spec) checks."""

from __future__ import annotations

from narrows.spec.check import Condition, ResultCheck, SeriesNumber
from narrows.spec.override import Override
from narrows.spec.reading import CheckedSpecification, SpecificationText, load, parse
from narrows.spec.scenario import Scenario
from narrows.spec.spec import Spec
from narrows.spec.study import Study, load_study, parse_study
from narrows.spec.values import same_value, spell

__all__ = [
    "CheckedSpecification",
    "Condition",
    "Override",
    "ResultCheck",
    "Scenario",
    "SeriesNumber",
    "Spec",
    "SpecificationText",
    "Study",
    "load",
    "load_study",
    "parse",
    "parse_study",
    "same_value",
    "spell",
]
