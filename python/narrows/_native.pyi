"""The native module: the simulator of narrows. It is written in crates/python."""

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, Final, Self, final

import numpy as np
from numpy.typing import NDArray

engine_version: Final[str]
"""The version of the engine; results are stored with it."""

class ScenarioError(ValueError):
    """A scenario that can't run: "PLACE: found X; Y is needed"."""

    problems: list[tuple[str, str, str]]
    """The place, what was found and what would be right; none for a text that isn't a scenario."""

class ControlError(ValueError):
    """A control that doesn't do what it must.

    The arguments are the place (class and method), what was found there, and what
    would be right; `__cause__` is the exception that the control raised, if it did.
    """

# Samples.
@final
class AckSample:
    """The information of one ACK, after loss detection and the recovery state machine."""

    @property
    def now_s(self) -> float:
        """When the ACK arrived."""
    @property
    def mss(self) -> int:
        """Payload bytes of a full packet."""
    @property
    def acked(self) -> int:
        """Packets newly delivered: acknowledged or SACKed (`rs.acked_sacked`)."""
    @property
    def lost(self) -> int:
        """Packets newly marked lost by this ACK (`rs.losses`)."""
    @property
    def in_flight(self) -> int:
        """Packets in flight now (`tcp_packets_in_flight`)."""
    @property
    def prior_in_flight(self) -> int:
        """Packets in flight before this ACK."""
    @property
    def delivered(self) -> int:
        """Packets delivered since the flow began (`tp->delivered`); the handshake counts as one."""
    @property
    def delivered_at_s(self) -> float:
        """When `delivered` last grew (`tp->delivered_mstamp`)."""
    @property
    def lost_total(self) -> int:
        """Packets marked lost since the flow began (`tp->lost`)."""
    @property
    def delivery_rate_bps(self) -> float | None:
        """Delivery rate, if the ACK gives a valid sample."""
    @property
    def rate_interval_s(self) -> float | None:
        """Time over which the rate was measured: the longer of the send and the ACK interval."""
    @property
    def prior_delivered(self) -> int | None:
        """`delivered` when the sampled packet was sent."""
    @property
    def app_limited(self) -> bool:
        """True if the sampled packet left while the sender had too little to send."""
    @property
    def in_flight_at_send(self) -> int | None:
        """Packets in flight when the packet was sent, including it; none without `on_lost`."""
    @property
    def lost_at_send(self) -> int | None:
        """Packets marked lost before the packet was sent, modulo 2^32; none without `on_lost`."""
    @property
    def rtt_s(self) -> float | None:
        """RTT sample of this ACK (`rs.rtt_us`)."""
    @property
    def srtt_s(self) -> float | None:
        """Smoothed RTT."""
    @property
    def min_rtt_s(self) -> float | None:
        """Lowest RTT over the last 300 s."""
    @property
    def ack_delayed(self) -> bool:
        """True if the RTT sample may contain a receiver's delay (`is_ack_delayed`)."""
    @property
    def round_start(self) -> bool:
        """True if a round trip has passed since the last ACK for which this was true."""
    @property
    def state(self) -> str:
        """The recovery state after this ACK: "open", "disorder", "cwr", "recovery" or "loss"."""
    @property
    def may_grow(self) -> bool:
        """True if a loss-based control may grow now: not reducing, and `tcp_may_raise_cwnd`."""
    @property
    def cwnd_limited(self) -> bool:
        """True if the window limits the flow (`tcp_is_cwnd_limited`)."""
    @property
    def departure_s(self) -> float:
        """The departure clock (`tcp_wstamp_ns`): when the last paced packet leaves."""

@final
class CongestionEvent:
    """The start of a congestion episode; the window must shrink."""

    @property
    def now_s(self) -> float:
        """When the congestion was noticed."""
    @property
    def kind(self) -> str:
        """The reason: "loss", "ecn", "tail_loss" or "timeout"."""
    @property
    def first(self) -> bool:
        """False for a timeout that only repeats one, or comes within an episode."""
    @property
    def state(self) -> str:
        """The sender's state just before: "open", "disorder", "cwr", "recovery" or "loss"."""
    @property
    def cwnd(self) -> int:
        """The window in force just before; within an episode PRR's, not the control's."""
    @property
    def in_flight(self) -> int:
        """Packets in flight."""
    @property
    def mss(self) -> int:
        """Payload bytes of a full packet."""
    @property
    def delivered(self) -> int:
        """Packets delivered since the flow began."""
    @property
    def lost_total(self) -> int:
        """Packets marked lost since the flow began."""

