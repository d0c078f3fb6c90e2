"""The views of the playground in a real browser: ghost, slow motion, shares, marks, phone."""

from __future__ import annotations

import base64
import json
import struct
import time
import tomllib
from typing import Any

import pytest
from accessibility import INSTALLED, serious_violations
from browser import Browser
from playing import DIGEST, FOLDER, NEEDED, ROOT, native, put
from serving import Server

from narrows.backends.sim import Simulator
from narrows.metrics.summary import summarise
from narrows.metrics.tables import summary_row
from narrows.spec import parse, registry

pytestmark = NEEDED
QUEUE = """name = "short"
[path]
rate = "10mbit"
rtt = "40ms"
buffer = "1bdp"
[[flows]]
cca = "bbr"
[[flows]]
cca = "cubic"
[run]
duration = "12s"
"""
PIXELS = """(name => {
  const canvas = document.querySelector(`[data-panel=${name}] canvas`);
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.reduce((sum, value, at) => sum + (at % 4 === 3 && value > 0), 0);
})"""
SCENE = "document.getElementById('network').dataset"
TEXT = "document.getElementById('text').value"
BEYOND = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def show(page: Browser, text: str) -> None:
    """Puts a description into the page and waits for its run."""
    put(page, "text", text)
    page.wait(f"{DIGEST} === {json.dumps(native(text))}")


def center(page: Browser, selector: str) -> tuple[float, float]:
    """Scrolls an element into view and returns where its middle is."""
    x, y = page.value(
        f"(one => {{ one.scrollIntoView({{ block: 'center' }}); const {{ x, y, width, height }} ="
        f" one.getBoundingClientRect(); return [x + width / 2, y + height / 2]; }})"
        f"(document.querySelector({json.dumps(selector)}))"
    )
    return float(x), float(y)


def test_the_run_before_stays_as_a_ghost(page: Browser) -> None:
    ghosts = "document.querySelectorAll('#charts .ghost').length"
    show(page, QUEUE)
    assert page.value(ghosts) == 0, "another description has no ghost"
    time.sleep(1.1)
    show(page, QUEUE.replace("1bdp", "4bdp"))
    assert page.value(ghosts) == 4
    with_ghost = page.value(f"{PIXELS}('queue')")
    show(page, QUEUE.replace("1bdp", "2bdp"))
    assert page.value(ghosts) == 4, "a run that stood shorter than a second is no ghost"
    show(page, QUEUE.replace('"short"', '"other"').replace("1bdp", "4bdp"))
    assert page.value(ghosts) == 0
    assert page.value(f"{PIXELS}('queue')") < with_ghost


def test_packets_move_in_slow_motion(page: Browser) -> None:
    show(page, QUEUE)
    page.wait(f"{SCENE}.state === 'shown' && Number({SCENE}.waiting) > 0")
    began = float(page.value(f"{SCENE}.time"))
    page.value("document.getElementById('play').click()")
    page.wait(f"Number({SCENE}.time) > {began} + 0.02")
    assert page.value("document.getElementById('play').textContent") == "Pause"
    page.value("document.getElementById('play').click()")
    stood = page.value(f"{SCENE}.time")
    time.sleep(0.2)
    assert page.value(f"{SCENE}.time") == stood
    assert page.value("[...document.querySelectorAll('#charts .pointer')].every(o => !o.hidden)")


def test_a_click_in_a_chart_leads_to_its_packets(page: Browser) -> None:
    show(page, QUEUE)
    page.wait(f"{SCENE}.state === 'shown'")
    x, y = center(page, "[data-panel=rtt] .u-over")
    for kind in ("Moved", "Pressed", "Released"):
        page.mouse(kind, x - 200, y)
    clicked = page.value("Number(document.getElementById('time').value)")
    assert 1 < clicked < 5
    page.wait(f"Math.abs(Number({SCENE}.time) - {clicked}) < 1e-6")


