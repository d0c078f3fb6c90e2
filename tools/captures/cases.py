"""The cases of which captures of a known cause are made: a path, a transfer, and what slows it.

Every case follows from `SEED`, the name of its set and its number. The formulas leave a margin of
2 or more between the intended limit and the next one, so the cause is known by construction.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

SEED = 20261126
SETS = {"tuning": 60, "healthy_tuning": 16, "fresh": 60, "healthy": 150}
"""The number of cases in each set."""
MSS = 1448
CaptureCase = dict[str, Any]


def cases(name: str) -> list[CaptureCase]:
    """The cases of a set: healthy ones, or each cause in turn."""
    return [case(name, number) for number in range(SETS[name])]


def case(name: str, number: int) -> CaptureCase:
    """One case."""
    draw = random.Random(f"{SEED}/{name}/{number}")  # noqa: S311 (nothing secret)
    makers = [healthy] if name.startswith("healthy") else list(CAUSES.values())
    drawn = makers[number % len(makers)](draw)
    return {"name": f"{name}-{number:03}", "seed": draw.randrange(1, 1 << 31), **drawn}


def bdp(path: CaptureCase) -> int:
    """The bandwidth-delay product in bytes."""
    return round(path["rate_mbps"] * 1e6 / 8 * path["rtt_ms"] / 1e3)


def _path(draw: random.Random, rate: tuple[float, float], rtt: tuple[float, float]) -> CaptureCase:
    """A path whose rate and RTT are uniform on a logarithmic scale, with a buffer of 1 BDP."""
    path = {"rate_mbps": round(_log(draw, *rate), 2), "rtt_ms": round(_log(draw, *rtt), 1)}
    return path | {"buffer_bytes": _buffer(path, 1.0)}


def _log(draw: random.Random, low: float, high: float) -> float:
    return float(low * (high / low) ** draw.random())


def _buffer(path: CaptureCase, bdps: float) -> int:
    return max(round(bdps * bdp(path)), 12 * 1514)


def _case(cause: str, cca: str, path: CaptureCase, **more: Any) -> CaptureCase:
    return {"cause": cause, "cca": cca, "duration_s": 12, **path, **more}


def healthy(draw: random.Random) -> CaptureCase:
    """A lone bulk transfer that fills a link with an ordinary buffer, or with fq_codel."""
    path = _path(draw, (2, 40), (10, 120))
    cca = draw.choice(("cubic", "reno", "bbr"))
    path["buffer_bytes"] = _buffer(path, draw.uniform(0.5, 1.3))
    path["fq_codel"] = cca != "reno" and draw.random() < 0.25
    return _case("healthy", cca, path, duration_s=round(draw.uniform(10, 20)))


def receiver_window(draw: random.Random) -> CaptureCase:
    """A receiver with a small buffer, or one that reads slowly."""
    path = _path(draw, (10, 60), (20, 120))
    cca = draw.choice(("cubic", "reno", "bbr"))
    if draw.random() < 0.5:
        return _case("receiver_window", cca, path, rcvbuf=round(draw.uniform(0.2, 0.5) * bdp(path)))
    rate = draw.uniform(0.15, 0.4) * path["rate_mbps"]
    return _case("receiver_window", cca, path, read_mbps=round(rate, 2))


def application(draw: random.Random) -> CaptureCase:
    """A sender that writes pieces at a low rate, or large ones with pauses between them."""
    path = _path(draw, (10, 50), (10, 120))
    cca = draw.choice(("cubic", "reno", "bbr"))
    rate = draw.uniform(0.1, 0.4) * path["rate_mbps"] * 1e6 / 8
    if draw.random() < 0.5:
        interval = _log(draw, 0.01, 0.3)
    else:
        interval = draw.uniform(1.0, 2.5)
        rate = min(rate, 0.2 * path["rate_mbps"] * 1e6 / 8)
    piece = max(round(rate * interval), 500)
    return _case("application", cca, path, piece_bytes=piece, interval_s=round(interval, 3))


def send_buffer(draw: random.Random) -> CaptureCase:
    """A sender whose socket's buffer is smaller than the bandwidth-delay product."""
    path = _path(draw, (15, 60), (30, 150))
    cca = draw.choice(("cubic", "reno", "bbr"))
    return _case("send_buffer", cca, path, sndbuf=round(draw.uniform(0.15, 0.4) * bdp(path)))


