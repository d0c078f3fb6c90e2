"""The site of the reproductions: gathers the contents of the pages and lets `report` write them.

OUT/site/index.html            the ledger, document by document
OUT/site/DOCUMENT-FIGURE.html  a page for each figure, every way it was made
OUT/site/data/                 the measurements as Parquet and CSV
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from narrows.reproduce import judgements, ledger
from narrows.reproduce.catalogue import exhibits, lessons
from narrows.reproduce.claims import KINDS, claims
from narrows.reproduce.exhibit import Data, Exhibit, Picture
from narrows.reproduce.gather import Work
from narrows.reproduce.library import documents, library
from narrows.reproduce.records import read_list, write_list
from narrows.words import count_of

PLATES = "plates.json"
"""The existing pictures, so that a page can be rewritten when another way is added."""


@dataclass(frozen=True, slots=True)
class StoredFigure:
    """The pictures and tables of a figure made in one way, as names relative to the site."""

    figure: str
    backend: str
    profile: str
    quick: bool
    plates: tuple[tuple[str, str, str], ...]
    tables: tuple[str, ...]
    pictures: tuple[str, ...]
    runs: str = ""

    @property
    def key(self) -> tuple[str, str, str, bool]:
        """The key under which newer ones replace these."""
        return (self.figure, self.backend, self.profile, self.quick)


def write_figure_files(
    item: Work, pictures: Sequence[Picture], data: Data, out: Path
) -> StoredFigure:
    """Draws the pictures and writes the tables of one figure."""
    from narrows.figures import static
    from narrows.figures.placing import comparable
    from narrows.report.site import write_tables

    site = out / "site"
    site.mkdir(parents=True, exist_ok=True)
    stem = f"{item.name}-{item.backend}"
    plates, files = [], []
    for picture in pictures:
        name = f"{stem}-{picture.name}" if picture.name else stem
        files += static.save(comparable(picture.figure), site / name)
        plates.append((name, picture.caption, picture.figure.alt))
    tables = write_tables(site / "data", stem, data.frames)
    scope = item.scope
    return StoredFigure(
        item.exhibit.identifier,
        item.backend,
        scope.profile,
        scope.quick,
        tuple(plates),
        tuple(tables),
        tuple(str(file) for file in files),
        _runs(item),
    )


def _runs(item: Work) -> str:
    """The number of runs, their seeds, the engine and the platform."""
    plans = [condition.cell.plan for condition in item.cells]
    seeds = sorted({trial.seed for plan in plans for trial in plan.trials})
    engines = sorted({condition.engine.engine for condition in item.cells})
    count = sum(len(plan.trials) for plan in plans)
    conditions = count_of(len(plans), "condition")
    return (
        f"{conditions}, {count_of(count, 'run')}, seeds {seeds[0]} to {seeds[-1]}; engine "
        f"{', '.join(engines)}; {platform.system()}, {platform.machine()}."
    )


def write_site(
    out: Path, entries: Sequence[ledger.LedgerEntry], new: Sequence[StoredFigure], backend: str
) -> tuple[dict[str, Path], Path]:
    """Writes the pages of the figures in `new` and the index; returns their paths."""
    (out / "site").mkdir(parents=True, exist_ok=True)
    known = {plates.key: plates for plates in read_list(out / PLATES, "plates", _stored_figure)}
    known.update({plates.key: plates for plates in new})
    write_list(out / PLATES, "plates", known.values())
    pages = {}
    for identifier in dict.fromkeys(plates.figure for plates in new):
        exhibit = exhibits()[identifier]
        mine = [plates for plates in known.values() if plates.figure == identifier]
        pages[identifier] = _page(out, exhibit, mine, entries, backend)
    return pages, _index(out, entries, list(known.values()))


def _stored_figure(fields: dict[str, Any]) -> StoredFigure:
    plates = tuple((stem, caption, alt) for stem, caption, alt in fields.pop("plates"))
    tables, pictures = tuple(fields.pop("tables")), tuple(fields.pop("pictures"))
    return StoredFigure(**fields, plates=plates, tables=tables, pictures=pictures)


def _page(
    out: Path,
    exhibit: Exhibit,
    ways: list[StoredFigure],
    entries: Sequence[ledger.LedgerEntry],
    backend: str,
) -> Path:
    from narrows.report.site import FigureFiles, FigurePage, FigureVersion, write_figure

    order = (exhibit.profile, *exhibit.also)
    ways.sort(key=lambda p: (p.quick, p.backend != "sim", p.profile not in order, p.profile))
    versions = [
        FigureVersion(
            _label(way),
            _note(way),
            way.runs,
            [FigureFiles(*plate) for plate in way.plates],
            [_verdict(item) for item in entries if _same(item, way)],
            way.tables,
        )
        for way in ways
    ]
    claimed = (item.way for item in entries if item.figure == exhibit.identifier)
    shown = [way for way in claimed if way.backend == backend]
    page = FigurePage(
        exhibit.identifier,
        exhibit.title,
        exhibit.source,
        lessons()[exhibit.identifier],
        exhibit.choices,
        _command(exhibit.identifier, backend) + _options(shown),
        versions,
        bool(exhibit.claims),
    )
    return write_figure(out / "site", page)


def _command(figure: str, backend: str) -> str:
    on = "" if backend == "sim" else f" --backend {backend}"
    return f"narrows reproduce {_words(figure)}{on}"


def _words(figure: str) -> str:
    """The words by which a command means a figure: its id, or the path of an own paper."""
    home = library().home
    if home is None:
        return figure
    document, _, name = figure.partition("/")
    code, own = exhibits()[figure].code, library().measures(document)
    files = [*([home.parent / code] if code else []), *([own] if own else [])]
    allowed = "".join(f" --allow-code {file}" for file in files)
    place = home.parent / f"{name}.toml" if name else home.parent
    dot = "" if place.is_absolute() or str(place).startswith(".") else "./"  # else it is an id
    return f"{dot}{place}{allowed}"


def _options(ways: Sequence[ledger.Way]) -> str:
    """The options with which findings were made."""
    varied = " --vary-paths" if any(way.has_varied_paths for way in ways) else ""
    limits = {way.trials for way in ways if way.trials is not None}
    return varied + "".join(f" --trials {limit}" for limit in sorted(limits)[-1:])


def _note(way: StoredFigure) -> str:
    """How a version differs from the document's figure, if it does."""
    if not way.quick:
        return ""
    command = _command(way.figure, way.backend)
    return f"Fewer runs than for the whole figure, which is made by: {command}"


