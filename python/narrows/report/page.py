"""The HTML page of a study: what ran, what came out, how to make it again.

Everything the page needs stands inside it, plotly.js included, so that it can
be mailed and opened anywhere; its content-security policy forbids any request.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from narrows import figures
from narrows.figures import frames, interactive
from narrows.figures.frames import Scenario, Tables
from narrows.figures.palette import colour, name

MOST_RUNS = 4
"""More runs than this are listed in the tables but not drawn."""
MOST_PANELS = 8
"""A figure with more panels is folded until somebody opens it."""
MOST_FLOWS = 50
"""More flows than this, such as those of a long chain, are left to summary.csv."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its label, its scenario, its tables and its summary as in `--json`."""

    label: str
    scenario: Scenario
    tables: Tables
    summary: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Check:
    """A statement held against the data of a run.

    `rule` says in words how the number is measured and what passes; it stands
    beside the verdict so that nobody has to believe it. `passed` is None where
    the run's data can't decide.
    """

    statement: str
    rule: str
    expected: str
    measured: str
    passed: bool | None

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return {True: "confirmed", False: "not confirmed", None: "undecided"}[self.passed]


@dataclass(frozen=True, slots=True)
class Study:
    """What a page is about.

    `spec` is the TOML as run; `command` makes it again; `groups` names the class
    of every flow by id; `links` are addresses of files relative to the page;
    `show` is the stretch of time, in seconds, that the figures begin with. If
    the runs kept no samples, the study isn't `drawable`.
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
    checks: Sequence[Check] = ()
    lead: str = ""
    show: tuple[float, float] | None = None


def render(study: Study) -> str:
    """The page as HTML."""
    drawn = [_drawings(run, study) for run in study.runs[:MOST_RUNS]] if study.drawable else []
    return (
        environment()
        .get_template("report.html.jinja")
        .render(
            study=study,
            conditions=_conditions(study.runs[0].scenario),
            subtitle=frames.conditions(study.runs[0].scenario),
            cards=_cards(study.runs),
            drawn=drawn,
            thinned=any(
                plot.thinned for run in drawn for d in run["drawings"] for plot in d["plots"]
            ),
            plotly=plotly_js() if drawn else "",
            most_flows=MOST_FLOWS,
        )
    )


@cache
def plotly_js() -> str:
    """The script of plotly.js that the plotly package brings, without importing the package.

    Raises RuntimeError if the package isn't installed.
    """
    spec = importlib.util.find_spec("plotly")
    for place in (spec.submodule_search_locations or []) if spec else []:
        script = Path(place) / "package_data" / "plotly.min.js"
        if script.is_file():
            return script.read_text(encoding="utf-8").replace("</script", "<\\/script")
    raise RuntimeError("plotly.min.js not found: `pip install plotly` puts it there")


@cache
def environment(*packages: str) -> jinja2.Environment:
    """Where templates come from, here and in other `packages`, with what they use."""
    homes = ("narrows.report", *packages)
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(home) for home in homes]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["num"] = number
    environment.filters["percent"] = percent
    environment.filters["cca"] = name
    environment.globals["colour"] = colour
    return environment


def number(value: float | int | None, digits: int = 3) -> str:
    """A number for a table: `digits` significant ones, a dash for none."""
    if value is None or value != value:
        return "\N{EN DASH}"
    if isinstance(value, int) or abs(value) >= 10**digits:
        return f"{value:,.0f}".replace(",", "\N{THIN SPACE}")
    return f"{value:#.{digits}g}".rstrip(".")


def percent(value: float | None) -> str:
    """A fraction in percent with its sign, with a dash for none."""
    return "\N{EN DASH}" if value is None else f"{number(100 * value)} %"


def _drawings(run: Run, study: Study) -> dict[str, Any]:
    described = [
        figures.describe(entry.name, run.scenario, run.tables, study.groups)
        for entry in figures.of("run")
    ]
    shown = [f.between(*study.show) if study.show else f for f in described if f.panels]
    plots = [interactive.plots(figure) for figure in shown]
    return {
        "label": run.label,
        "drawings": [
            {"figure": figure, "plots": own, "folded": len(figure.panels) > MOST_PANELS}
            for figure, own in zip(shown, plots, strict=True)
        ],
        "thinned": any(plot.thinned for own in plots for plot in own),
    }


def _cards(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """The few numbers that come first: means over the runs."""
    bottlenecks = [run.summary["bottleneck"] for run in runs]
    flows = [flow for run in runs for flow in run.summary["flows"]]
    cards = [
        ("utilization", percent(_mean([b["utilization"] for b in bottlenecks]))),
        ("loss", percent(_mean([b["loss_rate"] for b in bottlenecks]))),
        ("mean queue", f"{number(_mean([b['queue_bdp']['mean'] for b in bottlenecks]))} BDP"),
    ]
    losses = [run.summary["losses"]["loss_rate"] for run in runs if "losses" in run.summary]
    if losses:
        cards.insert(2, ("loss on the path", percent(_mean(losses))))
    for cca in dict.fromkeys(str(flow["cca"]) for flow in flows):
        shares = [
            flow["share"] for flow in flows if flow["cca"] == cca and flow["share"] is not None
        ]
        if shares:
            cards.append((f"share of {name(cca)}", percent(sum(shares) / len(runs))))
    return cards


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _conditions(scenario: Scenario) -> list[tuple[str, str]]:
    path, host, run = scenario["path"], scenario["host"], scenario["run"]
    room = path["buffer"]
    in_bdp = f"{number(frames.buffer_bytes(scenario) / frames.bdp_bytes(scenario))} BDP"
    size = (
        f"{number(room['bytes'])} bytes"
        if "bytes" in room
        else f"{number(room['packets'])} packets"
    )
    return [
        ("Rate", f"{frames.rate_mbps(scenario):g} Mbit/s"),
        ("Two-way delay", f"{path['rtt_ns'] / 1e6:g} ms"),
        ("Buffer", f"{size} = {in_bdp}"),
        ("BDP", f"{number(round(frames.bdp_bytes(scenario)))} bytes"),
        ("Queue discipline", str(path["queue"]["kind"])),
        *_elements(path),
        ("Random loss", f"{path['loss']:g}"),
        ("Flows", _flows(scenario)),
        ("Hosts", f"{host['profile']}, socket buffers {host['socket_buffers']}"),
        (
            "Duration",
            f"{run['duration_ns'] / 1e9:g} s, summaries from {run['warmup_ns'] / 1e9:g} s on",
        ),
        ("Sample interval", f"{run['sample_interval_ns'] / 1e6:g} ms"),
    ]


def _elements(path: Scenario) -> list[tuple[str, str]]:
    """What a path has beyond a link of constant rate; nothing for most.

    Results of earlier versions say nothing of it.
    """
    rows = []
    service = path.get("service", {"kind": "constant"})["kind"]
    if service != "constant":
        rows.append(("Service", str(service)))
    more = [*path.get("links", ()), *([path["reverse"]] if path.get("reverse") else ())]
    for link in more:
        kinds = f"{link['queue']['kind']}, {link['service']['kind']}"
        rows.append((f"Link {link['name']}", f"{link['rate_bps'] / 1e6:g} Mbit/s, {kinds}"))
    kinds = ", ".join(f"{one['kind']} ({one['direction']})" for one in path.get("impairments", ()))
    return [*rows, ("Impairments", kinds)] if kinds else rows


def _flows(scenario: Scenario) -> str:
    starts = sorted({flow["start_ns"] / 1e9 for flow in scenario["flows"]})
    when = f"at {starts[0]:g} s" if len(starts) == 1 else f"from {starts[0]:g} to {starts[-1]:g} s"
    return f"{frames.conditions(scenario).split(',')[0]}, started {when}"
