"""The results of a run, on any back end."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from narrows.late import pl
from narrows.store.parquet import NativeTables

if TYPE_CHECKING:
    from narrows import columns

Tables = Mapping[str, "pl.DataFrame"]
"""The tables of a run by name: `flow_samples`, `queue_samples` and so on."""


@dataclass(frozen=True)
class RunInfo:
    """Information about a run as a whole.

    `end_s` is the simulated end in seconds, `packets` the data packets out of the bottleneck,
    `cpu_s` and `wall_s` the cost of the run, and `digest` a hexadecimal hash of all its results.
    `invalid` is the reason if the run can't be trusted; `conditions` holds further conditions, such
    as the kernel and its settings. `losses` are the data packets lost from the warm-up on at places
    of the path other than queues, by place ("path.impairments[0]", "path.loss"); None where the
    back end doesn't report them.
    """

    backend: str
    engine: str
    digest: str
    end_s: float
    packets: int
    cpu_s: float
    wall_s: float
    invalid: str | None = None
    conditions: Mapping[str, Any] = field(default_factory=dict)
    losses: Mapping[str, int] | None = None


@dataclass(frozen=True)
class CaptureOptions:
    """The captures that a run writes; they don't change its results.

    `pcap`: the packets at both ends and on both sides of the bottleneck, with `snaplen` bytes of
    each (its headers if None) and IPv4 or, if `ipv6`, IPv6 headers. `qlog`: the events and state of
    each sender, with `qlog_draft` in the form of the newest drafts instead of version 0.3.
    """

    pcap: bool = False
    qlog: bool = False
    qlog_draft: bool = False
    snaplen: int | None = None
    ipv6: bool = False

    def __bool__(self) -> bool:
        """Returns True if there is anything to capture."""
        return self.pcap or self.qlog


NO_CAPTURES = CaptureOptions()


@dataclass(frozen=True)
class RunRecord:
    """The tables of a run and information about it.

    `captures` are the files in the directory of its captures, each with the
    number of its packets or events.
    `files` are further files by their names, such as the reports of other programs.
    """

    tables: Tables
    info: RunInfo
    captures: Mapping[str, int] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def columns(self) -> columns.Tables:
        """The tables as metrics take them: without polars, unless a back end made frames."""
        return self.tables.columns if isinstance(self.tables, NativeTables) else self.tables


def digest(tables: Tables) -> str:
    """Returns a hexadecimal hash of all tables, for back ends without their own digest."""
    whole = hashlib.sha256()
    for name in sorted(tables):
        whole.update(name.encode())
        whole.update(tables[name].write_csv().encode())
    return whole.hexdigest()[:32]
