"""Reproduces figures of published documents and judges their claims.

    narrows reproduce panaderia/fig9      one figure, with the claims that it decides
    narrows reproduce panaderia | all     a document, or all four
    narrows reproduce                     the ledger

`studies/` has a folder for each document with a file for each figure. `narrows.reproduce.make` runs
them; this package only lists them.
"""

from __future__ import annotations

from narrows.reproduce.catalogue import exhibits, listing, select
from narrows.reproduce.claims import claims
from narrows.reproduce.library import DOCUMENTS

__all__ = ["DOCUMENTS", "claims", "exhibits", "listing", "select"]
