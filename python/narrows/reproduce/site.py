"""The site of the reproductions: an index, and a page for each figure.

OUT/site/index.html            the ledger, document by document
OUT/site/DOCUMENT-FIGURE.html  a page for each figure, every way it was made
OUT/site/data/                 the measurements as Parquet and CSV

No page makes a network request.
"""

from __future__ import annotations

import platform
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from narrows.figures.placing import comparable
from narrows.report.page import environment
from narrows.reproduce import judgements, ledger
from narrows.reproduce.catalogue import exhibits, lessons
from narrows.reproduce.claims import KINDS, Claim, claims
from narrows.reproduce.exhibit import Data, Exhibit, Finding, Picture, Scope
from narrows.reproduce.gather import Work
from narrows.reproduce.judgements import Judgement
from narrows.reproduce.library import documents, library
from narrows.reproduce.records import read_list, write_list
from narrows.reproduce.unchanged import still_holds
from narrows.reproduce.values_set import values_in
from narrows.store.atomic import write_text
from narrows.store.cells import harmless_frame
from narrows.store.parquet import write_parquet
from narrows.store.slug import slug
from narrows.words import count_of

MOST_CSV_ROWS = 100_000
"""Larger tables are written as Parquet only."""
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
        """The key under which newer files replace these."""
        return (self.figure, self.backend, self.profile, self.quick)


NOT_RECORDED = "not recorded, since the claims are about the conditions without the change"


@dataclass(frozen=True, slots=True)
class ChangedFigure:
    """A figure under changed conditions, and the findings about those as written."""

    stored: StoredFigure
    variation: str
    findings: Sequence[Finding]
    unchanged: Sequence[Finding]
    too_short: str = ""


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim on the index: its verdicts in words, by the way they were found."""

    claim: Claim
    verdict: str
    headline: str
    others: Sequence[tuple[str, str]]
    page: str | None = None
    thumb: str | None = None


def write_figure_files(
    item: Work, pictures: Sequence[Picture], data: Data, out: Path
) -> StoredFigure:
    """Draws the pictures and writes the tables of one figure."""
    from narrows.figures import static

    site = out / "site"
    site.mkdir(parents=True, exist_ok=True)
    stem = f"{item.name}-{item.backend}"
    plates, files = [], []
    for picture in pictures:
        name = f"{stem}-{picture.name}" if picture.name else stem
        files += static.save(comparable(picture.figure), site / name)
        plates.append((name, picture.caption, picture.figure.alt))
    tables = _write_tables(site / "data", stem, data)
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
    """Describes the number of runs, their seeds, the engine and the platform."""
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
    judged = judgements.read_known(out)
    lines = ledger.lines(entries, own_profiles(), judged)
    pages = {}
    for identifier in dict.fromkeys(plates.figure for plates in new):
        exhibit = exhibits()[identifier]
        mine = [plates for plates in known.values() if plates.figure == identifier]
        pages[identifier] = _page(out, exhibit, mine, lines, backend)
    return pages, _index(out, lines, judged, list(known.values()))


def _stored_figure(fields: dict[str, Any]) -> StoredFigure:
    plates = tuple((stem, caption, alt) for stem, caption, alt in fields.pop("plates"))
    tables, pictures = tuple(fields.pop("tables")), tuple(fields.pop("pictures"))
    return StoredFigure(**fields, plates=plates, tables=tables, pictures=pictures)


def _page(
    out: Path,
    exhibit: Exhibit,
    ways: list[StoredFigure],
    lines: Sequence[ledger.ClaimVerdicts],
    backend: str,
) -> Path:
    entries = [entry for line in lines for entry in line.entries]
    order = (exhibit.profile, *exhibit.also)
    ways.sort(key=lambda p: (p.quick, p.backend != "sim", p.profile not in order, p.profile))
    versions = [
        {
            "label": _label(exhibit, way, any(one.quick for one in ways)),
            "change": "",
            "note": _note(way),
            "files": way,
            "found": [
                (claims()[item.claim], item.verdict, item.verdict, ledger.finding(item))
                for item in entries
                if _same(item, way)
            ],
        }
        for way in ways
    ]
    claimed = (item.way for item in entries if item.figure == exhibit.identifier)
    shown = [way for way in claimed if way.backend == backend]
    quick = all(way.quick for way in ways)
    command = _command(exhibit.identifier, backend, quick=quick) + _options(shown)
    verdicts = [
        _row(line, {}) for line in lines if line.claim.identifier in exhibit.claims and line.entries
    ]
    path = out / "site" / page_name(exhibit.identifier)
    return _render(path, exhibit, versions, command, verdicts)


def _render(
    path: Path,
    exhibit: Exhibit,
    versions: Sequence[dict[str, Any]],
    command: str,
    verdicts: Sequence[ClaimRow] = (),
) -> Path:
    """Writes the page of a figure that was made in these ways."""
    text = environment().get_template("site-figure.html.jinja").render(
        exhibit=exhibit,
        verdicts=verdicts,
        lesson=lessons()[exhibit.identifier],
        command=command,
        versions=versions,
        indexed=path.name == page_name(exhibit.identifier),
    )  # fmt: skip
    write_text(path, text)
    return path


def write_changed_page(
    out: Path, exhibit: Exhibit, ways: Sequence[ChangedFigure], sets: Sequence[str]
) -> Path:
    """Writes the page of a figure under changed conditions; the ledger and the index lack it."""
    versions = [
        {
            "label": f"{_label(exhibit, way.stored, beside_quick=False)}, {told}",
            "note": note,
            "files": files,
            "found": found,
            "change": change,
        }
        for way in ways
        for told, note, files, found, change in (
            (
                way.variation,
                f"{NOT_RECORDED}. {way.too_short}" if way.too_short else NOT_RECORDED,
                way.stored,
                [(claims()[one.claim], one.verdict, still_holds(one), one) for one in way.findings],
                values_in(way.variation),
            ),
            (
                "as written",
                "",
                replace(way.stored, plates=(), tables=(), runs=""),
                [(claims()[one.claim], one.verdict, one.verdict, one) for one in way.unchanged],
                "",
            ),
        )
    ]
    first = ways[0].stored
    profiles = {way.stored.profile for way in ways}
    options = [
        *(f"--profile {name}" for name in profiles if exhibit.also and len(profiles) == 1),
        *(f"--set {shlex.quote(one)}" for one in sets),
    ]
    command = _command(exhibit.identifier, first.backend, quick=first.quick)
    command = " ".join([command, *options])
    stem = page_name(exhibit.identifier).removesuffix(".html")
    path = out / "site" / f"{stem}-{slug(ways[0].variation)}.html"
    return _render(path, exhibit, versions, command)


def page_name(identifier: str) -> str:
    """Returns the file of a figure's page."""
    return f"{identifier.replace('/', '-')}.html"


