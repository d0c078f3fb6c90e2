"""Explains for captured flows what held each up, and how that shows, for terminal and page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from narrows.packets import WIRE
from narrows.spec.measured import UNKNOWN_CONTROL, measured_control
from narrows.spec.registry import title
from narrows.words import begin_upper, count_of, short_number

MOST_ACCOUNTS = 6
"""The page describes this many flows, those with the most data."""
POINTLESS = ("as neither", "as either", "as no control")
"""The ends of clues that say nothing about a control."""
QUEUED_MS = 1.0
"""Packets waited if the mean delay is this far above the lowest one."""
SMALL = 0.005
"""Causes with a smaller share of the time aren't drawn."""

Flow = Mapping[str, Any]


COUNTS = (
    "Losses are counted in up to three ways. Retransmissions without the spurious ones, which "
    "answer no loss, are the packets lost as a sender shows them. Captures at both ends show the "
    "packets that didn't arrive; a retransmission can be lost again. A loss event is one fall of "
    "the window, however many packets are lost in it."
)
"""The sentences below the accounts of flows with losses."""


@dataclass(frozen=True, slots=True)
class CausePart:
    """The share of a flow's time for which a cause held."""

    name: str
    colour: str
    share: float


@dataclass(frozen=True, slots=True)
class Account:
    """The page's account of a flow: a sentence, the shares of its time, its numbers, evidence."""

    name: str
    sentence: str
    parts: Sequence[CausePart]
    numbers: Sequence[tuple[str, str]]
    lines: Sequence[str]
    has_losses: bool


def accounts(flows: Sequence[Flow]) -> list[Account]:
    """Returns the accounts of the flows with the most data."""
    largest = sorted(flows, key=lambda flow: -flow["received_bytes"])[:MOST_ACCOUNTS]
    return [_account(flow) for flow in largest]


def _account(flow: Flow) -> Account:
    sentence = flow["causes"]["sentence"]
    shares = flow["causes"]["shares"]
    parts = [
        CausePart(share["cause"].replace("_", " "), f"cause:{share['cause']}", share["share"])
        for share in shares
        if share["share"] >= SMALL
    ]
    return Account(
        flow["name"].replace(">", " → "),
        f"{begin_upper(sentence)}.",
        parts,
        list(_numbers(flow)),
        [
            *remedy_lines(flow),
            *control_lines(flow),
            *path_lines(flow),
            *socket_lines(flow),
            *flow["notes"],
        ],
        flow["loss"]["retransmitted"] > 0,
    )


def _numbers(flow: Flow) -> Iterator[tuple[str, str]]:
    """Yields the numbers of a flow; its sentence says how much a path of unknown rate carries."""
    rtt, loss, capacity = flow["rtt_ms"], flow["loss"], flow["causes"]["capacity"]
    if flow["goodput_mbps"] is not None:
        yield "goodput", f"{flow['goodput_mbps']:.2f} Mbit/s"
    if capacity["rate_mbps"] is not None:
        yield "the path's rate", f"{short_number(WIRE * capacity['rate_mbps'], 4)} Mbit/s"
    if rtt["min"] is not None and rtt["mean"] is not None:
        yield "round trip", f"{rtt['mean']:.1f} ms on average, {rtt['min']:.1f} ms at least"
    yield "retransmitted", f"{loss['retransmitted']:,} of {flow['packets']:,} packets"
    if loss["retransmitted"]:
        yield "lost", f"{loss['lost']:,} of those, {loss['spurious']:,} spurious"
    if flow["stalls"]["count"]:
        yield "stalls", f"{flow['stalls']['count']}, {flow['stalls']['total_s']:.1f} s together"


