"""The queue disciplines of a sending host's card: a token bucket for its rate, and fq."""

from __future__ import annotations

from narrows.packets import PACKET_BYTES
from narrows.spec.scenario import Scenario

_MANY = 10_000_000
"""A limit above the packets that wait in a host in any scenario."""


def disciplines(
    device: str, part: Scenario, line_rate_bps: int | None, framing: int = 0
) -> list[str]:
    """Returns the commands for `tc` for the hosts of the flows in `part`.

    tc counts `framing` bytes around each IP packet, while the card's rate counts IP bytes.
    """
    fair = f"fq flow_limit {_MANY} limit {_MANY}" if part["host"]["fq"] else ""
    if line_rate_bps is None:
        return [f"qdisc add dev {device} root {fair}"] if fair else []
    frame = PACKET_BYTES + framing
    framed = -(-line_rate_bps * frame // PACKET_BYTES)
    burst = frame + max(2, framed * 3 // 8_000_000)
    bucket = f"qdisc add dev {device} root handle 1: tbf rate {framed}bit burst {burst}"
    bucket += f" limit {2**31}"
    return [bucket, f"qdisc add dev {device} parent 1:1 {fair}"] if fair else [bucket]
