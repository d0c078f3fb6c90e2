"""A specification as pydantic models: the TOML that a person writes.

Every field is kept in exact form (ns, bit/s, bytes). Nothing is filled in here
that a back end would decide; the defaults below are the whole list.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from narrows.spec.elements import Element
from narrows.spec.expect import Expect
from narrows.spec.fields import (
    Boolean,
    Buffer,
    Buffers,
    Cca,
    Count,
    Duration,
    Ecn,
    Level,
    Name,
    Obstacle,
    Option,
    Probability,
    Profile,
    Queue,
    Rate,
    Seed,
    Service,
    Span,
    Trials,
    Volume,
    Workload,
)
from narrows.spec.python_control import Source


class _Table(BaseModel):
    """A TOML table: unknown keys are errors, and nothing changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Reverse(_Table):
    """The link of the way back."""

    rate: Rate
    buffer: Buffer | None = None
    queue: Queue = Element("droptail")
    service: Service = Element("constant")


class Link(Reverse):
    """A link behind the first one; everything as there."""

    name: Name


class Path(_Table):
    """The bottleneck and the delay around it."""

    preset: Name | None = None
    """Where the fields come from that a specification leaves out."""
    rate: Rate
    """Bit/s, counting IP bytes."""
    rtt: Span
    """Two-way delay in ns, without queueing."""
    buffer: Buffer | None = None
    """What may wait, not counting the packet being sent; the queue's default if none."""
    queue: Queue = Element("droptail")
    service: Service = Element("constant")
    """How the queue is served; the rate stays what a BDP is worked out with."""
    loss: Probability = 0.0
    """Of data packets, after the last queue."""
    impairments: list[Obstacle] = []
    """What else happens to packets, in their order within a direction and a place."""
    links: list[Link] = []
    """More links behind the first, which is called "bottleneck"."""
    reverse: Reverse | None = None
    """The link of the way back; nothing queues there if none."""


class Flow(_Table):
    """A flow, `count` alike ones, or a chain of successive ones."""

    cca: Cca
    name: Name | None = None
    count: Count = 1
    start: Duration = 0
    stop: Span | None = None
    """When the application stops writing, in ns."""
    size: Volume | None = None
    """Payload bytes; endless if none."""
    workload: Workload | None = None
    """What the application does, if it neither always sends nor has a size."""
    receive_window: Volume | None = None
    """The largest receive window, in bytes; else that of the hosts."""
    rtt: Span | None = None
    """Its own two-way delay in ns instead of the path's."""
    reverse: Boolean = False
    """Whether its data go over the reverse link and its ACKs over the others."""
    links: list[Name] | None = None
    """The links that it crosses; all if none."""
    repeat_gap: Duration | None = None
    """From the end of one flow of the chain to the start of the next, in ns."""
    while_: Name | None = Field(default=None, alias="while")
    """The chain goes on until the flow of this name is done."""
    ecn: Ecn | None = None
    """Explicit congestion notification; else what the control needs, or the hosts' setting."""
    options: dict[str, Option] = {}
    """Options of the control: a quantity with its unit, a number, a word, true or false."""


class Host(_Table):
    """TCP of the end hosts."""

    profile: Profile = "linux-6.12"
    fq: Boolean = False
    """Whether the sending host's egress queue is `fq`, which paces every control."""
    jitter: Duration = 0
    """Each packet of a sender waits up to this long, in order; ns."""
    timer_lateness: Duration = 0
    """How late the sender's pacing timers fire; ns."""
    gso: Boolean = False
    """Whether a sender's burst passes the path as one packet."""
    metrics_save: Boolean = False
    """Whether a connection starts with what the ones before it in its flow left."""
    gro: Duration = 0
    """How long the receiver's card collects packets for GRO to merge; ns, 0 for no GRO."""
    socket_buffers: Buffers = "raised"
    receive_window: Volume | None = None
    """The largest window that receivers advertise, in bytes; no such limit if none."""
    ecn: Ecn = "off"
    """Of flows that say nothing of their own and whose control needs nothing else."""


class Run(_Table):
    """How long, how often, and what to keep."""

    duration: Span
    """The end in ns; the latest one where `stop_when` is given."""
    warmup: Duration = 0
    """Left out of summaries, not of the series; ns."""
    trials: Trials = 1
    seed: Seed = 1
    stop_when: Name | None = None
    """End once the flow of this name is done, or "all" sized flows are."""
    sample_interval: Span = 100_000_000
    """Between the rows of the sample tables; ns."""
    record: Level = "samples"


class Spec(_Table):
    """One experiment: a path, the flows that share it, the hosts, the run."""

    name: Name
    path: Path
    flows: list[Flow] = Field(min_length=1)
    host: Host = Host()
    run: Run
    expect: list[Expect] = []
    """What results must keep; decides no result."""
    _controls: dict[str, Source] = PrivateAttr(default_factory=dict)

    @property
    def controls(self) -> dict[str, Source]:
        """The sources of the controls that are no part of narrows, by name."""
        return self._controls

    def with_trials(self, count: int) -> Spec:
        """The same with another number of trials."""
        run = self.run.model_copy(update={"trials": count})
        return self.model_copy(update={"run": run})
