"""Published figures made again: the catalogue, the ledger, the site."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

from narrows import reproduce
from narrows.backends import get_backend
from narrows.errors import InputError
from narrows.plan import plan
from narrows.report import Check
from narrows.reproduce import gather, ledger, make
from narrows.reproduce.exhibit import Exhibit, Finding, Scope
from narrows.reproduce.judging import between, crossing, interval
from narrows.reproduce.site import own_profiles
from narrows.spec import Written, load


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
            plan(load(Written.document(case.spec)).spec, "engine")


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


def test_no_claim_is_decided_twice():
    decided = [claim for exhibit in figures() for claim in exhibit.claims]
    assert sorted(decided) == sorted(set(decided))


def test_there_are_62_claims_of_four_documents():
    assert len(reproduce.claims()) == 62
    assert {claim.document for claim in reproduce.claims().values()} == set(reproduce.DOCUMENTS)


@pytest.mark.parametrize(
    ("wanted", "first"),
    [("panaderia/fig9", "panaderia/fig9"), ("panaderia/fig9-loss", "panaderia/fig9"),
     ("panaderia", "panaderia/fig4"), ("all", "panaderia/fig4")],
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
        ([True, None], None, "confirmed"),
        ([True, False], None, "refuted"),
        ([True, False], True, "differs"),
        ([False], False, "refuted"),
        ([None], None, "not run"),
        ([True], True, "confirmed"),
    ],
)
def test_a_verdict_follows_from_its_checks(passed, reason, verdict):
    why = None if reason is None else check(reason)
    assert Finding("panaderia/fig6", [check(p) for p in passed], why).verdict == verdict


def test_a_mean_between_limits_passes_and_one_outside_does_not():
    def verdict(*values):
        return between("It.", "Mean.", "one", values, (0.5, 1.5)).passed

    assert verdict(1.0, 1.2) is True
    assert verdict(1.6, 1.6) is False
    assert verdict() is None
    assert interval([1.0, 2.0, 3.0]) == "2 ± 2.5"


def test_lines_cross_where_the_first_falls_below_the_second():
    assert crossing([0, 1, 2], [4, 3, 0], [0, 1, 2]) == pytest.approx(1.5)
    assert crossing([0, 1], [1, 1], [2, 2]) is None


EXHIBIT = Exhibit("panaderia/fig6", "Title", "Source", ("panaderia/fig6",), "none", "linux-4.17")


def entry(verdict, profile="linux-4.17", quick=False):
    finding = Finding("panaderia/fig6", [check(verdict)])
    return ledger.entry(EXHIBIT, finding, Scope(profile, quick), "sim", "engine")


def test_a_quick_finding_never_hides_that_of_the_whole_grid(tmp_path):
    ledger.write(tmp_path, [entry(True)])
    kept = ledger.write(tmp_path, [entry(False, quick=True)])
    lines = {line.claim.identifier: line for line in ledger.lines(kept, own_profiles())}
    assert lines["panaderia/fig6"].verdict == "confirmed"
    assert len(lines["panaderia/fig6"].entries) == 2
    assert lines["panaderia/fig7"].verdict == "not run"


def test_the_documents_kernel_decides_the_verdict_and_a_newer_finding_replaces_an_older(tmp_path):
    ledger.write(tmp_path, [entry(True), entry(False, "linux-6.12")])
    lines = ledger.lines(ledger.read(tmp_path), own_profiles())
    assert next(x for x in lines if x.entries).verdict == "confirmed"
    ledger.write(tmp_path, [entry(False)])
    document = ledger.document(ledger.lines(ledger.read(tmp_path), own_profiles()))
    assert document["counts"] == {"confirmed": 0, "differs": 0, "refuted": 1, "not run": 61}


class Links(HTMLParser):
    """Every address of a page."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, _tag, attrs):
        self.found += [value for name, value in attrs if name in ("href", "src")]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The figure of the demo, made for real."""
    out = tmp_path_factory.mktemp("reproduce")
    return out, make.reproduce("panaderia/fig9", out=out, profile="linux-6.12")


def test_the_simulator_shows_the_cycle(made):
    _, done = made
    findings = {f.claim: f.verdict for item in done.made for f in item.findings}
    assert findings == {
        f"panaderia/fig9-{part}": "confirmed" for part in ("cycle", "rtprop", "loss")
    }
    assert done.passed


def test_what_is_printed_names_every_claim_its_rules_and_the_page(made):
    out, done = made
    lines = list(make.describe(done))
    assert lines[-1] == f"page: {out / 'site' / 'panaderia-fig9.html'}"
    assert sum(line.startswith("  confirmed: ") for line in lines) == 3
    for finding in done.made[0].findings:
        for item in finding.checks:
            assert f"      {item.rule}" in lines


def test_every_link_of_the_site_leads_to_a_file_in_it(made):
    site = made[0] / "site"
    pages = list(site.glob("*.html"))
    assert {page.name for page in pages} == {"index.html", "panaderia-fig9.html"}
    for page in pages:
        text = page.read_text()
        assert "http" not in re.sub(r"http-equiv", "", text)
        for link in Links(text).found:
            assert (site / link.partition("#")[0]).is_file(), link


def test_the_data_behind_a_figure_are_there_as_tables(made):
    tables = list((made[0] / "site" / "data").glob("*-queue_samples.*"))
    assert sorted(file.suffix for file in tables) == [".csv", ".parquet"]
    parquet = next(file for file in tables if file.suffix == ".parquet")
    assert {"kind", "trial", "time_s", "backlog_bytes"} <= set(pl.read_parquet(parquet).columns)


def test_a_second_time_nothing_is_run_and_the_pictures_are_the_same(made):
    out, first = made
    pictures = {name: Path(name).read_bytes() for name in first.made[0].plates.pictures}
    second = make.reproduce("panaderia/fig9", out=out, profile="linux-6.12")
    assert second.gathered.new == 0
    for name, content in pictures.items():
        assert Path(name).read_bytes() == content


def test_a_profile_that_is_not_known_is_bad_input(tmp_path):
    with pytest.raises(InputError, match=r"linux-4\.17"):
        make.reproduce("panaderia/fig9", out=tmp_path, profile="linux-4.16")


def test_the_ledger_is_in_the_directory_of_the_reproduction(made):
    stored = json.loads((made[0] / ledger.LEDGER).read_text())
    assert [item["claim"] for item in stored["entries"]] == [
        f"panaderia/fig9-{part}" for part in ("cycle", "rtprop", "loss")
    ]
    assert make.OUT.name == "reproduce"