def _write_tables(folder: Path, stem: str, data: Data) -> list[str]:
    """Writes frames as Parquet, and as CSV unless they are large; returns the files' names."""
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for name, frame in data.frames.items():
        write_parquet(frame, folder / f"{stem}-{name}.parquet")
        names.append(f"{folder.name}/{stem}-{name}.parquet")
        if frame.height <= MOST_CSV_ROWS:
            table = harmless_frame(frame).write_csv(float_precision=9)
            (folder / f"{stem}-{name}.csv").write_bytes(table.encode())
            names.append(f"{folder.name}/{stem}-{name}.csv")
    return names


def _command(figure: str, backend: str, *, quick: bool = False) -> str:
    on = "" if backend == "sim" else f" --backend {backend}"
    return f"narrows reproduce {_words(figure)}{on}{' --quick' if quick else ''}"


def _words(figure: str) -> str:
    """Returns the words by which a command means a figure: its id, or the path of an own paper."""
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
    """Returns the options with which findings were made."""
    varied = " --vary-paths" if any(way.has_varied_paths for way in ways) else ""
    limits = {way.trials for way in ways if way.trials is not None}
    return varied + "".join(f" --trials {limit}" for limit in sorted(limits)[-1:])


def _note(way: StoredFigure) -> str:
    """Returns the command for the whole figure, below a quick one."""
    command = _command(way.figure, way.backend)
    return f"The whole figure is made by: {command}" if way.quick else ""


def _label(exhibit: Exhibit, way: StoredFigure, beside_quick: bool) -> str:
    """Names a way of making a figure, and how much of it, if both a quick and a whole one exist."""
    if way.backend == "sim":
        made = f"Simulated, with the profile {way.profile}"
    else:
        made = f"On the back end {way.backend}, with the TCP of {way.profile}"
    small = exhibit.in_words(Scope(way.profile, way.quick))
    extent = small or ("the whole figure" if beside_quick else "")
    return f"{made}, {extent}" if extent else made


def _same(item: ledger.LedgerEntry, way: StoredFigure) -> bool:
    made = (item.figure, item.way.backend, item.way.profile, item.way.quick)
    return made == way.key


def own_profiles() -> dict[str, str]:
    """Returns the kernel of each claim's document."""
    return {claim: e.profile for e in exhibits().values() for claim in e.claims}


def _thumbs(plates: Sequence[StoredFigure]) -> dict[str, str]:
    """Returns the first picture of every figure, of a whole grid if there is one."""
    ordered = sorted(plates, key=lambda p: (not p.quick, p.backend == "sim"))
    return {one.figure: one.plates[0][0] for one in ordered if one.plates}


def _index(
    out: Path,
    here: Sequence[ledger.ClaimVerdicts],
    judged: Sequence[Judgement],
    plates: Sequence[StoredFigure],
) -> Path:
    thumbs = _thumbs(plates)
    ran = {line.claim.identifier for line in here if line.entries}
    recorded = ledger.lines(ledger.read_recorded(), own_profiles(), judged)
    kept = [line for line in recorded if line.claim.identifier not in ran]
    chapters = [
        {
            "title": title,
            "rows": [
                _row(line, thumbs) for line in here if line.entries and _is_of(line, document)
            ],
            "recorded": [_plain_row(line) for line in kept if _is_of(line, document)],
        }
        for document, title in documents().items()
    ]
    shown = [mine if mine.decisive else old for mine, old in zip(here, recorded, strict=True)]
    kinds = ledger.counts_by_kind(shown)
    counts = {KINDS[kind]: ledger.in_words(told) for kind, told in kinds.items()}
    template, path = (
        environment().get_template("site-index.html.jinja"),
        out / "site" / "index.html",
    )
    write_text(path, template.render(chapters=chapters, counts=counts))
    return path


def _is_of(line: ledger.ClaimVerdicts, document: str) -> bool:
    return line.claim.document == document


def _row(line: ledger.ClaimVerdicts, thumbs: dict[str, str]) -> ClaimRow:
    """Returns a claim that ran here, with a link to the page of its figure."""
    first = line.entries[0]
    row = replace(_plain_row(line), page=page_name(first.figure), thumb=thumbs.get(first.figure))
    if line.verdict != "not run":
        return row
    told = f"{first.verdict}{first.extent}"
    return replace(row, verdict=first.verdict, headline=told, others=row.others[1:])


def _plain_row(line: ledger.ClaimVerdicts) -> ClaimRow:
    others = [(str(item.way), item.verdict) for item in line.others]
    return ClaimRow(line.claim, line.verdict, line.headline, others)
