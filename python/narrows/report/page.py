"""The HTML page of a study: its conditions, its results, and the command to repeat it.

The page is self-contained, including plotly.js, so that it can be mailed and opened anywhere; its
content security policy forbids any request.
"""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import jinja2
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

from narrows import figures
from narrows.cached import cache_directory, private_directory
from narrows.columns import Tables
from narrows.errors import InputError
from narrows.figures import frames, interactive
from narrows.figures.model import BoxPlot, Figure, Heat
from narrows.figures.palette import colour, name
from narrows.figures.trials import over_trials
from narrows.metrics.completions import SIZES
from narrows.report.accounts import Account
from narrows.report.conditions import conditions
from narrows.report.numbers import cards, number, percent
from narrows.spec.scenario import Scenario
from narrows.words import count_of

_CODE = re.compile(r"`([^`]+)`")
MOST_RUNS = 4
"""More runs than this are listed in the tables but not drawn."""
MOST_PANELS = 8
"""A figure with more panels is collapsed until it is opened."""
JOINT = "Lines are means over the trials; bands span their lowest to highest values"
"""The end of the caption of a figure of all trials."""
MOST_FLOWS = 50
"""More flows than this, such as those of a long chain, are only in summary.csv."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its label, its scenario, its tables, its summary as in `--json`, and its end."""

    label: str
    scenario: Scenario
    tables: Tables
    summary: Mapping[str, Any]
    end_s: float


@dataclass(frozen=True, slots=True)
class PageContents:
    """The contents of a page.

    `spec` is the TOML of the run; `command` repeats it; `groups` names the class of every flow by
    id; `lead` is a sentence under the title; `links` are addresses of files relative to the page.
    If the runs kept no samples, the study isn't `drawable`.
    """

    title: str
    version: str
    backend: str
    command: str
    spec: str
    groups: Sequence[str]
    runs: Sequence[Run]
    drawable: bool = True
    links: Sequence[str] = ()
    lead: str = ""
    hosts: str = ""
    """The operating system of a measurement's hosts, or "unknown"; empty for a run."""
    accounts: Sequence[Account] = ()
    counts: str = ""
    """Sentences on the counts of losses in the accounts."""
    replays: Sequence[Mapping[str, Any]] = ()
    """The replays of captured flows: `name`, `verdict`, `runs` and `remark`."""
    notes: Sequence[str] = ()
    """Sentences on what a reader of the means should know; empty ones are left out."""
    script: str = ""
    """The address of the chart library, relative to the page; if empty, the library is embedded."""


def render(study: PageContents) -> str:
    """Renders the page as HTML."""
    first = study.runs[0]
    drawn = [*_all_trials(study), *_each_trial(study)] if study.drawable else []
    return (
        environment()
        .get_template("report.html.jinja")
        .render(
            study=study,
            conditions=conditions(
                first.scenario, study.groups, bool(study.accounts), study.hosts, first.end_s
            ),
            subtitle=frames.conditions(first.scenario, study.groups, first.end_s),
            cards=cards(study.runs, study.groups),
            drawn=drawn,
            each=min(len(study.runs), MOST_RUNS),
            thinned=any(
                plot.thinned for run in drawn for d in run["drawings"] for plot in d["plots"]
            ),
            plotly=plotly_js() if drawn and not study.script else "",
            most_flows=MOST_FLOWS,
            sizes={span.name: span.title for span in SIZES},
        )
    )


def plotly_js(figures: Iterable[Figure] = ()) -> str:
    """Returns the plotly.js script for these figures: the basic bundle if that is enough."""
    marks = (mark for figure in figures for panel in figure.panels for mark in panel.marks)
    return _script(
        "cartesian" if any(isinstance(mark, BoxPlot | Heat) for mark in marks) else "basic"
    )


