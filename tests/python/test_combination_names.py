"""Several combinations of a sweep are named by what they share."""

from __future__ import annotations

import pytest

from narrows.sweeps.combination_names import CombinationNames

BUFFERS, CONTROLS = ("0.25bdp", "1bdp", "4bdp", "10bdp"), ("bbr", "cubic", "reno")
NAMES = CombinationNames(
    dict(
        enumerate(
            {"path.rate": "20mbit", "path.buffer": buffer, "flows[0].cca": control}
            for buffer in BUFFERS
            for control in CONTROLS
        )
    )
)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        (range(6, 12), "from buffer 4 BDP on"),
        (range(6), "up to buffer 1 BDP"),
        (
            (6, 7, 9, 10),
            "Buffer 4 BDP, BBR; Buffer 4 BDP, CUBIC; Buffer 10 BDP, BBR; Buffer 10 BDP, CUBIC",
        ),
        ((1, 2, 3, 4, 5, 0, 6), "all up to buffer 4 BDP"),
        ((2, 5, 8, 11), "Reno"),
        ((0, 3, 6, 9, 1, 4), "all BBR and CUBIC"),
        ((0, 1, 2, 6, 7, 8), "buffer 0.25 BDP and buffer 4 BDP"),
        (range(12), ""),
    ],
)
def test_combinations_are_named_by_what_others_lack(numbers: range, words: str) -> None:
    assert NAMES.of_several(numbers) == words
    assert NAMES.of_one(11) == "Buffer 10 BDP, Reno"
