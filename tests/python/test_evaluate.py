"""Suites of situations: read, run, judged by interval, and able to fail a control."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from statistics import fmean

import pytest

from narrows.backends import get_backend
from narrows.cli import main
from narrows.errors import InputError, SpecError
from narrows.evaluate import evaluate, load_suite, make, suites
from narrows.evaluate.breaches import breaches, looks_at_harm, sharing_harm
from narrows.evaluate.conclusion import Conclusion, conclude
from narrows.evaluate.runs import Attempt, Contestant, attempts, contestants
from narrows.evaluate.site import differences, failures, open_questions
from narrows.evaluate.suite import Situation
from narrows.evaluate.verdicts import AttemptResult, judge
from narrows.metrics.bounds import CheckVerdict, combine
from narrows.metrics.checks import RunMeasurements
from narrows.metrics.duration import lacking_s
from narrows.plan import Cell, Plan, Trial, plan
from narrows.spec import ResultCheck, SpecificationText, load
from narrows.spec.permission import allowing

SPECIFICATION = """name = "alone"
[path]
rate = "8mbit"
rtt = "20ms"
buffer = "1bdp"
[[flows]]
name = "subject"
cca = "cubic"
[host]
jitter = "200us"
[run]
duration = "4s"
warmup = "1s"
trials = 3
[[check]]
metric = "utilization"
at_least = 0.9
"""
INDEX = """title = "One"
source = "a test"
[[situation]]
file = "alone.toml"
section = "1"
asks = "Does it fill the link?"
because = ["It is alone."]
"""
ASKED = '[[requirement]]\nsection = "1"\nlevel = "MUST"\nwords = "It works."\n'
LAZY = """
class Lazy:
    def on_ack(self, sample):
        pass

    def on_congestion(self, event):
        pass

    def control(self):
        return 2.0  # packets in flight, whatever happens
"""
FAULTY = """
class Doubling:
    # Never leaves slow start.
    def __init__(self):
        self.window = 10.0

    def on_ack(self, sample):
        self.window = min(self.window + sample.acked, 5000.0)

    def on_congestion(self, event):
        pass

    def control(self):
        return self.window


class Deaf:
    # Reno that ignores ECN's marks.
    def __init__(self):
        self.window, self.slow = 10.0, True

    def on_ack(self, sample):
        if sample.may_grow and sample.cwnd_limited:
            self.window += sample.acked if self.slow else sample.acked / self.window

    def on_congestion(self, event):
        if event.kind != "ecn":
            self.window, self.slow = max(2.0, event.cwnd / 2), False

    def control(self):
        return self.window


class Greedy:
    # Starves others: a window that nothing lowers.
    def on_ack(self, sample):
        pass

    def on_congestion(self, event):
        pass

    def control(self):
        return 300.0
