"""Papers of anyone: a folder with a study is run, drawn and judged like our documents."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from documented import Command, File, run_command, shows, steps
from specimens import run_cli
from test_own_code_that_ends import run_narrows

from narrows.reproduce.catalogue import claims_of, exhibits
from narrows.reproduce.claims import claims
from narrows.reproduce.exhibit import Scope
from narrows.reproduce.library import DOCUMENTS, OURS, library
from narrows.reproduce.own import open_library, open_to_read
from narrows.store import open_store

STUDY = """
name = "law"
paper = "A Law (Somebody, 2026)"
title = "Goodput by the losses"
source = "Section 2"

[spec]
path = { rate = "10mbit", rtt = "20ms", buffer = "2bdp" }
run = { duration = "4s", warmup = "1s", trials = 3, record = "summary" }
flows = [{ name = "tcp", cca = "reno" }]

[axes]
"path.loss" = [0.0, 0.05]

[quick]
"path.loss" = [0.0]

[measures.rate]
metric = "tcp.goodput_mbps"
label = "Goodput (Mbit/s)"

[[figure]]
kind = "lines"
x = "path.loss"
y = "rate"

[[claim]]
id = "less"
kind = "number"
about = "reno"
quote = "losses cost throughput"

  [[claim.check]]
  statement = "With losses of 5 % it is at most half."
  measure = "rate"
  ratio = { "path.loss" = [0.05, 0.0] }
  at_most = 0.5
  basis = "Our choice: half."
  history = [{ since = "2026-11-25", why = "the text has no number", results = "before" }]

  [[claim.control]]
  name = "bbr-for-reno"
  words = "BBR in Reno's place"
  replace = { reno = "bbr" }

[testbeds."a deep buffer"]
why = "The buffer isn't said."
set = { "path.buffer" = "4bdp" }
"""
PAGE = Path(__file__).parents[2] / "docs/how-to/own-paper.md"
PYTHON = STUDY.replace('metric = "tcp.goodput_mbps"', 'python = "rate"')
MEASURES = """
def rate(trial):
    return trial.tables["summary"]["tcp.goodput_mbps"].item()
