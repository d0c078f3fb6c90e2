"""Back ends that run nothing and return a measurement, which was captured or imported.

Beside the simulator in `narrows compare`, they show how well a specification describes a network
that was measured once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from narrows.backends.protocol import Capabilities, Progress
from narrows.backends.sim import Simulator
from narrows.errors import InputError, SpecError
from narrows.late import pl
from narrows.spec.measured import UNKNOWN_CONTROL, capacity_known
from narrows.spec.scenario import Scenario
from narrows.store import RunRecord, open_result
from narrows.words import count_of

_NO_CAPACITY = (
    "It doesn't show the bottleneck's capacity. The verdicts are about the path that the "
    "specification gives; a rate or buffer from `spec.toml` of the measurement is a guess."
)
_NO_QUEUE = (
    "It shows no queue. The figure draws an estimate, which follows from the round trips compared "
    "above."
)


class MeasurementBackend:
    """A measurement in the results directory `place`."""

    name: ClassVar[str]
    command: ClassVar[str]
    """The command that makes such a directory."""

    def __init__(self, place: str) -> None:
        result = open_result(place)
        if result.manifest["backend"] != self.name:
            found = f'"{self.name}:{place}", which has another origin'
            raise InputError.at("--backend", found, f"a result of `{self.command}`")
        self._trial = result.trials[0]
        self.selector = f"{self.name}:{place}"
        self.engine = f"{self.name} {self._trial.info.digest}"

    def engine_of(self, scenario: Scenario) -> str:  # noqa: ARG002
        """Returns the measurement's engine, equal for all scenarios."""
        return self.engine

    @property
    def capacity_known(self) -> bool:
        """False if nothing in the measurement shows the capacity; its path then has a guess."""
        return capacity_known(self._trial.scenario)

    @property
    def gaps(self) -> dict[str, str]:
        """The quantities that the measurement doesn't show, each with a sentence on it."""
        return {} if self.capacity_known else {"utilization": _NO_CAPACITY}

    @property
    def instants(self) -> list[float]:
        """The times in s of samples of the RTT with which a simulation's are compared."""
        return []

    def capabilities(self) -> Capabilities:
        """Returns everything that a specification can name, since nothing is run."""
        return Simulator().capabilities()

    def check(self, scenario: Scenario) -> None:
        """Raises SpecError for a scenario whose flows differ in number, or in a known control."""
        theirs = [str(flow["cca"]) for flow in self._trial.scenario["flows"]]
        ours = [str(flow["cca"]) for flow in scenario["flows"]]
        same = len(ours) == len(theirs) and all(
            UNKNOWN_CONTROL in (one, other) or one == other
            for one, other in zip(ours, theirs, strict=True)
        )
        if not same:
            found = f"{count_of(len(ours), 'flow')} ({', '.join(dict.fromkeys(ours))})"
            wanted = ", ".join(theirs)
            remedy = (
                f"the {count_of(len(theirs), 'flow')} of the measurement in their order ({wanted})"
            )
            raise SpecError.at("flows", found, remedy)

    def run(self, scenario: Scenario, progress: Progress | None = None) -> RunRecord:
        """Returns the tables of the measurement; raises SpecError as `check` does."""
        self.check(scenario)
        if progress is not None:
            progress(self._trial.info.end_s, self._trial.info.packets)
        return RunRecord(self._tables(scenario), self._trial.info)

    def _tables(self, scenario: Scenario) -> Mapping[str, pl.DataFrame]:  # noqa: ARG002
        return self._trial.tables


class CaptureBackend(MeasurementBackend):
    """The results of `narrows analyze` from a capture."""

    name = "capture"
    command = "narrows analyze"


class ImportBackend(MeasurementBackend):
    """The results of `narrows import` from another program's measurement."""

    name = "import"
    command = "narrows import"

    @property
    def instants(self) -> list[float]:
        """The times in s at which the program printed round-trip times."""
        samples = self._trial.tables["flow_samples"]
        times: list[float] = samples.drop_nulls("srtt_ms")["time_s"].unique().sort().to_list()
        return times

    @property
    def gaps(self) -> dict[str, str]:
        """Adds the queue if it is only an estimate from round trips of TCP."""
        queue = {"queue": _NO_QUEUE} if self.capacity_known and self.instants else {}
        return super().gaps | queue

    def _tables(self, scenario: Scenario) -> Mapping[str, pl.DataFrame]:
        """Returns the tables with samples at the warm-up, as those of a run have.

        Another program prints its counters once a second or so, a little late: those of the last
        row before the warm-up would lack up to a second's bytes.
        """
        warmup_s = scenario["run"]["warmup_ns"] / 1e9
        sampled = {
            name: _sampled_at(self._trial.tables[name], key, warmup_s)
            for name, key in _KEYS.items()
        }
        return {**self._trial.tables, **sampled}


_KEYS = {"flow_samples": "flow", "queue_samples": "link"}


def _sampled_at(samples: pl.DataFrame, key: str, time_s: float) -> pl.DataFrame:
    """Returns samples with a row of each flow or link at a time, between those around it."""
    before = samples.filter(pl.col("time_s") <= time_s).group_by(key).last()
    after = samples.filter(pl.col("time_s") > time_s).group_by(key).first()
    part = (time_s - pl.col("time_s")) / (pl.col("time_s_after") - pl.col("time_s"))
    made = before.filter(pl.col("time_s") < time_s).join(after, on=key, suffix="_after")
    between = [
        _between(name, kind, part) if kind.is_numeric() and name != key else pl.col(name)
        for name, kind in samples.schema.items()
    ]
    return pl.concat([samples, made.select(between)]).sort("time_s", key)


def _between(name: str, kind: pl.DataType, part: pl.Expr) -> pl.Expr:
    value = pl.col(name).cast(pl.Float64)
    found = value + part * (pl.col(f"{name}_after").cast(pl.Float64) - value)
    return (found.round() if kind.is_integer() else found).cast(kind).alias(name)