@final
class UndoEvent:
    """The last reduction was spurious (`tcp_undo_cwnd_reduction`)."""

    @property
    def now_s(self) -> float:
        """When that was noticed."""
    @property
    def cwnd(self) -> int:
        """The window in force just before."""
    @property
    def delivered(self) -> int:
        """Packets delivered since the flow began."""
    @property
    def lost_total(self) -> int:
        """Packets marked lost since the flow began."""

@final
class DeliveredSample:
    """The RTT information of an ACK, before the recovery state machine (Linux `pkts_acked`)."""

    @property
    def now_s(self) -> float:
        """When the ACK arrived."""
    @property
    def acked(self) -> int:
        """Packets newly acknowledged cumulatively."""
    @property
    def rtt_s(self) -> float | None:
        """RTT of the newest packet that the ACK covers and that was never retransmitted."""
    @property
    def in_flight(self) -> int:
        """Packets in flight after the ACK was processed."""
    @property
    def sacked(self) -> int:
        """Packets SACKed and not yet acknowledged cumulatively (`tp->sacked_out`)."""
    @property
    def cwnd_limited(self) -> bool:
        """True if growth was cwnd-limited in this window (`tcp_is_cwnd_limited`)."""
    @property
    def ece(self) -> bool:
        """True if the ACK echoes congestion experienced (ECE)."""
    @property
    def delivered_ce(self) -> int:
        """Packets newly delivered by ACKs that carry ECE, since the flow began."""
    @property
    def delivered(self) -> int:
        """Packets delivered since the flow began."""
    @property
    def prior_delivered(self) -> int:
        """Packets delivered when this ACK's newest packet left; zero if it delivers none."""
    @property
    def prr_cwnd(self) -> int | None:
        """PRR's window while it is in force instead of the control's."""

@final
class LostPacket:
    """A packet, or its retransmission, was marked lost; called before its episode or ACK."""

    @property
    def now_s(self) -> float:
        """When the loss was noticed."""
    @property
    def in_flight_at_send(self) -> int:
        """Packets in flight when the packet was sent, including it."""
    @property
    def lost_at_send(self) -> int:
        """Packets marked lost before the packet was sent, modulo 2^32."""
    @property
    def app_limited(self) -> bool:
        """True if the sender had too little to send when the packet left."""
    @property
    def lost_total(self) -> int:
        """Packets marked lost since the flow began, including this one."""
    @property
    def delivered(self) -> int:
        """Packets delivered since the flow began."""

@final
class StartEvent:
    """The flow starts to send with nothing in flight (`CA_EVENT_TX_START`)."""

    @property
    def now_s(self) -> float:
        """When the packet leaves."""
    @property
    def last_sent_s(self) -> float | None:
        """When the packet before it left; none for the first packet of the flow."""
    @property
    def app_limited(self) -> bool:
        """True if the flow had too little to send (`tp->app_limited != 0`)."""
    @property
    def mss(self) -> int:
        """Payload bytes of a full packet."""
    @property
    def delivered(self) -> int:
        """Packets delivered since the flow began."""

# End of samples.

@final
class Connection:
    """The initial values of a connection."""

    @property
    def mss(self) -> int:
        """Payload bytes of a full packet."""
    @property
    def initial_cwnd(self) -> int:
        """Initial window in packets."""
    @property
    def rtt_s(self) -> float | None:
        """The handshake's RTT in seconds."""

@final
class ArrowTable:
    """A table that any Arrow library reads, without a copy if it is in memory."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def columns(self) -> list[tuple[str, str]]:
        """The names of the columns, each with that of its type."""
    def groups(self) -> list[int] | None:
        """The numbers of rows of the groups in the table's file; None if it is in memory."""
    def column(
        self, name: str, group: int | None = None
    ) -> tuple[str, bytes, bytes | None, list[str] | None]:
        """A column: its type, its values, a byte for each row where nulls are, the texts.

        The values of a column of texts are their numbers, of 32 bits. With a `group` of a table in
        a file, only the rows of that group. Raises KeyError for a column that the table doesn't
        have, IndexError for a group.
        """
    def parquet(self) -> bytes:
        """The table as the content of a Parquet file, quickly where it has few rows."""
    def piece(self, offset: int, most: int) -> bytes | None:
        """Up to `most` bytes, from `offset` on, of the Parquet file in which the table is.

        Empty at the end of the file; None if the table is in memory.
        """
    def __len__(self) -> int: ...

