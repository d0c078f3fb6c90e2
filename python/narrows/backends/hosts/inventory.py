"""The inventory of a testbed: its hosts, how to reach them, and where the bottleneck is."""

from __future__ import annotations

import ipaddress
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from narrows.errors import InputError
from narrows.files import read_limited
from narrows.spec.suggest import one_of, quote

METHODS = ("narrows", "tbf", "htb", "netem")
PLACES = ("router", "receiver")
SENDERS = ("narrows", "iperf3")
"""The programs that may send endless flows; narrows' own program always sends the others."""
_SSH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@%:\[\]-]{0,254}")
"""A host name for ssh that can't be mistaken for an option."""
_DEVICE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}")
_ARCHITECTURE = re.compile(r"[a-z0-9_]{1,16}")
_MOST_BYTES = 1 << 20
_MAX_BASE_RTT_MS = 10_000.0


@dataclass(frozen=True)
class HostEntry:
    """A host: its name for ssh, its test interfaces, and whether these may carry other traffic.

    A sender or receiver has one interface with an `address`. A router has two: the interface
    towards the senders, then the interface towards the receivers.
    """

    ssh: str
    interfaces: tuple[str, ...]
    address: str = ""
    shared: bool = False


@dataclass(frozen=True)
class Inventory:
    """A testbed; `text` is the content of its file, on which the validity of results depends."""

    name: str
    senders: tuple[HostEntry, ...]
    receivers: tuple[HostEntry, ...]
    router: HostEntry | None
    method: str
    place: str
    base_rtt_ns: int
    programs: Mapping[str, Path]
    traffic: str = SENDERS[0]
    text: str = field(default="", repr=False)

    @property
    def hosts(self) -> tuple[HostEntry, ...]:
        """All hosts, each once, senders first."""
        return (*self.senders, *self.receivers, *((self.router,) if self.router else ()))

    @property
    def shaper(self) -> HostEntry:
        """The host with the bottleneck."""
        at_router = self.place == "router" and self.router is not None
        return self.router if at_router and self.router else self.receivers[0]


def find_inventory(name: str, option: str = "--backend") -> Path:
    """Finds the inventory NAME: a path, or NAME.toml here or in ~/.config/narrows/hosts.

    Raises InputError, with the place `option`, if there is none.
    """
    given = Path(name)
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    stem = name.removesuffix(".toml")
    places = (Path(f"{stem}.toml"), config / "narrows" / "hosts" / f"{stem}.toml")
    found = next((place for place in (given, *places) if place.is_file()), None)
    if found is None:
        remedy = f"an inventory (docs/how-to/real-hosts.md) at {places[0]} or {places[1]}"
        shown = f"hosts:{name}" if option == "--backend" else name
        raise InputError.at(option, f"{quote(shown)}, but no such file", remedy)
    return found


