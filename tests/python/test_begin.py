"""First contact: starting points, checks without a run, standard input, watching, completion."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from specimens import GOOD, run_cli, write
from waiting import await_that

from narrows.cli.vocabulary import ListKind
from narrows.cli.watch import watch
from narrows.errors import InputError
from narrows.starters import STARTERS

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("starter", STARTERS, ids=lambda starter: starter.name)
def test_every_starting_point_is_right(
    starter, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_cli("init", starter.name) == 0
    paths = capsys.readouterr().out.split()
    assert paths == [starter.spec, *starter.files]
    assert all((tmp_path / path).is_file() for path in paths)
    if starter.folder:
        assert run_cli(*starter.command.split()[1:], "--quick") == 0
        return
    code = [word for name in starter.files for word in ("--allow-code", name)]
    assert run_cli("run", "--check", starter.spec, *code) == 0
    assert ": valid; " in capsys.readouterr().out


def test_a_file_is_not_replaced_unless_told(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fair.toml").write_text("mine")
    assert run_cli("init", "fair") == 2
    assert "a file of that name" in capsys.readouterr().err
    assert (tmp_path / "fair.toml").read_text() == "mine"
    assert run_cli("init", "fair", "--force") == 0
    assert run_cli("init", "fare") == 2
    assert "one of fair, aqm" in capsys.readouterr().err


def test_validate_tells_every_problem_and_runs_nothing(tmp_path: Path, capsys: Capture) -> None:
    right = write(tmp_path)
    wrong = write(tmp_path, GOOD.replace("8mbit", "8mbps?"), "wrong.toml")
    assert run_cli("run", "--check", right, wrong, wrong) == 2
    captured = capsys.readouterr()
    assert "good.toml: valid; 1 run of 1 combination" in captured.out
    assert captured.err.count("path.rate") == 2
    assert not (tmp_path / "narrows-results").exists()


def test_a_specification_comes_from_standard_input(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; from narrows.start import main; sys.exit(main())"]
    done = subprocess.run(
        [*command, "run", "-", "--json", "--out", str(tmp_path / "out")],
        input=GOOD, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert json.loads(done.stdout)["directory"] == str(tmp_path / "out")


def test_watching_runs_again_after_a_change_and_survives_a_mistake(tmp_path: Path) -> None:
    spec = Path(write(tmp_path))
    seen: list[str] = []

    def once() -> None:
        seen.append(spec.read_text())
        if len(seen) == 1:
            raise InputError.at("here", "a mistake", "none")
        if len(seen) == 3:
            raise KeyboardInterrupt

    def until_interrupted() -> None:
        with pytest.raises(KeyboardInterrupt):
            watch(str(spec), once)

    thread = threading.Thread(target=until_interrupted, daemon=True)
    thread.start()
    for number in (1, 2):
        await_that(lambda number=number: len(seen) >= number)
        spec.write_text(GOOD + "#" * number)
    thread.join(60)
    assert [text.count("#") for text in seen] == [0, 1, 2]
    with pytest.raises(InputError, match="which is not a file"):
        watch("-", once)


def test_a_shell_completes_commands(capsys: Capture) -> None:
    assert run_cli("--completion", "bash") == 0
    assert "_NARROWS_COMPLETE" in capsys.readouterr().out
    asked = {"_NARROWS_COMPLETE": "complete_bash", "COMP_WORDS": "narrows rep", "COMP_CWORD": "1"}
    code = "import sys; from narrows.start import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True,
        check=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.split() == ["reproduce"]


def test_help_is_short_for_h(capsys: Capture) -> None:
    for words in ([], ["run"], ["kernel"], ["store", "ls"]):
        assert run_cli(*words, "-h") == 0
        short = capsys.readouterr().out
        assert run_cli(*words, "--help") == 0
        assert capsys.readouterr().out == short != ""


@pytest.mark.parametrize("kind", ["ccas", "queues", "workloads", "paths", "figures"])
def test_listings_are_json_if_asked(kind: str, capsys: Capture) -> None:
    assert run_cli("list", kind, "--json") == 0
    entries = json.loads(capsys.readouterr().out)
    assert all(set(entry) <= {"name", "meaning", "more"} for entry in entries)


def test_no_summary_is_cut_and_no_usage_breaks_a_word(capsys: Capture) -> None:
    for words in ([], ["kernel"], ["store"], ["list"]):
        assert run_cli(*words, "--help") == 0
        text = capsys.readouterr().out
        assert "..." not in text.replace("[ARGS]...", "").replace("[NAME...]", "")
    assert text.startswith("Usage: narrows list [OPTIONS] [KIND] [NAME...]\n")
    assert "workloads, distributions, paths" in text


def test_list_alone_counts_the_entries_of_each_kind(capsys: Capture) -> None:
    def entries(kind: str) -> int:
        assert run_cli("list", kind, "--json") == 0
        found = json.loads(capsys.readouterr().out)
        return sum(len(one.get("more", {})) or 1 for one in found)

    assert run_cli("list") == 0
    rows = [line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == list(ListKind)
    counts = {row[0]: row[1] for row in rows}
    assert counts["ccas"] == "28"
    assert counts["backends"] == "3"
    assert int(counts["metrics"]) == entries("metrics")
    assert int(counts["figures"]) == entries("figures")
    assert run_cli("list", "queues", "--json") == 0
    assert int(counts["queues"]) == len(json.loads(capsys.readouterr().out))
    assert not counts["schema"].isdigit()


def test_charts_are_listed_before_published_figures(capsys: Capture) -> None:
    assert run_cli("list", "figures") == 0
    assert capsys.readouterr().out.startswith("of a sweep ")


def test_a_listing_is_narrowed_by_names(capsys: Capture) -> None:
    def names(*words: str) -> list[str]:
        assert run_cli("list", *words) == 0
        lines = capsys.readouterr().out.splitlines()
        return [line.split()[0] for line in lines if not line.startswith(" ")]

    assert names("ccas", "cubic") == ["cubic"]
    assert names("ccas", "bbr") == ["bbr"]
    assert {"codel", "fq_codel"} == set(names("queues", "code"))
    assert names("queues", "pie", "cake") == ["pie", "cake"]
    assert run_cli("list", "metrics", "goodput_mbps") == 0
    found = capsys.readouterr().out
    assert "of a class" in found
    assert "utilization" not in found.replace("utilization of", "")
    assert run_cli("list", "ccas", "cubik") == 2
    assert 'list: found "cubik", which is not one of the ccas; "cubic"' in capsys.readouterr().err
    assert run_cli("list", "ccas", "cubic", "--json") == 0
    assert [entry["name"] for entry in json.loads(capsys.readouterr().out)] == ["cubic"]


def test_one_thing_is_listed_by_its_name_alone(capsys: Capture) -> None:
    assert run_cli("list", "cubic") == 0
    alone = capsys.readouterr().out
    assert run_cli("list", "ccas", "cubic") == 0
    assert capsys.readouterr().out == alone
    assert alone.startswith("cubic ")
    assert "  hystart " in alone
    assert run_cli("list", "fq_codel", "--json") == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)["queues"]] == ["fq_codel"]
    assert run_cli("list", "loss") == 0
    assert capsys.readouterr().out.startswith("loss ")


def test_next_steps_are_for_people_only(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_cli("init", "fair") == 0
    assert "next:" not in capsys.readouterr().err
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdout", terminal)
    assert run_cli("init", "aqm") == 0
    assert "next: narrows run aqm.toml" in capsys.readouterr().err


def test_the_control_to_start_from_has_slow_start_until_the_first_loss(tmp_path: Path) -> None:
    assert run_cli("init", "own-control", "--out", str(tmp_path)) == 0
    names: dict[str, Any] = {}
    exec((tmp_path / "mycontrol.py").read_text(encoding="utf-8"), names)
    control = names["MyControl"]()
    acked = SimpleNamespace(may_grow=True, cwnd_limited=True, acked=10)
    control.on_ack(acked)
    assert control.control() == 20
    control.on_congestion(SimpleNamespace(kind="loss", first=True, cwnd=20))
    assert control.control() == 10
    control.on_ack(acked)
    assert control.control() == 11
    for first, cwnd in ((True, 20), (False, 1)):  # a repeated timeout leaves the threshold
        control.on_congestion(SimpleNamespace(kind="timeout", first=first, cwnd=cwnd))
    assert (control.control(), control.ssthresh) == (1, 10)


def test_a_kind_is_listed_with_a_line_an_entry(capsys: Capture) -> None:
    for kind in ("ccas", "queues", "paths", "workloads", "backends"):
        assert run_cli("list", kind) == 0
        lines = capsys.readouterr().out.splitlines()
        assert not [line for line in lines if line.startswith(" ")], kind
    assert run_cli("list", "queues", "codel") == 0
    assert "\n  target " in capsys.readouterr().out


def test_the_module_is_the_command() -> None:
    asked = [sys.executable, "-m", "narrows", "--version"]
    told = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert told.stdout.startswith("narrows ")


@pytest.mark.parametrize("kind", ["fair", "own-control", "paper", "panaderia/vegas"])
def test_the_next_command_is_right_in_another_directory(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_cli("init", kind, "--out", "my work", "--json") == 0
    words = shlex.split(json.loads(capsys.readouterr().out)["next"])
    named = [word for word in words if "my work" in word]
    assert named
    assert all(Path(word).exists() for word in named)
    if words[1] == "reproduce":
        assert named[0].startswith("./")  # no id of a figure begins so
