"""Published figures made again: the catalogue, the ledger, the site."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace as Namespace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narrows import reproduce
from narrows.backends import get_backend
from narrows.errors import InputError
from narrows.metrics.bounds import decide
from narrows.metrics.intervals import share_interval
from narrows.plan import plan
from narrows.report import Check
from narrows.reproduce import gather, judging, ledger, make, site
from narrows.reproduce.catalogue import exhibits, lessons
from narrows.reproduce.claims import KINDS, claims
from narrows.reproduce.exhibit import Data, Exhibit, Finding, Scope
from narrows.reproduce.gather import FigureCondition, Work
from narrows.reproduce.judging import crossing, make_note
from narrows.reproduce.ledger import VARIED
from narrows.reproduce.paths import on_varied_paths, repeated_conditions, with_at_most
from narrows.reproduce.rules import Rule, RuleChange, rules
from narrows.reproduce.site import own_profiles
from narrows.reproduce.text import finding_lines, ledger_lines, reproduction_lines
from narrows.reproduce.values_set import as_change
from narrows.spec import SpecificationText, load


def check(passed):
    return Check("It holds.", "A rule. Passes if so.", "that it holds", "1.0", passed)


def figures():
    return list(reproduce.exhibits().values())


@pytest.mark.parametrize("exhibit", figures(), ids=lambda e: e.identifier)
def test_a_figure_decides_known_claims_and_its_conditions_can_run(exhibit):
    assert exhibit.claims or exhibit.identifier.endswith("/choices")
    assert set(exhibit.claims) <= set(reproduce.claims())
    for quick in (True, False):
        cases = list(exhibit.method().cases(Scope(exhibit.profile, quick)))
        keys = [tuple(sorted(case.key)) for case in cases]
        assert len(set(keys)) == 1, "all cases of a figure have the same columns"
        assert len({tuple(case.key.values()) for case in cases}) == len(cases)
        for case in cases:
            plan(load(SpecificationText.document(case.spec)).spec, "engine")


def test_a_note_is_no_check_that_is_undecided():
    finding = Finding("ietf98/aqm", [], notes=[make_note("What it is.", "How.", "5 %")])
    lines = list(finding_lines(finding))
    assert lines[:3] == ["  reported: ietf98/aqm", "    note: What it is.", "      measured 5 %"]
    assert "undecided" not in " ".join(lines)


def test_every_figure_has_a_lesson():
    assert set(lessons()) == set(reproduce.exhibits())


def test_a_case_of_a_back_end_that_is_not_set_up_is_left_out(monkeypatch):
    exhibit = reproduce.exhibits()["cs244/two-environments"]
    scope = Scope(exhibit.profile, quick=True)
    cases = list(exhibit.method().cases(scope))

    def missing(name):
        raise InputError.at("--backend", name, "another")

    monkeypatch.setattr(gather, "get_backend", missing)
    here = gather.work(exhibit, scope, get_backend("sim"))
    assert {condition.key["place"] for condition in here.cells} == {"sim"}
    assert 2 * len(here.cells) == len(cases)


@pytest.mark.parametrize("exhibit", figures(), ids=lambda e: e.identifier)
def test_a_title_says_what_is_shown_not_what_came_out(exhibit):
    said = r"\b(loses|keeps|finds?|converges?|takes? turns|comes|throttles|is key|beats)\b"
    assert not re.search(said, exhibit.title)


def test_no_claim_is_decided_twice():
    decided = [claim for exhibit in figures() for claim in exhibit.claims]
    assert sorted(decided) == sorted(set(decided))


def test_the_readme_counts_the_claims_of_four_documents():
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert f" {len(reproduce.claims())} published claims" in " ".join(readme.split())
    assert {claim.kind for claim in reproduce.claims().values()} == set(KINDS)
    decided = {claim for exhibit in figures() for claim in exhibit.claims}
    left = [claim for name, claim in reproduce.claims().items() if name not in decided]
    assert {claim.kind for claim in left} == {"deployment"}
    assert {claim.document for claim in reproduce.claims().values()} == set(reproduce.DOCUMENTS)


@pytest.mark.parametrize(
    ("wanted", "first"),
    [("panaderia/fig9", "panaderia/fig9"), ("panaderia/fig9-loss", "panaderia/fig9"),
     ("panaderia", "panaderia/fig1"), ("all", "panaderia/fig1")],
)  # fmt: skip
def test_a_figure_a_claim_a_document_or_all(wanted, first):
    assert reproduce.select(wanted)[0].identifier == first


def test_an_unknown_figure_is_bad_input_with_the_nearest():
    with pytest.raises(InputError, match='"panaderia/fig9"'):
        reproduce.select("panaderia/fig99")


@pytest.mark.parametrize(
    ("passed", "reason", "verdict"),
    [
        ([True, True], None, "confirmed"),
        ([True, None], None, "partly"),
        ([True, False], None, "refuted"),
        ([True, False], True, "differs"),
        ([False], False, "refuted"),
        ([None], None, "undecided"),
        ([False, None], True, "differs"),
        ([], None, "not run"),
        ([True], True, "confirmed"),
    ],
)
def test_a_verdict_follows_from_its_checks(passed, reason, verdict):
    why = None if reason is None else check(reason)
    assert Finding("panaderia/fig6", [check(p) for p in passed], why).verdict == verdict


def test_a_reason_counts_only_for_what_it_explains():
    other = Check("It is long.", "A rule.", "that it is", "0.1", False)
    reason = check(True)
    both = Finding("x", [check(False), other], reason, explains=["It holds."])
    assert both.verdict == "refuted"
    assert Finding("x", [check(False)], reason, explains=["It holds."]).verdict == "differs"


def test_a_claim_that_leaves_its_answer_open_is_reported():
    assert Finding("ietf98/aqm", [], notes=[check(None)]).verdict == "reported"


@pytest.mark.parametrize(
    ("values", "passed"),
    [
        ([1.0, 1.1, 1.05, 0.95], True),
        ([1.7, 1.8, 1.75, 1.72], False),
        ([1.4, 1.5, 1.45, 1.5], None),
        ([0.2, 1.9, 1.0], None),
        ([1.0, 1.0], None),
        ([], None),
        ([float("inf")] * 3, False),
        ([1.0, float("inf"), 1.0], None),
    ],
)
def test_a_claim_is_decided_by_the_whole_interval(values, passed):
    assert decide(values, 0.5, 1.5).passed is passed


def test_one_limit_may_be_infinite():
    assert decide([2.0, 2.1, 2.2], 1.5, float("inf")).passed is True
    assert decide([float("inf")] * 3, 1.5, float("inf")).passed is True
    assert decide([float("inf")] * 3, float("-inf"), 1.5).passed is False


@given(st.lists(st.floats(-10, 10), min_size=3, max_size=12), st.floats(-5, 5), st.floats(0.1, 5))
def test_fewer_trials_never_decide_what_they_contradict(values, low, room):
    """Confirmed values lie within in the mean, and so does no more than half of the unconfirmed."""
    middle = sum(values) / len(values)
    passed = decide(values, low, low + room).passed
    assert passed is not True or low - 1e-6 <= middle <= low + room + 1e-6
    assert passed is not False or not low < middle < low + room
    assert decide(values[:2], low, low + room).passed is None


def test_undecided_says_how_many_more_trials_would_decide():
    spread = [0.9, 1.1, 1.4, 1.7]
    more = decide(spread, 0.5, 1.5).more
    assert more > 0
    assert decide(spread * (1 + more), 0.5, 1.5).passed is True
    assert decide([1.0], 0.5, 1.5).more == 2
    assert decide([1.5, 1.49, 1.51], 0.5, 1.5).more is None


DATA = Data({}, Scope("linux-6.12"))
RULE = Rule("x", "y", 5.0, 6.0, " %", "5.5 %", 5.5, "It says 5.5 %.", (RuleChange(*"abcd"),))


def test_a_check_says_its_limits_their_basis_their_history_and_the_deviation(monkeypatch):
    monkeypatch.setattr(judging, "rule", lambda *_: RULE)
    made = judging.judge_bounds(DATA, "x", "y", "It holds.", "How.", [7.1, 7.2, 7.15], " (more)")
    assert made.passed is False
    assert made.measured == "7.15 ± 0.29 % (+30 %) (more)"
    for words in ("5 to 6 %", "It says 5.5 %.", "Changed a", "it was: b"):
        assert words in made.rule
    wide = judging.judge_bounds(
        DATA, "x", "y", "It holds.", "How.", {"one": [5.5] * 3, "two": [5, 5.5, 5.95]}
    )
    assert wide.passed is None
    assert re.search(r"two: .*; \d+ more trials would decide it$", wide.measured)
    few = judging.judge_bounds(DATA, "x", "y", "It holds.", "How.", {"one": [5.5, 5.5], "two": []})
    assert few.measured == "one: 5.5 ± 0 % (+0 %); two: nothing; 1 more trial would decide it"
    assert judging.judge_bounds(DATA, "x", "y", "It holds.", "How.", []).measured == "nothing"


@pytest.mark.parametrize(
    ("crossings", "small", "whole", "words"),
    [
        ([5.45, 5.5, 5.55], None, True, "5 and 8 % (5.50 ± 0.29 % if they are straight)"),
        ([6.9, 7.0, 7.1], None, False, "5 and 8 % (7.00 ± 0.57 % if they are straight)"),
        ([4.0, 4.1, 4.2], False, False, "3 and 5 % (4.10 ± 0.57 % if they are straight)"),
        ([4.8, 5.5, 6.2], None, None, "1 and 10 % (5.5 ± 4.0 % if they are straight)"),
        ([4.0, 5.5, math.inf], None, None, "above 3 %, or never (5 ± 48 % in 2 of 3 trials"),
        ([math.inf] * 3, False, False, "never"),
    ],
)
def test_a_small_grid_decides_a_crossing_only_by_its_neighbours(
    crossings, small, whole, words, monkeypatch
):
    monkeypatch.setattr(judging, "rule", lambda *_: RULE)
    for scope, passed in ((Scope("linux-6.12", quick=True), small), (DATA.scope, whole)):
        made = judging.judge_bounds(
            replace(DATA, scope=scope), "x", "y", "Even.", "How.", crossings, grid=[1, 3, 5, 8, 10]
        )
        assert made.passed is passed
        told = words.partition(" (")[0] if scope.quick else words
        assert told in made.measured
        assert not (scope.quick and "if they are straight" in made.measured)
        assert "straight lines" in made.rule
    small_one = replace(DATA, scope=Scope("linux-6.12", quick=True))
    open_one = judging.judge_bounds(
        small_one, "x", "y", "Even.", "How.", [4.8, 5.5, 6.2], grid=[1, 5, 8, 10]
    )
    assert open_one.measured.endswith(
        "wouldn't decide it, `narrows search` between these values would"
    )


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([5.4, 5.6, 5.8], r"; \d more trials would decide it$"),
        ([5.6, 6.3, 5.9], r"; \d{3} more trials would decide it$"),
        ([5.6, 6.35, 6.03], "; more trials wouldn't decide it$"),
    ],
)
def test_trials_that_would_decide_a_check_are_counted_up_to_a_thousand(monkeypatch, values, told):
    monkeypatch.setattr(judging, "rule", lambda *_: RULE)
    made = judging.judge_bounds(DATA, "x", "y", "It holds.", "How.", values)
    assert re.search(told, made.measured), made.measured


def test_trials_that_are_the_same_run_are_one_observation(monkeypatch):
    monkeypatch.setattr(judging, "rule", lambda *_: RULE)
    cells = {"same": [5.5, 5.5, 5.5 + 1e-9], "others": [5.5, 5.51, 5.49]}
    assert judging.judge_bounds(DATA, "x", "y", "It holds.", "How.", cells).passed is True
    repeated = replace(DATA, same_runs=True)
    made = judging.judge_bounds(repeated, "x", "y", "It holds.", "How.", cells)
    apart = judging.judge_bounds(repeated, "x", "y", "It holds.", "How.", [7.14, 7.16, 7.15])
    assert made.passed is None
    assert made.measured.startswith("same: 5.5 % on one path (+0 %); others: 5.500 ± 0.057 %")
    assert made.measured.endswith("; only trials on other paths would decide it")
    assert "Equal values count as one trial" in made.rule
    assert apart.passed is False


def test_the_interval_of_a_share_is_exact():
    """Values from the tables of Clopper and Pearson (1934)."""
    assert share_interval(0, 10) == pytest.approx((0, 0.3085), abs=1e-4)
    assert share_interval(5, 10) == pytest.approx((0.1871, 0.8129), abs=1e-4)
    assert share_interval(3, 3) == pytest.approx((0.2924, 1), abs=1e-4)


def test_equal_answers_of_few_trials_decide_no_share(monkeypatch):
    usual = replace(RULE, low=50.0, high=math.inf, stated=None)
    monkeypatch.setattr(judging, "rule", lambda *_: usual)
    few = judging.judge_share(DATA, "x", "y", "It happens.", "How.", [True] * 5)
    assert few.passed is None
    assert few.measured == "5 of 5 trials (35 to 100 %); 3 more trials would decide it"
    assert judging.judge_share(DATA, "x", "y", "It happens.", "How.", [True] * 8).passed is True
    assert judging.judge_share(DATA, "x", "y", "It happens.", "How.", [False] * 8).passed is False
    split = judging.judge_share(DATA, "x", "y", "It happens.", "How.", [True, False] * 4)
    assert split.measured.endswith("; more trials wouldn't decide it")
    repeated = replace(DATA, same_runs=True)
    alike = judging.judge_share(repeated, "x", "y", "It happens.", "How.", [True] * 8)
    assert alike.passed is None
    assert judging.judge_share(DATA, "x", "y", "It happens.", "How.", []).measured == "nothing"


@pytest.mark.parametrize(
    ("engine", "last", "rtt", "found"),
    [("uml", 2.0, 40, 1), ("sim", 2.0, 40, 1), ("uml", 2.1, 40, 0), ("sim", 2.0, 41, 0)],
)
def test_a_condition_whose_trials_are_the_same_run_is_noticed(engine, last, rtt, found):
    """The other condition lacks a trial, so that nothing is known of it."""
    scenarios = ({"seed": 1, "rtt": 40}, {"seed": 2, "rtt": rtt})
    trials = Namespace(plan=Namespace(trials=tuple(Namespace(scenario=s) for s in scenarios)))
    cells = [FigureCondition({"rate": n}, trials, Namespace(name=engine), ()) for n in (1, 2)]
    item = Work(EXHIBIT, Scope("linux-6.12"), engine, tuple(cells))
    rows = {"rate": [1, 1, 2], "trial": [1, 2, 1], "cca": ["bbr"] * 3, "rtt": [2.0, last, 5.0]}
    data = Data({"outcome": pl.DataFrame(rows)}, item.scope)
    assert len(repeated_conditions(item, data)) == found


def test_records_that_a_picture_shows_of_the_first_trial_tell_nothing_of_the_others():
    trials = tuple(Namespace(scenario={"seed": seed}) for seed in (1, 2))
    cell = Namespace(plan=Namespace(trials=trials))
    item = Work(EXHIBIT, Scope("linux-6.12"), "sim", (FigureCondition({}, cell, None, ()),))
    outcome = pl.DataFrame({"trial": [1, 2], "rtt": [2.0, 2.0]})
    for last, found in ((1, 1), (2, 0)):
        samples = pl.DataFrame({"trial": [1, last], "time_s": [0.1, 0.2]})
        data = Data({"outcome": outcome, "samples": samples}, item.scope)
        assert len(repeated_conditions(item, data)) == found


def test_a_finding_says_that_its_paths_were_varied():
    plain, varied = (ledger.Way("uml", f"1{more}", "linux-6.12", False) for more in ("", VARIED))
    assert (str(plain), str(varied)) == ("uml, linux-6.12", "uml, linux-6.12, on varied paths")


def test_every_trial_but_the_first_can_have_a_path_of_its_own():
    exhibit = reproduce.exhibits()["panaderia/fig1"]
    plain = gather.work(exhibit, Scope(exhibit.profile, quick=True), get_backend("sim"))
    other = on_varied_paths(plain)
    (first, *rest), (same, *changed) = (one.cells[0].cell.plan.trials for one in (plain, other))
    assert first == same
    assert rest
    delays = {trial.scenario["path"]["rtt_ns"] for trial in (same, *changed)}
    assert len(delays) == 1 + len(changed)
    assert {trial.seed for trial in changed} == {trial.seed for trial in rest}
    assert {job.key for job in plain.jobs()} & {job.key for job in other.jobs()} == {
        cell.cell.plan.trials[0].hash for cell in plain.cells
    }


@pytest.mark.parametrize(("limit", "left"), [(None, 3), (2, 2), (9, 3)])
def test_a_limit_leaves_the_first_trials_of_a_condition(limit, left):
    exhibit = reproduce.exhibits()["mixed/fig9"]
    item = gather.work(exhibit, Scope(exhibit.profile, quick=True), get_backend("sim"))
    for before, after in zip(item.cells, with_at_most(limit, item).cells, strict=True):
        assert after.cell.plan.trials == before.cell.plan.trials[:left]
        assert len(after.cell.plan.trials) == left


def test_a_finding_says_to_how_many_trials_it_was_limited():
    way = ledger.Way("uml", f"1{VARIED}", "linux-6.12", False, 5)
    assert str(way) == "uml, linux-6.12, on varied paths, at most 5 trials"
    told = site._options([way, ledger.Way("uml", "1", "linux-6.12", False)])
    assert told == " --vary-paths --trials 5"


def test_of_many_conditions_the_range_and_those_outside_are_reported(monkeypatch):
    monkeypatch.setattr(judging, "rule", lambda *_: RULE)
    cells = {f"cell {n}": [5.5, 5.5, 5.5] for n in range(9)} | {"odd": [9.0, 9.0, 9.0]}
    made = judging.judge_bounds(DATA, "x", "y", "It holds.", "How.", cells)
    assert made.passed is False
    assert made.measured.startswith("5.5 to 9 % in 10 conditions, 1 of them not within: odd: 9")


def test_every_rule_belongs_to_a_claim_and_every_claim_that_can_fail_has_one():
    judged = {claim for claim, _ in rules()}
    assert judged <= set(reproduce.claims())
    free = ("reported", "deployment")
    wanted = {name for name, claim in reproduce.claims().items() if claim.kind not in free}
    assert wanted == judged
    assert all(rule.basis and rule.says and rule.history for rule in rules().values())


def test_every_rule_that_has_a_number_allows_it():
    for rule in rules().values():
        if rule.stated is not None:
            assert rule.low <= rule.stated <= rule.high, rule


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        (
            ["path.rtt=50ms"],
            "The runs are too short to tell shares in 3 of 5 conditions: 400 round",
        ),
        (["path.rtt=50ms", "run.duration=250s"], ""),
    ],
)
def test_a_change_that_makes_runs_too_short_says_so(sets, said):
    exhibit, scope = exhibits()["panaderia/fig10"], Scope("linux-4.17", quick=True)
    change = as_change(sets, exhibit, scope)
    note = make.too_short_note(gather.work(exhibit, scope, get_backend("sim"), change))
    assert note.startswith(said)
    assert bool(note) == bool(said)


def test_lines_cross_where_the_first_falls_below_the_second():
    assert crossing([0, 1, 2], [4, 3, 0], [0, 1, 2]) == pytest.approx(1.5)
    assert crossing([0, 1], [1, 1], [2, 2]) is None


EXHIBIT = Exhibit("panaderia/fig6", "Title", "Source", ("panaderia/fig6",), "none", "linux-4.17")


def entry(verdict, profile="linux-4.17", quick=False):
    finding = Finding("panaderia/fig6", [check(verdict)])
    return ledger.entry(EXHIBIT, finding, ledger.Way("sim", "engine", profile, quick))


def test_a_quick_finding_never_hides_that_of_the_whole_grid(tmp_path):
    ledger.write(tmp_path, [entry(True)])
    kept = ledger.write(tmp_path, [entry(False, quick=True)])
    lines = {line.claim.identifier: line for line in ledger.lines(kept, own_profiles())}
    assert lines["panaderia/fig6"].verdict == "confirmed"
    assert len(lines["panaderia/fig6"].entries) == 2
    assert lines["panaderia/fig7"].verdict == "not run"


def test_only_a_whole_grid_makes_a_verdict(tmp_path):
    kept = ledger.write(tmp_path, [entry(True, quick=True)])
    line = next(x for x in ledger.lines(kept, own_profiles()) if x.entries)
    assert line.verdict == "not run"
    assert [other.verdict for other in line.others] == ["confirmed"]


def test_verdicts_found_here_stand_beside_recorded_ones(tmp_path, monkeypatch):
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.setattr(ledger, "DATA", tmp_path)
    ledger.write(tmp_path, [entry(True), entry(True, "linux-6.12")])
    ledger.write(place, [entry(False)])
    here, recorded = ledger.read_known(place)
    assert [(e.verdict, e.way.profile) for e in here] == [("refuted", "linux-4.17")]
    assert [e.way.profile for e in recorded] == ["linux-6.12"]
    found = ledger.lines([*here, *recorded], own_profiles())
    told = "\n".join(ledger_lines(found, here))
    assert "sim, linux-4.17, here: refuted (1.0)" in told
    assert "sim, linux-6.12, recorded: confirmed (1.0)" in told
    assert "1 of these verdicts were found here, 0 were recorded" in told
    listed = ledger.document(found, here)["claims"]
    (findings,) = [claim["findings"] for claim in listed if claim["findings"]]
    assert [finding["here"] for finding in findings] == [True, False]


def test_the_documents_kernel_decides_the_verdict_and_a_newer_finding_replaces_an_older(tmp_path):
    ledger.write(tmp_path, [entry(True), entry(False, "linux-6.12")])
    lines = ledger.lines(ledger.read(tmp_path), own_profiles())
    assert next(x for x in lines if x.entries).verdict == "confirmed"
    ledger.write(tmp_path, [entry(False)])
    document = ledger.document(ledger.lines(ledger.read(tmp_path), own_profiles()))
    kinds = [claim.kind for claim in reproduce.claims().values()]
    assert document["counts"]["number"] == {"refuted": 1, "not run": kinds.count("number") - 1}
    assert document["counts"]["reported"] == {"not run": kinds.count("reported")}


class Links(HTMLParser):
    """Every address of a page."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, _tag, attrs):
        self.found += [value for name, value in attrs if name in ("href", "src")]


