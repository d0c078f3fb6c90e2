"""Flows that differ are different classes, called by what differs, and look different."""

from __future__ import annotations

from pathlib import Path

import pytest
from specimens import GOOD, scenario_of

import narrows as nw
from narrows.cli import main
from narrows.figures import describe, frames
from narrows.figures.looks import looks, looks_of
from narrows.metrics.headings import words
from narrows.report.conditions import conditions
from narrows.spec import load
from narrows.spec.classes import MOST

FLOWS = GOOD.replace("[[flows]]", "{flows}").replace('cca = "cubic"\n', "")


def spec_text(*flows: str) -> str:
    entries = "\n".join(f"[[flows]]\n{flow}\n" for flow in flows)
    return FLOWS.replace("{flows}", entries)


def groups(tmp_path: Path, *flows: str) -> tuple[str, ...]:
    file = tmp_path / "spec.toml"
    file.write_text(spec_text(*flows))
    return load(file).spec.groups


CUBIC = 'cca = "cubic"'


@pytest.mark.parametrize(
    ("flows", "expected"),
    [
        ([CUBIC, CUBIC], ["cubic", "cubic"]),
        ([CUBIC + '\nrtt = "20ms"', CUBIC + '\nrtt = "80ms"'], ["cubic-20ms", "cubic-80ms"]),
        ([CUBIC, CUBIC + '\nstart = "1s"'], ["cubic-from0s", "cubic-from1s"]),
        ([CUBIC, CUBIC + '\nsize = "20kb"'], ["cubic-endless", "cubic-20kb"]),
        ([CUBIC, CUBIC + '\necn = "classic"'], ["cubic-ecn=off", "cubic-ecn=classic"]),
        ([CUBIC, CUBIC + '\noptions = { hystart = "search" }'], ["cubic", "cubic-hystart=search"]),
        ([CUBIC + '\nname = "far"\nrtt = "90ms"', CUBIC], ["far", "cubic"]),
        ([CUBIC + '\nrtt = "20ms"', 'cca = "bbr"'], ["cubic", "bbr"]),
        (
            [f'{CUBIC}\nworkload = {{ kind = "on_off", on = "{n}s", off = "1s" }}' for n in (1, 2)],
            ["cubic-on_off", "cubic-on_off2"],
        ),
    ],
)
def test_a_class_says_what_differs(tmp_path: Path, flows: list[str], expected: list[str]) -> None:
    assert list(groups(tmp_path, *flows)) == expected


def test_many_starts_are_one_class(tmp_path: Path) -> None:
    flows = [f'{CUBIC}\nstart = "{n}00ms"\nrtt = "{20 + 10 * (n % 2)}ms"' for n in range(MOST + 1)]
    assert set(groups(tmp_path, *flows)) == {"cubic-20ms", "cubic-30ms"}


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("cubic", "CUBIC"),
        ("cubic-80ms", "CUBIC, 80 ms"),
        ("bbr-20ms-from2.5s+to9s", "BBR, 20 ms, from 2.5 s to 9 s"),
        ("cubic-20kb", "CUBIC, 20 kB"),
        ("cubic-hystart=search", "CUBIC, hystart=search"),
        ("web", "web"),
    ],
)
def test_a_class_in_words(group: str, expected: str) -> None:
    assert words(group) == expected


def test_classes_never_look_alike() -> None:
    for controls in (
        ["cubic", "bbr"],
        ["cubic", "cubic", "bbr"],
        ["cubic"] * 7,
        ["cubic", None, None],
        ["cubic"] * 4 + ["bbr"],
    ):
        found = looks(controls)
        assert len(set(found)) == len(controls)
    assert looks(["cubic", "bbr"])[0].hue == "cubic"
    assert looks_of(["web", "bulk"])["web"] != looks_of(["web", "bulk"])["bulk"]


def test_figures_and_conditions_tell_two_round_trip_times_apart() -> None:
    scenario = scenario_of(spec_text(CUBIC + '\nrtt = "20ms"', CUBIC + '\nrtt = "80ms"'))
    labels = [members.label for members in frames.flow_classes(scenario)]
    assert labels == ["CUBIC, 20 ms", "CUBIC, 80 ms"]
    line = frames.conditions(scenario)
    assert line.startswith("1 CUBIC 20 ms + 1 CUBIC 80 ms, 8 Mbit/s, 20 to 80 ms")
    found = dict(conditions(scenario, ["cubic-20ms", "cubic-80ms"]))
    assert found["CUBIC, 80 ms"] == "1 flow of CUBIC, 80 ms, from 0 s"


def test_the_page_tells_them_apart_and_has_no_card_of_one_class(tmp_path: Path) -> None:
    two = tmp_path / "two.toml"
    two.write_text(spec_text(CUBIC + '\nrtt = "20ms"', CUBIC + '\nrtt = "80ms"'))
    assert main(["run", str(two), "--out", str(tmp_path / "two")]) == 0
    result = nw.open_result(tmp_path / "two")
    assert {"cubic-20ms.share", "cubic-80ms.share"} <= set(result.summary_table.columns)
    trial = result.trials[0]
    timeline = describe("timeline", trial.scenario, trial.tables, result.groups)
    shown = [(line.label, line.colour, line.dash) for line in timeline.panels[0].lines]
    assert [label for label, *_ in shown] == ["CUBIC, 20 ms", "CUBIC, 80 ms"]
    assert len({look for _, *look in shown for look in [tuple(look)]}) == 2
    page = (tmp_path / "two" / "report.html").read_text()
    assert "share of CUBIC, 80 ms" in page
    one = tmp_path / "one.toml"
    one.write_text(spec_text(CUBIC))
    assert main(["run", str(one), "--out", str(tmp_path / "one")]) == 0
    assert "share of CUBIC" not in (tmp_path / "one" / "report.html").read_text()


def test_a_queue_is_reported_in_milliseconds_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "spec.toml"
    file.write_text(spec_text(CUBIC))
    assert main(["run", str(file), "--out", str(tmp_path / "out")]) == 0
    table = nw.open_result(tmp_path / "out").summary_table
    rtt_ms = table["rtt_ms"][0]
    assert table["queue_mean_ms"][0] == pytest.approx(table["queue_mean_bdp"][0] * rtt_ms)
    assert f"= {table['queue_p95_ms'][0]:.1f} ms (p95)" in capsys.readouterr().out
