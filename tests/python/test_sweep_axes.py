"""Axes of a study: lists, ranges, zipped axes, drawn designs, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from specimens import GOOD, run_cli, write

from narrows.errors import SpecError
from narrows.plan import grid, plan
from narrows.spec import Study, parse, parse_study

RATE, BUFFER = 'rate = "8mbit"', 'buffer = "1bdp"'


def study(text: str, *overrides: str) -> Study:
    return parse_study(text, "test", overrides)


def values(text: str, *overrides: str) -> list[tuple[object, ...]]:
    """The combinations, without the places."""
    return [tuple(point.values()) for point in study(text, *overrides).points()]


def rates(spec: str) -> str:
    return GOOD.replace(RATE, f"rate = {spec}")


def swept(lines: str, text: str = GOOD) -> str:
    return f"{text}\n[sweep]\n{lines}\n"


def range_values(spec: str) -> list[object]:
    """The values of a range in the place of the loss."""
    return [value for (value,) in values(GOOD.replace(RATE, f"{RATE}\nloss = {spec}"))]


def test_a_specification_without_axes_is_a_study_of_one() -> None:
    [cell] = grid(study(GOOD), "1").cells
    assert (cell.values, str(cell)) == ({}, "the only combination")
    assert cell.plan == plan(parse(GOOD, "test").spec, "1")


def test_changes_during_a_run_and_their_times_can_be_axes() -> None:
    text = f'{GOOD}\n[[changes]]\nat = ["0.5s", "1s"]\nrate = ["2mbit", "4mbit"]\n'
    assert values(text) == [(at, rate) for at in ("0.5s", "1s") for rate in ("2mbit", "4mbit")]


def test_lists_give_every_combination_and_the_last_axis_is_fastest() -> None:
    text = rates('["8mbit", "9mbit"]').replace('"cubic"', '["cubic", "bbr", "reno"]')
    assert values(text) == [
        (rate, cca) for rate in ("8mbit", "9mbit") for cca in ("cubic", "bbr", "reno")
    ]
    cells = grid(study(text), "1").cells
    assert [cell.number for cell in cells] == [1, 2, 3, 4, 5, 6]
    assert cells[1].values == {"path.rate": "8mbit", "flows[0].cca": "bbr"}
    scenario = cells[1].plan.trials[0].scenario
    assert (scenario["path"]["rate_bps"], scenario["flows"][0]["cca"]) == (8_000_000, "bbr")


def test_a_cell_is_the_run_that_its_values_make() -> None:
    """A run with `narrows run --set` has the same hash."""
    [_, cell] = grid(study(rates('["8mbit", "9mbit"]')), "1").cells
    alone = plan(parse(GOOD, "test", ["path.rate=9mbit"]).spec, "1")
    assert cell.plan.trials == alone.trials


def test_overrides_can_be_axes() -> None:
    assert values(GOOD, 'path.rate=["1mbit", "2mbit"]') == [("1mbit",), ("2mbit",)]


def test_every_trial_is_a_run_with_a_seed_of_its_own() -> None:
    runs = list(grid(study(rates('["8mbit", "9mbit"]') + "trials = 3\nseed = 5\n"), "1").runs())
    assert [(cell.number, trial.number, trial.seed) for cell, trial in runs] == [
        (1, 1, 5),
        (1, 2, 6),
        (1, 3, 7),
        (2, 1, 5),
        (2, 2, 6),
        (2, 3, 7),
    ]
    assert len({trial.hash for _, trial in runs}) == 6


def test_zipped_axes_go_together_where_the_first_stands() -> None:
    text = rates('["8mbit", "9mbit"]').replace(BUFFER, 'buffer = ["1bdp", "2bdp"]')
    text = text.replace('rtt = "20ms"', 'rtt = ["20ms", "30ms"]')
    assert values(swept('zip = [["path.rate", "path.buffer"]]', text)) == [
        ("8mbit", "1bdp", "20ms"),
        ("8mbit", "1bdp", "30ms"),
        ("9mbit", "2bdp", "20ms"),
        ("9mbit", "2bdp", "30ms"),
    ]


def test_axes_may_stand_apart_from_their_place() -> None:
    for written in ('"path.rate"', "path.rate"):
        text = swept(f'[sweep.axes]\n{written} = ["1mbit", "2mbit"]')
        assert values(text) == [("1mbit",), ("2mbit",)]
    text = swept('[sweep.axes]\n"flows[0].cca" = ["reno", "bbr"]\nflows.0.count = [1, 2]')
    assert values(text) == [("reno", 1), ("reno", 2), ("bbr", 1), ("bbr", 2)]


def test_an_override_fixes_an_axis() -> None:
    text = swept('[sweep.axes]\n"path.rate" = ["1mbit", "2mbit"]')
    assert values(text, "path.rate=3mbit") == [()]
    [cell] = grid(study(text, "path.rate=3mbit"), "1").cells
    assert cell.plan.trials[0].scenario["path"]["rate_bps"] == 3_000_000


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("{from = 0.1, to = 0.3, step = 0.1}", [0.1, 0.2, 0.3]),
        ("{from = 0.0, to = 0.3, count = 4}", [0.0, 0.1, 0.2, 0.3]),
        ("{from = 0.001, to = 0.1, count = 3, scale = 'log'}", [0.001, 0.01, 0.1]),
        ("{from = 0.001, to = 0.1, count = 2}", [0.001, 0.1]),
        ("{from = 0.0, to = 0.1, count = 4}", [0.0, 0.03333, 0.06667, 0.1]),
        ("{from = 1, to = 4, count = 3}", [1, 2, 4]),
        ("{from = 1, to = 4, step = 2}", [1, 3]),
        ("{from = '1mbit', to = '1gbit', count = 4, scale = 'log'}", "1mbit 10mbit 100mbit 1gbit"),
        ("{from = '0.25bdp', to = '1bdp', step = '0.25bdp'}", "0.25bdp 0.5bdp 0.75bdp 1bdp"),
        ("{from = '1bdp', to = '2bdp', count = 4}", "1bdp 1.333bdp 1.667bdp 2bdp"),
        ("{from = '10pkt', to = '20pkt', count = 4}", "10pkt 13pkt 17pkt 20pkt"),
        ("{from = '100kb', to = '1mb', step = '450kb'}", "100kb 550kb 1mb"),
        ("{from = '20ms', to = '1s', count = 3, scale = 'log'}", "20ms 141.4ms 1s"),
    ],
)
def test_a_range_has_exact_values(spec: str, expected: list[object] | str) -> None:
    wanted = expected.split() if isinstance(expected, str) else expected
    found = range_values(spec)
    assert found == wanted
    assert [type(value) for value in found] == [type(value) for value in wanted]


@given(
    st.integers(1, 10**6), st.integers(1, 10**6), st.integers(2, 30), st.sampled_from([True, False])
)
def test_a_range_rises_from_end_to_end(low: int, extra: int, count: int, log: bool) -> None:
    scale = "log" if log else "linear"
    spec = f"{{from = {low}, to = {low + extra}, count = {count}, scale = '{scale}'}}"
    found = range_values(spec)
    assert (found[0], found[-1]) == (low, low + extra)
    assert found == sorted(set(found), key=lambda value: float(str(value)))
    assert len(found) <= count


LHS = 'design = "{}"\nbudget = {}\n[sweep.axes]\n'
DRAWN = '"path.loss" = {from = 0.0, to = 0.9999}\nhost.fq = [true, false]\n'


def test_a_latin_hypercube_uses_every_stratum_once() -> None:
    found = values(swept(LHS.format("lhs", 100) + DRAWN))
    assert len(found) == 100
    losses = sorted(float(str(loss)) for loss, _ in found)
    assert all(i / 100 - 0.001 <= loss <= (i + 1) / 100 for i, loss in enumerate(losses))
    assert sum(fq is True for _, fq in found) == 50


def test_a_random_design_keeps_to_its_budget_and_seed() -> None:
    text = swept(LHS.format("random", 20) + DRAWN)
    assert len(values(text)) == 20
    assert values(text) == values(text)
    assert values(text) != values(text, "sweep.seed=2")


def test_another_axis_does_not_change_the_draws_of_the_first() -> None:
    alone = values(swept(LHS.format("lhs", 20) + '"path.loss" = {from = 0.0, to = 0.5}'))
    more = values(swept(LHS.format("lhs", 20) + '"path.loss" = {from = 0.0, to = 0.5}\n' + BEYOND))
    assert [loss for (loss,) in alone] == [loss for loss, _ in more]


BEYOND = '"path.rtt" = {from = "1ms", to = "100ms", scale = "log"}'


def test_combinations_that_come_twice_count_once() -> None:
    assert sorted(values(swept(LHS.format("random", 50) + "host.fq = [true, false]"))) == [
        (False,),
        (True,),
    ]


def test_zipped_axes_are_drawn_together() -> None:
    text = rates('["8mbit", "9mbit"]').replace(BUFFER, 'buffer = ["1bdp", "2bdp"]')
    text = swept('design = "lhs"\nbudget = 4\nzip = [["path.rate", "path.buffer"]]', text)
    assert sorted(values(text)) == [("8mbit", "1bdp"), ("9mbit", "2bdp")]


MALFORMED = {
    "an empty list": (rates("[]"), "path.rate", "at least one value"),
    "a list in a list": (rates('[["8mbit"]]'), "path.rate[0]", "a single value"),
    "a wrong value": (rates('["8mbit", "8mbt"]'), "path.rate", '"8mbit"'),
    "several names": (GOOD.replace('"good"', '["a", "b"]'), "name", "one name"),
    "a list of trials": (GOOD + "trials = [1, 2]\n", "run.trials", "one number of trials"),
    "a range without an end": (rates("{from = 1}"), "path.rate.to", "the end of the range"),
    "a range of neither": (rates('{from = "1mbit", to = "2mbit"}'), "path.rate", "count"),
    "a step and a count": (
        rates('{from = "1mbit", to = "2mbit", step = "1mbit", count = 2}'),
        "path.rate.step",
        "one of the two",
    ),
    "an unknown key of a range": (
        rates('{from = "1mbit", to = "2mbit", cuont = 2}'),
        "path.rate.cuont",
        '"count"',
    ),
    "a count of one": (
        rates('{from = "1mbit", to = "2mbit", count = 1}'),
        "path.rate.count",
        "a whole number from 2",
    ),
    "two kinds of quantity": (
        rates('{from = "1mbit", to = "2s", count = 2}'),
        "path.rate.to",
        "a rate, as `from`",
    ),
    "a range backwards": (
        rates('{from = "2mbit", to = "1mbit", count = 2}'),
        "path.rate.to",
        "above the beginning",
    ),
    "a logarithm of nothing": (
        GOOD.replace(RATE, RATE + "\nloss = {from = 0.0, to = 0.1, count = 3, scale = 'log'}"),
        "path.loss.from",
        "above zero",
    ),
    "a step of nothing": (
        rates('{from = "1mbit", to = "2mbit", step = "0mbit"}'),
        "path.rate.step",
        "above zero",
    ),
    "an endless range": (
        rates('{from = "1mbit", to = "2mbit", step = "1bit"}'),
        "path.rate.step",
        "at most 100000",
    ),
    "an unknown scale": (
        rates('{from = "1mbit", to = "2mbit", count = 3, scale = "lg"}'),
        "path.rate.scale",
        '"linear" or "log"',
    ),
    "a unit that is none": (
        rates('{from = "1mbt", to = "2mbit", count = 3}'),
        "path.rate.from",
        '"10mbit"',
    ),
    "a sweep that is no table": (f"sweep = 3\n{GOOD}", "sweep", "[sweep]"),
    "an unknown key": (swept("bugdet = 3"), "sweep.bugdet", '"budget"'),
    "an axis outside axes": (swept('path.rate = ["1mbit"]'), "sweep.path", "`sweep.axes.path`"),
    "an unknown design": (swept('design = "lsh"'), "sweep.design", '"lhs"'),
    "no budget": (swept('design = "lhs"'), "sweep.budget", "such as 100"),
    "a budget for a grid": (swept("budget = 3"), "sweep.budget", "lhs"),
    "a budget of nothing": (swept('design = "lhs"\nbudget = 0'), "sweep.budget", "from 1 to"),
    "a zip of texts": (swept('zip = ["path.rate"]'), "sweep.zip[0]", "a list of lists"),
    "a zip of no axis": (
        swept('zip = [["path.rate", "path.rtt"]]', rates('["1mbit", "2mbit"]')),
        "sweep.zip[0]",
        "a list of values at path.rtt",
    ),
    "a zip of a single value": (
        swept('zip = [["path.rate", "path.rtt"]]', rates('"1mbit"')),
        "sweep.zip[0]",
        "a list of values at path.rate",
    ),
    "a zip with a slip": (
        swept('zip = [["path.rat", "path.rtt"]]', rates('["1mbit", "2mbit"]')),
        "sweep.zip[0]",
        '"path.rate"',
    ),
    "a zip of unequal axes": (
        swept(
            'zip = [["path.rate", "path.buffer"]]',
            rates('["1mbit", "2mbit"]').replace(BUFFER, 'buffer = ["1bdp"]'),
        ),
        "sweep.zip[0]",
        "as many values",
    ),
    "an axis zipped twice": (
        swept('zip = [["path.rate", "path.rate"]]', rates('["1mbit", "2mbit"]')),
        "sweep.zip[0]",
        "each axis once",
    ),
    "two axes at a place": (
        swept('[sweep.axes]\n"path.rate" = ["1mbit"]', rates('["1mbit", "2mbit"]')),
        "sweep.axes.path.rate",
        "one of the two",
    ),
    "an axis nowhere": (
        swept('[sweep.axes]\n"path.bufer" = ["1bdp", "2bdp"]'),
        "path.bufer",
        '"buffer"',
    ),
    "an axis of a flow that isn't there": (
        swept('[sweep.axes]\n"flows[3].cca" = ["reno"]'),
        "flows[3].cca",
        "from 0 to 0",
    ),
    "a combination that can't run": (
        GOOD.replace('"2s"', '["2s", "400ms"]'),
        "run.warmup",
        "shorter than the run",
    ),
    "too many combinations": (
        swept(
            "\n".join(f"flows.0.options.o{i} = {list(range(100))}" for i in range(4)), GOOD
        ).replace("[sweep]", "[sweep.axes]"),
        "sweep",
        "at most 1000000",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_axes_end_with_their_place_and_a_remedy(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, place, remedy = MALFORMED[case]
    assert run_cli("run", write(tmp_path, text), "--out", str(tmp_path / "out")) == 2
    said = capsys.readouterr().err
    assert f"{place}: found" in said
    assert remedy in said
    assert "would be right" in said
    assert "Traceback" not in said
    assert not (tmp_path / "out").exists()


def test_problems_of_many_combinations_are_reported_once() -> None:
    with pytest.raises(SpecError) as caught:
        grid(study(rates('["8mbit", "9mbt"]').replace(BUFFER, 'buffer = ["1bdp", "2bdp"]')), "1")
    assert [problem.place for problem in caught.value.problems] == ["path.rate"]
