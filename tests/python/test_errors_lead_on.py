"""Messages for a newcomer's mistakes: each names the mistake and the right command."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from narrows import starters
from narrows.cli import main

PAPER = 'paper = "A title"\n[spec.path]\nrate = "1mbit"\n'
SWEEP = """
name = "two"
path = { rate = "2mbit", rtt = "10ms", buffer = ["1bdp", "2bdp"], queue = ["codel", "pie"] }
flows = [{ cca = "reno" }]
run = { duration = "1s" }
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    starters.write(starters.find("fair"), tmp_path)
    (tmp_path / "law").mkdir()
    (tmp_path / "law/study.toml").write_text(PAPER)
    (tmp_path / "a.pcapng").write_bytes(b"\n\r\r\n")
    (tmp_path / "whole.json").write_text('{"start": {}, "end": {}}')
    (tmp_path / "broken.json").write_text('{"a": 1,\n no\n')


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("figure fair.toml timeline", "the directory that `narrows run fair.toml` prints would"),
        ("figure fair.toml share", "then `narrows figure narrows-results/fair.sweep share`, would"),
        ("init panaderia/fig10 --set path.rtt=50", "--set path.rtt: found 50; a duration with"),
        ("run law", "law: found a study of a published figure; `narrows reproduce ./law` would"),
        ("run --check law/study.toml", "law/study.toml: found a study of a published figure;"),
        ("search law --for 'path.rtt at which utilization = 0.9'",
         "law: found a study of a published figure; a specification with the tables of its [spec]"),
        ("run fair.toml --buffer 2bdp", "found no option --buffer; --set path.buffer=VALUE would"),
        ("run fair.toml --buffers 2bdp", "No such option: --buffers"),
        ("evaluate nomodule:Mine", "nomodule.py in {here}, or an installed module, would be"),
        ("search coppa", 'error: CONTROL: found "coppa", which is'),
        ("search copa --objective starves --beside cubik", 'error: --beside: found "cubik"'),
        ("analyze none.pcap", "none.pcap: found no such file;"),
        ("import none.json", "none.json: found no such file;"),
        ("import broken.json", "iperf3, flent, csv, mahimahi or ss (no JSON from line 2 on)"),
        ("import fair.toml", "or ss (its lines are no table)"),
        ("import a.pcapng", "`narrows analyze`, which reads captures, would be right"),
        ("analyze whole.json", "`narrows import` for what iperf3 writes would be right"),
        ("run --check fair.toml --out x", "run: found --out with --check; the command without"),
        ("run --check fair.toml --pcap", "run: found --pcap with --check; the command without"),
        ("run fair.toml --set path.rate=1mbit --set path.rate=2mbit",
         "--set: found path.rate=1mbit beside path.rate=2mbit; one of the two would be right"),
        ("figure fair.toml --set flows.0.cca=reno --set flows[0].cca=cubic",
         "--set: found flows.0.cca=reno beside flows[0].cca=cubic; one of the two would be"),
        ("evaluate cubic --only ''", '--only: found ""; names of situations, separated by'),
        ("list schema extra", 'list: found "extra" beside schema; `narrows list schema` alone'),
        ("list results law other", 'list: found "other" beside results; one directory would be'),
        ("open law --runs", "--runs: found law, which is no sweep; the command without it"),
        ("list ccas zzz", "which is not one of the ccas; one of bbr, bbr2, "),
        ("list paths satellite", "which is not one of the paths; one of raspberry-pi, "),
        ("compare fair.toml --backends sim,sim",
         '"sim,sim", which has sim more than once; two or three, such as "sim,uml", would'),
        ("reproduce still-true --list", "found --list with still-true, which judges anew each"),
        ("hosts check nofile.toml", 'INVENTORY: found "nofile.toml", but no such file; an inv'),
        ("hosts check nofile.toml", " at nofile.toml or "),
        ("run fair.toml --dry-run --backend hosts:none --set host.jitter=0s",
         '--backend: found "hosts:none", but no'),
        ("list results none", "results, which `narrows run` makes, would be right"),
        ("evaluate mine.py", 'found "mine.py"; "mine:NAME", with the name of its class, would'),
    ],
)  # fmt: skip
def test_a_mistake_is_led_on(
    command: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(shlex.split(command)) == 2
    assert said.replace("{here}", str(tmp_path)) in capsys.readouterr().err
    assert not Path("fig10").exists()


def test_a_figure_of_one_run_of_many_names_one(capsys: pytest.CaptureFixture[str]) -> None:
    Path("two.toml").write_text(SWEEP)
    assert main(["run", "two.toml", "--out", "two"]) == 0
    assert main(["figure", "two", "cwnd"]) == 2
    said = capsys.readouterr().err
    assert 'found "cwnd", which draws one run, and 4 combinations; one of them, such as' in said
    where = said.partition("such as ")[2].partition(", would")[0].split()
    assert where == ["--where", "path.buffer=1bdp", "--where", "path.queue=codel"]
    assert main(["figure", "two", "cwnd", *where]) == 0


def test_a_figure_of_a_specification_leads_to_commands_that_draw_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("two.toml").write_text(SWEEP)
    assert main(["figure", "two.toml", "lines"]) == 2
    first, second = re.findall("`narrows (.*?)`", capsys.readouterr().err)
    assert main(first.split()) == 0
    assert main(second.split()) == 0
    assert Path("two-lines.svg").is_file()


@pytest.mark.parametrize(
    ("mark", "kind"),
    [
        ("compare.html", "a comparison, shown in made/compare.html;"),
        ("diff.html", "a diff, shown in made/diff.html;"),
        ("search.json", "a search, shown in made/search.json;"),
        ("site/index.html", "an evaluation or published figures, shown in made/site/index.html;"),
        ("notes.txt", "a directory without manifest.json;"),
    ],
)
def test_a_figure_of_other_directories_names_them_and_the_results_in_them(
    mark: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Path("made", mark)
    place.parent.mkdir(parents=True)
    place.write_text("")
    (Path("made") / "runs").mkdir()
    (Path("made") / "runs" / "store.json").write_text('{"format": 2}')  # of no study
    assert main(["figure", "made"]) == 2
    assert f"error: made: found {kind} a results directory, such as" in capsys.readouterr().err
    first = "made/1/results"
    for folder, named in (
        (first, f"the results in it, {first}, would be right"),
        ("made/two", f"one of the 2 results in it, such as {first}, made/two, would be right"),
    ):
        Path(folder).mkdir(parents=True)
        Path(folder, "manifest.json").write_text("")
        assert main(["figure", "made", "share"]) == 2
        assert f"error: made: found {kind} {named}" in capsys.readouterr().err


def test_a_figure_of_runs_without_a_study_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    Path("two.toml").write_text(SWEEP)
    assert main(["run", "two.toml", "--out", "two"]) == 0
    for record in Path("two/studies").iterdir():
        record.unlink()
    capsys.readouterr()
    assert main(["figure", "two"]) == 2
    assert "two: found runs of no study, such as those of a compar" in capsys.readouterr().err


def test_a_condition_that_does_not_occur_leads_to_all_that_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("two.toml").write_text(SWEEP)
    assert main(["run", "two.toml", "--out", "two"]) == 0
    assert main(["figure", "two", "lines", "--where", "path.buffer=3bdp"]) == 2
    assert '"path.buffer=3bdp"; one of 1bdp, 2bdp would be right' in capsys.readouterr().err


def test_an_option_is_listed_with_the_controls_that_have_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["list", "ccas", "hystart"]) == 0
    assert capsys.readouterr().out.startswith("cubic")


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("lines --trial 3", "--trial for lines"),
        ("heatmap --by path.buffer", "--by for heatmap"),
        ("lines --y path.buffer", "--y for lines"),
        ("cwnd --metric utilization", "--metric for cwnd"),
    ],
)
def test_a_figure_refuses_options_that_it_does_not_use(
    words: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("two.toml").write_text(SWEEP)
    assert main(["run", "two.toml", "--out", "two"]) == 0
    assert main(["figure", "two", *words.split()]) == 2
    assert f"figure: found {option}, which doesn't use it; the" in capsys.readouterr().err


def test_a_check_counts_the_trials_and_the_filtered_combinations(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("two.toml").write_text(SWEEP)
    words = ["--trials", "3", "--filter", "path.buffer=1bdp"]
    assert main(["run", "--check", "two.toml", *words]) == 0
    assert capsys.readouterr().out == "two.toml: valid; 6 runs of 2 combinations\n"