@pytest.fixture(scope="module")
def reproduction(tmp_path_factory):
    """The figure of the demo, made for real."""
    out = tmp_path_factory.mktemp("reproduce")
    return out, make.reproduce("panaderia/fig9", out=out, profile="linux-6.12", quick=True)


def test_the_simulator_shows_the_cycle(reproduction):
    """There is a cycle with the parts that the paper names; its length depends on the kernel."""
    _, done = reproduction
    found = {f.claim: f for item in done.made for f in item.findings}
    assert set(found) == {f"panaderia/fig9-{part}" for part in ("cycle", "rtprop", "loss")}
    _, swing, sides = found["panaderia/fig9-cycle"].checks
    assert (swing.passed, sides.passed) == (True, True)
    follows, _, quiet = found["panaderia/fig9-loss"].checks
    # The bursts of this few trials may leave it open whether 80 % come then.
    assert float(follows.measured.split()[0]) > 80
    assert follows.passed is not False
    assert quiet.passed
    refuted = [f for f in found.values() if f.verdict == "refuted"]
    assert done.none_refuted is not bool(refuted)


def test_the_output_names_every_claim_its_rules_and_the_page(reproduction):
    out, done = reproduction
    lines = list(reproduction_lines(done, verbose=True))
    assert lines[-1] == f"page: {out / 'site' / 'panaderia-fig9.html'}"
    words = " ".join(" ".join(lines).split())
    for finding in done.made[0].findings:
        head = f"{finding.verdict} on the small grid"
        whole = done.whole[finding.claim, "linux-6.12"]
        beside = f" ({whole} on the whole figure and all testbeds)"
        assert f"{head}{beside * (whole != finding.verdict)}: {finding.claim}" in words
        for item in finding.checks:
            assert f"{item.statement} measured {item.measured}; expected {item.expected}" in words
            assert item.rule in words


