"""Turns a scenario into the configuration of the router, which starts the traffic tool itself."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from narrows.backends.kernel.senders import Senders
from narrows.backends.linux.cards import disciplines
from narrows.backends.linux.groups import Group, groups, part
from narrows.backends.linux.iperf3 import client_configs, data_ports
from narrows.backends.linux.programs import host_settings
from narrows.backends.linux.tools import which
from narrows.backends.linux.traffic import (
    FIRST_PORT,
    buffer_sysctls,
    fine_interval,
    host_sysctls,
    scenario_for_programs,
)
from narrows.backends.linux.validity import LATENESS_LIMITS_NS
from narrows.backends.protocol import CaptureRequest
from narrows.spec.scenario import Host, Scenario

DEVICE = "path0"
"""The name of each host's device."""
MAX_HOSTS = 32
"""More hosts would be slow, since the router looks at each device in turn."""
MAX_FLOWS = 1000
"""The number of flows for which one process may have sockets, with a margin."""
_RECORDED = (
    *("tcp_no_metrics_save", "tcp_rmem", "tcp_wmem", "tcp_mem", "tcp_moderate_rcvbuf"),
    *("tcp_window_scaling", "tcp_sack", "tcp_dsack", "tcp_timestamps", "tcp_ecn"),
    *("tcp_recovery", "tcp_early_retrans", "tcp_frto", "tcp_reordering", "tcp_max_reordering"),
    *("tcp_limit_output_bytes", "tcp_notsent_lowat", "tcp_autocorking", "tcp_min_tso_segs"),
    *("tcp_pacing_ss_ratio", "tcp_pacing_ca_ratio", "tcp_slow_start_after_idle"),
    *("tcp_comp_sack_delay_ns", "tcp_comp_sack_nr", "tcp_adv_win_scale", "tcp_shrink_window"),
    *(
        "tcp_rto_min_us",
        "tcp_min_rtt_wlen",
        "tcp_orphan_retries",
        "tcp_syn_retries",
        "tcp_retries2",
    ),
)


def router_config(
    scenario: Scenario,
    traffic_tool: Path,
    senders: Senders,
    directory: Path,
    captures: CaptureRequest | None = None,
    names: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Returns the router's configuration for `scenario`, with its results in `directory`.

    The router passes the scenario on to the traffic tool. `names` maps the user's own controls to
    the kernel's names.
    """
    iperf3 = client_configs([senders.program(flow) for flow in scenario["flows"]])
    hosts = [
        _hosts(scenario, group, senders, host_directory(directory, number), names)
        for number, group in enumerate(groups(scenario))
    ]
    for host, group in zip(hosts, groups(scenario), strict=True):
        host["traffic"]["iperf3"] = [iperf3[number] for number in group.flows]
    return {
        "scenario": scenario_for_programs(scenario, names),
        "first_port": FIRST_PORT,
        "data_ports": data_ports(iperf3),
        "sample_ns": fine_interval(scenario["run"]["sample_interval_ns"]),
        "log_packets": False,
        "pcap": _pcap(scenario, captures),
        "lateness_limits_ns": LATENESS_LIMITS_NS,
        "record_sysctls": [f"net/ipv4/{name}" for name in _RECORDED],
        "program": str(traffic_tool),
        "hosts": hosts,
        "out": str(directory),
    }


def host_directory(directory: Path, number: int) -> Path:
    """Returns the directory into which the traffic tool of a pair of hosts writes."""
    return directory / f"hosts-{number}"


def _hosts(
    scenario: Scenario,
    group: Group,
    senders: Senders,
    directory: Path,
    names: Mapping[str, str] | None,
) -> dict[str, Any]:
    """Returns a sending and a receiving host for a group of flows."""
    own = part(scenario, group)
    sysctls = {f"net/ipv4/{name}": value for name, value in group.own.get("sysctls", {}).items()}
    return {
        "flows": group.flows,
        "scenario": scenario_for_programs(own, names),
        "commands": [
            [which("tc") or "tc", *command.split()]
            for command in disciplines(DEVICE, own, group.own.get("line_rate_bps"))
        ],
        "traffic": {
            "sysctls": {
                **_sysctls(own["host"]),
                "net/ipv4/tcp_ecn": senders.tcp_ecn(own["flows"]),
                **host_settings(own["flows"][0]),
                **sysctls,
            },
            "watch_waits": True,
        },
        "out": str(directory),
    }


def _pcap(scenario: Scenario, captures: CaptureRequest | None) -> dict[str, Any] | None:
    """Returns the settings that all four captures share."""
    if captures is None or not captures.options.pcap:
        return None
    kernel = f"{platform.system()} {platform.release()}"
    return {
        "directory": str(captures.directory.resolve()),
        "snaplen": captures.options.snaplen,
        "comment": f"narrows on {kernel}: {scenario['name']}, seed {scenario['seed']}",
    }


def _sysctls(host: Host) -> dict[str, str]:
    return {
        **host_sysctls(host),
        **buffer_sysctls(host, platform.release()),
        # Sockets without a process would keep their namespace alive for minutes.
        "net/ipv4/tcp_orphan_retries": "2",
        "net/ipv4/tcp_fin_timeout": "2",
        # iperf3 chooses the control only once it is connected: until then it mustn't be
        # one that paces, since a socket stays paced.
        "net/ipv4/tcp_congestion_control": "reno",
    }