def conclusion(flows: Sequence[Flow]) -> str | None:
    """Returns a sentence on what held up the flows of a capture; None where a flow's own says it.

    Flows that share a bottleneck are described by their controls and the share of each.
    """
    sent = [flow for flow in flows if flow["received_bytes"] and flow["causes"]["shares"]]
    if len(sent) < 2:
        return None
    by_cause: dict[str, list[Flow]] = {}
    for flow in sorted(sent, key=lambda flow: -flow["received_bytes"]):
        by_cause.setdefault(str(flow["causes"]["first"]), []).append(flow)
    parts = [
        f"{count_of(len(its), 'flow')} {_HELD_UP[cause]}{_queue_of(its)}{_shares(its, sent)}"
        for cause, its in sorted(by_cause.items(), key=lambda item: -len(item[1]))
    ]
    return f"In short: {'; '.join(parts)}."


_HELD_UP = {
    "slow_start": "did little but start",
    "receiver_window": "waited for the receiver's window",
    "application": "had no more to send",
    "send_buffer": "waited for the sender's buffer",
    "queue": "filled the bottleneck and a deep queue",
    "random_loss": "lost packets without a queue",
    "policer": "met a policer",
    "timeouts": "waited for timeouts",
    "reordering": "took reordering for loss",
    "fair_share": "shared a full bottleneck",
    "healthy": "met no limit but the bottleneck",
    "unknown": "didn't show why",
}
"""The first cause of several flows, or of one, after their number."""


def unknown_capacity(flows: Sequence[Flow]) -> str:
    """Says why captured flows don't show the path's capacity."""
    behind = bool(flows) and captured_at_receiver(flows)
    reason = "round trips at the receiver don't pass the queue" if behind else "no queue lasted"
    return f"{reason}, so the capacity is unknown"


def _queue_of(flows: Sequence[Flow]) -> str:
    """Describes the mean queue that flows waited in; it lies before a capture at the receiver."""
    if flows[0]["causes"]["first"] not in ("queue", "fair_share"):
        return ""
    if captured_at_receiver(flows):
        return " (the length of the queue doesn't show at the receiver)"
    known = [flow["queueing_ms"] for flow in flows if flow["queueing_ms"] is not None]
    mean = sum(known) / len(known) if known else 0.0
    return f" ({mean:.0f} ms of queue)" if mean >= QUEUED_MS else ""


def captured_at_receiver(flows: Sequence[Flow]) -> bool:
    """Returns True if all flows were captured at their receiver, behind the queue."""
    return all(flow.get("vantage") == "receiver" for flow in flows)


def _shares(flows: Sequence[Flow], every: Sequence[Flow]) -> str:
    """Describes each control's share of all data, if several share a bottleneck."""
    got: dict[str, list[Flow]] = {}
    for flow in flows:
        got.setdefault(measured_control(flow), []).append(flow)
    if flows[0]["causes"]["first"] != "fair_share" or len(got) < 2:
        return ""
    whole = sum(flow["received_bytes"] for flow in every)
    parts = [
        f"{len(its)} of {_control(control)} got "
        f"{100 * sum(flow['received_bytes'] for flow in its) / whole:.0f} %"
        for control, its in got.items()
    ]
    return f": {', '.join(parts)}"


def _control(found: str) -> str:
    return "an unknown control" if found == UNKNOWN_CONTROL else title(found)


_REMEDIES = {
    "receiver_window": "a larger receive buffer (at the receiver net.ipv4.tcp_rmem, or SO_RCVBUF "
    "of its program)",
    "send_buffer": "a larger send buffer (at the sender net.ipv4.tcp_wmem, or SO_SNDBUF of its "
    "program)",
    "random_loss": "less loss on the path, or a control that isn't slowed down by it, such as BBR",
}
"""The remedies of a flow's first cause, by that cause."""


def remedy_lines(flow: Flow) -> Iterator[str]:
    """Yields what would help a flow, where its first cause tells; no buffer helps a slow reader."""
    cause = str(flow["causes"]["first"])
    remedy = _REMEDIES.get(cause)
    if remedy and "reads slowly" not in flow["causes"]["sentence"]:
        size = _needed_window(flow) if cause == "receiver_window" else ""
        yield f"what would help: {remedy}{size}"


