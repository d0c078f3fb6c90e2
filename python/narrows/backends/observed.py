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
from narrows.spec.ending import planned_end_ns
from narrows.spec.measured import UNKNOWN_CONTROL, capacity_known
from narrows.spec.scenario import Scenario
from narrows.spec.values import format_duration
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


SLACK = 0.01
"""A measurement may end this part of a run's time before the run."""
SILENT = 0.1
"""The part if all flows have workloads, which may send nothing at the end."""


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
        """Raises SpecError for a scenario with other flows, or one that runs for longer."""
        self._check_flows(scenario)
        self._check_time(scenario)

    def _check_time(self, scenario: Scenario) -> None:
        """Raises SpecError for a scenario whose measured time goes on after the measurement."""
        needed_s, end_s = _needed_s(scenario), self._trial.info.end_s
        interval_s = self._trial.scenario["run"]["sample_interval_ns"] / 1e9
        if end_s < needed_s - max(interval_s, _slack_s(scenario, needed_s)):
            warmup_s = scenario["run"]["warmup_ns"] / 1e9
            found = (
                f"{_duration(needed_s)}, measured from {_duration(warmup_s)} on, of which "
                f"{self.selector} covers only {_duration(end_s)}"
            )
            raise SpecError.at("run.duration", found, _covering(scenario, end_s))

    def _check_flows(self, scenario: Scenario) -> None:
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


def _needed_s(scenario: Scenario) -> float:
    """Returns the time until which a scenario is measured; 0.0 if finished transfers end it."""
    flows, run = scenario["flows"], scenario["run"]
    sized = all(flow["size_bytes"] is not None and flow["repeat_gap_ns"] is None for flow in flows)
    if sized or run["stop_when"] is not None:
        return 0.0
    end_ns = planned_end_ns(scenario)
    return min(end_ns, max(flow["stop_ns"] or end_ns for flow in flows)) / 1e9


def _slack_s(scenario: Scenario, needed_s: float) -> float:
    """Returns how long before a run's end its last packets may pass: a round trip, or a part."""
    flows = scenario["flows"]
    rtt_ns = max(flow["rtt_ns"] or scenario["path"]["rtt_ns"] for flow in flows)
    applied = all(flow["workload"] is not None for flow in flows)
    return max(rtt_ns / 1e9, (SILENT if applied else SLACK) * needed_s)


def _covering(scenario: Scenario, end_s: float) -> str:
    """Returns the options with which a scenario ends with a measurement.

    A warm-up that would leave less than half of the time is shortened like the duration.
    """
    run = scenario["run"]
    options = f"--set run.duration={_duration(end_s)}"
    if run["warmup_ns"] > end_s * 1e9 / 2:
        warmup_s = end_s * run["warmup_ns"] / run["duration_ns"]
        options += f" --set run.warmup={_duration(warmup_s)}"
    return options


def _duration(seconds: float) -> str:
    """Returns a time to three digits, as a specification spells it."""
    return format_duration(round(float(f"{seconds:.3g}") * 1e9))


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
