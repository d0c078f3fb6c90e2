"""Every kind of page in a real browser: it says nothing, fits a phone, zooms, sorts, prints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser
from required import needs
from specimens import GOOD
from test_evaluate import suite

from narrows.cli import main
from narrows.figures.palette import colour

pytestmark = needs("chromium")
WEB = """[[flows]]
name = "a-flow-with-a-long-name"
cca = "cubic"
workload = { kind = "requests", size = "20kb", think = "50ms" }

"""
KINDS = ("run", "sweep", "run of a sweep", "figure", "grid", "diff", "shelf", "trials")
SITES = ("comparison", "evaluation", "situation", "evaluations", "ledger", "published figure")
PLOTLESS = ("shelf", *SITES)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    spec = folder / "good.toml"
    spec.write_text(GOOD.replace("[run]", WEB + "[run]"))
    shelf = folder / "results"
    axes = ["--set", 'path.buffer=["1bdp", "4bdp"]', "--set", 'path.queue=["droptail", "codel"]']
    store = str(shelf / "s")
    commands = [
        ["run", str(spec), "--out", str(shelf / "a")],
        ["run", str(spec), "--set", "flows[0].cca=reno", "--out", str(shelf / "b")],
        ["run", str(spec), *axes, "--out", store],
        ["diff", str(shelf / "a"), str(shelf / "b"), "--out", str(shelf / "d")],
        ["figure", str(shelf / "a"), "timeline", "--format", "html", "--out", str(folder / "t")],
        [
            "figure",
            store,
            "lines",
            "--metric",
            "utilization",
            "--format",
            "html",
            "--out",
            str(folder / "l"),
        ],
        ["open", str(shelf), "--no-show"],
        [
            "run",
            str(spec),
            "--set",
            "run.trials=3",
            "--set",
            "host.jitter=1ms",
            "--out",
            str(folder / "trials"),
        ],
    ]
    for command in commands:
        assert main(command) == 0, command
    runs = sorted((shelf / "s" / "pages").glob("*.html"))
    files = (shelf / "a" / "report.html", shelf / "s" / "good.html", runs[0], folder / "t.html",
             folder / "l.html", shelf / "d" / "diff.html", shelf / "index.html",
             folder / "trials" / "report.html")  # fmt: skip
    return dict(zip(KINDS, files, strict=True))


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages of verdicts."""
    folder = tmp_path_factory.mktemp("sites")
    spec, store = folder / "good.toml", folder / "reproduced"
    spec.write_text(GOOD)
    captured, other = str(folder / "run"), f"capture:{folder / 'captured'}"
    commands = [
        ["run", str(spec), "--pcap", "--out", captured],
        ["analyze", f"{captured}/trial-1/captures/sender.pcapng",
         "--out", str(folder / "captured")],
        ["compare", str(folder / "captured" / "spec.toml"), "--backends", f"sim,{other}",
         "--trials", "3", "--max-trials", "3", "--out", str(folder / "compared")],
        ["evaluate", "reno", "--suite", str(suite(folder)), "--beside", "cubic",
         "--out", str(folder / "evaluated")],
        ["reproduce", "panaderia/fig9", "--quick", "--out", str(store)],
    ]  # fmt: skip
    for command in commands:
        assert main(command) in (0, 1)
    evaluated = folder / "evaluated" / "site" / "reno"
    files = (folder / "compared" / "compare.html", evaluated / "index.html",
             evaluated / "alone.html", evaluated.parent / "index.html",
             store / "site" / "index.html", store / "site" / "panaderia-fig9.html")  # fmt: skip
    return dict(zip(SITES, files, strict=True))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("kind", [*KINDS, *SITES])
def test_a_page_is_whole_and_says_nothing(
    kind: str, width: int, request: pytest.FixtureRequest, browser: Browser
) -> None:
    pages = request.getfixturevalue("sites" if kind in SITES else "pages")
    browser.open(pages[kind], width)
    if kind not in PLOTLESS:
        # A plot is drawn when it comes near the window.
        browser.value("document.querySelector('.plot').scrollIntoView()")
        browser.wait("document.querySelectorAll('.plot .main-svg').length > 0")
    beyond = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.value(beyond) <= 0
    titles = "[...document.querySelectorAll('.plot :is(.annotation-text, .gtitle)')]"
    ends = f"Math.max(0, ...{titles}.map(t => t.getBoundingClientRect().right))"
    assert browser.value(ends) <= width
    if kind == "shelf":  # its rows become blocks on a phone
        cut = "document.querySelector('.scroll').scrollWidth - innerWidth"
        assert browser.value(cut) <= 0
    # What is wider than the window scrolls in its own frame, which the keyboard reaches.
    stuck = "[...document.querySelectorAll('.scroll')].filter(s => s.tabIndex < 0).length"
    assert browser.value(stuck) == 0
    assert browser.said == []