def test_without_verbose_a_check_is_a_line_without_its_rule(reproduction):
    out, done = reproduction
    lines = list(reproduction_lines(done))
    assert lines[-1] == f"page: {out / 'site' / 'panaderia-fig9.html'}"
    words = " ".join(" ".join(lines).split())
    checks = [check for finding in done.made[0].findings for check in finding.checks]
    assert {check.passed for check in checks} > {True}
    for check in checks:
        told = f"{check.verdict}: {check.statement.removesuffix('.')}: {check.measured}"
        assert told in words
        assert (f"{told}; expected {check.expected}" in words) == (check.passed is not True)
        assert check.rule not in words
    assert len(lines) < 30


@pytest.mark.parametrize("verbose", [False, True])
def test_no_line_but_a_path_is_longer_than_a_terminal(reproduction, verbose):
    lines = reproduction_lines(reproduction[1], verbose=verbose)
    sentences = [line for line in lines if not line.lstrip().startswith(("figure:", "page:"))]
    assert max(map(len, sentences)) <= 100


def test_every_link_of_the_site_leads_to_a_file_in_it(reproduction):
    site = reproduction[0] / "site"
    pages = list(site.glob("*.html"))
    assert {page.name for page in pages} == {"index.html", "panaderia-fig9.html"}
    for page in pages:
        text = page.read_text()
        assert "http" not in re.sub(r"http-equiv", "", text)
        for link in Links(text).found:
            file, _, place = link.partition("#")
            target = site / (file or page.name)
            assert target.is_file(), link
            assert not place or f'id="{place}"' in target.read_text(), link


