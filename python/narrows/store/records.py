"""What a run leaves behind, whichever back end made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    Tables = Mapping[str, pl.DataFrame]
    """The tables of a run by name: `flow_samples`, `queue_samples` and so on."""


@dataclass(frozen=True)
class RunInfo:
    """About a run as a whole.

    `end_s` is the simulated end in seconds, `packets` the data packets out of
    the bottleneck, `cpu_s` and `wall_s` what the run cost, `digest` a
    hexadecimal hash of all its results. `invalid` says why the run is not to be
    trusted, if so; `conditions` is what else decided it, such as the kernel and
    its settings.
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


@dataclass(frozen=True)
class RunResult:
    """The tables of a run and what is to be known about it."""

    tables: Tables
    info: RunInfo