"""


def paper(folder: Path, text: str = STUDY, measures: str | None = None, name: str = "law") -> str:
    """A folder with a study, as a command names it from the directory above."""
    (folder / name).mkdir()
    (folder / name / "study.toml").write_text(text)
    if measures is not None:
        (folder / name / "measures.py").write_text(measures)
    return f"./{name}"


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_paper_is_run_drawn_and_judged(tmp_path, capsys) -> None:
    assert run_cli("reproduce", paper(tmp_path)) == 0
    told = capsys.readouterr().out
    assert "  confirmed: law/less\n    met: With losses of 5 % it is at most half: 0." in told
    out = Path("narrows-results/law.study")
    (entry,) = json.loads((out / "ledger.json").read_text())["entries"]
    assert (entry["claim"], entry["figure"], entry["verdict"]) == ("law/less", "law", "confirmed")
    page = (out / "site/law.html").read_text()
    assert "narrows reproduce ./law<" in page
    assert "losses cost throughput" in page
    assert "A Law (Somebody, 2026)" in (out / "site/index.html").read_text()
    assert "Recorded verdicts" not in (out / "site/index.html").read_text()
    assert (out / "site/law-linux-6.12-sim.svg").is_file()
    assert run_cli("reproduce", "./law", "--list") == 0
    told = capsys.readouterr().out
    assert "law/less: losses cost throughput" in told
    assert not any(title in told for title in DOCUMENTS.values())


def test_a_study_without_claims_says_its_values_and_that_nothing_is_judged(tmp_path, capsys):
    folder = paper(tmp_path, STUDY.partition("[[claim]]")[0])
    assert run_cli("reproduce", folder) == 0
    told = capsys.readouterr().out.splitlines()
    (head,) = (at for at, line in enumerate(told) if "Goodput (Mbit/s)" in line)
    (free, lossy) = (line.split() for line in told[head + 1 : head + 3])
    assert (free[0], lossy[0]) == ("0.0", "0.05")
    assert float(lossy[1]) < 0.5 * float(free[1])
    assert "  means ± half of the 99 % interval" in told
    assert any("no claims, so nothing is judged" in line for line in told)
    assert not any("--verbose" in line for line in told)
    page = Path("narrows-results/law.study/site/law.html").read_text()
    assert "It has no claims, so nothing is judged" in page


def test_a_grid_is_small_only_if_something_is_left_out(tmp_path, capsys) -> None:
    assert run_cli("reproduce", paper(tmp_path), "--quick") == 0
    assert "(linux-6.12, quick: 1 of 2 conditions)" in capsys.readouterr().out
    shorter = STUDY.replace('"path.loss" = [0.0]', 'set = { "run.duration" = "3s" }')
    assert run_cli("reproduce", paper(tmp_path, shorter, name="shorter"), "--quick") == 0
    assert "(linux-6.12, quick: shorter runs)" in capsys.readouterr().out
    plain = STUDY.replace('[quick]\n"path.loss" = [0.0]\n', "")
    assert run_cli("reproduce", paper(tmp_path, plain, name="plain"), "--quick") == 0
    assert "quick" not in capsys.readouterr().out


def test_a_page_with_a_quick_and_a_whole_figure_says_which_is_which(tmp_path, capsys) -> None:
    folder = paper(tmp_path)
    page = Path("narrows-results/law.study/site/law.html")
    assert run_cli("reproduce", folder) == 0
    assert ", the whole figure" not in page.read_text()
    assert run_cli("reproduce", folder, "--quick") == 0
    assert "--quick</pre>" not in page.read_text()
    ways = re.findall("<h2>(Simulated, .*)</h2>", page.read_text())
    assert [way.partition("linux-6.12, ")[2] for way in ways] == [
        "the whole figure", "quick: 1 of 2 conditions"
    ]  # fmt: skip
    assert "quick: 1 of 2 conditions" in (page.parent / "law-linux-6.12-quick-sim.svg").read_text()
    told = capsys.readouterr().out.splitlines()
    (left_out,) = (line for line in told if line.startswith("  --quick leaves out "))
    assert re.fullmatch("  --quick leaves out path.loss [0-9.]+", left_out)
    assert f"  figure: {page.parent / 'law-linux-6.12-quick-sim.png'}" in told
    assert f"page: {page}" in told


def test_a_changed_figure_is_shown_with_the_unchanged_one(tmp_path, capsys) -> None:
    changed = ("reproduce", paper(tmp_path), "--set", "path.rtt=60ms")
    assert run_cli(*changed) == 0
    told = capsys.readouterr().out
    assert "(linux-6.12, changed: path.rtt=60ms)" in told
    assert re.search(
        r"^  holds.* with path.rtt=60ms: law/\w+ \(as written: confirmed\)$", told, re.M
    )
    measured = re.findall(r" met: .*: (\S+) .*\n      unchanged: (\S+) .*\(met\)\n", told)
    assert measured
    assert all(new != old for new, old in measured)
    assert "not recorded, since the claims are about the conditions" in told
    place = Path("narrows-results/law.study")
    assert not (place / "ledger.json").exists()
    (picture,) = (place / "site").glob("*.svg")
    words = re.findall(r">(unchanged|path\.rtt=60ms): goodput", picture.read_text())
    assert words == ["unchanged", "path.rtt=60ms"]
    subtitle = " ".join(re.findall(r">([^<>]+)</text>", picture.read_text()))
    page = place / "site/law-changed-path.rtt-60ms.html"
    assert f"page: {page}" in told
    words = page.read_text()
    assert re.findall(r"<h2>(Simulated, .*)</h2>", words) == [
        "Simulated, with the profile linux-6.12, changed: path.rtt=60ms",
        "Simulated, with the profile linux-6.12, as written",
    ]
    assert words.count('id="law/less"') == 2
    assert words.count("As written: ") == words.count("Measured with <code>path.rtt=60ms</code>.")
    assert "As written: " in words
    assert re.search(r'<span class="tag confirmed">holds.*</span> law/', words)
    assert picture.name in words
    assert "narrows reproduce ./law --set path.rtt=60ms" in words
    assert "index.html" not in words
    assert re.search(r"as written: Section 2; .*; changed: path\.rtt=60ms", subtitle), subtitle
    kept = open_store(place / "runs")
    delays = {kept.scenario(key)["path"]["rtt_ns"] for key in sorted(kept.keys())}
    assert delays >= {20_000_000, 60_000_000}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["path.loss=0.1"], "--set path.loss: found a place that the study varies"),
        (["paths.rtt=1ms"], "--set paths.rtt: found no such place; one such as path.rtt"),
        (["path.rtt=1"], "--set path.rtt: found 1; a duration with its unit"),
        (["path.rtt=1ms", "--mutations"], "it without --mutations"),
    ],
)
def test_a_change_that_cannot_be_made_is_refused(more, said, tmp_path, capsys) -> None:
    assert run_cli("reproduce", paper(tmp_path), "--set", *more) == 2
    assert said in capsys.readouterr().err


def test_its_controls_and_testbeds_are_judged(tmp_path, capsys) -> None:
    folder = paper(tmp_path)
    assert run_cli("reproduce", folder, "--mutations", "--testbeds", "--seeds", "2") == 0
    told = capsys.readouterr().out
    assert "noticed: law/less, with BBR in Reno's place" in told
    assert "| `law/less` | confirmed | confirmed | confirmed |" in told
    assert "0 of 1 verdicts change with the seeds" in told


def test_a_control_that_changes_nothing_is_not_noticed(tmp_path, capsys) -> None:
    idle = STUDY.replace('replace = { reno = "bbr" }', 'set = { "path.rate" = "10mbit" }')
    assert run_cli("reproduce", paper(tmp_path, idle), "--mutations") == 1
    assert "NOT NOTICED: law/less" in capsys.readouterr().out


def test_a_claim_alone_and_a_folder_of_studies(tmp_path, capsys) -> None:
    folder = Path(paper(tmp_path))
    assert run_cli("reproduce", "./law:less", "--quick") == 0
    both = Path("several")
    both.mkdir()
    (both / "document.toml").write_text('name = "several"\npaper = "Two Laws"\n')
    text = STUDY.replace('name = "law"\npaper = "A Law (Somebody, 2026)"\n', "")
    for name in ("one", "two"):
        (both / f"{name}.toml").write_text(text.replace('"less"', f'"{name}"'))
    assert run_cli("reproduce", "./several/two.toml", "--quick") == 0
    told = capsys.readouterr().out
    assert "several/two: Section 2 of Two Laws" in told
    assert "several/one" not in told
    with open_to_read("./several", None):
        assert list(exhibits()) == ["several/one", "several/two"]
    assert run_cli("reproduce", "./law:more") == 2
    assert folder.is_dir()


def test_a_library_is_left_as_it_was_found(tmp_path) -> None:
    with open_library(paper(tmp_path), None) as own:
        assert library() is not OURS
        assert own.out == Path("narrows-results/law.study")
        assert list(exhibits()) == ["law"]
    assert library() is OURS


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "law"', 'name = "mixed"', 'name: found "mixed", the name of one of the documents'),
        ('name = "law"', 'name = "../law"', 'name: found "../law"; small letters'),
        ('paper = "A Law (Somebody, 2026)"', "", "paper: found nothing; the title of the paper"),
        ("title =", "titel =", 'titel: found an unknown key; "title" would be right'),
        ('label = "Goodput (Mbit/s)"', "", "measures.rate.label: found nothing; text would"),
        ('metric = "tcp.goodput_mbps"', 'metrics = "x"', "measures.rate"),
        ('x = "path.loss"', 'x = "path.los"', 'figure[0].x: found "path.los"; "path.loss" would'),
        ('y = "rate"', 'y = "rat"', 'figure[0].y: found "rat"; "rate" would be right'),
        ('kind = "number"', 'kind = "numbr"', 'claim[0].kind: found "numbr"; "number" would'),
        ("  at_most = 0.5", "", "at_least: found no bounds; `at_least`, `at_most` or"),
        ("  at_most = 0.5", "  at_most = 0.5\n  at_least = 1", "check[0].at_least: found [1, 0.5]"),
        ('  basis = "Our choice: half."', "", "claim[0].check[0].basis: found nothing; text"),
        ("[0.05, 0.0]", "[0.05, 0.1]", "claim[0].check[0].ratio.path.loss: found [0.05, 0.1]"),
        ('  words = "BBR in Reno\'s place"', "", "claim[0].control[0].words: found nothing; text"),
        ('"bbr-for-reno"', '"reno-for-bbr"', 'claim[0].control[0].name: found "reno-for-bbr" a'),
        ('results = "before"', 'results = "befor"', 'claim[0].check[0].history[0].results: found'),
        ('"path.loss" = [0.0]', '"path.loss" = [0.2]', "quick.path.loss: found [0.2]; labels of"),
        ('"path.buffer" = "4bdp"', '"flows.udp.size" = "1mb"', 'a deep buffer.set: found no flow'),
        ('rate = "10mbit"', 'rate = "10mbot"', 'path.rate: found the unit "mbot"'),
        ('cca = "reno"', 'cca = "rono"', 'flows[0].cca: found "rono", which is not a congestion'),
        ("[axes]", "[axes", "found what isn't TOML"),
    ],
)  # fmt: skip
def test_an_error_names_the_file_and_the_place(tmp_path, capsys, old, new, said) -> None:
    assert old in STUDY
    assert run_cli("reproduce", paper(tmp_path, STUDY.replace(old, new, 1))) == 2
    told = capsys.readouterr().err
    assert told.startswith("narrows: error: law/study.toml: ")
    assert said in told
    assert not Path("narrows-results").exists()


def test_a_measure_that_no_run_has_is_an_error(tmp_path, capsys) -> None:
    text = STUDY.replace('metric = "tcp.', 'metric = "udp.')
    assert run_cli("reproduce", paper(tmp_path, text), "--quick") == 2
    told = capsys.readouterr().err
    assert "law/study.toml: measures.rate: found a value that no run has" in told


def test_a_folder_without_a_study_and_a_name_without_a_path(tmp_path, capsys) -> None:
    (tmp_path / "empty").mkdir()
    assert run_cli("reproduce", "./empty") == 2
    assert "empty: found a folder without study.toml" in capsys.readouterr().err
    paper(tmp_path)
    assert run_cli("reproduce", "law") == 2
    assert '"./law" would be right' in capsys.readouterr().err


def test_findings_of_two_papers_are_not_mixed(tmp_path, capsys) -> None:
    assert run_cli("reproduce", paper(tmp_path), "--quick", "--out", "all") == 0
    assert run_cli("reproduce", "mixed/fig2", "--quick", "--out", "all") == 2
    other = paper(tmp_path, STUDY.replace('"law"', '"other"'), name="other")
    assert run_cli("reproduce", other, "--quick", "--out", "all") == 2
    assert "--out: found all, which has findings of law" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wanted", "listed"),
    [
        (
            "panaderia/fig9",
            {"panaderia/fig9-cycle", "panaderia/fig9-rtprop", "panaderia/fig9-loss"},
        ),
        ("panaderia/fig9-loss", {"panaderia/fig9-loss"}),
        ("mixed/fig4", {"mixed/fig4", "mixed/fig4-cubic"}),
        ("claim:mixed/fig4", {"mixed/fig4"}),
    ],
)
def test_the_verdicts_of_one_name_are_listed(capsys, wanted, listed) -> None:
    assert run_cli("reproduce", wanted, "--list", "--json") == 0
    found = json.loads(capsys.readouterr().out)["claims"]
    assert {claim["identifier"] for claim in found} == listed
    assert run_cli("reproduce", wanted, "--list") == 0
    told = capsys.readouterr().out
    assert sum(title in told for title in DOCUMENTS.values()) == 1


def test_all_verdicts_are_listed_with_those_that_no_figure_decides(capsys) -> None:
    everything = claims_of("all")
    assert everything == set(claims())
    decided = {claim for exhibit in exhibits().values() for claim in exhibit.claims}
    (*_, untestable) = sorted(everything - decided)
    assert claims_of(untestable) == {untestable}
    assert untestable in claims_of(untestable.partition("/")[0])
    assert run_cli("reproduce", "mixed/fig99", "--list") == 2
    assert '"mixed/fig9' in capsys.readouterr().err
    assert run_cli("reproduce", "nothing-alike") == 2
    told = capsys.readouterr().err
    assert "a figure (`narrows list figures`), a claim" in told
    assert "panaderia/fig1," not in told


def test_a_claim_of_an_own_paper_is_listed_alone(tmp_path, capsys) -> None:
    folder = paper(tmp_path)
    assert run_cli("reproduce", f"{folder}:less", "--list") == 0
    assert "law/less" in capsys.readouterr().out
    assert run_cli("reproduce", f"{folder}:more", "--list") == 2


def test_own_measures_run_only_if_allowed(tmp_path, capsys) -> None:
    folder = paper(tmp_path, PYTHON, MEASURES)
    assert run_cli("reproduce", folder) == 2
    assert "--allow-code law/measures.py, if you trust it," in capsys.readouterr().err
    assert run_cli("reproduce", folder, "--list") == 0
    assert run_cli("reproduce", folder, "--allow-code", "law/measures.py") == 0
    assert "confirmed: law/less" in capsys.readouterr().out
    page = Path("narrows-results/law.study/site/law.html").read_text()
    assert "narrows reproduce ./law --allow-code law/measures.py" in page


def test_a_changed_measure_measures_again(tmp_path, capsys) -> None:
    folder = paper(tmp_path, PYTHON, MEASURES)
    allowed = ("--allow-code", folder, "--trials", "3")
    assert run_cli("reproduce", folder, *allowed) == 0
    (tmp_path / "law/measures.py").write_text("def rate(trial):\n    return 1.0\n")
    capsys.readouterr()
    assert run_cli("reproduce", folder, *allowed) == 0
    assert "    undecided: With losses of 5 % it is at most half: 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def rat(trial): ...", 'measure rate: found no such function; "rat" would be right'),
        ("def rate(trial):\n    return {}['x']", "KeyError: 'x' in line 2; code that returns"),
        ("def rate(trial):\n    return 'x'", "measure rate: found 'x' as its value; a number, or"),
        ("def rate(trial):\n    return float('nan')", "found nan as its value; a number, or None"),
        ("def rate(trial):\n    raise SystemExit(0)", "found SystemExit: 0 in line 2"),
        ("1 / 0", "found ZeroDivisionError: division by zero in line 1"),
        ("def (", "found SyntaxError"),
    ],
)
def test_an_error_of_a_measure_names_its_line(tmp_path, capsys, code, said) -> None:
    folder = paper(tmp_path, PYTHON, code)
    assert run_cli("reproduce", folder, "--quick", "--allow-code", folder) == 2
    told = capsys.readouterr().err
    assert "law/measures.py: " in told
    assert said in told


def test_a_measure_that_leaves_is_no_success(tmp_path) -> None:
    folder = paper(tmp_path, PYTHON, "import os\ndef rate(trial):\n    os._exit(0)\n")
    status, printed, said = run_narrows(tmp_path, "reproduce", folder, "--allow-code", folder)
    assert (status, printed) == (2, "")
    assert said.splitlines()[-1] == (
        "narrows: error: law/measures.py: found code that ended narrows with status 0; "
        "code that returns, or raises an exception, would be right"
    )


CODED = """
name = "coded"
paper = "A Paper (Somebody, 2026)"
title = "Goodput"
source = "Figure 1"
code = "figure.py"