def slow_start(draw: random.Random) -> CaptureCase:
    """A transfer that is over before its window has reached the bandwidth-delay product."""
    path = _path(draw, (30, 100), (60, 200))
    size = round(draw.uniform(0.2, 0.7) * min(bdp(path), 1_000_000))
    return _case("slow_start", draw.choice(("cubic", "reno", "bbr")), path, size_bytes=size)


def queue(draw: random.Random) -> CaptureCase:
    """A buffer that delays packets by several round trips."""
    path = _path(draw, (2, 15), (10, 60))
    delay_ms = max(draw.uniform(4, 10) * path["rtt_ms"], 150.0)
    path["buffer_bytes"] = round(path["rate_mbps"] * 1e3 / 8 * delay_ms)
    return _case("queue", draw.choice(("cubic", "reno")), path, duration_s=25)


def random_loss(draw: random.Random) -> CaptureCase:
    """Packets lost at random on a link that the window then doesn't fill (Mathis et al. 1997)."""
    path = _path(draw, (20, 60), (20, 100))
    rtt_s, apart = path["rtt_ms"] / 1e3, 0.0
    target = draw.uniform(0.2, 0.5) * bdp(path) / MSS
    cca = draw.choice(("cubic", "reno"))
    apart = target**2 / 1.5
    if cca == "cubic":
        # RFC 9438, section 5.1: the window at a distance between losses, solved for that distance.
        apart = min(apart, (target / 1.054) ** (4 / 3) / rtt_s)
    loss = min(max(100 / max(apart, 1.0), 0.05), 5.0)
    return _case("random_loss", cca, path, loss_percent=round(loss, 3), duration_s=15)


def policer(draw: random.Random) -> CaptureCase:
    """A token bucket without a queue, on a link that is 3 times as fast or more."""
    path = _path(draw, (15, 60), (10, 80))
    rate = path["rate_mbps"] / draw.uniform(3, 8)
    burst = max(round(rate * 1e6 / 8 * draw.uniform(0.05, 0.5)), 10 * 1514)
    cca = draw.choice(("cubic", "reno", "bbr"))
    return _case("policer", cca, path, police_mbps=round(rate, 2), police_burst=burst)


def timeouts(draw: random.Random) -> CaptureCase:
    """A path that loses everything for a second or two, several times."""
    path = _path(draw, (5, 40), (15, 100))
    outages, at = [], 1.5
    while at < 12:
        length = round(draw.uniform(0.6, 2.0), 2)
        outages.append([round(at, 2), length])
        at += length + draw.uniform(1.0, 2.5)
    return _case("timeouts", draw.choice(("cubic", "reno", "bbr")), path, outages=outages)


def reordering(draw: random.Random) -> CaptureCase:
    """Packets that overtake others, by far more than three packets."""
    path = _path(draw, (40, 90), (30, 100))
    path["buffer_bytes"] = _buffer(path, 2.0)
    part = {"reorder_percent": round(draw.uniform(1, 10), 1)}
    if draw.random() < 0.5:
        part = {"jitter_ms": round(path["rtt_ms"] * draw.uniform(0.1, 0.2), 1)}
    return _case("reordering", draw.choice(("cubic", "reno")), path, fixed_dupthresh=True, **part)


def fair_share(draw: random.Random) -> CaptureCase:
    """A transfer beside 1 to 4 others that run before and after it."""
    path = _path(draw, (5, 40), (15, 80))
    path["buffer_bytes"] = _buffer(path, draw.uniform(0.8, 2.0))
    others = [draw.choice(("cubic", "cubic", "reno", "bbr")) for _ in range(draw.randint(1, 4))]
    cca = draw.choice(("cubic", "reno", "bbr"))
    return _case("fair_share", cca, path, others=others, duration_s=15)


CAUSES: dict[str, Callable[[random.Random], CaptureCase]] = {
    maker.__name__: maker
    for maker in (
        receiver_window,
        application,
        send_buffer,
        slow_start,
        queue,
        random_loss,
        policer,
        timeouts,
        reordering,
        fair_share,
    )
}
