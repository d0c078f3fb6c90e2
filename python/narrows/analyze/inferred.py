"""Losses, windows and pauses in a capture, as lines of a specification.

Each line says how sure it is. Causes that held a flow up for less than `MATTERS` of its time are
left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from narrows.packets import PACKET_BYTES, WIRE

Flow = Mapping[str, Any]

MATTERS = 0.1
"""A cause is simulated if it held a flow up for at least this fraction of its time."""
FEWEST_PAUSES = 3
"""The least number of pauses that show a period."""
CHUNK_RTTS = 1.5
"""The shortest period of pieces, in round trips."""
STREAM_S = 0.1
"""The period of an application that writes all the time, without visible pieces."""


def matters(flow: Flow, *causes: str) -> bool:
    """Returns True if these causes together held a flow up for a relevant part of its time."""
    shares = flow["causes"]["shares"]
    return bool(sum(share["share"] for share in shares if share["cause"] in causes) >= MATTERS)


def impairments(flows: Sequence[Flow]) -> Iterator[str]:
    """The lines that describe losses without a queue, for all flows on the path."""
    for flow in flows:
        policer = flow["causes"]["policer"]
        if policer is not None and matters(flow, "policer"):
            yield from _policer(policer)
            return
    lossy = [flow for flow in flows if matters(flow, "random_loss")]
    if lossy:
        packets = sum(flow["packets"] for flow in lossy)
        lost = sum(
            flow["causes"]["evidence"]["loss_without_queue"] * flow["packets"] for flow in lossy
        )
        yield "[[path.impairments]] # as likely for every packet: the losses had no queue"
        yield 'kind = "loss"'
        yield f"probability = {max(lost / packets, 1e-6):.6f}"
        yield ""
    yield from _outages(flows)


def _policer(policer: Mapping[str, float]) -> Iterator[str]:
    explained = 100 * (1 - policer["wrong"])
    yield f"[[path.impairments]] # explains {explained:.0f} % of losses and arrivals"
    yield 'kind = "policer"'
    yield f'rate = "{round(policer["rate_mbps"] * 1e6 * WIRE)}bit"'
    yield f'burst = "{max(round(policer["burst_bytes"] * WIRE), 2 * PACKET_BYTES)}b"'
    yield ""


def _outages(flows: Sequence[Flow]) -> Iterator[str]:
    """Times in which nothing of a flow got through."""
    found = sorted(
        (begin, end - begin)
        for flow in flows
        if matters(flow, "timeouts")
        for begin, end in flow["causes"]["outages"]
    )
    if not found:
        return
    found = _merge_spans(found)
    spans = ", ".join(f'"{begin:.6f}s" = "{length:.6f}s"' for begin, length in found)
    yield "[[path.impairments]] # each ends between the last lost retransmission and the next one"
    yield 'kind = "outage"'
    yield f"outages = {{ {spans} }}"
    yield ""


def _merge_spans(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Merges overlapping spans; returns starts and lengths in order."""
    merged: list[tuple[float, float]] = []
    for begin, length in spans:
        last, reach = merged[-1] if merged else (-1.0, 0.0)
        if begin <= last + reach:
            merged[-1] = (last, max(reach, begin + length - last))
        else:
            merged.append((begin, length))
    return merged


def ends(flow: Flow) -> Iterator[str]:
    """The line that describes the window or the buffer that was full, by its average contents."""
    mbps = flow["goodput_mbps"]
    if not flow["rtt_ms"]["mean"] or not mbps:
        return
    held = f'receive_window = "{max(round(mbps * _rtt_ms(flow) * 125), 2 * PACKET_BYTES)}b"'
    if matters(flow, "receiver_window"):
        most = flow["window"]["max_bytes"]
        yield f"{held} # the average in flight; the largest window was {most} bytes"
    elif matters(flow, "send_buffer"):
        yield f"{held} # in place of the sender's buffer: the average in flight"
    elif flow["causes"]["first"] == "reordering":
        # The simulator's senders hardly take reordering for loss.
        yield f"{held} # in place of the window that reordering left: the average in flight"


def _rtt_ms(flow: Flow) -> float:
    """The sender's mean RTT; a capture away from it shows only the minimum."""
    least = (flow["to_receiver_ms"] or 0.0) + (flow["to_sender_ms"] or 0.0)
    return max(flow["rtt_ms"]["mean"] or 0.0, least)


def workload(flow: Flow) -> str | None:
    """The line that describes an application that pauses: the same pieces at equal intervals."""
    if not matters(flow, "application") or not flow["goodput_mbps"]:
        return None
    life_s, pauses = flow["end_s"] - flow["start_s"], flow["causes"]["evidence"]["pauses"]
    payload = flow["goodput_mbps"] * life_s * 1e6
    if pauses >= FEWEST_PAUSES:
        piece_s = (life_s - _paused_s(flow)) / (pauses + 1)
        return f"{_player(payload / (pauses + 1), (life_s - piece_s) / pauses)} # {pauses} pauses"
    if flow["causes"]["first"] != "application":
        # What limits the flow keeps the application waiting, too.
        return None
    # An application that writes again before everything is acknowledged shows by its bursts, unless
    # the path has spread them.
    bursts = flow["bursts"]["count"] if flow["vantage"] == "sender" else 0
    period_s = life_s / bursts if bursts >= FEWEST_PAUSES else STREAM_S
    # The player asks for a chunk once it has the last one.
    period_s = max(period_s, CHUNK_RTTS * _rtt_ms(flow) / 1e3)
    # It fills its buffer of two chunks at once.
    return _player(payload / (life_s / period_s + 1.5), period_s)


def _paused_s(flow: Flow) -> float:
    shares = flow["causes"]["shares"]
    return float(sum(share["time_s"] for share in shares if share["cause"] == "application"))


def _player(chunk_bits: float, period_s: float) -> str:
    """A player that fetches chunks one by one at fixed times, however slow the path is."""
    period_us = max(round(period_s * 1e6), 1000)
    rate = max(round(chunk_bits / period_us * 1e6), 1)
    return (
        f'workload = {{ kind = "video", bitrate = "{rate}bit", '
        f'chunk = "{period_us}us", buffer = "{2 * period_us}us" }}'
    )
