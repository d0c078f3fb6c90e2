"""The documentation site: `make site` puts it together and runs this."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browser import Browser
from required import MISSING, needs, require
from serving import Server

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "target" / "site"
SOURCES = (*(ROOT / "docs").rglob("*.md"), ROOT / "mkdocs.yml")


def is_outdated() -> bool:
    built = SITE / "sitemap.xml"
    return not built.exists() or built.stat().st_mtime < max(f.stat().st_mtime for f in SOURCES)


require("site", "the site isn't built or is old: make site" if is_outdated() else "")
SHOWN = (
    "", "tutorial/", "gallery/", "cookbook/who-wins/", "how-to/coming-from/", "reference/claims/",
    "reference/commands/", "explanation/trust/", "notebooks/first-steps/",
    "teaching/own-control-solution/", "project/CHANGELOG/",
)  # fmt: skip
OWN = ("playground", "assets")
"""Folders with pages and scripts that have their own tests, or come from the generator."""


class Page(HTMLParser):
    """The places of a page that can be linked to, and its links."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes what a tag has."""
        for name, value in attrs:
            if value is None:
                continue
            if name in ("id", "name"):
                self.names.add(value)
            elif name == "src" or (name == "href" and tag in ("a", "link")):
                self.links.append(value)


@functools.cache
def page(file: Path) -> Page:
    return Page(file)


def broken(file: Path) -> Iterator[str]:
    for link in page(file).links:
        parts = urlsplit(link)
        if parts.scheme in ("http", "https", "data", "mailto"):
            continue
        path = unquote(parts.path)
        base = SITE if path.startswith("/") else file.parent
        target = (base / path.lstrip("/")).resolve() if path else file
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file() or not has_anchor(target, unquote(parts.fragment)):
            yield link


def has_anchor(file: Path, name: str) -> bool:
    ours = file.suffix == ".html" and "playground" not in file.relative_to(SITE).parts
    return not name or not ours or name in page(file).names


def test_every_link_leads_somewhere() -> None:
    files = [f for f in SITE.rglob("*.html") if f.relative_to(SITE).parts[0] not in OWN]
    assert len(files) > 60
    lost = {str(file.relative_to(SITE)): list(broken(file)) for file in files}
    assert {name: links for name, links in lost.items() if links} == {}


def test_pages_of_the_repository_are_all_there() -> None:
    for file in (ROOT / "docs").rglob("*.md"):
        path = file.relative_to(ROOT / "docs").with_suffix("")
        home = path.parent if path.name in ("index", "README") else path
        assert (SITE / home / "index.html").is_file(), file


def test_commands_are_copied_without_prompts_and_output() -> None:
    text = (SITE / "tutorial" / "index.html").read_text(encoding="utf-8")
    copied = re.findall(r'data-copy="([^"]*)"', text)
    assert "narrows run link.toml --set path.buffer=8bdp --out deep" in copied
    lines = [line for block in copied for line in block.splitlines()]
    assert [line for line in lines if not line.startswith("narrows ")] == []


def test_notebooks_are_pages_with_their_results() -> None:
    for name in ("first-steps", "sweeps"):
        text = (SITE / "notebooks" / name / "index.html").read_text(encoding="utf-8")
        assert 'class="language-python highlight"' in text
        assert 'class="dataframe"' in text
        assert f'src="../{name}-1.png"' in text
        assert (SITE / "notebooks" / f"{name}.ipynb").is_file()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    found = Server(SITE)
    yield found
    found.stop()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    require("chromium", MISSING["chromium"]())
    with Browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("shown", SHOWN)
def test_a_page_fits_and_asks_nobody_else(
    shown: str, width: int, browser: Browser, server: Server
) -> None:
    browser.visit(server.address + shown, width)
    beyond = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.value(beyond) <= 0
    asked = browser.value("performance.getEntriesByType('resource').map(one => one.name)")
    assert [one for one in asked if not one.startswith((server.address, "data:", "blob:"))] == []
    assert browser.said == []


