"""narrows from Python: what is written becomes a specification, and results come back."""

from __future__ import annotations

import os
import pydoc
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from specimens import GOOD, write

import narrows as nw
from narrows.api import tables
from narrows.api.declared import class_name
from narrows.api.element import Element
from narrows.api.writing import Table
from narrows.spec import parse, registry
from narrows.sweeps.figure import describe

ROOT = Path(__file__).parents[2]


def small(**changes: object) -> nw.Scenario:
    path = nw.Path(rate="8mbit", rtt="20ms", buffer="1bdp")
    run = nw.Run(duration="2s", warmup="500ms")
    return nw.Scenario(
        **{"name": "good", "path": path, "flows": [nw.Flow(cca="cubic")], "run": run, **changes}
    )


def test_a_scenario_is_the_specification_that_it_says() -> None:
    assert parse(small().toml(), "").spec == parse(GOOD, "").spec
    chain = nw.Flow(cca="reno", size="20kb", repeat_gap="50ms", while_="large", options={}, count=1)
    written = chain.as_table()
    assert written["while"] == "large"
    assert "start" not in written


def test_a_path_of_several_links_is_what_it_says() -> None:
    link = nw.Link(name="second", rate="4mbit", buffer="50pkt")
    loss = {"kind": "loss", "probability": 0.01}
    path = nw.Path(
        rate="8mbit",
        rtt="20ms",
        buffer="1bdp",
        queue={"kind": "codel", "target": "3ms"},
        links=[link],
        reverse=nw.Reverse(rate="1mbit", buffer="50pkt"),
        impairments=[loss],
    )
    spec = parse(small(path=path).toml(), "").spec
    path = spec.scenario["path"]
    assert [known["name"] for known in path["links"]] == ["second"]
    assert path["reverse"] is not None
    assert len(path["impairments"]) == 1


def test_a_run_gives_frames_and_figures(tmp_path: Path) -> None:
    result = nw.run(small(), out=tmp_path / "out")
    assert result.summary_table["utilization"][0] > 0.9
    assert result.flows["name"].to_list() == ["cubic-1"]
    assert result.table("flow_samples").height == 21
    figure = result.plot("cwnd")
    assert len(figure.axes) == 1
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert "cubic-1" in result._repr_html_()
    again = nw.run(write(tmp_path, GOOD), out=tmp_path / "out")
    assert again.hash == result.hash
    opened = nw.open_result(tmp_path / "out")
    assert opened.flows.equals(result.flows)


def test_representations_in_notebooks(tmp_path: Path) -> None:
    result = nw.run(small(), out=tmp_path / "out")
    assert "'good', 1 run on sim" in repr(result)
    assert result.page.is_file()
    html = result._repr_html_()
    assert "<th>goodput (Mbit/s)</th>" in html
    charts = [ElementTree.fromstring(chart) for chart in re.findall("<svg.*?</svg>", html)]
    assert charts[3].attrib["aria-label"].startswith("Round-trip time, ")
    assert "</svg> CUBIC" in html
    assert "<th>fct (s)</th>" not in html  # nothing has ended
    labelled = [chart for chart in charts if "aria-label" in chart.attrib]
    assert len(labelled) == 4
    for chart in labelled:
        assert chart.find(".//{*}path").attrib["d"].count("L") >= 9
    bare = nw.run(small(), ["run.record=summary"], out=tmp_path / "bare")
    assert "<svg" not in bare._repr_html_()
    frame = result.explore("cwnd")
    assert frame._repr_html_().startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert "Plotly" in frame.save(tmp_path / "cwnd.html").read_text()
    assert {"Range", "run", "sweep"} <= set(dir(nw))
    assert nw.Range(from_=1, to=3, step=1).as_table() == {"from": 1, "to": 3, "step": 1}


def test_a_scenario_takes_overrides_and_may_be_a_mapping(tmp_path: Path) -> None:
    result = nw.run(small().as_table(), ["path.rate=4mbit"], out=tmp_path / "out")
    assert result.summary_table["rate_mbps"][0] == 4.0


def test_results_of_runs_and_sweeps_have_the_same_attributes(tmp_path: Path) -> None:
    run = nw.run(small(), out=tmp_path / "run")
    swept = nw.sweep(small(), out=tmp_path / "sweep")
    opened = nw.open_result(tmp_path / "sweep")
    for result in (run, swept, opened):
        assert result.name == "good"
        assert Path(str(result.path)).is_dir()
        assert isinstance(result.summary, dict)
        assert result.page.is_file()
        assert result.pages() == [result.page]
        assert result.failures == {}
        assert result.unmet == []
    assert swept.summary["runs"] == 1
    assert isinstance(opened, nw.SweepResult)
    assert opened.summary["studies"][0]["stored"] == 1