[[claim]]
id = "fills"
kind = "number"

  [[claim.check]]
  name = "goodput"
  at_least = 5
  unit = " Mbit/s"
  basis = "Our choice: half of the rate."
"""
FIGURE = """
import polars as pl
from narrows.reproduce.exhibit import Case, Finding
from narrows.reproduce.judging import judge_bounds

from . import testbed


def cases(scope):
    yield Case({"control": "reno"}, testbed.SPEC)


def measure(trial):
    return {"outcome": trial.tables["summary"].select("reno.goodput_mbps")}


def draw(data):
    return []


def judge(data):
    values = data.values("reno.goodput_mbps")
    check = judge_bounds(data, "coded/fills", "goodput", "It fills.", "Goodput.", values)
    return [Finding("coded/fills", [check])]
"""
TESTBED = """
SPEC = {
    "name": "coded", "path": {"rate": "10mbit", "rtt": "10ms", "buffer": "1bdp"},
    "flows": [{"cca": "reno"}], "run": {"duration": "3s", "trials": 2},
}
"""


def with_code(folder: Path, figure: str = FIGURE) -> str:
    (folder / "coded").mkdir()
    files = {"study.toml": CODED, "figure.py": figure, "testbed.py": TESTBED}
    for name, text in files.items():
        (folder / "coded" / name).write_text(text)
    return "./coded"


def test_a_figure_of_an_own_paper_can_be_code(tmp_path, capsys) -> None:
    folder = with_code(tmp_path)
    assert run_cli("reproduce", folder) == 2
    assert "--allow-code coded/figure.py, if you trust it," in capsys.readouterr().err
    assert run_cli("reproduce", folder, "--allow-code", "coded/figure.py") == 0
    assert "confirmed: coded/fills" in capsys.readouterr().out
    page = Path("narrows-results/coded.study/site/coded.html").read_text()
    assert "narrows reproduce ./coded --allow-code coded/figure.py" in page


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("def judge", "def juge", "coded/figure.py: found no function judge; one (cases, measure,"),
        ("testbed.SPEC", "testbed.SPECS", "coded/figure.py: cases: found AttributeError: module"),
        ("import testbed", "import testbeds", "coded/figure.py: found ImportError: cannot import"),
    ],
)
def test_an_error_of_a_coded_figure_names_its_file(tmp_path, capsys, old, new, said) -> None:
    folder = with_code(tmp_path, FIGURE.replace(old, new))
    assert run_cli("reproduce", folder, "--allow-code", folder) == 2
    assert said in capsys.readouterr().err


def test_the_code_of_a_figure_is_beside_it(tmp_path, capsys) -> None:
    folder = with_code(tmp_path)
    (tmp_path / "coded/study.toml").write_text(CODED.replace("figure.py", "../figure.py"))
    assert run_cli("reproduce", folder, "--allow-code", folder) == 2
    assert 'code: found "../figure.py"; the name of a Python' in capsys.readouterr().err


def test_a_study_takes_from_its_testbed_what_it_does_not_say(tmp_path) -> None:
    shared = 'path = { rate = "9mbit", rtt = "10ms" }\nown_host = { timer_lateness = "50us" }\n'
    folder = paper(tmp_path, STUDY.replace("title =", 'from = "testbed.toml"\ntitle =', 1))
    file = tmp_path / "law/study.toml"
    file.write_text(
        file.read_text().replace('rate = "10mbit", rtt = "20ms", ', 'rate = "10mbit", ')
    )
    (tmp_path / "law/testbed.toml").write_text(shared)
    with open_library(folder, None):
        (exhibit,) = exhibits().values()
        case, *_ = exhibit.method().cases(Scope(exhibit.profile))
    assert (case.spec["path"]["rate"], case.spec["path"]["rtt"]) == ("10mbit", "10ms")
    assert case.spec["host"]["timer_lateness"] == "50us"


@pytest.mark.parametrize(
    ("name", "shared", "said"),
    [
        ("other.toml", "", 'study.toml: from: found "other.toml"; "testbed.toml" would be right'),
        ("testbed.toml", "flow = []", "testbed.toml: flow: found a key that studies can't share"),
        ("testbed.toml", None, "testbed.toml: found No such file or directory; a file"),
    ],
)
def test_a_wrong_testbed_is_an_error(tmp_path, capsys, name, shared, said) -> None:
    folder = paper(tmp_path, STUDY.replace("title =", f'from = "{name}"\ntitle =', 1))
    if shared is not None:
        (tmp_path / "law/testbed.toml").write_text(shared)
    assert run_cli("reproduce", folder) == 2
    assert said in capsys.readouterr().err


def test_a_study_finds_an_own_control_beside_it(tmp_path, capsys) -> None:
    control = """
