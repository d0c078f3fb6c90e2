"""Builds the playground from its files, the simulator as WebAssembly, and the figures' colours.

    python tools/make_playground.py MODULE.wasm FOLDER [DOCUMENTATION]

Any static web server can serve FOLDER. DOCUMENTATION is the address of the documentation's
home page as seen from FOLDER; without it the pages have no links to the documentation.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import sys
import tomllib
from dataclasses import asdict
from pathlib import Path

from narrows.figures import palette
from narrows.spec import registry

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "playground"
DOCUMENTATION = re.compile(r'<(a|span) class="documentation".*?</\1>', re.DOTALL)
"""A link to a page of the documentation."""
PRESETS = ROOT / "crates" / "spec" / "src" / "presets.toml"


def main() -> int:
    """Builds the folder from scratch."""
    module, folder = Path(sys.argv[1]), Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("README.md"))
    shutil.copyfile(module, folder / "narrows.wasm")
    frame_lessons(folder / "lessons")
    link_documentation(folder, sys.argv[3] if len(sys.argv) > 3 else None)
    (folder / "looks.json").write_text(json.dumps(_looks()))
    (folder / "presets.json").write_text(json.dumps(tomllib.loads(PRESETS.read_text("utf-8"))))
    allow_frame(folder)
    keep_offline(folder)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"{folder}: {size / 1e6:.1f} MB")
    return 0


def frame_lessons(folder: Path) -> None:
    """Wraps each lesson in the frame that all share; its heading becomes the page's title."""
    frame = folder / "frame.html"
    around = frame.read_text(encoding="utf-8")
    frame.unlink()
    for file in folder.glob("*.html"):
        lesson = file.read_text(encoding="utf-8")
        title = re.search("<h1>(.+?)</h1>", lesson)
        if title is None:
            raise SystemExit(f"{file.name} has no heading <h1>")
        page = around.replace("TITLE", title[1]).replace("LESSON", lesson)
        file.write_text(page, encoding="utf-8")


def link_documentation(folder: Path, home: str | None) -> None:
    """Completes the links to the documentation, or removes them."""
    for file in folder.rglob("*.html"):
        depth = "../" * (len(file.relative_to(folder).parts) - 1)
        text = file.read_text(encoding="utf-8")
        if home is None:
            text = DOCUMENTATION.sub("", text)
        file.write_text(text.replace('href="DOCS/', f'href="{depth}{home}'), encoding="utf-8")


def _looks() -> dict[str, object]:
    """The colours of controls, further colours for other curves, and the controls' titles."""
    return {
        "controls": {name: asdict(colour) for name, colour in palette.COLOURS.items()},
        "others": [asdict(colour) for colour in palette.FREE],
        "titles": {name: registry.title(name) for name in registry.ccas()},
    }


def allow_frame(folder: Path) -> None:
    """Adds the hash of the frame's script to the content security policies of both pages."""
    frame, page = folder / "frame.html", folder / "index.html"
    text = frame.read_text(encoding="utf-8")
    (script,) = re.findall("<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    _fill(frame, "SCRIPT", f"'sha256-{digest}'")
    _fill(page, "FRAME", f"'sha256-{digest}'")


def keep_offline(folder: Path) -> None:
    """Gives the service worker the digests of all files, and a version that follows from them."""
    worker = folder / "offline.js"
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file != worker)
    digests = {
        file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
    }
    listed = json.dumps(digests, indent=2)
    _fill(worker, "narrows-VERSION", f"narrows-{hashlib.sha256(listed.encode()).hexdigest()[:12]}")
    _fill(worker, "DIGESTS = {}", f"DIGESTS = {listed}")


def _fill(file: Path, gap: str, content: str) -> None:
    """Fills a file's placeholder, which must occur exactly once."""
    text = file.read_text(encoding="utf-8")
    if text.count(gap) != 1:
        raise SystemExit(f"{file.name} has {text.count(gap)} times {gap!r}, not once")
    file.write_text(text.replace(gap, content), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
