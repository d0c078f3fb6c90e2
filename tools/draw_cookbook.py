"""Draws the pictures of the cookbook, by running the commands of its pages.

    python tools/draw_cookbook.py [PAGE ...]

The picture `images/NAME.png` of a page is the file NAME.png that one of its commands writes.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))
from documented import Command, File, blocks, run_command, steps  # noqa: E402

COOKBOOK = ROOT / "docs" / "cookbook"
PICTURE = re.compile(r"\(images/([\w.-]+\.png)\)")
WIDTH, COLOURS = 1000, 96
JUDGES = ("evaluate", "reproduce", "search")
"""Commands that end with status 1 if they find that something fails."""


def main() -> None:
    """Renews the pictures of the pages that are named, or of all."""
    named = [COOKBOOK / f"{name}.md" for name in sys.argv[1:]]
    for page in named or pages():
        with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
            for command, status, _ in follow(page):
                if status > (command.words[0] in JUDGES):
                    raise SystemExit(f"{page.name}: narrows {' '.join(command.words)} failed")
            for name in PICTURE.findall(page.read_text(encoding="utf-8")):
                print(shrink(Path(place), name))


def pages() -> list[Path]:
    """The pages with a question each."""
    return sorted(set(COOKBOOK.glob("*.md")) - {COOKBOOK / "index.md"})


def follow(page: Path) -> Iterator[tuple[Command, int, str]]:
    """Does what a page says in the working directory: its commands with status and output.

    Our own figures as they are, which take long, are left out.
    """
    for step in steps(page):
        if isinstance(step, File):
            Path(step.name).write_text(step.text, encoding="utf-8")
    for language, lines in blocks(page):
        for line in lines if language == "bash" else ():
            if line.startswith("python "):
                subprocess.run([sys.executable, *line.split()[1:]], check=True)
    for step in steps(page):
        if isinstance(step, Command) and (step.words[0] != "reproduce" or "--set" in step.words):
            yield step, *run_command(step.words, step.to)


def shrink(place: Path, name: str) -> Path:
    """Keeps a picture that was drawn in `place`, with fewer pixels and colours."""
    [drawn] = place.rglob(name)
    picture = Image.open(drawn).convert("RGB")
    size = (WIDTH, round(picture.height * WIDTH / picture.width))
    target = COOKBOOK / "images" / name
    picture.resize(size, Image.Resampling.LANCZOS).quantize(
        COLOURS, Image.Quantize.MAXCOVERAGE
    ).save(target, optimize=True)
    return target


if __name__ == "__main__":
    main()
