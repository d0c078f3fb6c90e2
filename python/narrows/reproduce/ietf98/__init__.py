"""The slides on BBR at IETF 98 (Cardwell et al., March 2017)."""

from __future__ import annotations

from narrows.reproduce.exhibit import Exhibit

EXHIBITS: tuple[Exhibit, ...] = ()
