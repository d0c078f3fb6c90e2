"""Which figures can be made again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.errors import InputError

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

    Checks = Callable[[StoredTrial], list[Check]]

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Entry:
    """A published figure: what it shows, where it stands, and how it is made again.

    `spec` is a file in `data`, a link to the one in `experiments/`. `show` is
    the stretch of time in seconds that the figure shows. `checks` names the
    module here whose function `checks` judges a run.
    """

    identifier: str
    summary: str
    source: str
    spec: str
    show: tuple[float, float]
    checks: str

    @property
    def path(self) -> Path:
        """The specification's file."""
        return DATA / self.spec

    def judge(self) -> Checks:
        """The function that judges a run; this loads polars."""
        module = import_module(f"narrows.reproduce.{self.checks}")
        found: Checks = module.checks
        return found


REGISTRY = {
    entry.identifier: entry
    for entry in (
        Entry(
            "panaderia/fig9",
            "BBR and CUBIC take turns in a medium buffer",
            'Figure 9 of "Sharing but not Caring" (Claypool et al., AICT 2019)',
            "panaderia-fig9.toml",
            (60.0, 120.0),
            "panaderia_fig9",
        ),
    )
}


def find(identifier: str) -> Entry:
    """The entry of that name; raises InputError for one that isn't known."""
    entry = REGISTRY.get(identifier)
    if entry is None:
        known = ", ".join(f'"{name}"' for name in REGISTRY)
        raise InputError.at("reproduce", f'"{identifier}"', f'one of {known} or "all"')
    return entry


def listing() -> Iterator[tuple[str, str]]:
    """The names of all figures and what each shows."""
    for entry in REGISTRY.values():
        yield entry.identifier, f"{entry.summary}: {entry.source}"
