"""The page about the BBR draft: every case is decided, and differences name code that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from reference import bbr_draft

from narrows.evaluate import load_suite

ROOT = Path(__file__).parents[2]


def test_every_case_of_the_draft_is_a_situation_and_decided() -> None:
    situations = load_suite("bbr-draft").situations
    assert sorted({int(one.section) for one in situations}) == list(range(1, 23))
    text = bbr_draft.TARGET.read_text(encoding="utf-8")
    for one in situations:
        verdicts = r"\| ([\w ]+) \| ([\w ]+) \|"
        row = re.search(rf"^\| {one.section} \| `{one.name}`: .* {verdicts}", text, re.M)
        assert row is not None, one.name
        assert row.group(1) in ("met", "not met"), one.name
        assert row.group(2) in ("met", "not met", "undecided"), one.name


def test_the_page_was_made_from_the_present_suite_and_control() -> None:
    text = bbr_draft.TARGET.read_text(encoding="utf-8")
    made = f"<!-- inputs: {bbr_draft.inputs()} -->"
    assert made in text, "`make reference` makes it again"


def test_the_page_lists_what_googles_code_breaks() -> None:
    situations = load_suite("bbr-draft").situations
    rules = {"check": "drops", "bounds": "at most 0", "values": [0, 0], "verdict": "met"}
    code = {**rules, "values": [3], "verdict": "not met"}
    entries = [
        {"situation": one.name, "control": control, "verdict": held["verdict"],
         "checks": [rules, held]}
        for one in situations
        for control, held in ((bbr_draft.DRAFT, rules), (bbr_draft.CODE, code))
    ]  # fmt: skip
    text = bbr_draft.page(entries)
    first = situations[0]
    assert f"{first.asks} | met | not met | drops at most 0: 0 ± 0;" in text
    assert f"- `{first.name}`: drops at most 0: 3 (not met, no value in 1 of 2 trials)." in text


def test_every_difference_names_a_function_that_exists() -> None:
    text = bbr_draft.TARGET.read_text(encoding="utf-8")
    for one in bbr_draft.differences():
        assert f"fn {one['function']}(" in (ROOT / one["file"]).read_text(encoding="utf-8")
        assert one["words"] in text


def test_quotations_are_looked_for_in_the_section_that_they_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import check_quotations as check

    quoted = [
        quotation
        for path in check.SOURCES.glob("*.rs")
        for quotation in check.find_quotations(path.read_text(encoding="utf-8"))
    ]
    assert len(quoted) >= 30
    draft = "# Abstract\n--- middle\n# One\n## Two\nPace at\nhalf {{X}} of it.\n## Three\nno\n"
    (tmp_path / "a.rs").write_text('    // 1.1: "Pace at half\n    // of it"\n')
    monkeypatch.setattr(check, "SOURCES", tmp_path)
    assert list(check.find_faults(draft)) == []
    (fault,) = check.find_faults(draft.replace("half", "a third"))
    assert fault == 'a.rs: 1.1: "Pace at half of it" isn\'t in that section'
    (tmp_path / "a.rs").write_text('    // 1.2: "Pace at half\n    // of it"\n')
    assert len(list(check.find_faults(draft))) == 1
