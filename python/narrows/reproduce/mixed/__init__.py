"""Impact of TCP BBR on CUBIC traffic: large flows beside successive small ones (Haile, 2018)."""

from __future__ import annotations

from narrows.reproduce.exhibit import Exhibit

EXHIBITS: tuple[Exhibit, ...] = ()