def test_the_queue_holds_as_many_packets_as_the_run_says(page: Browser) -> None:
    show(page, QUEUE)
    page.value(
        "(slide => { slide.value = 8.0; slide.dispatchEvent(new Event('input')); })"
        "(document.getElementById('time'))"
    )
    page.wait(f"Math.abs(Number({SCENE}.time) - 8) < 1e-3 && {SCENE}.state === 'shown'")
    samples = Simulator().run(parse(QUEUE, "playground").spec.scenario).tables["queue_samples"]
    at_8_s = next(row for row in samples.iter_rows(named=True) if row["time_s"] >= 8.0 - 1e-9)
    assert abs(int(page.value(f"{SCENE}.waiting")) - at_8_s["backlog_packets"]) <= 2


def test_the_journeys_of_packets_are_read_from_their_events(page: Browser) -> None:
    columns = ("time_s", "event", "flow", "instance", "seq", "retransmission")
    events = [
        (1.0, "forwarded", 0, 0, 4, False),
        (1.1, "sent", 0, 0, 5, False),
        (1.2, "sent", 1, 0, 5, False),
        (1.3, "dropped", 1, 0, 5, False),
        (1.4, "forwarded", 0, 0, 5, False),
        (1.5, "lost", 0, 0, 5, False),
        (1.6, "sent", 0, 0, 5, True),
        (1.7, "ack_sent", 0, 0, 4, False),
        (1.8, "forwarded", 0, 0, 5, False),
        (1.9, "received", 0, 0, 5, False),
        (2.0, "ack_received", 0, 0, 4, False),
    ]
    rows = dict(zip(columns, map(list, zip(*events, strict=True)), strict=True))
    found = page.value(
        f"import('./journeys.js').then(({{ journeys }}) => journeys({json.dumps(rows)}))"
        ".then(({ packets, acks }) => [packets.map(({ flow, seq, again, sent, left, received,"
        " dropped, lost }) => [flow, seq, again, ...[sent, left, received, dropped, lost].map("
        "String)]), acks.map(({ sent, received }) => [sent, received])])"
    )
    never = "Infinity"
    assert found == [
        [
            [0, 4, False, "-Infinity", "1", never, never, never],
            [0, 5, False, "1.1", "1.4", never, never, "1.5"],
            [1, 5, False, "1.2", never, never, "1.3", never],
            [0, 5, True, "1.6", "1.8", "1.9", never, never],
        ],
        [[1.7, 2.0]],
    ]


def test_the_buffer_is_dragged_in_the_shares(page: Browser) -> None:
    hidden = "document.getElementById('comparison').hidden"
    show(page, QUEUE)
    page.wait(f"!{hidden} && !!document.getElementById('comparison').dataset.seconds")
    page.wait("document.querySelector('#curve .u-over') !== null")
    x, y = center(page, "#curve .u-over")
    page.mouse("Moved", x, y)
    page.mouse("Pressed", x, y)
    page.mouse("Moved", x + 60, y)
    page.mouse("Released", x + 60, y)
    page.wait(f'!/buffer = "(1|2|2.0)bdp"/.test({TEXT})')
    text = page.value(TEXT)
    page.wait(f"{DIGEST} === {json.dumps(native(text))}")
    buffer = tomllib.loads(text)["path"]["buffer"]
    assert 2 < float(buffer.removesuffix("bdp")) < 4
    field = "document.querySelector('[data-place=\"path.buffer\"] input[type=text]').value"
    page.wait(f"{field} === {json.dumps(buffer)}")
    show(page, QUEUE.replace('[[flows]]\ncca = "bbr"\n', ""))
    page.wait(hidden)


def test_a_share_of_the_curve_is_that_of_its_run(page: Browser) -> None:
    text = QUEUE.replace('"1bdp"', '"5bdp"')
    found = page.value(
        "(async () => { const { Engine } = await import('./engine.js');"
        " const { Sweep } = await import('./sweep.js'); const engine = new Engine();"
        " const run = (purpose, request) => engine.run(purpose, { do: 'run', ...request });"
        f" const all = {{}}; await new Sweep(engine, run).start({json.dumps(text)}, '',"
        " (buffer, byClass) => { all[buffer] = byClass.map(({ share }) => share); });"
        " return all; })()"
    )
    assert len(found) == 9
    scenario = parse(text.replace("5bdp", "2bdp"), "playground").spec.scenario
    result = Simulator().run(scenario)
    flows = summarise(scenario, result.tables, result.info)["flows"]
    assert found["2"] == pytest.approx([flow["share"] for flow in flows], rel=1e-9)


MIXED = (
    QUEUE
    + """
[[flows]]
cca = "cubic"
rtt = "80ms"
[[flows]]
name = "short"
cca = "reno"
size = "200kb"
repeat_gap = "300ms"
[[flows]]
cca = "vegas"
size = "500kb"
[[changes]]
at = "3s"
rate = "15mbit"
"""
)


OF_CLASSES = (
    *("goodput_mbps", "share", "rtt_mean_ms", "rtt_p95_ms"),
    *("completed", "completion_p50_s", "completion_p95_s"),
)


def test_the_numbers_are_those_of_the_command(page: Browser) -> None:
    found = page.value(
        "(async () => { const { Engine } = await import('./engine.js');"
        f" const request = {{ do: 'run', text: {json.dumps(MIXED)}, tables: [] }};"
        " return (await new Engine().run('x', request)).numbers; })()"
    )
    spec = parse(MIXED, "playground").spec
    result = Simulator().run(spec.scenario)
    entry = summarise(spec.scenario, result.tables, result.info, spec.groups)
    row = summary_row(entry, spec.groups)
    assert [one["name"] for one in found["classes"]] == list(dict.fromkeys(spec.groups))
    assert len(found["classes"]) > 4
    for one in found["classes"]:
        for name in OF_CLASSES:
            expected = row.get(f"{one['name']}.{name}")
            if name == "completed":
                expected = expected or 0
            assert one[name] == (expected and pytest.approx(expected, rel=1e-12)), (one, name)
    for name in ("utilization", "loss_rate", "queue_mean_bdp"):
        assert found["bottleneck"][name] == pytest.approx(row[name], rel=1e-12)
    assert found["jain"] == pytest.approx(row["jain"], rel=1e-12)


def test_charts_mark_probes_losses_and_states(page: Browser) -> None:
    show(page, QUEUE)
    found = page.value(
        "(async () => { const { marks } = await import('./marks.js');"
        " const { Engine } = await import('./engine.js');"
        " const result = await new Engine().run('x', { do: 'run',"
        f" text: {json.dumps(QUEUE)}, tables: ['flow_samples'] }}); return marks(result); }})()"
    )
    samples = Simulator().run(parse(QUEUE, "playground").spec.scenario).tables["flow_samples"]
    rows = list(samples.iter_rows(named=True))
    probed = [row["time_s"] for row in rows if row["cca_state"] == "probe_rtt"]
    spans = found["probes"][0]
    assert probed
    assert all(any(one["from"] <= at <= one["to"] for one in spans) for at in probed)
    dropped = [max(row["dropped"] for row in rows if row["flow"] == flow) for flow in (0, 1)]
    assert [sum(lost) for lost in found["losses"]] == dropped
    assert [one["name"] for one in found["flows"]] == ["bbr-1", "cubic-1"]
    text = page.value("document.getElementById('charts').textContent")
    assert "packets dropped or lost" in text
    assert "probe rtt" in text


def test_legends_speak_as_people_do(page: Browser) -> None:
    show(page, QUEUE)
    caption = "document.querySelector('[data-panel=throughput] figcaption').textContent"
    assert page.value(caption).split() == ["Throughput,", "Mbit/sBBR", "CUBIC", "PNG"]
    page.mouse("Moved", *center(page, "[data-panel=throughput] .u-over"))
    page.wait(f"/BBR [0-9.]+CUBIC [0-9.]+at [0-9.]+ s/.test({caption})")


