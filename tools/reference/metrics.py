"""docs/reference/metrics.md from the declarations in `narrows.metrics.catalogue`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from narrows.metrics.catalogue import (
    CLASS,
    COMPLETION,
    FLOW,
    HALVES,
    OF_APPLICATIONS,
    PACKETS,
    RUN,
    WORKLOAD,
)
from narrows.metrics.metric import Metric
from narrows.metrics.series import OF_FLOW, OF_LINK, DerivedSeries
from reference import PAGES

TARGET = PAGES / "metrics.md"

HEAD = """# Metrics

This page is made from `python/narrows/metrics/catalogue.py` by `make reference`.

Everything is counted from the warm-up to the end of the run unless stated otherwise.
Rates are in 10^6 bit/s. Where a metric is named (`[[check]]`, `--metric`, `search --for`), the
heading of a table or figure will do, with or without its unit: `"Share of BBR (%)"` is `bbr.share`.
Bounds and `within` are then in the heading's unit: `"Share of BBR (%)" at most 60`, but
`bbr.share` or `"Share of BBR"` at most 0.6.
An empty cell is a value that can't be known: no such flows, or a back end that doesn't count it.
"Better" says which direction is good.
"""

PAGE = """{head}
## `summary`: a row for each run

{run}
| `invalid` | | | why the run is invalid; empty if it is valid |

A class of flows has the name of its entry in the specification or, without one, of its control and,
where flows of a control differ, of the difference: `cubic-20ms` and `cubic-80ms`. Its columns are
named `bbr.share` and so on. The successive flows of a chain count as one flow with their mean
goodput, and their shares count what arrived from the warm-up on.

{of_class}

A class with transfers that end (flows with a size, or a workload other than `on_off`) has these,
too. For a workload only transfers that began after the warm-up count.

{completion}

A class with videos or video calls has these, too: totals over its flows, and means of the rest.

{application}

## `flows`: a row for each flow

Columns for `name`, `class`, `instance` (in a chain) and `cca` come first.

{flow}

`rtt_mean_ms` and the percentiles count each round-trip time once that an ACK measures; on real
kernels, which don't report them, the smoothed one of each sample counts as often as packets were
delivered since the last. So times in which a flow gets few ACKs count for little, and for a starved
flow the mean is below that over time, `rtt_time_mean_ms`. Recovery, in which each packet is
acknowledged and not each second, counts for more than its packets. Percentiles of round-trip times
and queues come from a histogram whose buckets are up to 1/128 of the value wide, so trials that
differ by less have the same.

A flow with a workload also has its kind in `workload`, and its application's metrics:

{workload}

## Series

`[[check]]` with `series` reads these, each by a class, a flow or a link and a dot:

- every column of `flow_samples`, and the internals that the flow's control tells
  ([controls.md](controls.md), [tables.md](tables.md));
- every column of `queue_samples` for a link, such as `bottleneck.backlog_packets`;
- `completion_s`, the completion time of every transfer that began within the period;
- `share`, the part of the bytes of all flows that left the bottleneck which are of the class;
- what is derived over each sample interval:

| Of | Series | Unit | Meaning |
|---|---|---|---|
{series}

## Harm

Harm needs two runs, with the flow alone and beside others: (alone - beside) / alone
if more is better, (beside - alone) / beside if less is better (Ware, Mukerjee, Seshan and Sherry,
HotNets 2019). In Python, on tables of one sweep or of two:

```python
from narrows.metrics import harms
harms(alone, beside, "cubic.goodput_mbps", on=["path.rate", "path.rtt", "trial"])
```
"""


def table(metrics: Iterable[Metric]) -> str:
    """A table of metrics."""
    rows = ["| Column | Unit | Better | Meaning |", "|---|---|---|---|"]
    for metric in metrics:
        cells = (f"`{metric.name}`", metric.unit, metric.better or "", metric.meaning)
        rows.append(f"| {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |"))
    return "\n".join(rows)


def derived_rows(owner: str, series: Mapping[str, DerivedSeries]) -> Iterable[str]:
    """The rows of derived series."""
    for one in series.values():
        row = f"| {owner} | `{one.name}` | {one.unit} | {one.meaning} |"
        yield row.replace("|  |", "| |")


def pages() -> dict[Path, str]:
    """The files by their paths."""
    return {TARGET: generate()}


def generate() -> str:
    """The page."""
    return PAGE.format(
        head=HEAD,
        run=table((*RUN, PACKETS)),
        of_class=table((*CLASS, *HALVES)),
        completion=table(COMPLETION),
        application=table(OF_APPLICATIONS),
        flow=table(FLOW),
        workload=table(WORKLOAD),
        series="\n".join([*derived_rows("a flow", OF_FLOW), *derived_rows("a link", OF_LINK)]),
    )
