"""A specification as scenarios: one for every trial, with nothing left to fill in."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from narrows.plan.canonical import canonical_json, content_hash
from narrows.spec import Host, NamedFlow, Spec, named_flows, registry
from narrows.spec.elements import Impairment, read_value, resolved, room
from narrows.spec.models import Flow, Path, Reverse
from narrows.spec.python_control import is_own
from narrows.spec.registry import ecn_need
from narrows.spec.units import bdp_bytes

Scenario = dict[str, Any]
"""One run as plain data; the fields are those of the engine's `Scenario`.

Where flows name controls written in Python, `controls` holds their sources.
"""


@dataclass(frozen=True)
class Trial:
    """One run: its number from 1 on, its scenario, and the hash of what decides it."""

    number: int
    scenario: Scenario
    hash: str

    @property
    def seed(self) -> int:
        """The seed of its random streams."""
        return int(self.scenario["seed"])


@dataclass(frozen=True)
class Plan:
    """All runs of an experiment.

    `groups` holds the class of each flow by id; `hash` covers every trial, the
    engine's version and the back end.
    """

    name: str
    trials: tuple[Trial, ...]
    groups: tuple[str, ...]
    hash: str


def plan(spec: Spec, engine: str, backend: str = "sim") -> Plan:
    """The runs of `spec` on `backend`, whose engine has the version `engine`."""
    flows = named_flows(spec)
    trials = []
    for number in range(1, spec.run.trials + 1):
        scenario = _scenario(spec, flows, spec.run.seed + number - 1)
        trials.append(trial_of(number, scenario, engine, backend))
    groups = tuple(flow.group for flow in flows)
    whole = content_hash([*(trial.hash for trial in trials), *groups])
    return Plan(spec.name, tuple(trials), groups, whole)


def trial_of(number: int, scenario: Scenario, engine: str, backend: str) -> Trial:
    """A scenario as a trial, with the hash of all that decides its results."""
    return Trial(number, scenario, content_hash([canonical_json(scenario), engine, backend]))


def _scenario(spec: Spec, flows: list[NamedFlow], seed: int) -> Scenario:
    host = spec.host
    own = {name: asdict(source) for name, source in sorted(spec.controls.items())}
    return {
        **({"controls": own} if own else {}),
        "name": spec.name,
        "seed": seed,
        "path": _path(spec),
        "flows": [_flow(flow, host) for flow in flows],
        "host": {
            "profile": host.profile,
            "fq": host.fq,
            "jitter_ns": host.jitter,
            "timer_lateness_ns": host.timer_lateness,
            "gso": host.gso,
            "metrics_save": host.metrics_save,
            "gro_ns": host.gro,
            "socket_buffers": host.socket_buffers,
        },
        "run": _run(spec),
    }


def _path(spec: Spec) -> Scenario:
    path = spec.path
    reverse = path.reverse
    return {
        **_link(path, path.rtt),
        "rtt_ns": path.rtt,
        "loss": path.loss,
        "impairments": [_impairment(impairment) for impairment in path.impairments],
        "links": [{"name": link.name, **_link(link, path.rtt)} for link in path.links],
        "reverse": reverse and {"name": "reverse", **_link(reverse, path.rtt)},
    }


def _link(link: Path | Reverse, rtt: int) -> Scenario:
    entry = registry.queues()[link.queue.kind]
    size = link.buffer if link.queue.limit is None else link.queue.limit
    return {
        "rate_bps": link.rate,
        "buffer": room(size, entry, bdp_bytes(link.rate, rtt)),
        "queue": resolved(link.queue, entry, link.rate),
        "service": resolved(link.service, registry.services()[link.service.kind], link.rate),
    }


def _impairment(impairment: Impairment) -> Scenario:
    element = impairment.element
    entry = registry.impairments()[element.kind]
    parameters = resolved(element, entry, 0)
    return {"direction": impairment.direction, "at": impairment.at, **parameters}


def _options(flow: Flow) -> Scenario:
    """The options as the control takes them; an own control gets numbers, words and flags."""
    if is_own(flow.cca):
        numbers = {k: float(v) for k, v in flow.options.items() if type(v) is int}
        return dict(sorted({**flow.options, **numbers}.items()))
    known = {option["name"]: option for option in registry.ccas()[flow.cca]["parameters"]}
    given = {known[k]["key"]: read_value(v, known[k]) for k, v in flow.options.items()}
    return dict(sorted(given.items()))


def _flow(flow: NamedFlow, host: Host) -> Scenario:
    entry = flow.entry
    return {
        "name": flow.name,
        "cca": entry.cca,
        "options": _options(entry),
        "ecn": entry.ecn or ecn_need(entry.cca) or host.ecn,
        "start_ns": entry.start,
        "stop_ns": entry.stop,
        "size_bytes": entry.size,
        "workload": None if entry.workload is None else dict(entry.workload.scenario),
        "receive_window_bytes": entry.receive_window or host.receive_window,
        "rtt_ns": entry.rtt,
        "reverse": entry.reverse,
        "links": entry.links,
        "repeat_gap_ns": entry.repeat_gap,
        "while": entry.while_,
    }


def _run(spec: Spec) -> Scenario:
    run = spec.run
    return {
        "duration_ns": run.duration,
        "warmup_ns": run.warmup,
        "stop_when": run.stop_when,
        "sample_interval_ns": run.sample_interval,
        "record": run.record,
    }
