"""A run in steps, which can be read, changed, forked, and repeated from its record."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrows import _native
from narrows.api.running import Source, _name_overrides, _permission, _source
from narrows.api.tables import Change, Flow
from narrows.backends.sim import Simulator, parts, translate_errors
from narrows.errors import InputError
from narrows.late import pl
from narrows.spec import Override, Spec, SpecificationText
from narrows.spec.permission import EVERYTHING, allowing
from narrows.spec.reading import open_text, read_written
from narrows.spec.suggest import number_to, quote
from narrows.spec.values import to_toml
from narrows.store.parquet import NativeTables

if TYPE_CHECKING:
    from narrows._native import Simulation as Native


class Simulation:
    """A run of a scenario that advances in steps.

    Every change is recorded: `toml` is a specification whose run gives the same tables.

        >>> simulation = Simulation("fig9.toml")           # doctest: +SKIP
        >>> simulation.run_until("10s")                    # doctest: +SKIP
        >>> simulation.flows["bbr-1"]["cwnd"]              # doctest: +SKIP
        >>> simulation.change(rate="5mbit", loss=0.01)     # doctest: +SKIP
        >>> other = simulation.fork()                      # doctest: +SKIP

    The arguments are those of `narrows.run`; `trial` chooses one of several trials, counting from
    1. Raises InputError for bad input, with its place and a remedy.
    """

    def __init__(
        self,
        scenario: Source,
        overrides: Iterable[str | Override] = (),
        *,
        trial: int = 1,
        allow_code: Iterable[str | Path] = (),
    ) -> None:
        with _permission(scenario, allow_code):
            text = open_text(_source(scenario), _name_overrides(overrides))
            spec = text.spec()
        if not 1 <= trial <= spec.trials:
            raise InputError.at("trial", str(trial), number_to(spec.trials))
        self._file = text.file
        self._document: dict[str, Any] = tomllib.loads(text.text)
        run = self._document["run"]
        run["seed"] = spec.scenario["seed"] + trial - 1
        run.pop("trials", None)
        made = json.loads(spec.canonical(trial))
        Simulator().check(made)
        self._scenario = made
        with translate_errors(_native):
            self._running: Native | None = _native.Simulation(*parts(made))
        self._record: dict[str, Any] = {}

    @property
    def _native(self) -> Native:
        """The run, until it is finished; raises InputError after that."""
        if self._running is None:
            remedy = "a fork made before `finish`, or a new Simulation,"
            raise InputError.at("simulation", "a run that was finished", remedy)
        return self._running

    def run_until(self, time: str | float) -> None:
        """Runs up to and including `time`, which is a text such as "12.5s" or a number of seconds.

        Stops early if the run ends. Raises InputError for a time in the past.
        """
        at = _nanoseconds(time)
        if at < self._native.now_ns:
            raise InputError.at("time", f"{time}, which is over", f"{self._now()} or later")
        with translate_errors(_native):
            self._native.run_until(at)

    def run_for(self, span: str | float) -> None:
        """Runs for `span`, which is a text such as "40ms" or a number of seconds."""
        with translate_errors(_native):
            self._native.run_until(self._native.now_ns + _nanoseconds(span))

    @property
    def now_s(self) -> float:
        """The current time in seconds; everything up to it has happened."""
        return self._native.now_ns / 1e9

    @property
    def is_over(self) -> bool:
        """True once the run has ended."""
        return self._running is None or self._native.is_over

    @property
    def flows(self) -> dict[str, dict[str, Any]]:
        """The state of each flow by name, with the columns of the table `flow_samples`."""
        return {name: self._native.flow(at) for at, name in enumerate(self._flow_names())}

    @property
    def internals(self) -> dict[str, dict[str, float]]:
        """The named internals of each flow's control and workload, by the flow's name."""
        return {name: self._native.internals(at) for at, name in enumerate(self._flow_names())}

    @property
    def queues(self) -> dict[str, dict[str, int]]:
        """The state of each link's queue by name, with the columns of `queue_samples`."""
        path = self._scenario["path"]
        others = [*path["links"], *([path["reverse"]] if path["reverse"] else [])]
        names = ["bottleneck", *(link["name"] for link in others)]
        return {name: self._native.queue(at) for at, name in enumerate(names)}

    def change(
        self,
        *,
        link: str | None = None,
        rate: str | None = None,
        rtt: str | None = None,
        loss: float | None = None,
        flow: str | None = None,
        stop: bool | None = None,
        window: int | None = None,
        pacing_rate: str | None = None,
    ) -> None:
        """Makes a change now; the arguments are the keys of `[[changes]]` in a specification.

        There is no argument `end`: `finish` ends a run. Raises SpecError, and changes nothing, if
        the change can't be made.
        """
        made = Change(
            at=self._now(),
            link=link,
            rate=rate,
            rtt=rtt,
            loss=loss,
            flow=flow,
            stop=stop,
            window=window,
            pacing_rate=pacing_rate,
        )
        changes = list(self._document.get("changes", []))
        place = sum(_nanoseconds(change["at"]) <= self._native.now_ns for change in changes)
        changes.insert(place, made.as_table())
        document = {**self._document, "changes": changes}
        scenario = self._read(document).scenario
        with translate_errors(_native):
            self._native.change(json.dumps(scenario["changes"][place]))
        self._document, self._scenario = document, {**scenario}

    def stop(self, flow: str) -> None:
        """Stops a flow, or the flows of an entry, now: their application stops writing."""
        self.change(flow=flow, stop=True)

    def add(self, flow: Flow | Mapping[str, Any]) -> None:
        """Adds a flow that starts now.

        The run is repeated from its beginning with the new flow, which takes as long as the run so
        far. Raises SpecError if the flow can't be added.
        """
        entry = {**(flow.as_table() if isinstance(flow, Flow) else flow), "start": self._now()}
        document = {**self._document, "flows": [*self._document["flows"], entry]}
        scenario = self._read(document).scenario
        with translate_errors(_native):
            for made in scenario["flows"][len(self._scenario["flows"]) :]:
                self._native.add(json.dumps(made))
        self._document, self._scenario = document, {**scenario}

    def fork(self) -> Simulation:
        """Returns an independent copy of the run.

        The copy repeats the run from its beginning, which takes as long as the run so far.
        """
        copy = object.__new__(Simulation)
        copy._file = self._file
        copy._document, copy._scenario = dict(self._document), dict(self._scenario)
        with translate_errors(_native):
            copy._running, copy._record = self._native.fork(), {}
        return copy

    @property
    def document(self) -> dict[str, Any]:
        """The specification of the run so far, with every change, as a mapping.

        If the run hasn't ended, the last change ends it at the current time. Given to
        `narrows.run`, the document produces the same tables. It leaves out the checks, since they
        are about the whole run. It stays the same after `finish`.
        """
        if self._running is None:
            return self._record
        document = {key: value for key, value in self._document.items() if key != "check"}
        if self._native.is_over:
            return document
        now_ns = self._native.now_ns
        changes = [c for c in document.get("changes", []) if _nanoseconds(c["at"]) <= now_ns]
        return {**document, "changes": [*changes, Change(at=self._now(), end=True).as_table()]}

    @property
    def toml(self) -> str:
        """The `document` as TOML text."""
        return to_toml(self.document)

    def finish(self) -> Mapping[str, pl.DataFrame]:
        """Ends the run now, and returns its tables by name, as a back end writes them.

        After that only `toml` and `document` are left; everything else raises InputError.
        """
        running, self._record = self._native, self.document
        self._running = None
        with translate_errors(_native):
            return NativeTables(running.finish().tables)

    def _flow_names(self) -> Iterator[str]:
        return (flow["name"] for flow in self._scenario["flows"])

    def _now(self) -> str:
        return _native.format_duration(self._native.now_ns)

    def _read(self, document: Mapping[str, Any]) -> Spec:
        """Reads a document like the original specification, with own controls already allowed."""
        with allowing([EVERYTHING]):
            return read_written(SpecificationText.document(document), (), self._file).spec()


def _nanoseconds(time: str | float) -> int:
    """Converts a time or a span to ns; raises InputError for anything else."""
    if isinstance(time, str):
        found = _native.quantity(time)
        if found is None or found[0] != "duration":
            raise InputError.at("time", quote(time), '"12.5s", or a number of seconds,')
        return round(found[1])
    if not 0 <= time < 1e10:
        raise InputError.at("time", f"{time}", "a number of seconds from 0 on")
    return round(time * 1e9)