@pytest.mark.parametrize(
    ("words", "answers"),
    [
        ("bufferbloat", ("reference/glossary/", "cookbook/which-queue/")),
        ("rtt fairness", ("cookbook/round-trip-times/",)),
        ("windows", ("how-to/install/",)),
        ("macos", ("how-to/install/",)),
        ("BDP", ("reference/glossary/",)),
        ("notebook", ("cookbook/notebook/",)),
        ("pcap", ("how-to/captures/",)),
        ("wireshark", ("how-to/captures/",)),
        ("buffer size", ("cookbook/how-much-buffer/",)),
    ],
)
def test_the_search_finds_the_page_that_answers_first(
    words: str, answers: tuple[str, ...], browser: Browser, server: Server
) -> None:
    browser.visit(server.address)
    browser.value("document.querySelector('input[name=query]').focus()")
    browser.value(
        f"(field => {{ field.value = {words!r}; field.dispatchEvent(new Event('keyup'));"
        " field.dispatchEvent(new Event('input')); })(document.querySelector('input[name=query]'))"
    )
    found = "document.querySelector('.md-search-result__item a')"
    browser.wait(f"{found} !== null")
    page = browser.value(f"new URL({found}.href).pathname.slice(1)")
    assert page in answers


@needs("playground")
def test_the_playground_is_one_click_away(browser: Browser, server: Server) -> None:
    browser.visit(server.address)
    address = browser.value(
        "[...document.querySelectorAll('.md-tabs a')]"
        ".find(one => one.textContent.trim() === 'Playground').href"
    )
    browser.visit(address)
    browser.wait("!!document.documentElement.dataset.digest")


@pytest.mark.skipif(not (SITE / "playground").is_dir(), reason="the playground isn't built")
def test_the_live_lesson_starts_at_a_click(browser: Browser, server: Server) -> None:
    browser.visit(server.address)
    browser.value("document.querySelector('.live-lesson a').click()")
    page = "document.querySelector('.live-lesson iframe').contentDocument"
    browser.wait(f"!!{page}?.querySelector('live-run')?.dataset.digest")
    assert browser.said == []


def test_a_folder_begins_with_its_index_and_goes_on_in_its_order() -> None:
    index = (SITE / "cookbook" / "index.html").read_text(encoding="utf-8")
    assert '<link rel="next" href="who-wins/">' in index
    page = (SITE / "cookbook" / "who-wins" / "index.html").read_text(encoding="utf-8")
    assert '<link rel="prev" href="../">' in page
    assert '<link rel="next" href="../short-transfers/">' in page


@pytest.mark.parametrize(
    ("preferred", "scheme", "turned"), [("light", "default", False), ("dark", "slate", True)]
)
def test_pictures_suit_the_page(
    preferred: str, scheme: str, turned: bool, browser: Browser, server: Server
) -> None:
    browser.visit(server.address)
    browser.value("localStorage.clear()")
    browser.prefer(preferred)
    browser.visit(server.address)
    # Material follows the preference in a task of its own, which may run after the load event.
    browser.wait(f"document.body.dataset.mdColorScheme == '{scheme}'")
    shown = "getComputedStyle(document.querySelector('.md-content img')).filter"
    assert browser.value(shown).startswith("invert") == turned
    browser.prefer("light")
    browser.value("localStorage.clear()")


def test_a_page_follows_the_system_at_the_second_visit_too(
    browser: Browser, server: Server
) -> None:
    for preferred, scheme in (("light", "default"), ("dark", "slate"), ("light", "default")):
        browser.prefer(preferred)
        browser.visit(server.address)
        browser.wait(f"document.body.dataset.mdColorScheme == '{scheme}'")


@pytest.mark.skipif(
    not (ROOT / "target" / "gallery").is_dir(), reason="the gallery isn't made: make site"
)
def test_the_gallery_has_pictures_and_links_into_the_playground() -> None:
    text = (SITE / "gallery" / "index.html").read_text(encoding="utf-8")
    assert text.count('class="card"') > 30
    links = re.findall(r'class="live" href="([^"]+)"', text)
    assert (len(links) > 25) == (SITE / "playground").is_dir()
    assert all(link.startswith("../playground/index.html#") for link in links)


@pytest.mark.skipif(
    not all((SITE / part).is_dir() for part in ("playground", "gallery/images")),
    reason="the playground isn't built: make site",
)
def test_the_playground_runs_what_the_gallery_links_to(browser: Browser, server: Server) -> None:
    text = (SITE / "gallery" / "index.html").read_text(encoding="utf-8")
    for link in re.findall(r'class="live" href="\.\./([^"]+)"', text)[::8]:
        browser.visit("about:blank")
        browser.visit(server.address + link)
        browser.wait("!!document.documentElement.dataset.digest")
