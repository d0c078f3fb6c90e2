"""The paper's proposals: BBR Shallow, a cap that adapts, an RTprop that isn't fooled."""

from __future__ import annotations

from narrows.reproduce.exhibit import Exhibit

FIXES: tuple[Exhibit, ...] = ()
