"""The README: its commands work as they are printed, and its answers are what they give."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from pathlib import Path
from statistics import median

import pytest
from documented import Command, File, blocks, run_command, steps

from narrows.cli.help import SECTIONS
from narrows.listing import listing

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
WORDS = " ".join(README.read_text(encoding="utf-8").split())
JUDGES = ("evaluate", "search", "reproduce")
"""Commands whose status is 1 if they find that something fails."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which every command of the README has run, one after the other, unchanged."""
    folder, home = tmp_path_factory.mktemp("readme"), Path.cwd()
    os.chdir(folder)
    try:
        for step in steps(README):
            if isinstance(step, File):
                Path(step.name).write_text(step.text)
                continue
            status, _ = run_command(step.words, step.to)
            assert status in ((0, 1) if step.words[0] in JUDGES else (0,)), step.words
    finally:
        os.chdir(home)
    return folder


def of_sweep(place: Path, name: str, axis: str, *columns: str) -> dict[str, list[float]]:
    """The means of columns of a sweep's summary, by the value of its axis."""
    _, text = run_command(
        ["export", str(place / "narrows-results" / f"{name}.sweep"), "summary", "--format", "json"]
    )
    rows = defaultdict(list)
    for row in json.loads(text):
        rows[row[axis]].append([row[column] for column in columns])
    return {
        value: [sum(column) / len(column) for column in zip(*found, strict=True)]
        for value, found in rows.items()
    }


def test_every_command_runs_here_or_begins_a_session() -> None:
    lines = [line for kind, body in blocks(README) if kind == "bash" for line in body]
    others = [line.split("  ")[0] for line in lines if not line.startswith("narrows ")]
    assert others == ["make demo", ". .venv/bin/activate"]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(re.findall(r"\bmake ([a-z-]+)`", WORDS)) | {"demo"} <= set(targets)
    names = {word for words in SECTIONS.values() for word in words}
    assert set(re.findall(r"`narrows ([a-z-]+)", WORDS)) <= names


def test_shares_over_the_buffer_are_as_printed(place: Path) -> None:
    shares = of_sweep(place, "fair", "path.buffer", "bbr.share", "cubic.share")
    bbr, cubic = shares["1bdp"][0], shares["8bdp"][1]
    assert f"BBR has {bbr:.0%} of".replace("%", " %") in WORDS
    assert f"CUBIC has {cubic:.0%} with 8 BDP".replace("%", " %") in WORDS
    assert (place / "fair-share.png").is_file()
    answer = place / "narrows-results" / "fair.answer" / "fair-answer.json"
    [found] = json.loads(answer.read_text(encoding="utf-8"))["answers"]
    low, high = (float(found[end].removesuffix("bdp")) for end in ("beyond", "found"))
    assert low < float(re.search(r"At about (\d) BDP both", WORDS)[1]) < high  # type: ignore[index]


def test_queues_and_shares_are_as_printed(place: Path) -> None:
    found = of_sweep(place, "aqm", "path.queue", "queue_mean_ms", "bbr.share")
    queue = {name: f"{values[0]:.0f} ms" for name, values in found.items()}
    share = {name: f"{100 * values[1]:.0f} %" for name, values in found.items()}
    assert f"Drop-tail keeps {queue['droptail']} of queue" in WORDS
    assert f"CoDel {queue['codel']} and PIE {queue['pie']}, but BBR then has" in WORDS
    assert f"{share['codel']} and {share['pie']} of the traffic" in WORDS
    assert f"FQ-CoDel keeps {queue['fq_codel']} and shares evenly" in WORDS
    assert found["fq_codel"][1] == pytest.approx(0.5, abs=0.03)


def test_the_own_control_meets_as_many_situations_as_printed(place: Path) -> None:
    [file] = (place / "narrows-results" / "evaluate" / "quick").glob("site/*/evaluation.json")
    situations = json.loads(file.read_text(encoding="utf-8"))["situations"]
    mine = {one["situation"]: one for one in situations if one["control"].startswith("mycontrol")}
    met = sum(one["verdict"] == "met" for one in mine.values())
    assert f"meets {met} of the {len(mine)}," in WORDS
    assert [name for name, one in mine.items() if one["verdict"] == "not met"] == ["bufferbloat"]
    [queue] = [one for one in mine["bufferbloat"]["checks"] if one["check"] == "queue_mean_ms"]
    mean = sum(queue["values"]) / len(queue["values"])
    assert (
        f"its mean queue is {mean:.0f} ms, and the limit is {queue['bounds'].split()[-1]} ms"
        in WORDS
    )
    suite = (ROOT / "python/narrows/evaluate/suites/rfc9743/suite.toml").read_text("utf-8")
    assert f"{len(mine)} of the {suite.count('[[situation]]')} situations that test" in WORDS


def test_losses_of_copa_are_as_printed(place: Path) -> None:
    file = place / "narrows-results" / "search" / "copa-loss" / "search.json"
    finding = json.loads(file.read_text(encoding="utf-8"))["findings"][0]
    assert finding["point"]["queue"] == "fq_codel"
    loss = 100 * median(finding["values"])
    most = 100 * max(max(losses) for losses in finding["references"])
    told = f"at {finding['point']['rate_mbit']} Mbit/s, Copa loses {loss:.0f} % of its packets"
    assert f"{told}, and others up to {most:.0f} %" in WORDS


def test_slow_flows_are_as_printed(place: Path) -> None:
    [capture] = (place / "narrows-results").glob("sender-*")
    summary = json.loads((capture / "summary.json").read_text(encoding="utf-8"))
    [run] = summary["runs"]
    slow = [flow for flow in run["flows"] if flow["throughput_mbps"] < 2]
    assert [(flow["cca"], round(flow["throughput_mbps"])) for flow in slow] == [("cubic", 1)] * 2
    assert {flow["cca"] for flow in run["flows"] if flow not in slow} == {"bbr"}


def test_the_readme_counts_what_can_be_listed() -> None:
    controls, queues = (
        sum(not name.startswith(" ") for name, _ in listing(kind)) for kind in ("ccas", "queues")
    )
    assert f"one of {controls} congestion controls" in WORDS
    assert f"{queues} queues" in WORDS


def test_it_fits_a_screen_and_names_what_there_is() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    assert sum(not line.startswith("```") for line in lines) <= 110
    first = "\n".join(lines[:12])
    assert "Python 3.11+" in first
    assert "Rust 1.88+" in first
    commands = {step.words[0] for step in steps(README) if isinstance(step, Command)}
    assert commands >= {"run", "figure", "evaluate", "search", "analyze", "diff", "reproduce"}
    for word in ("quinn", "noq", "Gymnasium", "`narrows kernel build`", "Playground", "ns-3"):
        assert word in WORDS


def test_a_command_that_needs_a_kernel_stands_beside_its_remedy() -> None:
    for step in steps(README):
        if isinstance(step, Command):
            assert not {"compare", "--backend", "kernel"} & set(step.words)
    kernel = re.findall(r"[^.]*narrows compare[^.]*\.", WORDS)
    assert kernel
    assert all("narrows kernel build" in sentence for sentence in kernel)
