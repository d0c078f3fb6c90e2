"""The features of each back end as one table, with the reason for every refusal.

Each feature comes with an example, which is passed to the back ends' own checks. So the table holds
exactly the refusals that a run would get.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from narrows.backends import BACKENDS, NAMES, Backend, get_backend
from narrows.backends.linux.tools import require_built
from narrows.errors import InputError, SpecError
from narrows.spec import SpecificationText, load, registry
from narrows.spec.scenario import Scenario

_BASE = """\
name = "feature"
[path]
rate = "10mbit"
rtt = "20ms"
buffer = "20pkt"
{path}
[[flows]]
cca = "{cca}"
{flow}
[run]
duration = "2s"
{run}
{rest}
"""


@dataclass(frozen=True)
class Feature:
    """A feature of specifications, with the lines of an example.

    `cca` is the flow's control; `path`, `flow` and `run` are lines of these tables, and `rest` is
    whole tables. `own` is the name of an own control, `capture` an option of a run.
    """

    name: str
    what: str
    cca: str = "cubic"
    path: str = ""
    flow: str = ""
    run: str = ""
    rest: str = ""
    own: str = ""
    capture: str = ""

    def scenario(self) -> Scenario:
        """The scenario of the example."""
        text = _BASE.format(**vars(self))
        scenario = load(SpecificationText(text)).spec.scenario
        if self.own:
            scenario["flows"][0]["cca"] = self.own
            scenario["controls"] = {self.own: {"file": self.own, "text": ""}}
        return scenario


def features() -> Iterator[Feature]:
    """Yields all features."""
    for name in registry.queues():
        yield Feature(f"queue {name}", "a queue discipline", path=f'queue = "{name}"')
    yield from _ELEMENTS
    yield from _FLOWS
    for name, workload in registry.elements("workloads").items():
        kind = ", ".join([f'kind = "{name}"', *_WORKLOADS[name]])
        cca = "none" if workload["family"] == "datagrams" else "cubic"
        lines = f"workload = {{ {kind} }}"
        yield Feature(f"workload {name}", workload["title"], cca=cca, flow=lines)
    yield from _HOSTS
    yield from _OTHERS


_SECOND = '[[path.links]]\nname = "second"\nrate = "8mbit"\nbuffer = "1bdp"'
_BACK = '[path.reverse]\nrate = "5mbit"\nbuffer = "1bdp"'
_ELEMENTS = (
    Feature("services", "links whose rate varies", path='service = "wifi"'),
    Feature("loss", "random loss behind the queue", path="loss = 0.01"),
    Feature("impairments", "netem and others", path='impairments = [{ kind = "netem" }]'),
    Feature("links", "further links", path=_SECOND),
    Feature("reverse link", "a queue on the reverse path", path=_BACK),
)
_FLOWS = (
    Feature("size", "flows with a size", flow='size = "1mb"'),
    Feature("chain", "one flow after the other", flow='size = "1mb"\nrepeat_gap = "1s"'),
    Feature("rtt", "a delay of its own for a flow", flow='rtt = "50ms"'),
    Feature("receive window", "a limit of the receiver", flow='receive_window = "64kb"'),
    Feature("unsent data", "a low-water mark of a flow", flow='notsent_lowat = "128kb"'),
    Feature("own profile", "another kernel's TCP for a flow", flow='profile = "linux-5.15"'),
    Feature("own fq", "pacing by fq for a flow alone", flow="fq = true"),
    Feature("own kernel", "a kernel for a flow", flow='kernel = "linux-6.12"'),
    Feature("own line rate", "the card of a flow's host", flow='line_rate = "225mbit"'),
    Feature("own sysctls", "settings of a flow's hosts", flow="sysctls = { tcp_sack = 0 }"),
    Feature("ecn classic", "marks as in RFC 3168", flow='ecn = "classic"'),
    Feature(
        "ecn accurate",
        "counts of marks as in RFC 9768",
        flow='ecn = "accurate"\nprofile = "linux-7.3"',
    ),
    Feature("ecn l4s", "marks as in RFC 9331", flow='ecn = "l4s"'),
    Feature("dscp", "a code point for queues with classes", flow='dscp = "ef"'),
    Feature("options", "parameters of a control", flow='options = { hystart = "off" }'),
    Feature("reverse flow", "data in the other direction", path=_BACK, flow="reverse = true"),
)
_WORKLOADS = {
    "poisson": ('rate = "5/s"', 'size = "10kb"'),
    "arrivals": ('gap = "100ms"', 'size = "10kb"'),
    "on_off": ('on = "1s"', 'off = "1s"'),
    "requests": ('size = "10kb"', 'think = "100ms"'),
    "video": ('bitrate = "1mbit"', 'chunk = "2s"'),
    "adaptive_video": ('bitrates = ["1mbit", "2mbit"]', 'chunk = "2s"'),
    "web": ('html = "60kb"', "objects = 4", 'size = "10kb"'),
    "udp": ('rate = "1mbit"',),
    "ping": (),
    "media": (),
}
"""The required parameters of each workload."""
_HOSTS = tuple(
    Feature(f"host {key}", what, rest=f"[host]\n{key} = {value}")
    for key, what, value in (
        ("fq", "pacing by the queue discipline fq", "true"),
        ("gso", "super-packets", "true"),
        ("jitter", "noise in the hosts' timing", '"10us"'),
        ("timer_lateness", "late pacing timers", '"100us"'),
        ("gro", "received packets merged", '"100us"'),
        ("metrics_save", "metrics kept for later connections", "true"),
    )
)
_OTHERS = (
    Feature("python control", 'cca = "mine:Mine"', own="mine:Mine"),
    Feature("rust control", 'cca = "mine.rs"', own="mine.rs"),
    Feature("ebpf control", 'cca = "mine.bpf.c"', own="mine.bpf.c"),
    Feature("programs", "other programs as hosts", flow='server = ["true"]\nclient = ["true"]'),
    Feature("stack", "the transport stack of another project", flow='stack = "quinn"'),
    Feature("changes", "changes during the run", rest='[[changes]]\nat = "1s"\nloss = 0.01'),
    Feature("module control", 'cca = "mine.c"', own="mine.c"),
    Feature("packets", "a row for each packet", run='record = "packets"'),
    Feature(
        "packets the other way",
        "a row for each packet of a flow the other way",
        path=_BACK,
        flow="reverse = true",
        run='record = "packets"',
    ),
    Feature("pcap", "captures of the packets", capture="pcap"),
    Feature("qlog", "what each sender knew and did", capture="qlog"),
)


def table() -> dict[str, Any]:
    """Returns which back end has which feature; a text is the reason for a refusal.

    If a back end can't run on this machine at all, or its programs have yet to be built, `missing`
    says why.
    """
    found: dict[str, Backend] = {}
    missing: dict[str, str] = {}
    for name in NAMES:
        try:
            if BACKENDS[name].real:
                require_built(name)
            found[name] = get_backend(name)
        except InputError as error:
            missing[name] = str(error)
    rows = [
        {
            "feature": feature.name,
            "what": feature.what,
            **{name: _answer(backend, feature) for name, backend in found.items()},
        }
        for feature in features()
    ]
    able = {name: found[name].engine if name in found else None for name in NAMES}
    return {"backends": able, "missing": missing, "features": rows}


def _answer(backend: Backend, feature: Feature) -> bool | str:
    """Returns True, or the reason for a refusal."""
    if feature.capture:
        able = backend.capabilities().captures
        return feature.capture in able or f"no --{feature.capture} on this back end"
    scenario = feature.scenario()
    try:
        backend.check(scenario)
    except (SpecError, InputError) as error:
        return str(error)
    return True