def test_a_run_says_what_it_does_not_meet(tmp_path: Path) -> None:
    result = nw.run(small(check=[nw.Check(metric="utilization", at_least=1.1)]), out=tmp_path / "a")
    assert len(result.unmet) == 1
    assert result.unmet[0].endswith("1.1 expected")


@pytest.mark.parametrize(
    "kind", ["queues", "services", "impairments", "workloads", "distributions"]
)
def test_elements_are_classes(kind: str) -> None:
    module = getattr(nw, kind)
    for name, entry in registry.elements(kind).items():
        made = getattr(module, class_name(name))
        assert issubclass(made, Element)
        assert made.kind == name
        for parameter in entry["parameters"]:
            assert f"    {parameter['name']}: " in made.__doc__


def test_elements_are_the_specification_that_they_say() -> None:
    size = nw.distributions.Exponential(mean="100kb")
    htb = nw.queues.Htb(classes=[nw.queues.HtbClass(rate="2mbit", dscp="ef"), {"rate": "5mbit"}])
    path = nw.Path(
        rate="8mbit",
        rtt="20ms",
        buffer="1bdp",
        queue=htb,
        service=nw.services.Steps(rates={"1s": "4mbit"}),
        impairments=[nw.impairments.Loss(probability=0.01, direction="backward")],
    )
    flow = nw.Flow(cca="cubic", workload=nw.workloads.Poisson(rate="5/s", size=size))
    scenario = parse(small(path=path, flows=[flow]).toml(), "").spec.scenario
    assert scenario["path"]["queue"]["kind"] == "htb"
    assert [one["rate_bps"] for one in scenario["path"]["queue"]["classes"]] == [2e6, 5e6]
    assert scenario["path"]["service"]["rates"] == [[1_000_000_000, 4_000_000]]
    assert scenario["path"]["impairments"][0]["direction"] == "backward"
    assert scenario["flows"][0]["workload"]["kind"] == "arrivals"


def test_a_value_of_an_element_is_an_axis(tmp_path: Path) -> None:
    path = nw.Path(
        rate="8mbit", rtt="20ms", buffer="60kb", queue=nw.queues.FqCodel(target=["3ms", "5ms"])
    )
    result = nw.sweep(small(path=path), out=tmp_path / "out")
    assert result.summary_table["path.queue.target"].to_list() == ["3ms", "5ms"]


def test_help_has_the_meaning_of_each_field() -> None:
    for table in (nw.Path, nw.Flow, nw.Run, nw.queues.Codel):
        for field in fields(table):
            assert f"    {field.name}: " in table.__doc__ or field.name == "limit"
    assert "Two-way delay, without queueing." in pydoc.render_doc(nw.Path)


SCRIPT = """
import narrows as nw

size = nw.distributions.Pareto(min="10kb", shape=1.2)
scenario = nw.Scenario(
    name="typed",
    path=nw.Path(
        rate=["10mbit", "20mbit"],
        rtt=nw.Range("10ms", "40ms", count=2),
        queue=nw.queues.FqCodel(target="3ms", ecn=False),
        service=nw.services.Wifi(),
        impairments=[nw.impairments.Loss(probability=0.01), {"kind": "jitter", "max": "1ms"}],
    ),
    flows=[
        nw.Flow(cca="cubic", workload=nw.workloads.Poisson(rate="5/s", size=size)),
        nw.Flow(cca="none", workload=nw.workloads.Media(control="nada")),
    ],
)
result = nw.sweep(scenario)
print(result.summary_table["utilization"].mean(), result.unmet, result.page)
print(nw.run(scenario).unmet, nw.metrics)
"""
MISTAKES = {
    "nw.Poisson()": 'Module has no attribute "Poisson"',
    "nw.workloads.Poison()": 'Module has no attribute "Poison"',
    'nw.queues.FqCodel(traget="3ms")': 'Unexpected keyword argument "traget"',
    'nw.workloads.Media(control="nda")': 'Argument "control" to "Media" has incompatible type',
    'nw.Flow(cca="cubic", workload=nw.queues.Pie())': 'Argument "workload" to "Flow" has',
}


def test_a_type_checker_knows_the_classes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + "\n".join(MISTAKES) + "\n")
    options = ["--strict", "--config-file=", f"--cache-dir={ROOT / '.mypy_cache' / 'script'}"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(script)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MYPYPATH": str(ROOT / "python")},
    )
    first = SCRIPT.count("\n") + 1
    found = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert len(found) == len(MISTAKES), done.stdout + done.stderr
    for number, (line, message) in enumerate(zip(found, MISTAKES.values(), strict=True)):
        assert f"script.py:{first + number}: error: {message}" in line


