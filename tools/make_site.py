"""Puts the pages of the documentation site together.

    python tools/make_site.py FOLDER [PLAYGROUND [GALLERY]]

FOLDER gets what docs/ holds, with notebooks as pages that show their results, the pages about the
project, the studies, and every file of the repository that one of these points at. Links are
changed to where things are in the site. A folder in the navigation of mkdocs.yml, such as
`decisions/`, stands for all its pages. PLAYGROUND is what `make playground` builds, GALLERY what
tools/make_gallery.py makes; the site may do without: links into the playground then lead to the
page that says how to build it.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import yaml
from render_notebook import render

ROOT = Path(__file__).resolve().parents[1]
CONFIGURATION = ROOT / "mkdocs.yml"
VERSION = re.findall(
    r'^__version__ = "(.+)"', (ROOT / "python/narrows/version.py").read_text("utf-8"), re.MULTILINE
)[0]
PROJECT = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
HOW_TO_PLAY = PurePosixPath("docs/how-to/playground.md")
CELLS = "cells.csv"
"""The table of an agreement study."""
LIVE = re.compile(r'<a class="live".*</a>\n')
LINK = re.compile(r"(\]\()([^)#\s:]+)((?:#[^)]*)?\))")

KEYWORDS = {
    "docs/reference/glossary.md": ["BDP", "bandwidth-delay product", "cwnd", "AQM"],
    "docs/cookbook/which-queue.md": ["bufferbloat"],
    "docs/cookbook/round-trip-times.md": ["RTT fairness"],
    "docs/cookbook/how-much-buffer.md": ["buffer size"],
    "docs/cookbook/notebook.md": ["Jupyter"],
    "docs/how-to/install.md": ["Windows", "WSL", "macOS", "pip"],
    "docs/how-to/captures.md": ["pcap", "Wireshark", "tshark", "tcpdump"],
}
"""Words by which the search finds a page before all others."""
LAST = ("docs/results/", "docs/decisions/", "docs/reference/agreement", "experiments/", *PROJECT)
"""The beginnings of paths that the search shows last: measurements, the laboratory notebook."""


def main() -> int:
    """Builds the folder from scratch, and the configuration with all pages beside it."""
    folder = Path(sys.argv[1]).resolve()
    playground, gallery = given_folder(2), given_folder(3)
    shutil.rmtree(folder, ignore_errors=True)
    for page in pages():
        put(page, folder, live=playground is not None)
    for name in ("site.css", "site.js", "logo.svg"):
        shutil.copyfile(ROOT / "tools" / "site" / name, folder / name)
    if playground is not None:
        shutil.copytree(playground, folder / "playground")
    if gallery is not None:
        put_gallery(gallery, folder / "gallery", live=playground is not None)
    configuration = folder.with_suffix(".yml")
    configuration.write_text(configure(folder), encoding="utf-8")
    print(configuration)
    return 0


def given_folder(number: int) -> Path | None:
    """The folder that an argument names, if it exists."""
    named = Path(sys.argv[number]) if number < len(sys.argv) else None
    return named if named is not None and named.is_dir() else None


def pages() -> Iterator[PurePosixPath]:
    """The pages of the site, as paths in the repository."""
    documents = ROOT / "docs"
    found = [*documents.rglob("*.md"), *documents.rglob("*.ipynb")]
    for file in sorted([*found, *(ROOT / "experiments").glob("*/README.md")]):
        yield PurePosixPath(file.relative_to(ROOT))
    yield from map(PurePosixPath, PROJECT)


def place(path: PurePosixPath) -> PurePosixPath:
    """Where a file of the repository is in the site."""
    if path.parts[0] == "docs":
        path = path.relative_to("docs")
        return path.with_suffix(".md") if path.suffix == ".ipynb" else path
    if path.name == "README.md" and path.parts[0] == "experiments":
        return path.with_name("index.md")
    if str(path) in PROJECT:
        return PurePosixPath("project") / path
    if str(path) == "README.md":
        return PurePosixPath("index.md")
    return path if path.parts[0] in ("experiments", "playground") else PurePosixPath("files") / path


def put(page: PurePosixPath, folder: Path, live: bool) -> None:
    """Writes a page with its links changed, and the files beside it that it points at.

    With `live`, the playground is a part of the site.
    """

    def move(match: re.Match[str]) -> str:
        target = find_target(page, match[2])
        if target.parts[0] == "playground":
            target = target if live else HOW_TO_PLAY
        elif target.name == CELLS:
            put_table(target, folder)
            target = target.with_suffix(".md")
        elif target.suffix not in (".md", ".ipynb"):
            copy(target, folder)
        there = os.path.relpath(place(target), place(page).parent)
        return match[1] + there.replace(os.sep, "/") + match[3]

    text = (ROOT / page).read_text(encoding="utf-8")
    target = folder / place(page)
    target.parent.mkdir(parents=True, exist_ok=True)
    if page.suffix == ".ipynb":
        shutil.copyfile(ROOT / page, target.with_suffix(".ipynb"))
        text, pictures = render(text, page.stem)
        for name, content in pictures.items():
            (target.parent / name).write_bytes(content)
        target.write_text(f"{text}\n[This notebook as a file]({page.name})\n", encoding="utf-8")
        return
    target.write_text(findable(page, LINK.sub(move, text)), encoding="utf-8")


def findable(page: PurePosixPath, text: str) -> str:
    """The text with what the search has to know in the page's front matter."""
    known: dict[str, object] = {}
    if words := KEYWORDS.get(str(page)):
        known["tags"] = words
    if str(page).startswith(LAST):
        known["search"] = {"boost": 0.1}
    return f"---\n{yaml.safe_dump(known)}---\n\n{text}" if known else text


