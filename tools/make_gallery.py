"""Makes the gallery of the documentation site, from real runs.

    python tools/make_gallery.py FOLDER

Runs every entry of docs/gallery/catalogue.toml, draws its figure, and writes into FOLDER the page
of the site and its pictures. Results stay beside it, so that only what has changed runs again.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import html
import io
import json
import re
import shlex
import shutil
import sys
import tomllib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from PIL import Image

from narrows import _native
from narrows.cli import main as narrows
from narrows.figures import static
from narrows.figures.model import Figure
from narrows.sweeps.figure import describe

ROOT = Path(__file__).resolve().parents[1]
CATALOGUE = ROOT / "docs" / "gallery" / "catalogue.toml"
PAGE = ROOT / "docs" / "gallery" / "index.md"
MARK = "<!-- entries -->"
DPI = 100
COLOURS = 96
"""The palette of a picture, which shrinks it to 20 % of its size."""
PRESET = """# {preset}.toml
name = "{preset}"

[path]
preset = "{preset}"

[[flows]]
cca = "{flows[0]}"

[[flows]]
cca = "{flows[1]}"

[run]
duration = "30s"
warmup = "5s"
"""


@dataclass(frozen=True)
class GalleryEntry:
    """A figure of the gallery and where it comes from."""

    title: str
    text: str
    file: str = ""
    """A specification of the repository; empty if `toml` has it or `preset` makes it."""
    toml: str = ""
    preset: str = ""
    flows: list[str] = field(default_factory=lambda: ["cubic", "bbr"])
    """The controls of two flows over a preset."""
    sets: list[str] = field(default_factory=list)
    sweep: list[str] | None = None
    """Values to set in a sweep; None for a run."""
    capture: bool = False
    """Shows what `narrows analyze` finds in a capture of the run."""
    figure: str = "timeline"
    options: dict[str, str] = field(default_factory=dict)
    panels: int = 2
    """The first panels of a stack that are shown."""

    @property
    def slug(self) -> str:
        """The name of its picture."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")

    @property
    def specification(self) -> str:
        """The text of its specification."""
        if self.file:
            return (ROOT / self.file).read_text(encoding="utf-8")
        return self.toml or PRESET.format(preset=self.preset, flows=self.flows)

    @property
    def name(self) -> str:
        """The name of the specification without its suffix."""
        if self.file:
            return Path(self.file).stem
        return str(tomllib.loads(self.specification)["name"])

    def commands(self) -> list[list[str]]:
        """The words of the commands that give its results and the figure."""
        if self.sweep is not None:
            run = ["run", f"{self.name}.toml", *as_sets(self.sweep), "--out", self.name]
        else:
            pcap = ["--pcap"] if self.capture else []
            run = ["run", f"{self.name}.toml", *as_sets(self.sets), *pcap, "--out", self.name]
        found = [run]
        if self.capture:
            capture = f"{self.name}/trial-1/captures/sender.pcapng"
            found.append(["analyze", capture, "--out", f"{self.name}-capture"])
        options = [word for key, value in self.options.items() for word in (f"--{key}", value)]
        return [*found, ["figure", self.place, self.figure, *options]]

    @property
    def place(self) -> str:
        """The directory of the results that the figure shows."""
        return f"{self.name}-capture" if self.capture else self.name


def as_sets(values: list[str]) -> list[str]:
    """Turns values into `--set` options."""
    return [word for value in values for word in ("--set", value)]


def sections() -> Iterator[tuple[str, str, list[GalleryEntry]]]:
    """Titles, texts and entries, in the order of the catalogue."""
    for section in tomllib.loads(CATALOGUE.read_text(encoding="utf-8"))["section"]:
        yield section["title"], section["text"], [GalleryEntry(**one) for one in section["entry"]]


def main() -> int:
    """Builds the folder from scratch."""
    folder = Path(sys.argv[1]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "images").mkdir(parents=True)
    work = folder.with_name(f"{folder.name}-results")
    parts, kept = [], set()
    for title, text, entries in sections():
        cards = []
        for entry in entries:
            results = compute(entry, work)
            kept.add(results)
            cards.append(card(entry, draw(entry, results, folder / "images")))
        parts.append(f"## {title}\n\n{text}\n\n" + GRID.format(cards="\n\n".join(cards)))
    for old in set(work.iterdir()) - kept:
        shutil.rmtree(old)
    page = PAGE.read_text(encoding="utf-8").partition(MARK)[0] + "\n".join(parts)
    (folder / "index.md").write_text(page, encoding="utf-8")
    print(folder)
    return 0


def compute(entry: GalleryEntry, work: Path) -> Path:
    """The folder with the results of an entry, from the same engine."""
    folder = work / key(entry)
    if (folder / "done").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    source = ROOT / Path(entry.file).parent if entry.file else None
    folder.mkdir(parents=True)
    if source is not None:
        for trace in source.glob("*.t[rx][at]*"):
            shutil.copy(trace, folder)
    (folder / f"{entry.name}.toml").write_text(entry.specification, encoding="utf-8")
    for words in entry.commands()[:-1]:
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
            if narrows(words):
                raise SystemExit(f"{entry.title}: narrows {shlex.join(words)} failed")
    (folder / "done").touch()
    return folder


def key(entry: GalleryEntry) -> str:
    """Names the results of an entry; entries with the same commands share them."""
    engine = hashlib.sha256(Path(_native.__file__).read_bytes()).hexdigest()
    parts = [engine, entry.specification, entry.commands()[:-1]]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def draw(entry: GalleryEntry, results: Path, images: Path) -> Figure:
    """Draws the figure of an entry into `images` and returns it."""
    figure = describe(str(results / entry.place), entry.figure, **entry.options)
    if figure.stack is not None:
        figure = replace(figure, panels=figure.panels[: entry.panels])
    canvas, picture = io.BytesIO(), images / f"{entry.slug}.png"
    with static.style():
        static.draw(figure).savefig(canvas, dpi=DPI, format="png")
    Image.open(canvas).convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE).save(
        picture, optimize=True
    )
    return figure


GRID = """<div class="gallery" markdown="1">

{cards}

</div>
"""
CARD = """<div class="card" id="{slug}" markdown="1">

<a href="images/{slug}.png"><img src="images/{slug}.png" alt="{alt}" loading="lazy"></a>

**{title}** ({figure})<br>
{text}

<details markdown="1"><summary>TOML and commands</summary>

```toml
{toml}
```

```bash
{commands}
```

</details>
{link}
</div>"""


def card(entry: GalleryEntry, figure: Figure) -> str:
    """The entry on the page."""
    where = share(entry)
    link = f'\n<a class="live" href="../playground/index.html{where}">Open in the playground</a>\n'
    return CARD.format(
        slug=entry.slug,
        alt=html.escape(figure.alt, quote=True),
        title=entry.title,
        figure=f"`{entry.figure}`",
        text=entry.text,
        toml=entry.specification.strip(),
        commands="\n".join(f"narrows {shlex.join(words)}" for words in entry.commands()),
        link=link if where else "",
    )


def share(entry: GalleryEntry) -> str:
    """The part of a playground address that holds the specification; empty if it can't run there.

    The playground runs one combination, without files and without code.
    """
    text = entry.specification
    if (
        entry.sweep is not None
        or entry.sets
        or re.search(r"^ *\w+ *=.*\bfile = ", text, re.MULTILINE)
    ):
        return ""
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(json.dumps({"text": text}).encode()) + packer.flush()
    return "#" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


if __name__ == "__main__":
    sys.exit(main())