"""


def suite(tmp_path: Path, index: str = INDEX, specification: str = SPECIFICATION) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "suite.toml").write_text(index, encoding="utf-8")
    (folder / "alone.toml").write_text(specification, encoding="utf-8")
    return folder


def test_the_suites_that_come_along_can_all_be_planned() -> None:
    assert list(suites()) == ["bbr-draft", "documents", "quick", "rfc9743"]
    for name in suites():
        whole = load_suite(name)
        made = attempts(whole, contestants(["bbr3"], []), get_backend("sim"), None)
        assert [one.refused for one in made] == [""] * len(whole.situations)
        assert all(one.cell is not None and len(one.cell.plan.trials) >= 3 for one in made)


@pytest.mark.parametrize(
    ("change", "place", "found"),
    [
        (("because = [", 'becuase = ["x"]\nbecause = ['), "situation[0].becuase", "unknown"),
        (('because = ["It is alone."]', "because = []"), "situation[0].because", "0 sentences"),
        (('"alone.toml"', '"gone.toml"'), "situation[0].file", "isn't there"),
        (('source = "a test"', "source = 3"), "source", "3"),
        (
            ('title = "One"', 'title = "One"\nfrom = "rfc9743"\nonly = ["tial-drop"]'),
            "only",
            "tial",
        ),
        (("title", "title = "), "the text", "no TOML"),
        (("[[situation]]", f"{ASKED}[[situation]]"), "requirement[0].situations", "neither"),
        (
            ("[[situation]]", f'{ASKED}reason = "x"\nsituations = ["alone"]\n[[situation]]'),
            "requirement[0].situations",
            "both",
        ),
        (
            ("[[situation]]", f'{ASKED}situations = ["alnoe"]\n[[situation]]'),
            "requirement[0].situations",
            "isn't a situation",
        ),
        (('source = "a test"', 'source = "a test"\nbeside = "reno"'), "beside", "reno"),
    ],
)
def test_mistakes_in_a_suite_are_reported(
    change: tuple[str, str], place: str, found: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as error:
        load_suite(suite(tmp_path, INDEX.replace(*change, 1)))
    assert error.value.place == place
    assert found in error.value.problems[0].found


@pytest.mark.parametrize("length", [1, 2])
def test_suites_that_select_from_each_other_are_refused(length: int, tmp_path: Path) -> None:
    folders = [tmp_path / f"suite-{number}" for number in range(length)]
    for at, folder in enumerate(folders):
        folder.mkdir()
        base = folders[(at + 1) % length]
        text = f'title = "One"\nfrom = "{base}"\nonly = ["alone"]\n'
        (folder / "suite.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        load_suite(folders[0])
    assert error.value.place == "from"
    names = " -> ".join(folder.name for folder in [*folders, folders[0]])
    assert error.value.problems[0].found == f"a circle, {names}"


def test_a_suite_without_a_flow_under_test_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no flow called"):
        load_suite(suite(tmp_path, specification=SPECIFICATION.replace("subject", "other")))


def test_an_unknown_suite_and_an_unknown_control_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["evaluate", "cubic", "--suite", "quik"]) == 2
    assert '"quick" would be right' in capsys.readouterr().err
    out = str(tmp_path / "out")
    assert main(["evaluate", "cubik", "--suite", str(suite(tmp_path)), "--out", out]) == 2
    assert "cubik" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_options_of_a_control_follow_its_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    names = [one.title for one in contestants(["mine:Mine:gain=2", "bbr3:beta=0.8"], [])]
    assert names == ["Mine (gain=2)", "BBRv3 (beta=0.8)"]
    command = ["evaluate", "cubic:beta=205", "cubic", "--beside", "", "--json"]
    main([*command, "--suite", str(suite(tmp_path)), "--out", str(tmp_path / "out")])
    document = json.loads(capsys.readouterr().out)
    values = {one["control"]: one["checks"][0]["values"] for one in document["situations"]}
    assert list(values) == ["cubic:beta=205", "cubic"]
    assert max(values["cubic:beta=205"]) < min(values["cubic"])
    page = (Path(document["page"]).parent / "alone.html").read_text(encoding="utf-8")
    assert "narrows evaluate cubic:beta=205 --suite" in page
    wrong = ["evaluate", "cubic:bta=0.2", "--suite", str(tmp_path / "mine")]
    assert main([*wrong, "--out", str(tmp_path / "out")]) == 2
    assert "bta" in capsys.readouterr().err


def test_a_control_with_a_fault_breaks_what_others_keep(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "lazy.py").write_text(LAZY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    command = ["evaluate", "lazy:Lazy", "reno", "--beside", "cubic", "--out", "out", "--json"]
    status = main([*command, "--suite", str(suite(tmp_path))])
    document = json.loads(capsys.readouterr().out)
    verdicts = {entry["control"]: entry["verdict"] for entry in document["situations"]}
    assert status == 1
    assert verdicts == {"lazy:Lazy": "not met", "reno": "met", "cubic": "met"}
    folder = tmp_path / "out" / "site" / "lazy-Lazy-reno"
    assert document["page"] == str((folder / "index.html").relative_to(tmp_path))
    assert "alone: Utilization (%) is" in (folder / "index.html").read_text(encoding="utf-8")
    assert (folder / "alone.svg").is_file()
    assert [one["safe"] for one in document["conclusions"]] == [False, True]
    page = unescape((folder / "index.html").read_text(encoding="utf-8"))
    assert all(one["sentence"] in page for one in document["conclusions"])
    assert {one["shares"] for one in document["conclusions"]} == {""}  # no others are there
    assert json.loads((folder / "evaluation.json").read_text()) == document


def test_a_control_that_fails_says_why(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = LAZY.replace("        pass", "        self.window + 1", 1)
    (tmp_path / "broken.py").write_text(broken, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    command = ["evaluate", "broken:Lazy", "--beside", "", "--out", "out"]
    assert main([*command, "--suite", str(suite(tmp_path))]) == 1
    told = capsys.readouterr().out.splitlines()
    assert "alone  undecided" in told
    (line,) = [line for line in told if line.startswith("Lazy: alone:")]
    assert "3 of 3 runs failed: Lazy.on_ack: found AttributeError" in line


def test_a_reason_that_ends_all_runs_is_reported_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = LAZY.replace("        pass", "        self.window + 1", 1)
    (tmp_path / "broken.py").write_text(broken, encoding="utf-8")
    (tmp_path / "suite").mkdir()
    folder = suite(tmp_path / "suite")
    entry = INDEX[INDEX.index("[[situation]]") :].replace("alone", "again")
    (folder / "again.toml").write_text(SPECIFICATION.replace("alone", "again"), encoding="utf-8")
    (folder / "suite.toml").write_text(INDEX + entry, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with allowing(controls=["broken:Lazy"]):
        lines = evaluate(["broken:Lazy"], suite=folder, beside=[], out=tmp_path / "out").lines()
    (line,) = [line for line in lines if "found AttributeError" in line]
    assert line.startswith("Lazy: runs failed in 2 situations: Lazy.on_ack: ")
    assert lines[-1].endswith("0 of 2 situations met, all without results.")


def test_stored_runs_are_not_repeated(tmp_path: Path) -> None:
    folder, out = suite(tmp_path), tmp_path / "out"
    first = evaluate(["reno"], suite=folder, beside=[], out=out)
    assert (first.done.new, first.good) == (3, True)
    again = evaluate(["reno"], suite=folder, beside=["cubic"], out=out)
    assert (again.done.new, again.done.stored) == (3, 3)
    title, _, *matrix = again.lines()
    assert title == again.suite.title
    assert matrix[0].split() == ["Reno", "CUBIC"]
    used = [100 * fmean(row["checks"][0]["values"]) for row in again.document()["situations"]]
    assert re.fullmatch(
        r"alone  met ([\d.]+) +met ([\d.]+) +Utilization \(%\) at least 90", matrix[1]
    ).groups() == tuple(f"{value:.4g}" for value in used)  # type: ignore[union-attr]


def judge_values(values: list[float | None], trials: int | None = None) -> AttemptResult:
    """The judgement of runs whose metric has these values, where at least 0.9 is expected."""
    spec = load(
        SpecificationText(SPECIFICATION.replace("trials = 3", f"trials = {trials or len(values)}"))
    ).spec
    cell = Cell(1, {}, plan(spec, get_backend("sim").engine, "sim"))
    situation = Situation("alone", Path("alone.toml"), "1", "?", ("It is alone.",), (0,))
    attempt = Attempt(
        situation, Contestant("cubic", "CUBIC", tested=True),
        (ResultCheck("utilization", 0.9, None, {}),), cell,
    )  # fmt: skip
    rows = {
        trial.hash: {"utilization": value}
        for trial, value in zip(cell.plan.trials, values, strict=False)
    }

    def find(_: Plan, trial: Trial) -> RunMeasurements | None:
        row = rows.get(trial.hash)
        return (
            None if row is None else RunMeasurements(row, lambda: pytest.fail("it has no series"))
        )

    return judge(attempt, find)


def verdict_of(values: list[float | None], trials: int | None = None) -> str:
    """The verdict on such runs."""
    return judge_values(values, trials).verdict


def test_verdicts_come_from_the_whole_interval() -> None:
    assert verdict_of([0.95, 0.96, 0.94]) == CheckVerdict.MET
    assert verdict_of([0.5, 0.51, 0.52]) == CheckVerdict.NOT_MET
    assert verdict_of([0.85, 0.95, 0.99]) == CheckVerdict.UNDECIDED
    assert verdict_of([0.99, 0.99]) == CheckVerdict.UNDECIDED  # two trials decide nothing
    assert verdict_of([0.95, None, 0.95]) == CheckVerdict.NOT_MET  # what never came
    assert verdict_of([0.95, 0.95], trials=3) == CheckVerdict.UNDECIDED  # a run failed


def test_a_failure_names_the_controls_beside_that_fail_the_same_way() -> None:
    poor, good = judge_values([0.5, 0.51, 0.52]), judge_values([0.95, 0.96, 0.94])
    assert failures([poor], [good]) == failures([poor])
    (alone,) = failures([poor])
    assert failures([poor], [good, poor]) == [f"{alone} CUBIC fails this, too."]
    assert failures([poor], [poor, poor]) == [f"{alone} CUBIC and CUBIC fail this, too."]


def test_undecided_expectations_show_the_reason_and_the_trials_that_would_decide() -> None:
    [line] = open_questions([judge_values([0.85, 0.95, 0.99])])
    assert line.startswith("alone: Utilization (%) is 93 ± 18, at least 90 expected: undecided, ")
    told = re.search(r"on both sides of the bound; --trials (\d+) may decide\.$", line)
    assert told
    assert int(told[1]) >= 6
    [line] = open_questions([judge_values([0.99, 0.98])])
    assert "--trials 4 may decide" in line
    [line] = open_questions([judge_values([0.9 + 1e-5, 0.95, 0.75])])
    assert "--trials" in line or "more than a thousand trials" in line
    assert open_questions([judge_values([0.95, 0.96, 0.94]), judge_values([0.5, 0.51, 0.52])]) == []


@pytest.mark.parametrize(
    ("verdicts", "safe", "numbers"),
    [
        (["met", "met"], True, "2 of 2 situations met"),
        (["met", "refused"], True, "1 of 2 situations met, 1 refused (alone)"),
        (["met", "undecided"], None, "1 of 2 situations met, 1 undecided (alone)"),
        (["refused"], None, "0 of 1 situation met, all refused"),
        (["not met", "undecided"], False,
         "it misses the bounds of alone. 0 of 2 situations met, 1 not met, 1 undecided (alone)"),
    ],
)  # fmt: skip
def test_the_conclusion_says_no_more_than_the_verdicts(
    verdicts: list[str], safe: bool | None, numbers: str
) -> None:
    poor = judge_values([0.5, 0.51, 0.52])
    attempt = poor.attempt
    judged = [poor if one == "not met" else AttemptResult(attempt, one) for one in verdicts]
    answers = {
        True: "CUBIC is safe by this suite",
        False: "CUBIC doesn't meet this suite",
        None: "This suite leaves open whether CUBIC is safe",
    }
    sentence = f"{answers[safe]}: {numbers}."
    assert conclude([attempt.contestant], judged) == [Conclusion("cubic", safe, sentence)]
    [part] = conclude([attempt.contestant], judged, part=True)
    assert part.safe is (None if safe else safe)
    assert part.sentence == sentence.replace("is safe by this suite", "is safe in these situations")
    beside = replace(attempt.contestant, tested=False)
    assert conclude([beside], judged) == []


def test_the_conclusion_names_the_controls_that_fail_as_well() -> None:
    poor = judge_values([0.5, 0.51, 0.52])
    beside = replace(poor.attempt.contestant, tested=False, title="Reno")
    same = replace(poor, attempt=replace(poor.attempt, contestant=beside))
    judged = [poor, AttemptResult(poor.attempt, "met"), same]
    [found] = conclude([poor.attempt.contestant], judged)
    assert "it misses the bounds of alone, as Reno does. 1 of 2 situations met" in found.sentence


def test_the_conclusion_tells_harm_to_others_from_a_long_queue() -> None:
    path = next(
        one.path for one in load_suite("rfc9743").situations if one.name == "beside-cubic-small"
    )
    cell = Cell(1, {}, plan(load(path).spec, get_backend("sim").engine, "sim"))
    poor = judge_values([0.12, 0.12, 0.12])
    poor = replace(poor, attempt=replace(poor.attempt, cell=cell))

    def failing(check: ResultCheck) -> AttemptResult:
        [result] = poor.results
        outcome = replace(result.outcome, check=check)
        return replace(poor, results=(replace(result, outcome=outcome),))

    share = failing(ResultCheck("other.share", 0.25, None, {}))
    beside = replace(poor.attempt.contestant, title="BBR", tested=False)
    also = replace(share, attempt=replace(share.attempt, contestant=beside))
    queue = failing(ResultCheck("queue_mean_ms", None, 0.1, {}))
    loss = failing(ResultCheck("loss_rate", None, 0.05, {}))
    slow = failing(ResultCheck("other.slowdown_p50", None, 0.1, {}))
    assert breaches([queue, loss, slow, share, share], [also]) == (
        "leaves CUBIC a share of 12 % in alone, as BBR does; harms other flows in alone; "
        "causes a loss of 12 % in alone; keeps a long queue in alone"
    )
    assert sharing_harm([share, queue], [also]) is None
    slow_itself = judge_values([0.5, 0.51, 0.52])
    assert sharing_harm([share, slow_itself], [also]) == ["BBR"]
    assert sharing_harm([slow_itself], [also]) == []
    assert looks_at_harm([slow_itself, replace(queue, verdict="met")])
    assert not looks_at_harm([slow_itself])
    [found] = conclude([poor.attempt.contestant], [slow_itself, replace(queue, verdict="met")])
    assert found.sentence.startswith("CUBIC shows no harm, but doesn't meet this suite: ")


def test_the_conclusion_says_what_another_control_keeps_of_its_share_beside_itself() -> None:
    situations = {one.name: one for one in load_suite("rfc9743").situations}
    vegas, cubic = Contestant("vegas", "Vegas", True), Contestant("cubic", "CUBIC", False)

    def result_of(name: str, control: Contestant, share: float) -> AttemptResult:
        situation = situations[name]
        cell = Cell(1, {}, plan(load(situation.path).spec, get_backend("sim").engine, "sim"))
        check = ResultCheck("other.share", 0.25, None, {})
        [result] = judge_values([share, share]).results
        result = replace(result, outcome=replace(result.outcome, check=check))
        return AttemptResult(Attempt(situation, control, (check,), cell), "met", (result,))

    judged = [
        result_of("beside-cubic-small", vegas, 0.2), result_of("beside-cubic-small", cubic, 0.5),
        result_of("beside-cubic-large", vegas, 0.6), result_of("beside-cubic-large", cubic, 0.4),
        result_of("beside-reno-small", vegas, 0.3),  # without Reno beside itself
    ]  # fmt: skip
    [found] = conclude([vegas, cubic], judged)
    assert found.shares == (
        "Beside Vegas, CUBIC keeps 40 % (beside-cubic-small) to 150 % (beside-cubic-large) "
        "of the share that it has beside itself."
    )
    [also] = conclude([replace(cubic, tested=True)], judged)
    assert also.shares == ""
    reno = Contestant("reno", "Reno", False)
    [both] = conclude([vegas, cubic, reno], [*judged, result_of("beside-reno-small", reno, 0.5)])
    assert both.shares.endswith(" and Reno keeps 60 % (beside-reno-small) of the share that each "
                                "has beside itself.")  # fmt: skip


def test_the_terminal_and_the_page_say_what_cubic_keeps(tmp_path: Path) -> None:
    beside = SPECIFICATION.replace("[host]", '[[flows]]\nname = "other"\ncca = "cubic"\n[host]')
    asked = beside.replace('"utilization"\nat_least = 0.9', '"other.share"\nat_least = 0.1')
    made = evaluate(
        ["bbr"], suite=suite(tmp_path, specification=asked), beside=["cubic"], out=tmp_path / "out"
    )
    *_, shares, answer = made.lines()
    assert re.fullmatch(
        r"Beside BBR, CUBIC keeps \d+ % \(alone\) of the share that it has beside itself\.", shares
    )
    assert "BBR" in answer
    assert f"<p>{shares}</p>" in made.page.read_text(encoding="utf-8")


def test_one_unmet_check_decides_a_situation() -> None:
    assert combine([True, None, False]) is False
    assert combine([True, None]) is None
    assert combine([True]) is True


def test_a_number_that_doesnt_decide_is_in_parentheses() -> None:
    met = judge_values([0.95, 0.95, 0.95])
    assert make._cell(met, 0) == "met 95"
    assert make._cell(replace(met, verdict="not met"), 0) == "not met (95)"


def test_code_of_a_person_runs_only_if_it_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "lazy.py").write_text(LAZY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    folder = suite(tmp_path)
    with pytest.raises(InputError, match="--allow-code"):
        evaluate(["lazy:Lazy"], suite=folder, beside=[])
    with allowing(controls=["lazy:Lazy"]):
        assert not evaluate(["lazy:Lazy"], suite=folder, beside=[]).good


@pytest.mark.parametrize("name", ["mine.bpf.c", "mine.c"])
def test_a_program_for_kernels_is_found_in_the_working_directory(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The simulator can't run it, and says so instead of missing the file."""
    folder = suite(tmp_path)
    here = tmp_path / "here"
    here.mkdir()
    (here / name).write_text("int x;", encoding="utf-8")
    monkeypatch.chdir(here)
    remedy = "--backend (kernel|uml) for this control"
    with allowing([str(here / name)]), pytest.raises(SpecError, match=remedy):
        evaluate([name], suite=folder, beside=[])
    monkeypatch.chdir(tmp_path)
    with allowing([str(here / name)]), pytest.raises(SpecError, match="no file"):
        evaluate([name], suite=folder, beside=[])


