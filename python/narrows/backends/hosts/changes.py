"""Changes of a host: the request to the helper, and the commands that make and undo each."""

from __future__ import annotations

from dataclasses import dataclass

Command = tuple[str, ...]


@dataclass(frozen=True)
class HostChange:
    """A request to the helper, in the helper's words."""

    words: Command

    def commands(self) -> list[Command]:
        """Returns the commands that root would type to make the change."""
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
        """Returns the commands that undo the change; a value to be restored is shown as "..."."""
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
    """Sets a value below /proc/sys, given by its path there."""
    return HostChange(("sysctl", key, *value.split()))


def offload_off(device: str, feature: str) -> HostChange:
    """Switches a feature of a device off, in ethtool's words."""
    return HostChange(("offload", device, feature, "off"))


def take(device: str) -> HostChange:
    """Notes that the device's root discipline is about to be replaced by one that tc builds."""
    return HostChange(("qdisc", device))


def tc(command: str) -> HostChange:
    """Returns the change of a tc command, which consists of plain words."""
    return HostChange(("tc", *command.split()))
