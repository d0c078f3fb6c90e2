"""Workloads of a flow.

nw.Flow(cca="cubic", workload=nw.workloads.Poisson(rate="5/s", size="1mb"))
"""

from __future__ import annotations

from narrows.api.declared import classes_of

globals().update(classes_of(__name__))