def _label(way: StoredFigure) -> str:
    where = "Simulated" if way.backend == "sim" else f"On the back end {way.backend}"
    return f"{where}, with the TCP of {way.profile}"


def _same(item: ledger.LedgerEntry, way: StoredFigure) -> bool:
    made = (item.figure, item.way.backend, item.way.profile, item.way.quick)
    return made == way.key


def _verdict(item: ledger.LedgerEntry) -> Any:  # noqa: ANN401 (of a module that is loaded late)
    from narrows.report import Check
    from narrows.report.site import ClaimVerdict

    claim = claims()[item.claim]
    reason = Check(**item.reason) if item.reason else None
    checks = [Check(**check) for check in item.checks]
    notes = [Check(**note) for note in item.notes]
    return ClaimVerdict(
        claim.identifier,
        claim.where,
        claim.setup,
        claim.expect,
        claim.quote,
        item.verdict,
        str(item.way),
        checks,
        reason,
        notes,
    )


def own_profiles() -> dict[str, str]:
    """The kernel of each claim's document."""
    return {claim: e.profile for e in exhibits().values() for claim in e.claims}


def _thumbs(plates: Sequence[StoredFigure]) -> dict[str, str]:
    """The first picture of every figure, one of a whole grid if there is one."""
    ordered = sorted(plates, key=lambda p: (not p.quick, p.backend == "sim"))
    return {one.figure: one.plates[0][0] for one in ordered if one.plates}


def _index(
    out: Path, entries: Sequence[ledger.LedgerEntry], plates: Sequence[StoredFigure]
) -> Path:
    from narrows.report.site import Chapter, write_index

    judged, thumbs = judgements.read_known(out), _thumbs(plates)
    here = ledger.lines(entries, own_profiles(), judged)
    ran = {line.claim.identifier for line in here if line.entries}
    recorded = ledger.lines(ledger.read_recorded(), own_profiles(), judged)
    kept = [line for line in recorded if line.claim.identifier not in ran]
    chapters = [
        Chapter(
            document,
            title,
            [_row(line, thumbs) for line in here if line.entries and _is_of(line, document)],
            [_plain_row(line) for line in kept if _is_of(line, document)],
        )
        for document, title in documents().items()
    ]
    shown = [mine if mine.decisive else old for mine, old in zip(here, recorded, strict=True)]
    kinds = ledger.counts_by_kind(shown)
    counts = {KINDS[kind]: ledger.in_words(told) for kind, told in kinds.items()}
    return write_index(out / "site", chapters, counts)


def _is_of(line: ledger.ClaimVerdicts, document: str) -> bool:
    return line.claim.document == document


def _row(line: ledger.ClaimVerdicts, thumbs: dict[str, str]) -> Any:  # noqa: ANN401 (as above)
    """A claim that ran here, with a link to the page of its figure."""
    from narrows.report.site import page_name

    first = line.entries[0]
    row = replace(_plain_row(line), page=page_name(first.figure), thumb=thumbs.get(first.figure))
    if line.verdict != "not run":
        return row
    told = f"{first.verdict}, on a smaller grid" if first.way.quick else first.verdict
    return replace(row, verdict=first.verdict, headline=told, others=row.others[1:])


def _plain_row(line: ledger.ClaimVerdicts) -> Any:  # noqa: ANN401 (as above)
    from narrows.report.site import ClaimRow

    others = [(str(item.way), item.verdict) for item in line.others]
    claim = line.claim
    return ClaimRow(
        claim.identifier, claim.expect, claim.where, None, line.verdict, line.headline, others
    )
