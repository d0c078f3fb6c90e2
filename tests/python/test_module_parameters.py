"""Options of controls as parameters of kernel modules."""

from __future__ import annotations

import pytest

from narrows.backends.uml.module_parameters import module_parameters


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ({"hystart": "off", "beta": 600}, {"hystart": 0, "beta": 600}),
        ({"hystart": "search"}, {"hystart": None}),
        ({"hystart_detect": "both"}, {"hystart_detect": 3}),
        ({"hystart_ack_delta_ns": 2_000_000}, {"hystart_ack_delta_us": 2000}),
        ({"hystart_low_window_packets": 8}, {"hystart_low_window": 8}),
        ({"tcp_friendliness": False}, {"tcp_friendliness": 0}),
    ],
)
def test_a_module_takes_whole_numbers(
    options: dict[str, object], parameters: dict[str, int | None]
) -> None:
    assert module_parameters("cubic", options) == parameters


def test_a_number_that_is_not_whole_has_no_parameter() -> None:
    assert module_parameters("bbr", {"cwnd_gain": 1.5}) == {"cwnd_gain": None}


def test_a_kernel_has_its_own_rules_without_a_parameter() -> None:
    assert module_parameters("bbr3", {"rules": "linux"}) == {}
    assert module_parameters("bbr3", {"rules": "draft"}) == {"rules": None}