def test_a_script_that_got_into_a_page_does_not_run(
    pages: dict[str, Path], browser: Browser, tmp_path: Path
) -> None:
    """As if an escape had failed: the page's policy is the second line of defence."""
    html = pages["run"].read_text()
    nonce = html.partition("'nonce-")[2].partition("'")[0]
    forged = tmp_path / "forged.html"
    for attack, runs in (("<script>", False), (f'<script nonce="{nonce}">', True)):
        forged.write_text(html.replace("<h1", f"{attack}window.taken = 1</script><h1", 1))
        browser.open(forged)
        assert browser.value("window.taken === 1") is runs
    browser.said.clear()


def test_a_figure_zooms_and_shows_values(pages: dict[str, Path], browser: Browser) -> None:
    browser.open(pages["run"])
    browser.wait("document.querySelector('#timeline-1 .main-svg') !== null")
    inner = "document.querySelector('#timeline-1 .nsewdrag').getBoundingClientRect()"
    left, top, wide, high = (browser.value(f"{inner}.{side}") for side in
                             ("left", "top", "width", "height"))  # fmt: skip
    y = top + high / 2
    browser.mouse("Moved", left + wide / 2, y)
    browser.wait("document.querySelectorAll('#timeline-1 .hoverlayer > *').length > 0")
    before = browser.value("document.getElementById('timeline-1').layout.xaxis.range[1]")
    browser.mouse("Pressed", left + wide * 0.25, y)
    browser.mouse("Moved", left + wide * 0.5, y)
    browser.mouse("Released", left + wide * 0.5, y)
    zoomed = "document.getElementById('timeline-1').layout.xaxis.range[1]"
    browser.wait(f"{zoomed} < {before * 0.9}")
    # All figures of the run follow.
    browser.value("document.getElementById('cwnd-1').scrollIntoView()")
    browser.wait("document.querySelector('#cwnd-1 .main-svg') !== null")
    assert browser.said == []


def rgb(code: str) -> str:
    """A colour as a browser writes it."""
    parts = (str(int(code[at : at + 2], 16)) for at in (1, 3, 5))
    return f"rgb({', '.join(parts)})"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_band_over_trials_goes_with_its_line(
    scheme: str, pages: dict[str, Path], browser: Browser
) -> None:
    browser.prefer(scheme)
    try:
        browser.open(pages["trials"])
        browser.wait("document.querySelector('#timeline-all .main-svg') !== null")
        fills = "[...document.querySelectorAll('#timeline-all .js-fill')].map(p => p.style.fill)"
        shown = browser.value(fills)
        assert colour("cubic").light != colour("cubic").dark
        assert rgb(getattr(colour("cubic"), scheme)) in shown
        browser.value("document.querySelector('.legend button').click()")
        browser.wait(f"{fills}.length < {len(shown)}")
    finally:
        browser.prefer("light")
    assert browser.said == []


def test_a_sweep_is_sorted_filtered_and_drawn_otherwise(
    pages: dict[str, Path], browser: Browser
) -> None:
    browser.open(pages["sweep"])
    browser.wait("document.querySelectorAll('#table tbody tr').length === 4")
    column = "[...document.querySelectorAll('#table tbody tr')].map(r => r.children[0].textContent)"
    press = "document.querySelector('#table th button').click()"
    browser.value(press)
    browser.value(press)
    assert browser.value(column) == ["4", "4", "1", "1"]
    sort = "document.querySelector('#table th').getAttribute('aria-sort')"
    assert browser.value(sort) == "descending"
    search = "const s = document.getElementById('search'); s.value = 'codel'; "
    browser.value(f"(() => {{ {search} s.dispatchEvent(new Event('input')); }})()")
    assert len(browser.value(column)) == 2
    choose = "const s = document.getElementById('panels'); s.value = '1'; "
    browser.value(f"(() => {{ {choose} s.dispatchEvent(new Event('change')); }})()")
    browser.wait("document.querySelectorAll('#charts .main-svg').length >= 2")
    assert browser.said == []


