"""Changes of a host: how the helper is asked for each, and the commands that make and undo it."""

from __future__ import annotations

from dataclasses import dataclass

Command = tuple[str, ...]


@dataclass(frozen=True)
class HostChange:
    """A request of the helper, in its words."""

    words: Command

    def commands(self) -> list[Command]:
        """The commands that root would type for it."""
        verb, *rest = self.words
        match verb:
            case "sysctl":
                return [("sysctl", "-w", f"{rest[0]}={' '.join(rest[1:])}")]
            case "offload":
                return [("ethtool", "-K", *rest)]
            case "ingress":
                return [("tc", "qdisc", "add", "dev", rest[0], "ingress")]
            case "tc":
                return [("tc", *rest)]
            case "tun" | "ifb":
                kind = ("tuntap", "add", "dev", rest[0], "mode", "tun")
                made = kind if verb == "tun" else ("link", "add", rest[0], "type", "ifb")
                return [("ip", *made), ("ip", "link", "set", rest[0], "up", "txqueuelen", "20000")]
            case "rule":
                return [("ip", "rule", "add", "pref", rest[0], "iif", rest[1], "lookup", rest[2])]
            case "route":
                return [("ip", "route", "add", "default", "dev", rest[1], "table", rest[0])]
            case "module":
                return [("modprobe", rest[0])]
        return []

    def undo(self) -> list[Command]:
        """The commands that undo it; a value to be written back is "..."."""
        verb, *rest = self.words
        match verb:
            case "sysctl":
                return [("sysctl", "-w", f"{rest[0]}=...")]
            case "offload":
                return [("ethtool", "-K", rest[0], rest[1], "...")]
            case "qdisc":
                return [("tc", "qdisc", "del", "dev", rest[0], "root")]
            case "ingress":
                return [("tc", "qdisc", "del", "dev", rest[0], "ingress")]
            case "tun" | "ifb":
                return [("ip", "link", "del", rest[0])]
            case "rule":
                return [("ip", "rule", "del", "pref", rest[0])]
            case "route":
                return [("ip", "route", "flush", "table", rest[0])]
            case "module":
                return [("modprobe", "-r", rest[0])]
        return []


def sysctl(key: str, value: str) -> HostChange:
    """Sets a value below /proc/sys, by its path there."""
    return HostChange(("sysctl", key, *value.split()))


def offload_off(device: str, feature: str) -> HostChange:
    """Switches a feature of a device off, in ethtool's words."""
    return HostChange(("offload", device, feature, "off"))


def take(device: str) -> HostChange:
    """Notes that the device's root discipline is replaced; what follows builds it with tc."""
    return HostChange(("qdisc", device))


def tc(command: str) -> HostChange:
    """A command of tc, made of plain words."""
    return HostChange(("tc", *command.split()))
