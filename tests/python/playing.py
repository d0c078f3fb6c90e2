"""The playground that `make playground` has built, for tests in a browser."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser
from required import needs
from serving import Server

from narrows.backends.sim import Simulator
from narrows.spec import parse

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "target" / "playground"
NEEDED = needs("chromium", "playground")
DIGEST = "document.documentElement.dataset.digest"
AIMD = """class {
  constructor() { this.cwnd = 10; }
  on_ack(sample) {
    if (sample.may_grow && sample.cwnd_limited) this.cwnd += sample.acked / this.cwnd;
  }
  on_congestion(event) { this.cwnd = event.kind === "timeout" ? 1 : Math.max(2, event.cwnd * 0.5); }
  control() { return this.cwnd; }
}"""


@pytest.fixture
def server() -> Iterator[Server]:
    """Serves the playground."""
    found = Server(FOLDER)
    yield found
    found.stop()


@pytest.fixture
def page(server: Server, tmp_path: Path) -> Iterator[Browser]:
    """The playground with its first run; it may not have written to the console."""
    with Browser(tmp_path) as browser:
        browser.visit(server.address)
        browser.wait(f"!!{DIGEST}")
        yield browser
        assert browser.said == []


def put(page: Browser, name: str, text: str) -> None:
    """Types into one of the two texts."""
    field = f"document.getElementById({json.dumps(name)})"
    page.value(f"{field}.value = {json.dumps(text)}; {field}.dispatchEvent(new Event('input'))")


def native(text: str) -> str:
    """The digest that the command gives."""
    return Simulator().run(parse(text, "playground").spec.scenario).info.digest


def share(text: str, source: str) -> str:
    """The part of a link's address, from its `#` on, that holds a description and a control."""
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(json.dumps({"text": text, "source": source}).encode())
    letters = base64.urlsafe_b64encode(packed + packer.flush()).decode()
    return "#" + letters.rstrip("=")
