"""Looks for conditions in which a congestion control fails, and reduces them.

`space` defines the conditions and their defaults, `objectives` the ways to fail. `trying` runs a
control and its references, `hunt` chooses the conditions to try, `minimise` resets conditions one
by one, and `make` combines them to a search.
"""

from __future__ import annotations

from narrows.search.make import search
from narrows.search.objectives import OBJECTIVES

__all__ = ["OBJECTIVES", "search"]
