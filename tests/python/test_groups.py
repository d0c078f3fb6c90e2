"""Trials that fall into two groups are told apart; scattered and steady ones aren't."""

from __future__ import annotations

import pytest
from specimens import GOOD

from narrows.answer.judge import point
from narrows.answer.study import ask
from narrows.answer.text import _describe_point
from narrows.metrics.groups import note_of_study, two_groups
from narrows.spec import SpecificationText

RIVALS = GOOD.replace('"1bdp"', '["1bdp", "2bdp"]').replace(
    '"cubic"', '"bbr"\n\n[[flows]]\ncca = "cubic"'
)

BIMODAL = (0.93, 0.41, 0.94, 0.92, 0.40, 0.93, 0.95, 0.42, 0.94, 0.93)


def test_trials_on_both_sides_of_a_wide_gap_are_two_groups() -> None:
    found = two_groups(BIMODAL, "bbr.share")
    assert found is not None
    assert found.words(100) == "93.4 in 7 of 10 trials, 41 in 3"
    assert found.words(3000).startswith("2,800 in 7")


def test_wide_groups_of_many_trials_are_found_and_a_tail_is_not_a_group() -> None:
    """As the queue of BBRv3 over a trace of LTE; the gap is narrower than one of the groups."""
    low = [414.0 + 80 * n / 58 for n in range(59)]
    high = [1768.0 + 2032 * n / 20 for n in range(21)]
    found = two_groups((*low, *high), "queue_mean_ms")
    assert found is not None
    assert (len(found.more), len(found.fewer)) == (59, 21)
    assert two_groups((*low, *high[-9:]), "queue_mean_ms") is None


@pytest.mark.parametrize(
    ("values", "metric"),
    [
        ((0.5, 0.51, 0.52, 0.49, 0.5, 0.51), "bbr.share"),
        ((0.50, 0.50, 0.50, 0.55, 0.55, 0.55), "bbr.share"),
        ((0.05, 0.05, 0.25, 0.25, 0.3, 0.34, 0.39, 0.45, 0.48, 0.52), "bbr.share"),
        ((0.9, 0.9, 0.9, 0.9, 0.9, 0.1), "bbr.share"),
        ((0.9, 0.9, 0.1, 0.1), "bbr.share"),
        ((10.0, 10.0, 10.0, 11.0, 11.0, 11.0), "queue_mean_ms"),
        ((1.0,) * 6, "utilization"),
        ((), "bbr.share"),
    ],
    ids=["steady", "5 points", "scattered", "outlier", "too few", "10 %", "equal", "none"],
)
def test_other_trials_are_one_group(values: tuple[float, ...], metric: str) -> None:
    assert two_groups(values, metric) is None


def test_a_study_names_the_combination_with_the_widest_gap() -> None:
    near = [
        {"bbr.share": 0.5 + 0.2 * (n % 2), "cubic.share": 0.5 - 0.2 * (n % 2)} for n in range(6)
    ]
    wide = [{"bbr.share": one, "cubic.share": 1 - one} for one in BIMODAL]
    told = note_of_study([("Buffer 1", near), ("Buffer 4", wide), ("Buffer 8", near[::2])])
    assert told == (
        "The trials fall into two groups in 2 of 3 combinations: Share of BBR (%): 93.4 in 7 of 10 "
        "trials, 41 in 3 (Buffer 4). The mean describes neither."
    )
    assert note_of_study([("", near[::2])]) == ""


def test_a_note_on_few_scattered_trials_says_how_many_would_do() -> None:
    far = [{"near.share": 0.5 - one, "far.share": one} for one in (0.31, 0.02, 0.01, 0.01)]
    steady = [{"near.share": one, "far.share": 1 - one} for one in (0.44, 0.54, 0.49)]
    three = [{**row, "middle.share": 0.5} for row in far]
    assert note_of_study([("Buffer 0.25", three), ("Buffer 4", steady)]) == (
        "The trials differ widely in 1 of 2 combinations: Share of near (%): 19.0 to 49.0 in "
        "4 trials (Buffer 0.25); `--trials 40` would show two groups, or tell the mean to ± 5."
    )
    queues = [{"queue_mean_ms": one, "loss_rate": 1e-5 * one} for one in (100.0, 20.0, 30.0)]
    assert note_of_study([("", queues)]) == (
        "The trials differ widely: Queue mean (ms): 20 to 100 in 3 trials; `--trials 50` would "
        "show two groups, or tell the mean to ± 12."
    )
    assert note_of_study([("", steady)]) == note_of_study([("", far[:1])]) == ""


def test_losses_are_two_groups_where_the_gap_matters() -> None:
    """As BBRv3 over a trace of LTE: it fills the buffer in some trials, and not in others."""
    losses = (0.161, 0.173, 0.156, 0.0, 0.0, 0.0, 0.125, 0.002, 0.0, 0.0)
    assert note_of_study([("", [{"loss_rate": one} for one in losses])]) == (
        "The trials fall into two groups: Loss rate (%): 0.0333 in 6 of 10 trials, 15.4 in 4. "
        "The mean describes neither."
    )
    assert note_of_study([("", [{"loss_rate": one / 10} for one in losses])]) == ""


def test_an_answer_tells_both_groups_of_its_value() -> None:
    found = point(1.0, [{"bbr.share": one} for one in BIMODAL], ["bbr.share"], 0.95)

    def sentence(metric: str) -> str:
        study = ask(
            SpecificationText(RIVALS, "rivals"), (), f"path.buffer with the highest {metric}"
        )
        return _describe_point(study, found, ("bbr.share",))

    split = "; 10 trials; two groups"
    assert sentence("bbr.share").endswith(f"{split}: bbr.share 0.934 in 7 of 10 trials, 0.41 in 3")
    heading = "Share of BBR (%)"
    assert sentence(heading).endswith(f"{split}: {heading} 93.4 in 7 of 10 trials, 41 in 3")
