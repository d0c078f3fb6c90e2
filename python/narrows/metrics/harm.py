"""Harm: how much worse a flow fares beside others than alone.

R. Ware, M. K. Mukerjee, S. Seshan, J. Sherry: Beyond Jain's Fairness Index:
Setting the Bar for the Deployment of Congestion Control Algorithms, HotNets
2019, section 4.
"""

from __future__ import annotations

from collections.abc import Sequence

from narrows.late import pl
from narrows.metrics.catalogue import find
from narrows.metrics.metric import Better


def harm(alone: float, beside: float, better: Better = "more") -> float | None:
    """From 0 (no harm) to 1 (total loss); below zero if the other flows helped.

    `alone` and `beside` are the same metric of the same flow without and with
    the others; `better` says which direction of it is good: "more" for goodput,
    "less" for delay, loss or completion time. None if the larger value is zero.
    """
    good, bad = (alone, beside) if better == "more" else (beside, alone)
    return (good - bad) / good if good else None


def harms(
    alone: pl.DataFrame,
    beside: pl.DataFrame,
    metric: str,
    on: Sequence[str],
    better: Better | None = None,
) -> pl.DataFrame:
    """Returns the harm for every row of `beside` that has a partner in `alone`.

    Both frames hold `metric` and the columns `on`, which match the rows, such as the path and the
    seed. Several partners are averaged. By default `better` is the metric's own direction, or
    "more" if it has none. The result has `on`, `alone`, `beside` and `harm`, in the order of
    `beside`.
    """
    if better is None:
        declared = find(metric)
        better = (declared.better if declared is not None else None) or "more"

    partner = alone.group_by(on).agg(pl.col(metric).mean().alias("alone"))
    rows = beside.select(*on, pl.col(metric).alias("beside"))
    rows = rows.join(partner, on=on, how="inner", maintain_order="left")
    good, bad = ("alone", "beside") if better == "more" else ("beside", "alone")
    part = (pl.col(good) - pl.col(bad)) / pl.col(good)
    known = pl.when(pl.col(good) != 0).then(part).otherwise(None)
    return rows.select(*on, "alone", "beside", known.alias("harm"))
