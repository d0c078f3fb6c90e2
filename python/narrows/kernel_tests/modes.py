"""The protocols below TCP over which a script runs, with the addresses of both sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class IpMode:
    """A protocol below TCP, and the family of the sockets.

    Addresses, MTU and words are those of the kernel's own runner (`ksft_runner.sh`) and of
    google/packetdrill's runner, because Fast Open cookies depend on the addresses.
    """

    name: str
    local: str
    prefix: int
    gateway: str
    remote: str
    mtu: int | None = None
    words: Mapping[str, str] = field(default_factory=dict)


_COOKIE = {"TFO_COOKIE": "3021b9d889017eeb", "TFO_COOKIE_ZERO": "b7c12350a90dc8f5"}
_COOKIE_V6 = {"TFO_COOKIE": "c1d1e9742a47a9bc", "TFO_COOKIE_ZERO": "82af1a8f9a205c34"}
_ICMP = {"CODE": "host_unreachable"}
_ERRORS_V4 = {"CMSG_LEVEL_IP": "SOL_IP", "CMSG_TYPE_RECVERR": "IP_RECVERR"}
_ERRORS_V6 = {"CMSG_LEVEL_IP": "SOL_IPV6", "CMSG_TYPE_RECVERR": "IPV6_RECVERR"}
_V4 = ("192.168.0.1", 16, "192.168.0.1", "192.0.2.1")
_V6 = ("fd3d:0a0b:17d6::1", 48, "fd3d:0a0b:17d6:8888::1", "fd3d:fa7b:d17d::1")
_MTU_V6 = 1520
"""The MTU that fits the same segments as over IPv4."""

MODES = {
    mode.name: mode
    for mode in (
        IpMode("ipv4", *_V4, words=_COOKIE | _ICMP | _ERRORS_V4),
        IpMode("ipv6", *_V6, mtu=_MTU_V6, words=_COOKIE_V6 | _ERRORS_V6),
        IpMode("ipv4-mapped-ipv6", *_V4, words=_COOKIE | _ICMP | _ERRORS_V6),
    )
}
"""The modes by the names that scripts use."""