def test_every_situation_of_rfc_9743_tests_a_requirement() -> None:
    """And every requirement has its situations or a reason."""
    whole = load_suite("rfc9743")
    tested = {name for one in whole.requirements for name in one.situations}
    assert tested == {one.name for one in whole.situations}
    assert all(bool(one.situations) != bool(one.reason) for one in whole.requirements)
    quick = load_suite("quick")
    assert len(quick.situations) == 8
    assert quick.title == f"Eight of the {len(whole.situations)} situations of RFC 9743"
    sections = {one.section.split(".")[0] for one in whole.requirements}
    assert sections == {"3", "5", "6", "7"}


def test_some_situations_leave_the_record_of_all_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = suite(tmp_path, f"{INDEX}{MORE}"), tmp_path / "out"
    (folder / "other.toml").write_text(SPECIFICATION.replace("alone", "other"), encoding="utf-8")
    assert evaluate(["reno"], suite=folder, beside=["bbr"], out=out).done.new == 12
    place = out / "site" / "reno"
    record = (place / "evaluation.json").read_text(encoding="utf-8")
    part = evaluate(["reno"], suite=folder, only=["other"], beside=[], out=out)
    assert (part.done.new, part.done.stored) == (0, 3)
    assert [one.attempt.situation.name for one in part.judged] == ["other"]
    assert (place / "evaluation.json").read_text(encoding="utf-8") == record
    page = (place / "only" / "other.html").read_text(encoding="utf-8")
    assert "--only other --beside" in page
    assert (place / "only" / "other-network.svg").is_file()
    command = ["evaluate", "reno", "--suite", str(folder), "--only", "othr", "--out", str(out)]
    assert main(command) == 2
    assert '"other" would be right' in capsys.readouterr().err


