"""The reproduction of the BBR paper for CS 244 (Girardeau and Steele, 2017)."""

from __future__ import annotations

from narrows.reproduce.exhibit import Exhibit

EXHIBITS: tuple[Exhibit, ...] = ()