def put_table(file: PurePosixPath, folder: Path) -> None:
    """Puts a table of cells into the site as a page."""
    with (ROOT / file).open(encoding="utf-8", newline="") as lines:
        head, *rows = csv.reader(lines)
    table = [head, ["---"] * len(head), *rows]
    text = "\n".join(f"| {' | '.join(row)} |" for row in table)
    target = folder / place(file.with_suffix(".md"))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f"# All cells of {file.parent.name}\n\n{text}\n", encoding="utf-8")


def put_gallery(gallery: Path, folder: Path, live: bool) -> None:
    """Puts the made gallery in place of its page in docs/."""
    shutil.copytree(gallery, folder, dirs_exist_ok=True)
    page = folder / "index.md"
    if not live:
        page.write_text(LIVE.sub("", page.read_text(encoding="utf-8")), encoding="utf-8")


def find_target(page: PurePosixPath, link: str) -> PurePosixPath:
    """The file of the repository that a link means; a folder stands for its README or index."""
    path = PurePosixPath(os.path.relpath(ROOT / page.parent / link, ROOT))
    if not (ROOT / path).is_dir():
        return path
    for name in ("README.md", "index.md"):
        if (ROOT / path / name).is_file():
            return path / name
    raise SystemExit(f"{page}: the link {link} leads to a folder without a page")


def copy(file: PurePosixPath, folder: Path) -> None:
    """Puts a file that isn't a page into the site."""
    target = folder / place(file)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / file, target)


def configure(folder: Path) -> str:
    """The configuration, in which folders stand for their pages."""
    configuration = yaml.safe_load(CONFIGURATION.read_text(encoding="utf-8"))
    for key in ("docs_dir", "site_dir"):
        configuration[key] = str(ROOT / configuration[key])
    configuration["hooks"] = [str(ROOT / hook) for hook in configuration["hooks"]]
    configuration["copyright"] = f"narrows {VERSION}. {configuration['copyright']}"
    if address := repository():
        configuration["repo_url"] = address
    entries = [list_entry(entry, folder) for entry in configuration["nav"]]
    if not (folder / "playground").is_dir():
        entries.remove({"Playground": "playground/index.html"})
    configuration["nav"] = entries
    return str(yaml.safe_dump(configuration, sort_keys=False))


def repository() -> str:
    """The address of the remote `origin` if a browser can open it."""
    asked = ["git", "-C", str(ROOT), "remote", "get-url", "origin"]
    address = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return address.removesuffix(".git") if address.startswith("https://") else ""


def list_entry(entry: object, folder: Path) -> object:
    """An entry of the navigation; what ends with a slash becomes the pages below."""
    if isinstance(entry, dict):
        ((title, inner),) = entry.items()
        return {title: list_entry(inner, folder)}
    if isinstance(entry, list):
        return [list_entry(one, folder) for one in entry]
    if isinstance(entry, str) and entry.endswith("/"):
        return [file.relative_to(folder).as_posix() for file in list_pages(folder / entry)]
    return entry


def list_pages(folder: Path) -> list[Path]:
    """The pages below a folder: its index, then those that it links in their order, then others."""
    index = next((folder / n for n in ("index.md", "README.md") if (folder / n).is_file()), None)
    text = index.read_text(encoding="utf-8") if index is not None else ""

    def rank(file: Path) -> tuple[bool, int, Path]:
        at = text.find(f"]({file.relative_to(folder).as_posix()})")
        return file != index, at if at >= 0 else len(text), file

    return sorted(folder.rglob("*.md"), key=rank)


if __name__ == "__main__":
    sys.exit(main())
