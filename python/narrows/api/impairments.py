"""Impairments of a path.

nw.Path(impairments=[nw.impairments.Loss(probability=0.01)])
"""

from __future__ import annotations

from narrows.api.declared import classes_of

globals().update(classes_of(__name__))