@cache
def _script(bundle: str) -> str:
    """Returns a bundle of plotly.js; `vendor/README.md` says what is in each."""
    script = Path(__file__).parent / "vendor" / f"plotly-{bundle}.min.js"
    return script.read_text(encoding="utf-8").replace("</script", "<\\/script")


class _Page(jinja2.Template):
    """A template that lets only its own scripts run, by a nonce that no content can guess.

    The nonce is a digest of the page, so that the same page has the same bytes.
    """

    def render(self, *args: Any, **values: Any) -> str:  # noqa: ANN401 (as the base class has it)
        """Renders the page with `nonce`.

        The mark for it is never split between two parts, which are joined once, since a page may
        have megabytes of data.
        """
        mark = secrets.token_hex(16)
        parts = list(self.generate(*args, nonce=mark, **values))
        digest = blake2b(digest_size=16)
        for part in parts:
            digest.update(part.replace(mark, "").encode())
        nonce = digest.hexdigest()
        return "".join(part.replace(mark, nonce) for part in parts)


class _TemplateCache(jinja2.FileSystemBytecodeCache):
    """Caches compiled templates, which take as long as everything else in a small page.

    A compiled template is used only for the same source and version of Python.
    """

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keeps a compiled template if it can be written."""
        with contextlib.suppress(OSError):
            super().dump_bytecode(bucket)


def _template_cache() -> _TemplateCache | None:
    """Returns the cache of compiled templates.

    None without a directory that nobody else can write.
    """
    try:
        return _TemplateCache(str(private_directory(cache_directory() / "templates")))
    except (InputError, OSError):
        return None


@cache
def environment(*packages: str) -> jinja2.Environment:
    """Returns the template environment.

    It finds templates here and in other `packages`, with their functions.
    """
    homes = ("narrows.report", *packages)
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(home) for home in homes]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=_template_cache(),
        optimized=False,  # it would compile results of filters into a template
    )
    environment.template_class = _Page
    environment.filters["num"] = number
    environment.filters["percent"] = percent
    environment.filters["cca"] = name
    environment.filters["code"] = with_code
    environment.globals["colour"] = colour
    environment.globals["count_of"] = count_of
    return environment


def with_code(text: str) -> Markup:
    """Turns text between backticks into code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 (escaped)


def _all_trials(study: PageContents) -> Iterator[dict[str, Any]]:
    """Yields the timeline of all valid trials together, if there are several."""
    if (figure := joint_timeline(study.runs, study.groups)) is not None:
        caption = f"{_caption('timeline')}. {JOINT}"
        drawing = _drawing(figure, caption)
        yield {"key": "all", "label": "all trials", "drawings": [drawing], "invalid": False}


def joint_timeline(runs: Sequence[Run], groups: Sequence[str]) -> Figure | None:
    """Returns the timeline of all valid trials as means and ranges; None for fewer than two."""
    valid = [run for run in runs if "invalid" not in run.summary]
    if len(valid) < 2:
        return None
    return over_trials(
        [figures.describe("timeline", run.scenario, run.tables, groups) for run in valid]
    )


def _each_trial(study: PageContents) -> Iterator[dict[str, Any]]:
    for at, run in enumerate(study.runs[:MOST_RUNS], start=1):
        made = (
            (figures.describe(entry.name, run.scenario, run.tables, study.groups), entry.name)
            for entry in figures.of("run")
        )
        drawings = [_drawing(figure, _caption(name)) for figure, name in made if figure.panels]
        invalid = "invalid" in run.summary
        yield {"key": at, "label": run.label, "drawings": drawings, "invalid": invalid}


def _drawing(figure: Figure, caption: str) -> dict[str, Any]:
    folded, plots = len(figure.panels) > MOST_PANELS, interactive.plots(figure)
    return {"figure": figure, "plots": plots, "folded": folded, "caption": caption}


def _caption(name: str) -> str:
    """Returns the summary of a figure in the catalogue, with a capital and without a full stop."""
    summary = figures.CATALOGUE[name].summary
    return summary[0].upper() + summary[1:]
