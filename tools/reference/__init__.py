"""The files that follow from the sources: pages of docs/reference, Python classes, adapters.

Each module has a function `pages`, which gives the texts of some files by their paths.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "reference"


def fill(page: Path, **blocks: str) -> dict[Path, str]:
    """A page whose text between a line `<!-- NAME -->` and the next `<!-- end -->` is replaced."""
    text = page.read_text(encoding="utf-8")
    for name, block in blocks.items():
        between = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text = between.sub(lambda found, block=block: f"{found[1]}{block}\n{found[2]}", text)
    return {page: text}


def format_python(text: str, target: Path) -> str:
    """The text formatted by `ruff format`."""
    ruff = Path(sys.executable).with_name("ruff")
    command = [str(ruff), "format", "--stdin-filename", str(target), "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout
