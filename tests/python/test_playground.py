"""The playground in a real browser: `make playground` puts it together and runs this."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from browser import Browser
from playing import AIMD, DIGEST, FOLDER, NEEDED, ROOT, native, put
from serving import Server

from narrows import runner
from narrows.backends.sim import Simulator
from narrows.metrics.summary import summarise
from narrows.spec import load, parse
from narrows.spec.permission import allowing
from narrows.store import CaptureOptions

pytestmark = NEEDED
EXAMPLES = [one["name"] for one in json.loads((FOLDER / "examples" / "index.json").read_text())] \
    if (FOLDER / "examples").exists() else []  # fmt: skip
WRITTEN = [
    ROOT / "experiments" / "workloads" / f"{name}.toml"
    for name in ("media", "requests", "udp", "video", "web")
]


def test_descriptions_give_the_digest_of_the_command(page: Browser) -> None:
    texts = [(FOLDER / "examples" / f"{name}.toml").read_text() for name in EXAMPLES]
    texts = [text for text in texts if '"mine"' not in text]
    texts += [file.read_text() for file in WRITTEN]
    assert len(texts) >= 10
    for text in texts:
        put(page, "text", text)
        page.wait(f"{DIGEST} === {json.dumps(native(text))}")


def test_numbers_are_those_of_the_command(page: Browser) -> None:
    text = (FOLDER / "examples" / "managed-queue.toml").read_text()
    put(page, "text", text)
    spec = parse(text, "playground").spec
    result = Simulator().run(spec.scenario)
    page.wait(f"{DIGEST} === {json.dumps(result.info.digest)}")
    summary = summarise(spec.scenario, result.tables, result.info)
    rows = page.value(
        "[...document.querySelectorAll('#numbers tbody tr')].map(row =>"
        " [...row.cells].map(cell => cell.textContent))"
    )
    for row, flow in zip(rows, summary["flows"], strict=True):
        shown = [float(cell.removesuffix(" %")) for cell in row[2:6]]
        rtt = flow["rtt_ms"]
        assert shown == pytest.approx(
            [flow["goodput_mbps"], flow["share"] * 100, rtt["mean"], rtt["p95"]], rel=6e-3
        )


def test_the_form_changes_the_text_and_the_run(page: Browser) -> None:
    before = page.value(DIGEST)
    page.value(
        "(slide => { slide.value = 150; slide.dispatchEvent(new Event('input')); })"
        "(document.querySelector('#form input[type=range]'))"
    )
    page.wait("!document.getElementById('text').value.includes('40mbit')")
    page.wait(f"{DIGEST} !== {json.dumps(before)}")
    text = page.value("document.getElementById('text').value")
    assert text.startswith("# BBR and CUBIC take turns"), "comments stay"
    page.wait(f"{DIGEST} === {json.dumps(native(text))}")


def test_a_control_in_javascript_is_one_in_python(page: Browser) -> None:
    folder = ROOT / "experiments" / "own-control-python"
    (file,) = folder.glob("*.toml")
    with allowing([folder]):
        expected = Simulator().run(load(file).spec.scenario).info.digest
    text = file.read_text().replace("aimd:Aimd", "mine").replace("options = ", "# ")
    put(page, "source", AIMD)
    put(page, "text", text)
    page.wait(f"{DIGEST} === {json.dumps(expected)}")


def test_mistakes_are_reported(page: Browser) -> None:
    problems = "document.getElementById('problems').textContent"
    put(page, "text", "[path]\nrate = 5\n")
    page.wait(f"{problems}.includes('line 2, column 8: path.rate')")
    text = (FOLDER / "examples" / "own-control.toml").read_text()
    put(page, "source", "class { on_ack() {} on_congestion() {} control() { return 0; } }")
    put(page, "text", text)
    page.wait(f"{problems}.includes('a window of 0')")
    put(page, "source", AIMD)
    page.wait(f"{problems} === ''")


def test_packets_are_shown(page: Browser) -> None:
    page.value("document.getElementById('packets').open = true")
    page.wait("document.querySelector('#sequence canvas') !== null")
    page.wait(
        "parseInt(document.getElementById('packet-said').textContent.replace(',', '')) > 1000"
    )


def test_a_link_holds_the_description(page: Browser, server: Server) -> None:
    text = (FOLDER / "examples" / "random-loss.toml").read_text() + "\n# ä\n"
    put(page, "text", text)
    page.value("document.getElementById('link').click()")
    page.wait("location.hash.length > 1")
    address = page.value("location.href")
    page.visit("about:blank")
    page.visit(address)
    page.wait(f"{DIGEST} === {json.dumps(native(text))}")
    page.visit("about:blank")
    page.visit(server.address + "#nonsense")
    page.wait("document.getElementById('text').value.length > 0")


def test_a_capture_is_the_file_of_the_command(page: Browser, tmp_path: Path) -> None:
    text = (FOLDER / "examples" / "random-loss.toml").read_text()
    spec = tmp_path / "spec.toml"
    spec.write_text(text)
    result = runner.execute(
        runner.prepare(spec), out=tmp_path / "run", captures=CaptureOptions(pcap=True)
    ).result
    put(page, "text", text)
    page.wait(f"{DIGEST} === {json.dumps(native(text))}")
    page.value("HTMLAnchorElement.prototype.click = () => {}")  # nothing is downloaded
    page.value("URL.createObjectURL = file => { window.caught = file; return 'blob:caught'; }")
    page.value(
        "(menu => { menu.value = 'after-queue'; menu.dispatchEvent(new Event('change')); })"
        "(document.getElementById('pcapng'))"
    )
    page.wait("!!window.caught")
    digest = page.value(
        "caught.arrayBuffer().then(all => crypto.subtle.digest('SHA-256', all))"
        ".then(sum => new Uint8Array(sum).reduce("
        "(text, one) => text + one.toString(16).padStart(2, '0'), ''))"
    )
    file = result.path / "trial-1" / "captures" / "after-queue.pcapng"
    assert digest == hashlib.sha256(file.read_bytes()).hexdigest()


def test_it_works_without_a_network(page: Browser, server: Server) -> None:
    digest = page.value(DIGEST)
    page.value("navigator.serviceWorker.ready.then(() => true)")
    server.stop()
    page.visit("about:blank")
    page.visit(server.address)
    page.wait(f"{DIGEST} === {json.dumps(digest)}")


@pytest.mark.parametrize("width", [390, 1400])
def test_it_fits_the_window(width: int, page: Browser, server: Server) -> None:
    page.visit("about:blank")
    page.visit(server.address, width)
    page.wait(f"!!{DIGEST}")
    beyond = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.value(beyond) <= 0