class Mine:
    def on_ack(self, sample):
        pass

    def on_congestion(self, event):
        pass

    def control(self):
        return 10
"""
    folder = paper(tmp_path, STUDY.replace('cca = "reno"', 'cca = "mine:Mine"'))
    (tmp_path / "law/mine.py").write_text(control)
    assert run_cli("reproduce", folder, "--quick") == 2
    assert "--allow-code law/mine.py, if you trust it," in capsys.readouterr().err
    assert run_cli("reproduce", folder, "--quick", "--allow-code", folder) == 0
    assert "Goodput by the losses" in capsys.readouterr().out


def test_the_how_to_goes_from_a_sentence_to_a_verdict(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    folder = tmp_path / "buffers"
    folder.mkdir()
    compared = 0
    for step in steps(PAGE):
        if isinstance(step, File):
            (folder / step.name).write_text(step.text)
        elif isinstance(step, Command) and step.output is not None:
            status, printed = run_command(step.words)
            assert status == 0, step.words
            assert shows(step.output, printed), printed
            compared += 1
    assert compared == 2
    study = (folder / "study.toml").read_text()
    own = study.replace('metric = "utilization"', 'python = "longest_queue"')
    (folder / "study.toml").write_text(own)
    assert run_cli("reproduce", "./buffers", "--trials", "1", "--allow-code", "buffers") in (0, 1)
    assert re.search(r"100 flows need a tenth of a BDP: [1-9]", capsys.readouterr().out)