def test_a_page_tells_the_runs_the_document_s_words_and_that_it_is_quick(reproduction):
    site = reproduction[0] / "site"
    text = (site / "panaderia-fig9.html").read_text()
    assert re.search(r"1 condition, (3|6|12) runs, seeds 1 to \1; engine 0\.1\.0", text)
    assert "<q>they alternate which flows dominate" in text
    assert "the profile linux-6.12, quick: shorter runs, fewer trials<" in text
    shows, _, why = text.partition("<h2>Why</h2>")
    assert "<h2>What it shows</h2>" in shows
    assert {claim for claim in claims() if f'href="#{claim}"' in shows} == {
        claim for claim in claims() if f'id="{claim}"' in why
    }
    assert "The whole figure is made by: narrows reproduce panaderia/fig9<" in text
    assert re.search(r"<pre [^>]*>narrows reproduce panaderia/fig9 --quick[ <]", text)
    index = (site / "index.html").read_text()
    assert index.count('class="thumb"') == 3
    ran, recorded = index.split("Recorded verdicts")
    assert "panaderia-fig9.html" in ran
    assert ">not run" not in ran
    assert ", quick: shorter runs, fewer trials" in ran
    assert "panaderia-fig9" not in recorded
    assert recorded.count("<tr>") > 80
    assert ">refuted" in recorded