def test_the_axis_of_a_share_begins_at_zero(pages: dict[str, Path], browser: Browser) -> None:
    browser.open(pages["sweep"])
    browser.wait("document.querySelectorAll('#charts .main-svg').length > 0")
    foot = "document.querySelector('#charts .js-plotly-plot').layout.yaxis.range[0]"
    named = "[...document.querySelector('#metric').options].map(option => option.value).join()"
    rates = [one for one in browser.value(named).split(",") if one.endswith((".share", "_mbps"))]
    assert rates
    for metric in rates:
        choose(browser, "#metric", metric)
        assert browser.value(foot) == 0


VIEW = """JSON.stringify([
  ...[...document.querySelectorAll("#choices select, #filters select, #search")].map(s => s.value),
  document.querySelector("#charts .gtitle, #charts .ytitle")?.textContent,
  [...document.querySelectorAll("#table tr")].map(row => row.textContent),
  [...document.querySelectorAll("#table th")].map(th => th.getAttribute("aria-sort")),
])"""


def choose(browser: Browser, field: str, value: str) -> None:
    """Changes a field of a page as a person does."""
    browser.value(
        f"(field => {{ field.value = {value!r}; for (const kind of ['input', 'change'])"
        " field.dispatchEvent(new Event(kind, { bubbles: true })); })"
        f"(document.querySelector({field!r}))"
    )


def test_a_link_shows_the_same_view_of_a_sweep(pages: dict[str, Path], browser: Browser) -> None:
    rows = "document.querySelectorAll('#table tbody tr').length"
    browser.open(pages["sweep"])
    browser.wait(f"{rows} === 4")
    plain = browser.value(VIEW)
    assert browser.value("location.hash") == ""
    choose(browser, "#metric", "loss_rate")
    choose(browser, "#x", "1")
    choose(browser, "#colour", "-1")
    choose(browser, "#panels", "-1")
    choose(browser, "#filters select", "1")
    choose(browser, "#search", "codel")
    choose(browser, "#add", "rtt_min_ms")
    for _ in range(2):
        browser.value("document.querySelector('#table th button').click()")
    view, address = browser.value(VIEW), browser.value("location.href")
    assert view != plain
    for field, value in (("y", "loss_rate"), ("x", "path.queue"), ("colour", "none")):
        assert f"{field}={value}" in address
    browser.visit("about:blank")
    browser.visit(address)
    browser.wait(f"{rows} === 2")
    assert browser.value(VIEW) == view
    browser.value("location.hash = ''")
    browser.wait(f"{rows} === 4")
    assert browser.value(VIEW) == plain
    assert browser.said == []


def test_a_wrong_link_shows_the_usual_view_of_a_sweep(
    pages: dict[str, Path], browser: Browser
) -> None:
    browser.open(pages["sweep"])
    heads = "[...document.querySelectorAll('#table th')].map(head => head.textContent)"
    metric = "document.getElementById('metric').value"
    usual, first = browser.value(heads), browser.value(metric)
    wrong = (
        "y=constructor&x=none&colour=toString&panels=7&only.path.queue=red&sort=-length&column=at"
    )
    browser.visit("about:blank")
    browser.visit(f"{pages['sweep'].resolve().as_uri()}#{wrong}")
    browser.wait("document.querySelectorAll('#table tbody tr').length === 4")
    assert browser.value(metric) == first
    assert browser.value("document.getElementById('x').value") == "0"
    assert browser.value(heads) == usual
    assert browser.said == []


