"""Draws the pictures of the README, from the commands that stand beside them.

    python tools/draw_readme.py

docs/images/take-turns.svg is the run that `narrows demo` shows, docs/images/shares.svg the sweep of
the README's first question.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from narrows import demo, starters
from narrows.backends import get_backend
from narrows.figures import static
from narrows.figures.model import Figure
from narrows.reproduce.catalogue import exhibits
from narrows.reproduce.exhibit import Scope
from narrows.reproduce.gather import measurements, work
from narrows.sweeps import execute, prepare
from narrows.sweeps.figure import describe

TARGET = Path(__file__).parents[1] / "docs" / "images"
BUFFERS = 'path.buffer=["0.5bdp", "1bdp", "2bdp", "4bdp", "8bdp"]'


def main() -> None:
    """Writes both pictures."""
    with tempfile.TemporaryDirectory() as place:
        pictures = {"take-turns": take_turns(Path(place)), "shares": shares(Path(place))}
        for name, figure in pictures.items():
            print(*static.save(figure, TARGET / name, ["svg"]))


def take_turns(place: Path) -> Figure:
    """Throughput and queue over a minute of the demo's first run, without the paper's bounds."""
    demo.compute(place)
    exhibit = exhibits()[demo.FIGURE]
    scope = Scope(exhibit.profile, quick=True)
    data = measurements(work(exhibit, scope, get_backend("sim")), place)
    [picture] = exhibit.method().draw(data)
    figure: Figure = picture.figure
    throughput, queue, *_ = figure.panels
    panels = (replace(throughput, guides=()), queue)
    return replace(figure, title="BBR and CUBIC take turns", panels=panels)


def shares(place: Path) -> Figure:
    """Shares of BBR and CUBIC over the buffer, from the starting point `fair`."""
    [spec] = starters.write(starters.find("fair"), place)
    store = str(place / "store")
    execute(prepare(str(spec), [BUFFERS], out=store))
    return describe(store, "share")


if __name__ == "__main__":
    main()
