"""The gallery: every kind of figure is in it, and its commands and links are right."""

from __future__ import annotations

import base64
import json
import sys
import tomllib
import zlib
from pathlib import Path
from typing import Any

import pytest
import typer

from narrows import figures
from narrows.cli.app import app
from narrows.spec import parse

ROOT = Path(__file__).parents[2]
try:
    sys.path.insert(0, str(ROOT / "tools"))
    import make_gallery as gallery
finally:
    sys.path.remove(str(ROOT / "tools"))

ENTRIES = [entry for *_, entries in gallery.sections() for entry in entries]
ROOT_COMMAND: Any = typer.main.get_command(app)


def test_every_kind_of_figure_is_shown() -> None:
    assert {entry.figure for entry in ENTRIES} == set(figures.CATALOGUE)


def test_each_entry_has_a_picture_of_its_own() -> None:
    assert len({entry.slug for entry in ENTRIES}) == len(ENTRIES) > 30


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.slug)
def test_the_commands_of_an_entry_exist(entry: gallery.GalleryEntry) -> None:
    for words in entry.commands():
        command = ROOT_COMMAND.commands[words[0]]
        with command.make_context("narrows", words[1:]):
            pass


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.slug)
def test_a_link_opens_the_specification(entry: gallery.GalleryEntry) -> None:
    link = gallery.share(entry)
    if not link:
        assert entry.sweep is not None or entry.sets
        return
    packed = base64.urlsafe_b64decode(link[1:] + "=" * (-len(link[1:]) % 4))
    text = json.loads(zlib.decompress(packed, wbits=-15))["text"]
    assert text == entry.specification
    read = parse(text, "playground").spec
    assert read.scenario["name"] == entry.name


def test_an_entry_runs_and_is_drawn(tmp_path: Path) -> None:
    for figure in ("cwnd", "sequence"):
        entry = next(one for one in ENTRIES if one.figure == figure)
        results = gallery.compute(entry, tmp_path / "results")
        shown = gallery.draw(entry, results, tmp_path)
        page = gallery.card(entry, shown)
        assert (tmp_path / f"{entry.slug}.png").stat().st_size > 5_000
        assert (
            tomllib.loads(page.partition("```toml\n")[2].partition("```")[0])["name"] == entry.name
        )
        assert gallery.compute(entry, tmp_path / "results") == results


def test_another_specification_runs_anew() -> None:
    one = gallery.GalleryEntry("a", "", toml='name = "a"\n')
    assert gallery.key(one) != gallery.key(gallery.GalleryEntry("a", "", toml='name = "a" # b\n'))