def read_parquet(path: str | PathLike[str]) -> ArrowTable:
    """The table in a Parquet file that `ArrowTable.parquet` wrote.

    Raises OSError if it can't be opened, ValueError for another kind of file or compression.
    """

def table(columns: list[tuple[str, str, list[Any]]]) -> ArrowTable:
    """A table of columns: the name, the type ("float64", "int64" or "text") and the values."""

def flow_classes(scenario: str, groups: list[str]) -> list[str]:
    """The class of each flow of a scenario in JSON, by number.

    `groups` has the name of each flow's entry, or else its control. Raises ValueError unless there
    is one for each flow.
    """

def class_label(name: str) -> str | None:
    """The readable name of a class named after its control; None for any other name."""

@final
class RunMetrics:
    """The metrics of a run that ended at `end_s` seconds.

    `tables` has its tables by name, each an `ArrowTable` or any other table that gives an Arrow
    stream; a table without rows may be left out. The methods raise `KeyError` for a missing column,
    OSError for a file that can't be read.
    """

    def __new__(cls, scenario: Mapping[str, Any], tables: dict[str, Any], end_s: float) -> Self: ...
    def links(self) -> list[dict[str, Any]]:
        """The summaries of the links, by their numbers in the tables."""
    def flows(self) -> list[dict[str, Any]]:
        """The summaries of every flow, and of every flow of a chain, by ids and starts."""
    def completions(self, groups: list[str]) -> list[dict[str, Any]]:
        """The summaries of the transfers of each class with transfers that end.

        `groups` has the class of each flow.
        """
    def losses(self, places: list[tuple[str, int]] | None) -> dict[str, Any] | None:
        """The losses on the path; None if packets can be lost only at the bottleneck.

        `places` has the losses since the warm-up by place, if they are known.
        """
    def transfers(self, groups: list[str]) -> ArrowTable:
        """The transfers that count, by flow and start.

        The columns are `flow`, `class`, `name`, `start_s`, `size_bytes`, `fct_s`, `slowdown`, and
        `late`, which is 1 for a missed deadline, null without one.
        """

@final
class OfferedCapacity:
    """The capacity of a link."""

    @property
    def varies(self) -> bool:
        """Returns True if the rate ever changes."""
    def bytes_until(self, times_ns: NDArray[np.float64]) -> bytes:
        """The bytes offered from time 0 to each time in ns, as the bytes of an array."""
    def drain_ms(self, times_s: NDArray[np.float64], backlog: NDArray[np.float64]) -> bytes:
        """How long after each time in s a backlog in bytes has left the link, in ms.

        The result has the bytes of an array.
        """

def offers(scenario: Mapping[str, Any]) -> list[OfferedCapacity]:
    """The capacity of each link of a scenario, by the links' numbers in the tables."""

