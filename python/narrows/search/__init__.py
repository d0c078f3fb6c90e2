"""Looks for conditions in which a congestion control fails, and keeps the few that matter.

`space` says which conditions there are and which of them are plain, `objectives` what failing
means, `trying` runs a control beside its references, `hunt` chooses what to try, `minimise` takes
conditions back one by one, and `make` puts a search together.
"""

from __future__ import annotations

from narrows.search.make import Search, search
from narrows.search.objectives import OBJECTIVES

__all__ = ["OBJECTIVES", "Search", "search"]
