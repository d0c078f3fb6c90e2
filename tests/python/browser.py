"""Drives Chromium through a pipe (DevTools protocol), as far as tests of pages need it.

Nothing but Chromium itself is needed: no driver, no library, no port.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
HANG_S = 300.0
"""Longer than anything takes that isn't stuck."""


class Browser:
    """A headless Chromium with one page; a context manager."""

    def __init__(self, profile: Path) -> None:
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        command = [
            str(CHROMIUM), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--remote-debugging-pipe",
            f"--user-data-dir={profile}", "about:blank",
        ]  # fmt: skip
        # The protocol's pipes are the file descriptors 3 and 4.
        shell = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *command], pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self._rest, self._number, self._session = b"", 0, ""
        self.said: list[str] = []
        """Everything that a page wrote to the console, and every error of it."""
        self._events: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def open(self, page: Path, width: int = 1400, height: int = 900) -> None:
        """Loads a page's file in a window of this size and waits until it is complete."""
        self.visit(page.resolve().as_uri(), width, height)

    def visit(self, address: str, width: int = 1400, height: int = 900) -> None:
        """Opens the page at an address."""
        self.said.clear()
        self._events.clear()
        self._call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        self._call("Page.navigate", url=address)
        self._until(lambda: "Page.loadEventFired" in self._events)

    def value(self, expression: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        found = self._call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, expression: str) -> None:
        """Waits until an expression is true in the page."""
        self._until(lambda: bool(self.value(expression)))

    def prefer(self, scheme: str) -> None:
        """Pretends that the person likes "light" or "dark" pages."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self._call("Emulation.setEmulatedMedia", features=[feature])

    def medium(self, name: str) -> None:
        """Shows the page as on "screen" or in "print"."""
        self._call("Emulation.setEmulatedMedia", media=name)

    def mouse(self, kind: str, x: float, y: float) -> None:
        """Moves the mouse, or presses or releases its button."""
        button = "none" if kind == "Moved" else "left"
        self._call(
            "Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, button=button,
            clickCount=0 if kind == "Moved" else 1,
        )  # fmt: skip

    def picture(self, file: Path) -> None:
        """The whole page as PNG."""
        data = self._call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        file.write_bytes(base64.b64decode(data))

    def paper(self, file: Path) -> None:
        """The page as it is printed, as PDF."""
        data = self._call("Page.printToPDF", printBackground=True)["data"]
        file.write_bytes(base64.b64decode(data))

    def _until(self, holds: Any) -> None:
        ends = time.monotonic() + HANG_S
        while not holds():
            assert time.monotonic() < ends, "waited in vain"
            self._call("Runtime.evaluate", expression="0")
            time.sleep(0.01)

    def _call(self, method: str, **parameters: object) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                found: dict[str, Any] = answer["result"]
                return found
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        method, parameters = event.get("method", ""), event.get("params", {})
        self._events.append(method)
        if method == "Runtime.consoleAPICalled":
            words = (str(one.get("value", one.get("description"))) for one in parameters["args"])
            self.said.append(f"{parameters['type']}: {' '.join(words)}")
        elif method == "Runtime.exceptionThrown":
            self.said.append(str(parameters["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.said.append(parameters["entry"]["text"])

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = os.read(self._in, 1 << 20)
            assert piece, "the browser has ended"
            self._rest += piece
        text, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(text)
        return found