def two_way_ns(scenario: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    """The path's two-way delay without queueing in ns.

    The result has the times from which its values count, and the values.
    """

def growth(
    table: object, key: str, names: list[str], start_s: float, end_s: float
) -> dict[int, list[int | None]]:
    """The growth of counters of a table of samples, by `key`: "flow" or "link".

    It is that of each of `names` from `start_s` to `end_s`; None for a value that isn't known.
    """

def percentile(values: NDArray[np.float64], percent: int) -> float | None:
    """The smallest value that this percentage of the values doesn't exceed; None without any."""

def weighted_statistics(
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    names: list[str],
) -> list[float | None]:
    """Statistics of ascending values with their weights; None if nothing has weight.

    A name is "min", "mean", "max", or "p" with a percentile: "p95". Raises ValueError for another
    name.
    """

def weighted_quantile(
    values: NDArray[np.float64], weights: NDArray[np.float64], share: float
) -> float | None:
    """The smallest of ascending values that this share of the weight doesn't exceed."""

def jain(values: list[float]) -> float | None:
    """Jain's index of amounts, from 1/n to 1; None if nothing was shared."""

def shares(amounts: list[float | None]) -> list[float | None]:
    """Each amount as a part of their sum; None where it is unknown or all are zero."""

@final
class RunOutput:
    """The output of a run: tables by name, a digest of all results, and what it cost."""

    @property
    def tables(self) -> dict[str, ArrowTable]: ...
    @property
    def digest(self) -> str: ...
    @property
    def end_s(self) -> float: ...
    @property
    def packets(self) -> int: ...
    @property
    def cpu_s(self) -> float: ...
    @property
    def captures(self) -> list[tuple[str, int]]: ...
    @property
    def losses(self) -> list[tuple[str, int]]: ...

def run(
    scenario_json: str,
    progress: Callable[[float, int], None] | None = None,
    captures_json: str | None = None,
    controls: Mapping[str, Callable[..., object] | RustControl] | None = None,
    warn_after_s: float = 10.0,
    spill: str | PathLike[str] | None = None,
) -> RunOutput:
    """Runs a scenario; other threads run meanwhile.

    `progress` is called about ten times a second; what it raises ends the run.
    `captures_json` is `{"directory": an existing one, "pcap": bool, "qlog": bool, "qlog_draft":
    bool, "snaplen": bytes or null, "ipv6": bool}`; raises OSError if they can't be written.
    `controls` holds classes of congestion controls by the name that flows call them;
    each is called with the flow's options for every connection. Raises ControlError
    if one doesn't do what it must; one that hasn't returned after `warn_after_s` seconds
    is named on standard error.
    With a directory `spill`, tables with many rows go to files in it that have no names, so that
    the run needs no more memory the longer it is; raises OSError if they can't be written.
    """

@final
class Simulation:
    """A run that advances step by step; its scenario records every change."""

    def __new__(
        cls,
        scenario_json: str,
        controls: Mapping[str, Callable[..., object] | RustControl] | None = None,
    ) -> Self: ...
    def run_until(self, at_ns: int) -> None: ...
    @property
    def now_ns(self) -> int: ...
    @property
    def is_over(self) -> bool: ...
    @property
    def scenario(self) -> str: ...
    def flow(self, flow: int) -> dict[str, Any]: ...
    def internals(self, flow: int) -> dict[str, float]: ...
    def queue(self, link: int) -> dict[str, int]: ...
    def change(self, change_json: str) -> None: ...
    def add(self, flow_json: str) -> None:
        """Adds a flow, which starts now; repeats the run from its beginning to do so."""
    def fork(self) -> Self:
        """Returns an independent copy, made by repeating the run from its beginning."""
    def finish(self) -> RunOutput:
        """Ends the run now; every later call raises RuntimeError."""

@final
class Environments:
    """Runs side by side, each with a first flow of the control `fixed` that an agent controls."""

    def __new__(cls, count: int, threads: int) -> Self: ...
    def reset(self, place: int, scenario_json: str, start_ns: int) -> bytes:
        """Begins a run in a place; returns what the agent sees at `start_ns`, as `step`."""
    def step(self, actions: bytes, span_ns: int) -> bytes:
        """Lets all runs go on for `span_ns` with new windows and rates.

        Takes float64 for each environment: window in packets, pacing rate in bit/s (0: the same).
        Returns float64 for each: time in s, whether it is over, packets sent, delivered, lost
        since the beginning, the step's mean RTT, lowest RTT and smoothed RTT in ms (0 if none),
        window, packets in flight, pacing rate in Mbit/s.
        """
    def scenario(self, place: int) -> str:
        """The scenario of a place with every setting so far, as JSON."""

@final
class SlowCallWarning:
    """A context manager that warns on standard error if its block takes long."""

    def __new__(cls, place: str, seconds: float) -> Self:
        """`place` names the block in messages; `seconds` is how long it may take."""
    def __enter__(self) -> None: ...
    def __exit__(self, *_error: object) -> None: ...

@final
class RustControl:
    """A control from a library that was compiled from a file in Rust."""

    def __new__(cls, library: str | PathLike[str], file: str) -> Self:
        """Loads `library`, compiled from `file`; raises ControlError if it isn't one."""
    @property
    def options(self) -> list[tuple[str, float]]:
        """The names of its options with their defaults."""
    @staticmethod
    def sources() -> list[tuple[str, str]]:
        """The files of the crate that a control is compiled with: names and texts."""

class CaptureError(ValueError):
    """Captures that can't be analysed: "PLACE: found WHAT"."""

@final
class CaptureOutput:
    """The output of an analysis: tables by name, and files, flows and notes as JSON."""

    @property
    def tables(self) -> dict[str, ArrowTable]: ...
    @property
    def summary(self) -> str: ...

def analyze(
    paths: list[str],
    packets: bool = False,
    progress: Callable[[int], None] | None = None,
    keys: str = "",
) -> CaptureOutput:
    """Analyses capture files; other threads run meanwhile.

    With `packets`, every packet becomes a row of a table. `progress` is called with
    the number of segments now and then; what it raises ends the analysis. With `keys`, the
    text of a key log, packets of QUIC are decrypted. Raises CaptureError.
    """

def ccas() -> list[dict[str, Any]]:
    """The controls, as `queues`; instead of a room they have `ecn` and `paces`.

    `ecn` is what a control needs of explicit congestion notification ("dctcp", "l4s" or
    None), `paces` whether it sets the pacing rate itself.
    """

def queues() -> list[dict[str, Any]]:
    """The queue disciplines: `name`, `title`, `family`, `summary`, `source`, `room`, `parameters`.

    `room` is how the limit is counted ("packets", "bytes" or "either") and its default.
    A parameter is a dict of `name`, `key` (in a scenario), `unit`, `words`, `required`,
    `default` ("rate" is the link's), `least`, `most`, `step` (none: any number) and `what`.
    `former` is how it was once written: its name, and its words' numbers or its unit.
    """

def services() -> list[dict[str, Any]]:
    """The ways in which a link serves its queue, as `queues` but without a limit."""

def impairments() -> list[dict[str, Any]]:
    """The impairments of a path, as `queues` but without a limit."""

def workloads() -> list[dict[str, Any]]:
    """The workloads of a flow's application, as `queues` but without a limit."""

def distributions() -> list[dict[str, Any]]:
    """How sizes and durations can be distributed, as `queues` but without a limit."""

def bbr_transitions() -> list[tuple[str, str]]:
    """The edges of BBR's state machine, by the names of its states."""

def code_points() -> list[tuple[str, int]]:
    """The differentiated-services code points with names, and their six bits."""

def red_thresholds(
    limit: int, lower: int | None, upper: int | None, avpkt: int, burst: int | None
) -> tuple[int, int, int]:
    """RED's lower and upper threshold in bytes and its burst in packets.

    What is None follows from the others, as in the simulator.
    """

def profiles() -> list[str]:
    """The kernels whose TCP the hosts can have, such as "linux-6.12"."""

@final
class ScriptOutput:
    """The result of a packetdrill script on the simulator's TCP."""

    verdict: str
    """"passed", "failed", "unsupported" or "mistake"."""
    at: tuple[int, int] | None
    """Line and column of the event that didn't pass."""
    message: str
    """Why it didn't pass."""
    printed: list[str]
    """The output of the script's code."""
    events: int
    """How many of its events took place."""

def play_script(path: str | PathLike[str], profile: str, words: Mapping[str, str]) -> ScriptOutput:
    """Plays a script against the simulator's TCP of a profile; `words` are replaced in it.

    Raises ValueError for a profile that isn't known.
    """

def tables() -> list[dict[str, Any]]:
    """The tables that back ends write: `name`, `row` (what a row is) and `columns`.

    A column is a dict of `name`, `type` ("float64", "uint32", "uint64", "text" or "flag"),
    `unit`, `null` (where it is null, or None) and `meaning`.
    """

MAX_NAME: Final[int]
"""Characters of a name in a specification, at most."""

MAX_DURATION_NS: Final[int]
"""The longest duration of a specification, in ns."""

OWN_HOST: Final[list[str]]
"""Keys of a flow that describe hosts of its own."""

QUEUE_STATISTICS: Final[list[str]]
"""The statistics of a link's queue in its summary."""

RTT_STATISTICS: Final[list[str]]
"""The statistics of a flow's round-trip times in its summary."""

COMPLETION_STATISTICS: Final[list[str]]
"""The statistics of completion times in summaries."""

SLOWDOWN_STATISTICS: Final[list[str]]
"""The statistics of slowdowns in summaries."""

SIZES: Final[list[tuple[str, str, float]]]
"""The ranges of the sizes of transfers: name, title, most bytes."""

ENDLESS: Final[list[str]]
"""Workloads whose transfers never end."""

MAX_CLASSES: Final[int]
"""Classes of flows of a control, at most."""

MAX_FLOWS: Final[int]
"""Flows of a run, at most."""

CERTAIN: Final[int]
"""A probability of 1 in the tables of distributions."""

MAX_TRIALS: Final[int]
"""Trials of a combination, at most."""

class SpecificationError(ValueError):
    """The problems of a specification.

    The argument is a list of tuples: origin, line, column, place, what was found, and what
    would be right. The first three may be None.
    """

@final
class SpecOutput:
    """A checked specification."""

    @property
    def name(self) -> str: ...
    @property
    def trials(self) -> int: ...
    @property
    def classes(self) -> list[str]: ...
    @property
    def checks(self) -> str:
        """A JSON list of `metric`, `at_least`, `at_most` and `where`."""
    def scenario(self, trial: int) -> str:
        """The scenario of a trial, from 1 on, as canonical JSON."""

@final
class StudyOutput:
    """A study."""

    @property
    def name(self) -> str: ...
    @property
    def design(self) -> str: ...
    @property
    def axes(self) -> list[tuple[str, str, int]]:
        """The place, the values as a JSON list, and the number of the group."""
    @property
    def until(self) -> tuple[str, float, bool, int] | None:
        """Metric, width, whether it is a part of the mean, and the most trials."""
    def points(self) -> list[str]:
        """The combinations, each as a JSON list of pairs of a place and a value."""
    def specification(
        self,
        point: int,
        file: Callable[[str], str],
        control: Callable[[str, Mapping[str, object]], tuple[str, str]],
        also: list[str],
        directory: Callable[[], str],
    ) -> SpecOutput:
        """The specification of a combination, from 0 on, as `SpecSource.specification`."""

@final
class SpecSource:
    """The text of a specification or a study, TOML or JSON, with changes.

    A change is a text `PLACE=VALUE` and the option that it came from.
    """

    def __new__(
        cls,
        text: str,
        name: str,
        file: str | None = None,
        changes: list[tuple[str, str]] = ...,
        json: bool = False,
    ) -> SpecSource: ...
    def renewed_text(self) -> str | None:
        """The TOML text that gives the same, if the original text doesn't."""
    def specification(
        self,
        file: Callable[[str], str],
        control: Callable[[str, Mapping[str, object]], tuple[str, str]],
        also: list[str],
        directory: Callable[[], str],
    ) -> SpecOutput:
        """The checked specification; raises SpecificationError.

        `file` gives the text of a file, or raises ValueError with what was found instead.
        `control` gives file and text of an own control's module, or raises ValueError with a
        list of tuples: "cca" or "options", what was found, and what would be right. `also`
        names controls that the back end has.
        """
    def study(self) -> StudyOutput:
        """The study; raises SpecificationError."""

def quantity(text: str) -> tuple[str, float] | None:
    """The kind of a quantity ("rate", "duration", "b", "pkt", "bdp") and its number."""

def format_duration(ns: int) -> str:
    """A duration in ns in its usual spelling, such as "25ms"."""

def quote(text: str, most: int = 64) -> str:
    """`text` in double quotes, shortened and with control characters escaped."""

def nearest(word: str, known: list[str]) -> str | None:
    """The known word closest to `word`, whatever its case; None if none is close."""

def parse_place(text: str) -> str | None:
    """The usual spelling of a place, such as "flows[0].cca"; None if it can be none."""

def to_toml(document: str, inline: bool = False) -> str:
    """A JSON document as TOML; with `inline`, a single value."""

def leaves(text: str) -> str:
    """Every single value of a TOML document, as a JSON table of places."""

def presets() -> list[tuple[str, str, str, list[tuple[str, str]]]]:
    """The paths that have a name: name, summary, source, and keys with their values as TOML."""

def schema() -> str:
    """A JSON Schema of specifications and studies."""

def sections() -> str:
    """The sections of a specification and their keys, as JSON."""