def load_inventory(name: str, option: str = "--backend") -> Inventory:
    """Reads and checks an inventory; raises InputError with the file and the place.

    `option` is the place of a name without a file.
    """
    path = find_inventory(name, option)
    try:
        text = read_limited(path, _MOST_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError.at(option, f"{path}: {error}", "an inventory") from None
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError.at("inventory", str(error), "TOML", str(path)) from None
    return _Reader(path).inventory(table, text)


class _Reader:
    """Turns the tables of one file into an inventory."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def inventory(self, table: Mapping[str, Any], text: str) -> Inventory:
        known = {"base_rtt_ms", "bottleneck", "router", "senders", "receivers", "programs"}
        known |= {"traffic"}
        self._check_keys("", table, known, {"bottleneck", "senders", "receivers"})
        senders, receivers = (
            tuple(self._end(f"{key}[{i}]", entry) for i, entry in enumerate(self._list(table, key)))
            for key in ("senders", "receivers")
        )
        router = self._router(table["router"]) if "router" in table else None
        method, place = self._bottleneck(table["bottleneck"], router, receivers)
        made = Inventory(
            name=self._path.stem,
            senders=senders,
            receivers=receivers,
            router=router,
            method=method,
            place=place,
            base_rtt_ns=self._base_rtt(table.get("base_rtt_ms", 0)),
            programs=self._programs(table.get("programs", {})),
            traffic=self._traffic(table.get("traffic", {"by": SENDERS[0]})),
            text=text,
        )
        self._check_unique(made)
        return made

    def _end(self, place: str, entry: Any) -> HostEntry:  # noqa: ANN401 (what TOML holds)
        self._check_keys(
            place,
            entry,
            {"ssh", "interface", "address", "shared"},
            {"ssh", "interface", "address"},
        )
        address = self._text(f"{place}.address", entry["address"])
        try:
            ipaddress.IPv4Address(address)
        except ValueError:
            raise self._wrong(
                f"{place}.address", quote(address), "the interface's IPv4 address"
            ) from None
        interface = self._match(f"{place}.interface", entry["interface"], _DEVICE, "an interface")
        return HostEntry(
            self._ssh(place, entry), (interface,), address, self._is_shared(place, entry)
        )

    def _router(self, entry: Any) -> HostEntry:  # noqa: ANN401
        keys = ("to_senders", "to_receivers")
        self._check_keys("router", entry, {"ssh", "shared", *keys}, {"ssh", *keys})
        interfaces = tuple(
            self._match(f"router.{key}", entry[key], _DEVICE, "an interface") for key in keys
        )
        if len(set(interfaces)) == 1:
            remedy = "an interface other than to_senders"
            raise self._wrong("router.to_receivers", quote(interfaces[1]), remedy)
        return HostEntry(
            self._ssh("router", entry), interfaces, shared=self._is_shared("router", entry)
        )

    def _bottleneck(
        self,
        entry: Any,  # noqa: ANN401
        router: HostEntry | None,
        receivers: tuple[HostEntry, ...],
    ) -> tuple[str, str]:
        self._check_keys("bottleneck", entry, {"by", "at"}, {"by", "at"})
        for key, allowed in (("by", METHODS), ("at", PLACES)):
            value = self._text(f"bottleneck.{key}", entry[key])
            if value not in allowed:
                raise self._wrong(f"bottleneck.{key}", quote(value), one_of(value, allowed))
        method, place = entry["by"], entry["at"]
        if place == "router" and router is None:
            raise self._wrong("bottleneck.at", '"router" without a table router', '"receiver"')
        if place == "receiver" and method == "narrows":
            raise self._wrong(
                "bottleneck.by", '"narrows" at the receiver', '"tbf", "htb" or "netem"'
            )
        if place == "receiver" and len(receivers) > 1:
            found = f"{len(receivers)} receivers with the bottleneck at the receiver"
            raise self._wrong("receivers", found, "one, so that flows share the bottleneck,")
        return method, place

    def _traffic(self, entry: Any) -> str:  # noqa: ANN401
        self._check_keys("traffic", entry, {"by"}, {"by"})
        name = self._text("traffic.by", entry["by"])
        if name not in SENDERS:
            raise self._wrong("traffic.by", quote(name), one_of(name, SENDERS))
        return name

    def _base_rtt(self, value: Any) -> int:  # noqa: ANN401
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 <= value <= _MAX_BASE_RTT_MS:
            raise self._wrong("base_rtt_ms", f"{value}", "the round trip between hosts, in ms")
        return round(float(value) * 1e6)

    def _programs(self, table: Any) -> dict[str, Path]:  # noqa: ANN401
        if not isinstance(table, dict):
            raise self._wrong("programs", f"{table}", "a table of directories by architecture")
        found = {}
        for key, value in table.items():
            self._match(f"programs.{key}", key, _ARCHITECTURE, "an architecture (`uname -m`)")
            folder = self._path.parent / self._text(f"programs.{key}", value)
            if not folder.is_dir():
                remedy = "a directory with narrows-traffic and narrows-router"
                raise self._wrong(f"programs.{key}", quote(str(folder)), remedy)
            found[key] = folder
        return found

    def _check_unique(self, made: Inventory) -> None:
        for what, values in (
            ("ssh", [host.ssh for host in made.hosts]),
            ("address", [host.address for host in made.hosts if host.address]),
        ):
            twice = next((value for value in values if values.count(value) > 1), None)
            if twice is not None:
                raise self._wrong(what, f"{quote(twice)} twice", "each host once")

    def _list(self, table: Mapping[str, Any], key: str) -> list[Any]:
        value = table[key]
        if not isinstance(value, list) or not value:
            raise self._wrong(key, f"{value}", f"[[{key}]], one table for each host,")
        return value

    def _check_keys(self, place: str, table: Any, known: set[str], needed: set[str]) -> None:  # noqa: ANN401
        if not isinstance(table, dict):
            raise self._wrong(place, f"{table}", "a table")
        prefix = f"{place}." if place else ""
        for key in table:
            if key not in known:
                raise self._wrong(f"{prefix}{key}", "an unknown key", one_of(key, sorted(known)))
        for key in sorted(needed - table.keys()):
            raise self._wrong(f"{prefix}{key}", "nothing", f"the key {key}")

    def _text(self, place: str, value: Any) -> str:  # noqa: ANN401
        if not isinstance(value, str):
            raise self._wrong(place, f"{value}", "a text")
        return value

    def _match(self, place: str, value: Any, pattern: re.Pattern[str], what: str) -> str:  # noqa: ANN401
        text = self._text(place, value)
        if pattern.fullmatch(text) is None:
            raise self._wrong(place, quote(text), what)
        return text

    def _ssh(self, place: str, entry: Mapping[str, Any]) -> str:
        return self._match(f"{place}.ssh", entry["ssh"], _SSH, "a host as ssh knows it")

    def _is_shared(self, place: str, entry: Mapping[str, Any]) -> bool:
        value = entry.get("shared", False)
        if not isinstance(value, bool):
            raise self._wrong(f"{place}.shared", f"{value}", "true or false")
        return value

    def _wrong(self, place: str, found: str, remedy: str) -> InputError:
        return InputError.at(place, found, remedy, str(self._path))