MORE = """[[situation]]
file = "other.toml"
section = "2"
asks = "Does it fill the link?"
because = ["It is alone."]
[[requirement]]
section = "2"
level = "MUST"
words = "The link is filled."
situations = ["alone", "other"]
"""


def test_a_page_says_where_a_control_differs_from_those_beside(tmp_path: Path) -> None:
    limit = SPECIFICATION.replace("at_least = 0.9", "at_most = 0.99")
    made = evaluate(["reno"], suite=suite(tmp_path, specification=limit), out=tmp_path / "out")
    told = differences(made.contestants, {
        one.title: [j for j in made.judged if j.attempt.contestant == one]
        for one in made.contestants
    })  # fmt: skip
    verdicts = {one.attempt.contestant.title: one.verdict for one in made.judged}
    assert verdicts["Reno"] == CheckVerdict.NOT_MET
    kept = [name for name, verdict in verdicts.items() if verdict == CheckVerdict.MET]
    assert told["Reno"] == [f"It doesn't meet what {name} meets in: alone." for name in kept]


@pytest.mark.parametrize(
    ("fault", "situation"),
    [("Doubling", "high-loss"), ("Deaf", "ecn"), ("Greedy", "beside-reno-small")],
)
def test_a_planted_fault_is_caught(
    fault: str, situation: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "faulty.py").write_text(FAULTY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with allowing(controls=[f"faulty:{fault}"]):
        made = evaluate(
            [f"faulty:{fault}"], suite="rfc9743", only=[situation], beside=["reno"], trials=3
        )
    verdicts = {one.attempt.contestant.title: one.verdict for one in made.judged}
    assert verdicts == {fault: CheckVerdict.NOT_MET, "Reno": CheckVerdict.MET}


@pytest.mark.parametrize("name", suites())
def test_shares_are_measured_for_long_enough_to_tell_them(name: str) -> None:
    """Slow start decides the first shares, for a minute or longer behind a deep buffer."""
    for situation in load_suite(name).situations:
        spec = load(situation.path).spec
        judged = {str(check.metric).rpartition(".")[2] for check in spec.checks}
        if judged & {"share", "jain"}:
            assert lacking_s(spec.scenario) is None, situation.name
