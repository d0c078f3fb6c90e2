"""One multiplexed ssh connection to a host, and the helper that it runs there.

Nothing from a description or an inventory reaches a shell as text: the command that ssh runs is
constant, the helper reads its requests as words of a few characters, and files come on standard
input. The connection is the helper's own session, so the helper sees the end of its input however
narrows ends.
"""

from __future__ import annotations

import os
import re
import select
import subprocess
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import IO

from narrows.backends.hosts.inventory import HostEntry
from narrows.errors import InputError, NarrowsError

LEASE_S = 20
"""A host undoes all changes after this time without a message."""
ANSWER_S = 40.0
"""A host that doesn't answer for this long has failed."""
_CONNECT_S = 10
ALIVE_S = 3
"""ssh gives a connection up after four times this long without a sign of the host."""
_CLOSE_S = 5.0
_WORD = re.compile(r"[A-Za-z0-9_./:=,+@%-]+")
_HOME = re.compile(r"/tmp/narrows-hosts-[0-9]+")  # noqa: S108 (the helper makes it, mode 700)
CONFIG_VARIABLE = "NARROWS_SSH_CONFIG"
"""Names a configuration file for ssh that replaces the user's own."""


class HostError(NarrowsError):
    """A host can't be reached, or has failed."""

    def __init__(self, host: str, reason: str) -> None:
        self.host, self.reason = host, reason
        super().__init__(f"host {host}: {reason}")

    def __reduce__(self) -> tuple[type[HostError], tuple[str, str]]:
        """Returns the form in which the error is sent to another process."""
        return type(self), (self.host, self.reason)


class RefusedError(HostError):
    """The helper answered a request with "no"."""


def helper() -> str:
    """Returns the helper's text."""
    return files("narrows.backends.hosts").joinpath("helper.sh").read_text(encoding="ascii")


class Session:
    """A connection to a host with its helper; `sockets` is a private directory for its sockets."""

    def __init__(self, entry: HostEntry, sockets: Path) -> None:
        self.entry, self.name = entry, entry.ssh
        self._socket, self._log = sockets / "socket", sockets / "log"
        self._lock = threading.Lock()
        self._rest = b""
        self._lost = ""  # why the connection is lost
        self.home = ""
        text = helper().encode()
        # `dd` takes exactly the helper's text; the rest of the input is for the helper.
        remote = f"exec sh -c 'eval \"$(dd bs=1 count={len(text)} 2>/dev/null)\"'"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*self._ssh("-M"), "--", entry.ssh, remote],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        try:
            self._send(text)
            if self.ask("hello") != ["narrows-hosts 1"]:
                raise HostError(self.name, "its shell isn't a POSIX shell")
        except BaseException:
            self.close()
            raise

    def _ssh(self, *options: str) -> list[str]:
        config = os.environ.get(CONFIG_VARIABLE)
        return [
            "ssh",
            *(("-F", config) if config else ()),
            *("-T", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={_CONNECT_S}"),
            *("-o", f"ServerAliveInterval={ALIVE_S}", "-o", "ServerAliveCountMax=4"),
            *("-o", "ForwardAgent=no", "-o", "ForwardX11=no", "-o", "ClearAllForwardings=yes"),
            *("-o", f"ControlPath={self._socket}", "-o", "ControlPersist=no"),
            *options,
        ]

    def ask(self, *words: str, within: float | None = None) -> list[str]:
        """Sends a request and returns the lines of the answer.

        Raises RefusedError with the helper's reason, HostError if the connection is lost.
        """
        for word in words:
            if _WORD.fullmatch(word) is None:
                raise InputError.at(words[0], repr(word), "letters, digits and _./:=,+@%-")
        with self._lock:
            if self._lost:
                raise HostError(self.name, self._lost)
            self._send(" ".join(words).encode() + b"\n")
            lines: list[str] = []
            deadline = time.monotonic() + (within or ANSWER_S)
            while True:
                line = self._line(deadline)
                if line == "ok":
                    return lines
                if line.startswith("no "):
                    raise RefusedError(self.name, line[3:])
                lines.append(line.removeprefix("| "))

    def _send(self, data: bytes) -> None:
        assert self._process.stdin is not None  # noqa: S101 (for the type checker)
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except OSError:
            raise self._lose(self._reason()) from None

    def _lose(self, reason: str) -> HostError:
        """Marks the connection as lost, and returns the error for it."""
        self._lost = reason
        return HostError(self.name, reason)

    def _line(self, deadline: float) -> str:
        assert self._process.stdout is not None  # noqa: S101
        descriptor = self._process.stdout.fileno()
        while b"\n" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise self._lose("it doesn't answer")
            piece = os.read(descriptor, 65536)
            if not piece:
                raise self._lose(self._reason())
            self._rest += piece
        line, self._rest = self._rest.split(b"\n", 1)
        return line.decode("utf-8", "replace")

    def _reason(self) -> str:
        """Returns why the connection ended, in ssh's words."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=2)
        said = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return said[-1] if said else "the connection ended"

    def begin(self, limit_s: int, devices: Iterable[str]) -> None:
        """Begins a session of at most `limit_s`, in which these devices may be changed."""
        mark = "+" if self.entry.shared else ""
        lines = self.ask("begin", str(LEASE_S), str(limit_s), *(mark + each for each in devices))
        if len(lines) != 1 or _HOME.fullmatch(lines[0]) is None:
            raise HostError(self.name, f"an unexpected answer: {lines}")
        self.home = lines[0]

    def end(self) -> None:
        """Undoes all changes; raises RefusedError if something couldn't be restored."""
        if self.home:
            self.home = ""
            self.ask("end", within=60)

    def open_channel(
        self, remote: Sequence[str], stdin: int | IO[bytes], stdout: int | IO[bytes]
    ) -> subprocess.Popen[bytes]:
        """Runs a command of safe words in the session's directory, over the same connection."""
        for word in remote:
            if _WORD.fullmatch(word) is None:
                raise InputError.at("a remote command", repr(word), "a plain word")
        return subprocess.Popen(
            [*self._ssh("-o", "ControlMaster=no"), "--", self.name, " ".join(remote)],
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def put(self, source: Path, name: str) -> None:
        """Copies a file into the session's directory, executable if it is executable here."""
        place = f"{self.home}/{name}"
        with source.open("rb") as content:
            self._finish(self.open_channel(["dd", f"of={place}"], content, subprocess.DEVNULL))
        if os.access(source, os.X_OK):
            channel = self.open_channel(
                ["chmod", "700", place], subprocess.DEVNULL, subprocess.DEVNULL
            )
            self._finish(channel)

    def fetch(self, archive: Path) -> None:
        """Copies the directory `out` of the session into a tar archive."""
        with archive.open("wb") as content:
            words = ["tar", "-C", self.home, "-cf", "-", "out"]
            self._finish(self.open_channel(words, subprocess.DEVNULL, content))

    def _finish(self, channel: subprocess.Popen[bytes], within: float = 300.0) -> None:
        """Waits for a channel to end."""
        try:
            _, said = channel.communicate(timeout=within)
        except subprocess.TimeoutExpired:
            channel.kill()
            channel.communicate()
            raise HostError(self.name, "copying a file takes too long") from None
        if channel.returncode:
            words = said.decode("utf-8", "replace").strip().splitlines()
            raise HostError(self.name, f"a file can't be copied: {words[-1] if words else ''}")

    def close(self) -> None:
        """Ends the connection; the helper undoes what is still changed."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(timeout=_CLOSE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
