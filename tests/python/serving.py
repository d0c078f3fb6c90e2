"""Serves a folder on loopback, as any server of static files would."""

from __future__ import annotations

import functools
import http.server
import threading
from pathlib import Path
from typing import Any


class _Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *of_request: Any, asked: list[str], directory: str) -> None:
        self._asked = asked
        super().__init__(*of_request, directory=directory)

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def parse_request(self) -> bool:
        """Notes what is asked for, by whatever method."""
        good = super().parse_request()
        self._asked.append(getattr(self, "path", ""))
        return good


class Server:
    """Gives the files of a folder."""

    def __init__(self, folder: Path) -> None:
        self.asked: list[str] = []
        """The paths of all requests."""
        handler = functools.partial(_Handler, asked=self.asked, directory=str(folder))
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Ends it."""
        self._server.shutdown()
        self._server.server_close()