def test_the_data_behind_a_figure_are_there_as_tables(reproduction):
    tables = list((reproduction[0] / "site" / "data").glob("*-queue_samples.*"))
    assert sorted(file.suffix for file in tables) == [".csv", ".parquet"]
    parquet = next(file for file in tables if file.suffix == ".parquet")
    assert {"kind", "trial", "time_s", "backlog_bytes"} <= set(pl.read_parquet(parquet).columns)


def test_a_second_time_nothing_is_run_and_the_pictures_are_the_same(reproduction):
    out, first = reproduction
    pictures = {name: Path(name).read_bytes() for name in first.made[0].stored.pictures}
    second = make.reproduce("panaderia/fig9", out=out, profile="linux-6.12", quick=True)
    assert second.gathered.new == 0
    for name, content in pictures.items():
        assert Path(name).read_bytes() == content


def test_a_profile_that_is_not_known_is_bad_input(tmp_path):
    with pytest.raises(InputError, match=r"linux-4\.17"):
        make.reproduce("panaderia/fig9", out=tmp_path, profile="linux-4.16")


def test_the_ledger_is_in_the_directory_of_the_reproduction(reproduction):
    stored = json.loads((reproduction[0] / ledger.LEDGER).read_text())
    assert [item["claim"] for item in stored["entries"]] == [
        f"panaderia/fig9-{part}" for part in ("cycle", "rtprop", "loss")
    ]
    assert make.OUT.name == "reproduce"


@pytest.mark.parametrize(
    ("passed", "verdict"),
    [(True, "met"), (False, "not met"), (None, "undecided")],
)
def test_a_verdict_in_words(passed, verdict):
    assert Check("", "", "", "", passed).verdict == verdict