def _needed_window(flow: Flow) -> str:
    """Says how large a window fills the capacity, or doubles the rate if that is unknown."""
    rtt_ms = (flow["to_receiver_ms"] or 0.0) + (flow["to_sender_ms"] or 0.0)
    if not rtt_ms or not flow["goodput_mbps"]:
        return ""
    capacity = flow["causes"]["capacity"]["rate_mbps"]
    mbps = capacity or 2 * flow["goodput_mbps"]
    what = "the capacity" if capacity else "twice the rate"
    kilobytes = short_number(mbps * rtt_ms / 8)
    return (
        f"; {what}, {short_number(mbps)} Mbit/s, needs a window of {kilobytes} kB in a round trip "
        f"of {rtt_ms:.1f} ms, and on Linux a buffer about twice as large"
    )


_LIMITS = {
    "receiver_window": "the receiver's window",
    "application": "the application",
    "send_buffer": "the sender's buffer",
    "reordering": "reordering",
    "timeouts": "timeouts",
}
"""First causes behind which a control doesn't show."""


def control_lines(flow: Flow) -> Iterator[str]:
    """Yields the verdict on a flow's control, and the clues.

    For a named control only relevant ones.
    """
    control, clues = measured_control(flow), flow["control"]["evidence"]
    limit = _LIMITS.get(flow["causes"]["first"])
    if limit and flow["control"]["control"] == "hidden":
        yield f"control: unknown, since {limit} limited the flow, not its control"
        return
    yield f"control: {title(control)}"
    if control == UNKNOWN_CONTROL:
        yield from clues
        return
    for clue in clues:
        if not clue.endswith(POINTLESS):
            speaks = title(control) in clue or clue.startswith("`ss`")
            yield clue if speaks else f"against it: {clue}"


def path_lines(flow: Flow) -> Iterator[str]:
    """Yields lines on the loss and delay of a flow's packets from each capture to the next."""
    stages = flow["stages"] or ([{"from": "", **flow["ends"]}] if flow["ends"] else [])
    for stage in stages:
        where = f"{stage['from']} to {stage['to']}" if stage["from"] else "between the captures"
        above, least = stage["delay_variation_ms"], stage["least_delay_ms"]
        parts = [f"{stage['lost']:,} of {stage['sent']:,} packets didn't arrive"]
        parts += [f"least delay {least:.3f} ms"] if least is not None else []
        parts += [f"{above['mean']:.3f} ms above it"] if above["mean"] is not None else []
        yield f"{where}: {', '.join(parts)}"
        yield from _reverse_path_line(stage)


def _reverse_path_line(stage: Mapping[str, Any]) -> Iterator[str]:
    """Describes the fate of acknowledgements, and which direction delayed more."""
    back, forward = stage.get("reverse_path"), stage["delay_variation_ms"]["mean"]
    if back is None or back["delay_variation_ms"]["mean"] is None:
        return
    mean = back["delay_variation_ms"]["mean"]
    more = max(forward or 0.0, mean)
    longer = "the forward path" if forward == more else "the reverse path"
    which = "neither path" if more < QUEUED_MS else longer
    lost = f"{back['lost']:,} of {back['sent']:,} acknowledgements lost"
    yield f"reverse path: {lost}, {mean:.3f} ms above the least delay; {which} delays more"


def socket_lines(flow: Flow) -> Iterator[str]:
    """Yields lines on a log of `ss`."""
    said = flow.get("ss")
    if said is None:
        return
    window = said["cwnd_packets"]
    parts = [f"{said['samples']} samples of `ss`"]
    parts += [f"window {window['min']:.0f} to {window['max']:.0f} packets"] if window else []
    parts += [f"its clock was {said['ahead_s']:+.3f} s off"] if said["ahead_s"] else []
    yield ", ".join(parts)
    if said["limited"] is not None:
        shares = (
            f"{cause.replace('_', ' ')} {100 * share:.0f} % "
            f"(by packets {100 * said['by_packets'][cause]:.0f} %)"
            for cause, share in said["limited"].items()
        )
        busy = 100 * (said["busy"] or 0.0)
        yield f"the kernel's own account: busy {busy:.0f} %, {', '.join(shares)}"