def test_a_preset_is_that_of_the_library(page: Browser) -> None:
    presets = json.loads((FOLDER / "presets.json").read_text())
    source = ROOT / "crates" / "spec" / "src" / "presets.toml"
    assert presets == tomllib.loads(source.read_text(encoding="utf-8"))
    chips = "[...document.querySelectorAll('.chips button')]"
    assert page.value(f"{chips}.map(one => one.textContent)") == [
        "Cable", "DSL", "LTE", "5G", "Wi-Fi", "Satellite, low", "Satellite, high", "Data centre",
    ]  # fmt: skip
    show(page, QUEUE)
    for number, preset in ((2, "lte"), (7, "datacentre")):
        page.value(f"{chips}[{number}].click()")
        page.wait(f"{TEXT}.includes('preset = \"{preset}\"')")
        text = page.value(TEXT)
        page.wait(f"{DIGEST} === {json.dumps(native(text))}")
    rate = "document.querySelector('[data-place=\"path.rate\"] input[type=text]').value"
    assert page.value(rate) == "10gbit"
    assert tomllib.loads(text)["run"]["duration"] == "0.2s"
    assert not page.value("document.querySelector('[data-place=\"path.buffer\"] input').disabled")


def test_every_control_is_in_one_group_with_a_line(page: Browser) -> None:
    listed = "[...document.querySelectorAll('[data-place=\"flows.0.cca\"] [data-name]')]"
    names = page.value(f"{listed}.map(one => one.dataset.name)")
    assert sorted(names) == sorted([*registry.ccas(), "none", "mine"])
    groups = json.loads((FOLDER / "controls.json").read_text())
    assert [*(name for group in groups for name in group["names"]), "mine"] == names
    lines = page.value(f"{listed}.map(one => one.textContent.split(' ').length)")
    assert min(lines) > 3
    show(page, QUEUE)
    page.value(f"{listed}.find(one => one.dataset.name === 'vegas').click()")
    page.wait(f"{TEXT}.includes('\"vegas\"')")


def test_a_problem_stands_beside_its_field(page: Browser) -> None:
    beside = "document.querySelector('[data-place=\"path.rate\"] + .problem')"
    invalid = "document.querySelector('[data-place=\"path.rate\"] [aria-invalid]')"
    page.value(
        "(field => { field.value = '20mbits'; field.dispatchEvent(new Event('change')); })"
        "(document.querySelector('[data-place=\"path.rate\"] input[type=text]'))"
    )
    page.wait(f"({beside}?.textContent ?? '').includes('path.rate')")
    assert page.value(f"{invalid} !== null")
    page.value("document.querySelector('#problems button').click()")
    chosen = page.value(
        "(t => t.value.slice(t.selectionStart, t.selectionEnd))(document.getElementById('text'))"
    )
    assert chosen == 'rate = "20mbits"'
    show(page, QUEUE)
    assert page.value(f"{beside} === null && {invalid} === null")


def test_a_mistake_in_a_control_stands_below_it_with_its_line(page: Browser) -> None:
    beside = "(document.querySelector('#source + .problem')?.textContent ?? '')"
    source = (
        "class {{\n  on_ack(sample) {{ {} }}\n  on_congestion() {{}}\n  control({} {{ {} }}\n}}"
    )
    put(page, "source", source.format("sample.no.such;", ")", "return 10;"))
    put(page, "text", QUEUE.replace("cubic", "mine"))
    page.wait(f"{beside}.startsWith('the control, line 2: ')")
    put(page, "source", source.format("", "", "return 10;"))
    page.wait(f"{beside}.startsWith('the control, line 4: ')")


def test_a_long_run_shows_its_progress_and_stops(page: Browser) -> None:
    before = page.value(DIGEST)
    put(page, "text", QUEUE.replace("12s", "100000s"))
    page.wait("!document.getElementById('running').hidden")
    page.wait("document.getElementById('progress').value > 0")
    assert page.value("document.getElementById('progress').value") < 1
    page.value("document.getElementById('stop').click()")
    page.wait("document.getElementById('running').hidden")
    assert "stopped" in page.value("document.getElementById('status').textContent")
    assert page.value(DIGEST) == before
    show(page, QUEUE)
    assert not page.value("document.getElementById('results').classList.contains('stale')")


