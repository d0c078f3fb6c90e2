"""Comparisons: the statistics, the verdicts, what is measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from specimens import GOOD, scenario_of, spec_of

from narrows.backends import get_backend
from narrows.compare import Comparison, text
from narrows.compare.judge import CellComparison, LeftOut
from narrows.compare.quantities import QUANTITIES, ComparedQuantity, measure
from narrows.compare.vary import chanceless, vary
from narrows.figures.frames import conditions
from narrows.metrics import intervals as statistics
from narrows.metrics.equivalence import EquivalenceVerdict
from narrows.plan import plan

RTT = ComparedQuantity("rtt", "cubic")
OF_WORKLOADS = {"completion_p50", "completion_p95", "slowdown"}
OF_IMPORTS = {"retransmissions", "rtt_p95", "rtt_max"}


@pytest.mark.parametrize(
    ("freedom", "table"),
    [(1, 12.7062), (1.1, 10.2768), (2, 4.30265), (4, 2.77645), (9, 2.26216), (100, 1.98397)],
)
def test_student_as_in_printed_tables(freedom: int, table: float) -> None:
    assert statistics.student(freedom) == pytest.approx(table, rel=2e-6)


def test_interval_of_a_mean() -> None:
    # 2 to 4: mean 3, deviation 1, so 4.30265 / sqrt(3) on either side.
    assert statistics.mean([2, 3, 4]) == 3
    assert statistics.deviation([2, 3, 4]) == 1
    assert statistics.half_width([2, 3, 4]) == pytest.approx(4.30265 / math.sqrt(3), rel=1e-4)
    assert statistics.half_width([2.0]) == math.inf


def test_interval_of_a_difference_by_welch() -> None:
    first = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6]
    second = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2]
    # Two samples of equal size and spread: 2 (n - 1) degrees of freedom.
    same = statistics.difference_half_width(second, [value + 5 for value in second])
    error = statistics.deviation(second) * math.sqrt(2 / 10)
    assert same == pytest.approx(statistics.student(18) * error, rel=1e-6)
    # The wider one counts for more: fewer degrees of freedom, a wider interval.
    error = math.hypot(statistics.deviation(first), statistics.deviation(second)) / math.sqrt(10)
    unequal = statistics.difference_half_width(first, second)
    assert statistics.student(18) * error < unequal < statistics.student(9) * error
    assert statistics.difference_half_width([1.0, 1.0], [2.0, 2.0]) == 0
    # 2.08611 degrees of freedom: rounded to 2.09, they would give 2.5083.
    few = statistics.difference_half_width([1.0, 1.1, 1.3], [1.0, 2.5, 3.0])
    assert few == pytest.approx(2.512567, abs=2e-6)
    assert statistics.difference_half_width([1.0], [2.0, 3.0]) == math.inf


@pytest.mark.parametrize(
    ("name", "reference", "inside", "outside"),
    [
        ("share", 0.5, 0.549, 0.551),
        ("goodput", 10.0, 10.29, 10.31),
        ("retransmission_rate", 0.1, 0.119, 0.121),
        ("retransmission_rate", 0.001, 0.0029, 0.0031),
        ("rtt", 50.0, 54.9, 55.1),
        ("completion_time", 2.0, 2.19, 2.21),
        ("queue", 1.0, 1.19, 1.21),
    ],
)
def test_how_far_means_may_lie_apart(
    name: str, reference: float, inside: float, outside: float
) -> None:
    assert (
        verdict(ComparedQuantity(name), (inside,) * 3, (reference,) * 3) is EquivalenceVerdict.AGREE
    )
    assert (
        verdict(ComparedQuantity(name), (outside,) * 3, (reference,) * 3)
        is EquivalenceVerdict.DIFFER
    )


def verdict(
    cell: ComparedQuantity, values: Sequence[float], reference: Sequence[float]
) -> EquivalenceVerdict:
    return CellComparison(cell, "sim", tuple(values), tuple(reference)).verdict


def test_noise_never_helps_to_agree() -> None:
    wide = (40.0, 50.0, 60.0)
    assert CellComparison(RTT, "sim", (50.0,) * 3, wide).limit == pytest.approx(5.0)
    assert verdict(RTT, (50.0,) * 3, wide) is EquivalenceVerdict.UNDECIDED
    assert verdict(RTT, wide, (50.0,) * 3) is EquivalenceVerdict.UNDECIDED
    assert verdict(RTT, (50.0,) * 3, (50.0,) * 3) is EquivalenceVerdict.AGREE
    assert verdict(RTT, (95.0,) * 3, wide) is EquivalenceVerdict.DIFFER
    # An interval that crosses the limit decides nothing, wherever its middle lies.
    assert verdict(RTT, (54.0, 54.5, 55.0), (50.0,) * 3) is EquivalenceVerdict.UNDECIDED
    assert verdict(RTT, (55.0, 55.5, 56.0), (50.0,) * 3) is EquivalenceVerdict.UNDECIDED


def test_two_trials_decide_nothing() -> None:
    """Two trials of 241 and 162 Mbit/s once agreed, with a limit of 134 points."""
    goodput = ComparedQuantity("goodput", "cubic")
    assert verdict(goodput, (241.0, 241.0), (162.0, 162.0)) is EquivalenceVerdict.UNDECIDED
    assert verdict(goodput, (241.0,) * 3, (162.0,) * 3) is EquivalenceVerdict.DIFFER
    assert verdict(goodput, (162.0, 162.0), (162.0, 162.0)) is EquivalenceVerdict.UNDECIDED
    assert CellComparison(goodput, "sim", (162.0, 162.0), (162.0, 162.0)).more_trials == 1


def test_how_many_more_trials_would_decide() -> None:
    noisy = (46.0, 50.0, 54.0, 48.0, 52.0)
    row = CellComparison(RTT, "sim", noisy, tuple(value + 2.0 for value in noisy))
    more = row.more_trials
    assert row.verdict is EquivalenceVerdict.UNDECIDED
    assert more is not None
    assert more > 0
    # That many more trials of the same spread decide; one fewer doesn't.
    spread = statistics.deviation(noisy) * math.sqrt(2)

    def half_width(trials: int) -> float:
        return statistics.student(2.0 * (trials - 1)) * spread / math.sqrt(trials)

    room = row.limit - 2.0
    assert half_width(5 + more) <= room < half_width(5 + more - 1)
    # A difference that lies on the limit itself is never decided.
    on_the_limit = CellComparison(RTT, "sim", tuple(1.1 * value for value in noisy), noisy)
    assert on_the_limit.verdict is EquivalenceVerdict.UNDECIDED
    assert on_the_limit.more_trials is None


def test_trials_that_vary_the_path_are_compared_in_pairs() -> None:
    reference = (40.0, 50.0, 60.0)
    values = (41.0, 51.5, 61.0)
    assert CellComparison(RTT, "sim", values, reference).verdict is EquivalenceVerdict.UNDECIDED
    assert (
        CellComparison(RTT, "sim", values, reference, paired=True).verdict
        is EquivalenceVerdict.AGREE
    )
    # If a trial lacks a value, the pairs are unknown.
    assert (
        CellComparison(RTT, "sim", values, reference[:2], paired=True).verdict
        is EquivalenceVerdict.UNDECIDED
    )


def test_an_observation_is_held_against_the_spread_of_the_trials() -> None:
    trials = (49.0, 50.0, 51.0, 50.0)

    def verdict_of(observed: float) -> EquivalenceVerdict:
        return CellComparison(RTT, "sim", trials, (observed,) * 4, observed=True).verdict

    assert verdict_of(50.0) is EquivalenceVerdict.AGREE
    assert verdict_of(54.0) is EquivalenceVerdict.UNDECIDED
    assert verdict_of(70.0) is EquivalenceVerdict.DIFFER
    assert comparison(**{"sim": 1.0, "capture:f": 1.0}).reference == "capture:f"


def test_more_trials_dont_narrow_a_single_observation() -> None:
    trials = (49.0, 50.0, 51.0, 50.0) * 8

    def more_for(observed: float) -> int | None:
        return CellComparison(RTT, "sim", trials, (observed,) * 32, observed=True).more_trials

    few = CellComparison(RTT, "sim", trials[:4], (53.0,) * 4, observed=True)
    more = few.more_trials
    assert more is not None
    sd, room = statistics.deviation(trials[:4]), few.limit - 3.0

    def half_width(count: int) -> float:
        return statistics.student(count - 1.0) * sd * math.sqrt(1 + 1 / count)

    assert half_width(4 + more) <= room < half_width(4 + more - 1)
    assert more_for(54.5) is None  # 0.95 ms of room, and an interval of 1.4 ms at the least


def test_a_quantity_that_only_one_back_end_measured_differs() -> None:
    assert verdict(RTT, (), (1.0,) * 3) is EquivalenceVerdict.DIFFER
    assert verdict(RTT, (1.0,) * 3, ()) is EquivalenceVerdict.DIFFER
    assert verdict(RTT, (), (1.0,) * 2) is EquivalenceVerdict.UNDECIDED
    assert verdict(RTT, (), ()) is EquivalenceVerdict.UNDECIDED


def comparison(**measured: float) -> Comparison:
    return Comparison(
        name="made up",
        conditions="",
        scenario=scenario_of(),
        groups=("cubic",),
        engines=dict.fromkeys(measured, "1"),
        measured={name: [{RTT: value}] * 3 for name, value in measured.items()},
    )


def test_a_trial_without_a_value_removes_its_partner() -> None:
    # Each trial is 10 % above the one before, and equal on both sides. One side lacks the first
    # value, the other the last: paired in order, the remaining values would all differ by 10 %.
    ours = [{RTT: 1.0}, {RTT: 1.1}, {RTT: 1.21}, {RTT: 1.331}, {}]
    made = comparison(sim=0, uml=0)
    made.varied, made.seeded = True, False
    made.measured = {"sim": ours, "uml": [{}, *ours[1:4], {RTT: 1.4641}]}
    (row,) = made.rows
    assert row.paired
    assert row.values == row.reference == (1.1, 1.21, 1.331)
    made.measured["sim"] = [{RTT: 1.0}, {}, {}, {}, {}]  # no pair is left
    assert not made.rows[0].paired


def test_the_reference_is_a_real_kernel() -> None:
    assert comparison(sim=1.0, uml=1.0).reference == "uml"
    assert comparison(kernel=1.0, uml=1.0, sim=1.0).reference == "uml"
    assert comparison(sim=1.0, kernel=1.0).reference == "kernel"
    three = comparison(sim=1.0, uml=1.0, kernel=2.0)
    verdicts = [(row.backend, str(row.verdict)) for row in three.rows]
    assert verdicts == [("sim", "agree"), ("kernel", "differ")]
    assert three.counts.verdict is EquivalenceVerdict.DIFFER
    assert str(three.counts) == "1 agree, 1 differ, 0 undecided"


def test_buffers_and_delays_vary_a_little_about_those_given() -> None:
    scenario = scenario_of(GOOD, ["path.buffer=100kb"])
    paths = [vary(scenario, trial)["path"] for trial in range(1, 10)]
    sizes = [path["buffer"]["bytes"] for path in paths]
    delays = [path["rtt_ns"] for path in paths]
    assert (sizes[0], delays[0]) == (100_000, 20_000_000)
    assert sizes[1:4] == [98_500, 101_500, 97_750]
    assert 97_000 <= min(sizes) < 98_000
    assert 102_000 < max(sizes) <= 103_000
    assert 19_800_000 <= min(delays) < 19_900_000
    assert 20_100_000 < max(delays) <= 20_200_000
    assert len(set(delays)) == len(delays)
    assert scenario["path"]["buffer"] == {"bytes": 100_000}


def test_buffers_of_all_links_vary_alike() -> None:
    link = '[[path.links]]\nname = "NAME"\nrate = "8mbit"\nbuffer = "200kb"\n\n[[flows]]'
    scenario = scenario_of(GOOD.replace("[[flows]]", link, 1), ["path.buffer=100kb"])
    path = vary(scenario, 2)["path"]
    assert [one["buffer"]["bytes"] for one in path["links"]] == [197_000]


def test_delays_of_single_flows_vary_with_the_paths() -> None:
    far = scenario_of(f'{GOOD}\n[[flows]]\ncca = "reno"\nrtt = "200ms"\n')
    for trial in range(1, 5):
        own = vary(far, trial)
        factor = own["path"]["rtt_ns"] / far["path"]["rtt_ns"]
        assert own["flows"][0]["rtt_ns"] is None
        assert own["flows"][1]["rtt_ns"] == pytest.approx(200_000_000 * factor)
        assert (factor == 1.0) == (trial == 1)
    assert far["flows"][1]["rtt_ns"] == 200_000_000


def test_seeds_without_effect_are_seen() -> None:
    assert chanceless([{RTT: 50.0}, {RTT: 50.0 + 1e-6}])
    assert not chanceless([{RTT: 50.0}, {RTT: 50.1}])
    assert not chanceless([{RTT: 50.0}, {}])


def measure_run(text: str, *overrides: str) -> dict[ComparedQuantity, float]:
    made = plan(spec_of(text, overrides), "test")
    result = get_backend("sim").run(made.trials[0].scenario)
    return measure(made.trials[0].scenario, result.tables, result.info, made.groups)


def test_measurements_of_endless_flows() -> None:
    two = GOOD + '\n[[flows]]\ncca = "reno"\ncount = 2\n'
    found = measure_run(two, "run.duration=10s", "run.warmup=2s")
    shape = [(cell.quantity, cell.flows) for cell in found]
    each = [
        (name, flows)
        for name in ("goodput", "retransmission_rate", "rtt")
        for flows in ("cubic", "reno")
    ]
    bottleneck = [("drop_rate", ""), ("queue", ""), ("utilization", "")]
    assert shape == [("share", "cubic"), *each, *bottleneck]
    whole = (
        found[ComparedQuantity("goodput", "cubic")] + 2 * found[ComparedQuantity("goodput", "reno")]
    )
    assert found[ComparedQuantity("share", "cubic")] == pytest.approx(
        found[ComparedQuantity("goodput", "cubic")] / whole, abs=1e-9
    )
    assert 20.0 < found[ComparedQuantity("rtt", "reno")] < 42.0
    assert found[ComparedQuantity("utilization")] > 0.97


def test_measurements_of_flows_with_a_size() -> None:
    text = GOOD.replace(
        'cca = "cubic"',
        'cca = "cubic"\nname = "large"\nsize = "1mb"\n[[flows]]\ncca = "reno"\nname = "chain"\n'
        'size = "50kb"\nrepeat_gap = "100ms"\nstart = "200ms"\nwhile = "large"',
    ).replace('duration = "2s"', 'duration = "20s"\nstop_when = "large"')
    found = measure_run(text)
    names = {cell.quantity for cell in found}
    assert names == set(QUANTITIES) - {"share", "goodput", "mark_rate"} - OF_WORKLOADS - OF_IMPORTS
    assert 1.0 < found[ComparedQuantity("completion_time", "large")] < 2.5
    assert 0.05 < found[ComparedQuantity("completion_time", "chain")] < 1.0


def test_the_conditions_name_the_queue_and_ecn() -> None:
    queue = 'queue = { kind = "codel", limit = "40pkt", ecn = true }'
    text = GOOD.replace('buffer = "1bdp"', queue)
    plain = conditions(scenario_of(text))
    assert plain == "1 CUBIC, 8 Mbit/s, 20 ms, buffer 3 BDP, CoDel"
    marked = scenario_of(text, ["flows.0.ecn=classic"])
    assert conditions(marked) == f"{plain}, ECN"


def test_marks_are_measured_where_flows_can_be_marked() -> None:
    queue = 'queue = { kind = "codel", limit = "400pkt", ecn = true }'
    text = GOOD.replace('buffer = "1bdp"', queue)
    assert ComparedQuantity("mark_rate") not in measure_run(text)
    marked = measure_run(text.replace('cca = "cubic"', 'cca = "cubic"\necn = "classic"'))
    assert 0.0 < marked[ComparedQuantity("mark_rate")] < 0.05
    assert marked[ComparedQuantity("drop_rate")] == 0.0


def test_without_a_valid_run_nothing_is_compared() -> None:
    scenario = scenario_of(GOOD)
    left = LeftOut("kernel", 1, 1, "the machine was busy")
    made = Comparison(
        "good", "", scenario, ("cubic",), {}, {"sim": [{RTT: 50.0}], "kernel": [{}]},
        left_out=[left],
    )  # fmt: skip
    told = list(text.lines(made))
    assert told[2:] == ["Nothing could be compared: no trial on kernel was valid.", str(left)]
    whole = replace(made, measured={"sim": [{RTT: 50.0}], "kernel": [{RTT: 50.0}]})
    assert whole.empty == ()
    assert any("quantity" in line for line in text.lines(whole))


def test_large_values_are_no_powers_of_ten() -> None:
    fast = scenario_of(GOOD, ["path.rate=10gbit", "path.buffer=1000bdp"])
    assert conditions(fast) == "1 CUBIC, 10,000 Mbit/s, 20 ms, buffer 1,000 BDP"
    halves = """path.service={ kind = "steps", rates = { "1s" = "4mbit" } }"""
    for written, shown in {"300kb": "300 kB", "1mb": "1 MB", "1500kb": "1.5 MB"}.items():
        varying = scenario_of(GOOD, [halves, f"path.buffer={written}"])
        assert conditions(varying).endswith(f"Mbit/s on average, 20 ms, buffer {shown}")
