"""Units: what is read, what is refused, and that nothing is ever rounded."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narrows.spec.units import (
    BYTE_UNITS,
    DURATION_UNITS,
    RATE_UNITS,
    Size,
    UnitError,
    bdp_bytes,
    format_duration,
    format_rate,
    format_size,
    parse_duration,
    parse_rate,
    parse_size,
)


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        ("80mbit", 80_000_000),
        ("2.5mbit", 2_500_000),
        ("0.1gbit", 100_000_000),
        ("128kbit", 128_000),
        ("10gbit", 10_000_000_000),
        ("1bit", 1),
        (".5kbit", 500),
        ("1 mbit", 1_000_000),
        ("1.000001mbit", 1_000_001),
        ("0bit", 0),
    ],
)
def test_rates(text: str, bps: int) -> None:
    assert parse_rate(text) == bps


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("25ms", 25_000_000),
        ("0.1s", 100_000_000),
        ("1.5us", 1500),
        ("7ns", 7),
        ("2min", 120 * 10**9),
    ],
)
def test_durations(text: str, ns: int) -> None:
    assert parse_duration(text) == ns


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("250kb", Size(Fraction(250_000), "b")),
        ("64kib", Size(Fraction(65_536), "b")),
        ("1.5mib", Size(Fraction(1_572_864), "b")),
        ("30mb", Size(Fraction(30_000_000), "b")),
        ("1gb", Size(Fraction(10**9), "b")),
        ("1500b", Size(Fraction(1500), "b")),
        ("100pkt", Size(Fraction(100), "pkt")),
        ("1.75bdp", Size(Fraction(7, 4), "bdp")),
    ],
)
def test_sizes(text: str, size: Size) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    ("text", "found", "remedy"),
    [
        ("80", '"80"', '"80mbit"'),
        ("80Mbit", '"Mbit"', '"80mbit"'),
        ("80mbits", '"mbits"', '"80mbit"'),
        ("80 mbit/s", '"mbit/s"', '"80mbit"'),
        ("80ms", '"ms"', "bit, kbit, mbit, gbit"),
        ("mbit", '"mbit"', "a number with one of the units"),
        ("-1mbit", "negative", "positive"),
        ("1e6bit", '"1e6bit"', "units"),
        ("0x10bit", '"0x10bit"', "units"),
        ("1,5mbit", '"1,5mbit"', "units"),
        ("1..5mbit", '"1..5mbit"', "units"),
        ("٣mbit", '"٣mbit"', "units"),
        ("0.5bit", '"0.5bit"', "whole number of bit/s"),
        ("1" * 500 + "mbit", "...", "units"),
        ("", '""', "units"),
        ("nanmbit", '"nanmbit"', "units"),
        ("1\nmbit", r'"1\nmbit"', "units"),
    ],
)
def test_no_rates(text: str, found: str, remedy: str) -> None:
    with pytest.raises(UnitError) as caught:
        parse_rate(text)
    assert found in caught.value.found
    assert remedy in caught.value.remedy


@pytest.mark.parametrize("text", ["0.5b", "0.5pkt", "1.0001kib", "0.1ns"])
def test_no_parts_of_what_is_whole(text: str) -> None:
    with pytest.raises(UnitError, match="whole number"):
        parse_duration(text) if text.endswith("s") else parse_size(text)


decimals = st.decimals(min_value=0, max_value=10**6, places=4, allow_nan=False).map(
    lambda value: format(value, "f")
)


@given(decimals, st.sampled_from(sorted(RATE_UNITS)))
def test_a_rate_is_exactly_what_is_written(number: str, unit: str) -> None:
    exact = Fraction(number) * RATE_UNITS[unit]
    if exact.denominator == 1:
        assert parse_rate(number + unit) == exact
    else:
        with pytest.raises(UnitError, match="whole number"):
            parse_rate(number + unit)


@given(st.integers(0, 10**18))
def test_rates_come_back(bps: int) -> None:
    assert parse_rate(format_rate(bps)) == bps


@given(st.integers(0, 10**18))
def test_durations_come_back(ns: int) -> None:
    assert parse_duration(format_duration(ns)) == ns


@given(decimals, st.sampled_from([*BYTE_UNITS, "pkt", "bdp"]))
def test_sizes_come_back(number: str, unit: str) -> None:
    try:
        size = parse_size(number + unit)
    except UnitError:
        assert unit != "bdp"
    else:
        assert parse_size(format_size(size)) == size


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    for parse in (parse_rate, parse_duration, parse_size):
        with suppress(UnitError):
            parse(text)


@pytest.mark.parametrize(
    ("ns", "text"),
    [(0, "0s"), (100_000_000, "100ms"), (90 * 10**9, "90s"), (1500, "1.5us"), (1, "1ns")],
)
def test_usual_spelling_of_durations(ns: int, text: str) -> None:
    assert format_duration(ns) == text


@pytest.mark.parametrize(
    ("bps", "text"), [(80_000_000, "80mbit"), (2_500, "2.5kbit"), (0, "0bit"), (999, "999bit")]
)
def test_usual_spelling_of_rates(bps: int, text: str) -> None:
    assert format_rate(bps) == text


def test_sizes_on_a_path() -> None:
    bdp = bdp_bytes(80_000_000, 25_000_000)
    assert bdp == 250_000
    assert parse_size("1.75bdp").in_bytes(bdp) == 437_500
    assert parse_size("64kib").in_bytes(bdp) == 65_536
    with pytest.raises(ValueError, match="packets"):
        parse_size("10pkt").in_bytes(bdp)


def test_a_share_of_a_bdp_rounds_half_up() -> None:
    assert parse_size("0.5bdp").in_bytes(Fraction(3)) == 2
    assert parse_size("0.5bdp").in_bytes(Fraction(5)) == 3
    assert parse_size("0.1bdp").in_bytes(bdp_bytes(8_000_000, 20_000_000)) == 2000


def test_every_unit_has_its_scale() -> None:
    assert [parse_duration(f"1{unit}") for unit in DURATION_UNITS] == list(DURATION_UNITS.values())
    assert [parse_rate(f"1{unit}") for unit in RATE_UNITS] == list(RATE_UNITS.values())
    assert [parse_size(f"1{unit}").amount for unit in BYTE_UNITS] == list(BYTE_UNITS.values())