def test_paper_holds_what_is_open(pages: dict[str, Path], browser: Browser, tmp_path: Path) -> None:
    browser.open(pages["run"])
    browser.wait("document.querySelector('#timeline-1 .main-svg') !== null")
    folded = "document.querySelectorAll('details:not([open])').length"
    before = browser.value(folded)
    high = "document.querySelector('#timeline-1').clientHeight"
    on_screen = browser.value(high)
    browser.value("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.value(folded) == before
    plots = "[...document.querySelectorAll('.plot')]"
    open_ones = f"{plots}.filter(d => !d.closest('details:not([open])'))"
    browser.wait(f"{open_ones}.every(d => d.layout?.width <= 700)")
    browser.wait(f"{high} <= 560")
    browser.paper(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").stat().st_size > 20_000
    browser.value("window.dispatchEvent(new Event('afterprint'))")
    browser.wait(f"{high} == {on_screen}")
    assert browser.said == []


@pytest.mark.parametrize(("kind", "plot"), [("run", "#timeline-1"), ("sweep", "#charts")])
def test_paper_is_light_where_the_screen_is_dark(
    kind: str, plot: str, pages: dict[str, Path], browser: Browser
) -> None:
    browser.prefer("dark")
    try:
        browser.open(pages[kind])
        browser.wait(f"document.querySelector('{plot} .xtitle') !== null")
        inks = {}
        for moment in ("beforeprint", "afterprint"):
            browser.value(f"window.dispatchEvent(new Event('{moment}'))")
            inks[moment] = browser.value(
                f"getComputedStyle(document.querySelector('{plot} .xtitle')).fill"
            )
    finally:
        browser.prefer("light")
    assert inks == {"beforeprint": "rgb(31, 41, 55)", "afterprint": "rgb(229, 231, 235)"}
    assert browser.said == []


def test_a_page_with_one_figure_fills_the_window(pages: dict[str, Path], browser: Browser) -> None:
    high = "document.querySelector('.plot .main-svg').getBoundingClientRect().height"
    for height, least in ((900, 650), (1300, 1050)):
        browser.open(pages["grid"], 1400, height)
        browser.wait("document.querySelector('.plot .main-svg') !== null")
        assert least < browser.value(high) < height


def test_paper_has_no_buttons(pages: dict[str, Path], browser: Browser) -> None:
    browser.open(pages["figure"])
    browser.wait("document.querySelector('.modebar-container') !== null")
    shown = "getComputedStyle(document.querySelector('.modebar-container')).display"
    assert browser.value(shown) != "none"
    browser.medium("print")
    try:
        assert browser.value(shown) == "none"
    finally:
        browser.medium("screen")


def test_wide_parts_say_on_a_phone_that_they_are_cut(
    pages: dict[str, Path], sites: dict[str, Path], browser: Browser
) -> None:
    browser.open(pages["run"], 390)
    shade = "getComputedStyle(document.querySelector('.scroll')).backgroundAttachment"
    assert "local" in browser.value(shade)
    browser.open(sites["published figure"], 390)
    caption = "getComputedStyle(document.querySelector('.plate figcaption'), '::before').content"
    assert "Swipe" in browser.value(caption)


def test_a_comparison_shows_its_verdicts_on_a_phone_and_all_on_a_screen(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = Path("good.toml")
    spec.write_text(GOOD)
    assert main(["run", str(spec), "--out", "run"]) == 0
    assert main(["export", "run", "--format", "iperf3", "--out", "client"]) == 0
    (client,) = Path().glob("client-*.json")
    options = ["--trials", "2", "--max-trials", "2", "--out", "out"]
    assert main(["compare", str(spec), "--backends", f"sim,import:{client}", *options]) in (0, 1)
    for width, column in ((390, 2), (1400, 8)):
        browser.open(tmp_path / "out" / "compare.html", width)
        cells = f"[...document.querySelectorAll('.numbers td:nth-child({column})')]"
        ends = f"Math.max(...{cells}.map(cell => cell.getBoundingClientRect().right))"
        assert 0 < browser.value(ends) <= width


@pytest.mark.parametrize("kind", ["ledger", "published figure"])
def test_no_page_shows_backticks(kind: str, sites: dict[str, Path], browser: Browser) -> None:
    browser.open(sites[kind])
    assert "`" not in browser.value("document.body.innerText")
    assert browser.value("document.querySelectorAll('code').length") > 0


def test_a_situation_names_the_controls_that_ran(sites: dict[str, Path], browser: Browser) -> None:
    browser.open(sites["situation"])
    assert "subject ran under Reno, CUBIC" in browser.value("document.body.innerText")


def test_a_caption_says_what_a_figure_shows(pages: dict[str, Path], browser: Browser) -> None:
    browser.open(pages["run"])
    captions = browser.value("[...document.querySelectorAll('figcaption')].map(c => c.innerText)")
    assert "Window, packets in flight and state of each flow" in captions
    assert not [caption for caption in captions if "good" in caption]