def test_a_sweep_gives_frames(tmp_path: Path) -> None:
    study = small(
        path=nw.Path(rate=["4mbit", "8mbit"], rtt="20ms", buffer=nw.Range("1bdp", "2bdp", count=2)),
        check=[nw.Check(metric="utilization", at_least=1.1, where={"path.rate": "8mbit"})],
    )
    result = nw.sweep(study, out=tmp_path / "out", filters=["path.buffer=1bdp"])
    assert result.summary_table["path.rate"].to_list() == ["4mbit", "8mbit"]
    assert len(result.unmet) == 1
    assert result.failures == {}
    assert "good: 2 of 4 runs" in result._repr_html_()
    assert "2 stored runs" in repr(result)
    assert [page.name for page in result.pages()] == ["good.html"]
    assert result.explore("lines", x="path.rate")._repr_html_().startswith("<iframe")
    opened = nw.open_result(tmp_path / "out")
    assert isinstance(opened, nw.SweepResult)
    assert opened.summary_table.equals(result.summary_table)


def test_designs_and_axes_elsewhere(tmp_path: Path) -> None:
    sweep = nw.Sweep(design="lhs", budget=3, axes={"path.loss": nw.Range(0.0, 0.01)})
    result = nw.sweep(small(sweep=sweep), out=tmp_path / "out")
    assert result.summary_table["path.loss"].n_unique() == 3


def test_frames_go_to_arrow(tmp_path: Path) -> None:
    result = nw.run(small(), out=tmp_path / "out")

    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return result.flows.__arrow_c_stream__(requested_schema)

    assert pl.DataFrame(Stream()).equals(result.flows)


@pytest.mark.parametrize(
    ("scenario", "place"),
    [
        (small(name=""), "name"),
        (small(flows=[nw.Flow(cca="cubik")]), "flows[0].cca"),
        (small(path=nw.Path(rate=["1mbit"], rtt="20ms")), "path.rate"),
        ("nowhere.toml", "nowhere.toml"),
    ],
)
def test_mistakes_have_a_place(scenario: object, place: str, tmp_path: Path) -> None:
    with pytest.raises(nw.InputError) as caught:
        nw.run(scenario, out=tmp_path / "out")
    assert caught.value.place == place


def test_figures_and_tables_that_are_not_there(tmp_path: Path) -> None:
    result = nw.run(small(), out=tmp_path / "out")
    for wrong in (
        lambda: result.plot("timelin"),
        lambda: result.plot(trial=2),
        lambda: result.table("flow"),
    ):
        with pytest.raises(nw.InputError):
            wrong()


def test_a_figure_says_which_trial_it_shows(tmp_path: Path) -> None:
    result = nw.run(small(), ["run.trials=2"], out=tmp_path / "run")
    assert describe(result.path, "timeline", trial=2).subtitle.endswith("; trial 2 of 2")
    assert "trial 1 of 2" in result.explore("cwnd")._repr_html_()
    swept = nw.sweep(small(), ["run.trials=2"], out=tmp_path / "sweep")
    assert describe(swept.place, "cwnd").subtitle.endswith("; trial 1 of 2")


def test_importing_narrows_loads_nothing_heavy() -> None:
    heavy = "polars|numpy|matplotlib|pydantic|narrows.api|narrows.spec"
    code = "import sys, narrows, re; print([m for m in sys.modules if re.fullmatch(%r, m)])"
    done = subprocess.run(
        [sys.executable, "-c", code % heavy], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_every_public_name_is_there() -> None:
    for name in nw.__all__:
        assert getattr(nw, name) is not None
    assert callable(nw.sweep)
    assert issubclass(nw.Flow, Table)
    classes = {
        name
        for name, value in vars(tables).items()
        if isinstance(value, type) and value.__module__ == tables.__name__
    }
    assert classes <= set(nw.__all__)
    with pytest.raises(AttributeError):
        nw.nothing  # noqa: B018


def test_a_preset_stands_in_for_the_fields_of_a_path() -> None:
    spec = parse(small(path=nw.Path(preset="lte", rtt="30ms")).toml(), "").spec
    path = spec.scenario["path"]
    assert (path["rate_bps"], path["rtt_ns"]) == (50_000_000, 30_000_000)


def test_values_written_in_python_are_shown_as_written() -> None:
    assert repr(nw.Flow(cca="cubic", start="1s")) == "Flow(cca='cubic', start='1s')"
    assert repr(nw.Path(rate=["1mbit"], rtt=nw.Range("1ms", "2ms", count=2))) == (
        "Path(rate=['1mbit'], rtt=Range(from_='1ms', to='2ms', count=2, step=None, scale=None))"
    )


def test_errors_name_the_argument_of_the_call(tmp_path: Path) -> None:
    with pytest.raises(nw.InputError, match=r"^overrides: path\.ratee: found an unknown key"):
        nw.run(small(), ["path.ratee=3mbit"], out=tmp_path / "out")
    with pytest.raises(nw.InputError, match=r"^filters: "):
        nw.sweep(small(), filters=["path.ratee=3mbit"], out=tmp_path / "out")
