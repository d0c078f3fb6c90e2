"""The testbeds that the study leaves open."""

from __future__ import annotations

from narrows.reproduce.testbed_axes import OFFLOAD, Level, Spec, TestbedAxis, number, seconds, shape

CONVERSATION_RTTS = 4


def _conversation(spec: Spec) -> None:
    """The round trips of iperf3 with its server between two flows."""
    for flow in spec["flows"]:
        if "repeat_gap" in flow:
            gap_s = seconds(flow["repeat_gap"])
            more_s = CONVERSATION_RTTS * number(spec["path"]["rtt"]) / 1000
            flow["repeat_gap"] = f"{gap_s + more_s:g}s"


def _metrics(spec: Spec) -> None:
    _conversation(spec)
    spec["host"]["metrics_save"] = True


def _htb(spec: Spec) -> None:
    shape(spec, kind="htb", device="10gbit")


AXES = (
    OFFLOAD,
    TestbedAxis(
        "The bottleneck is a class of htb between links of 10 Gbit/s, which lets bursts pass "
        "that a link would spread.",
        (Level("htb", _htb),),
    ),
    TestbedAxis(
        "Between two flows iperf3 also talks to its server: three round trips before the data "
        "connection and one before its data (iperf_client_api.c). The study's 0.1 s may be the "
        "gap between two calls. And Linux 4.11 remembers the slow-start threshold of a "
        "destination (tcp_no_metrics_save = 0), unless a flow is reset at its end, as iperf3's "
        "may be.",
        (Level("iperf3", _conversation), Level("iperf3, metrics", _metrics)),
        crossed=True,
    ),
)