def test_a_chart_is_saved_as_a_picture(page: Browser) -> None:
    show(page, QUEUE)
    page.value("HTMLAnchorElement.prototype.click = () => {}; 0")  # nothing is downloaded
    page.value("URL.createObjectURL = file => { window.caught = file; return 'blob:caught'; }; 0")
    page.value("document.querySelector('[data-panel=rtt] button').click()")
    page.wait("!!window.caught")
    coded = page.value(
        "caught.arrayBuffer().then(all => btoa(String.fromCharCode(...new Uint8Array(all))))"
    )
    picture = base64.b64decode(coded)
    assert picture.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", picture[16:24])
    assert width > 600
    assert height > 170


def test_an_embedded_run_shows_sliders_numbers_and_charts(page: Browser) -> None:
    show(page, QUEUE)
    page.value("document.getElementById('embed').click()")
    snippet = "document.getElementById('snippet').value"
    page.wait(f"{snippet}.startsWith('<iframe src=')")
    address = page.value(snippet).split('"')[1]
    page.visit("about:blank")
    page.visit(address, 720, 640)
    page.wait(f"{DIGEST} === {json.dumps(native(QUEUE))}")
    parts = "[...document.querySelectorAll('header, #form section, #text, #charts, #numbers')]"
    shown = page.value(f"{parts}.filter(o => o.offsetHeight).map(o => o.className || o.id)")
    assert shown == ["sliders", "numbers", "charts"]
    assert page.value(BEYOND) <= 0


def test_sliders_stay_in_view_on_a_phone(page: Browser, server: Server) -> None:
    page.visit("about:blank")
    page.visit(server.address, 390, 844)
    page.wait(f"!!{DIGEST}")
    edge = "document.querySelector('.sliders').getBoundingClientRect()"
    for part in (0, 0.2, 0.4):
        page.value(f"scrollTo(0, {part} * document.getElementById('results').scrollHeight)")
        assert page.value(f"{edge}.bottom <= innerHeight + 1 && {edge}.top > innerHeight / 2")
    before = page.value(DIGEST)
    page.value(
        "(slide => { slide.value = 390; slide.dispatchEvent(new Event('input')); })"
        "(document.querySelector('[data-place=\"path.buffer\"] input[type=range]'))"
    )
    page.wait(f"{DIGEST} !== {json.dumps(before)}")


def test_the_sequence_view_tells_losses_drops_and_retransmissions(page: Browser) -> None:
    lossy = QUEUE.replace("[[flows]]", "loss = 0.02\n[[flows]]", 1).replace("1bdp", "0.1bdp")
    show(page, lossy)
    page.value("document.getElementById('packet-span').value = 5")
    page.value("document.getElementById('packets').open = true")
    caption = "(document.querySelector('#sequence figcaption')?.textContent ?? '')"
    page.wait(f"{caption} !== ''")
    for kind in ("retransmitted", "dropped by the queue", "lost on the path"):
        assert kind in page.value(caption)
    marks = "[...document.querySelectorAll('#sequence .mark')]"
    looks: list[Any] = page.value(f"{marks}.map(one => `${{one.className}} ${{one.style.color}}`)")
    assert len(set(looks)) == len(looks)


@INSTALLED
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_seriously_inaccessible(scheme: str, page: Browser, server: Server) -> None:
    page.prefer(scheme)
    for address in ("", "lessons/", "lessons/queue.html"):
        page.visit("about:blank")
        page.visit(server.address + address)
        run = "document.documentElement, document.querySelector('live-run')"
        page.wait(
            f"[{run}].some(one => one?.dataset.digest) || !document.querySelector('main, live-run')"
        )
        assert serious_violations(page) == []
