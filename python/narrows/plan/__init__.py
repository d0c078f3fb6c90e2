"""From a specification to what a back end runs: scenarios, each with its content hash."""

from __future__ import annotations

from narrows.plan.build import Plan, Trial, plan
from narrows.plan.canonical import canonical_json, content_hash

__all__ = ["Plan", "Trial", "canonical_json", "content_hash", "plan"]
