"""Distributions of sizes and durations.

nw.workloads.Poisson(rate="5/s", size=nw.distributions.Exponential(mean="1mb"))
"""

from __future__ import annotations

from narrows.api.declared import classes_of

globals().update(classes_of(__name__))
