"""What a good specification means: values, names, overrides, and its text again."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from specimens import GOOD, TOGETHER, spec_of, write

from narrows.errors import SpecError
from narrows.spec import load, named_flows, parse
from narrows.spec.elements import Element
from narrows.spec.units import Size


def flows(text: str) -> str:
    """The good specification with other flows."""
    return GOOD.replace('[[flows]]\ncca = "cubic"\n', text)


def names(text: str) -> list[tuple[str, str]]:
    return [(flow.name, flow.group) for flow in named_flows(spec_of(flows(text)))]


def test_values_are_exact() -> None:
    spec = spec_of(TOGETHER)
    assert (spec.path.rate, spec.path.rtt) == (8_000_000, 20_000_000)
    assert spec.path.buffer == Size(Fraction(2), "bdp")
    assert spec.path.loss == 0.001
    large, chain, endless = spec.flows
    assert (large.size, large.start, large.stop) == (500_000, 0, None)
    assert (chain.repeat_gap, chain.while_, chain.start) == (50_000_000, "large", 100_000_000)
    assert (endless.count, endless.stop, endless.rtt) == (2, 10**9, 30_000_000)
    assert (spec.host.jitter, spec.host.fq, spec.host.socket_buffers) == (10_000, True, "unlimited")
    assert (spec.run.trials, spec.run.seed, spec.run.record) == (2, 7, "packets")


def test_defaults() -> None:
    spec = spec_of()
    assert (spec.path.queue, spec.path.loss) == (Element("droptail"), 0.0)
    assert (spec.host.profile, spec.host.fq, spec.host.jitter) == ("linux-6.12", False, 0)
    assert spec.host.socket_buffers == "raised"
    assert (spec.run.trials, spec.run.seed, spec.run.stop_when) == (1, 1, None)
    assert (spec.run.sample_interval, spec.run.record) == (100_000_000, "samples")


def test_a_file_without_a_name_is_called_like_the_file(tmp_path: Path) -> None:
    loaded = load(write(tmp_path, GOOD.replace('name = "good"\n', ""), "Ünlikely näme.toml"))
    assert loaded.spec.name == "Ünlikely näme"
    assert parse(loaded.text, "another").spec == loaded.spec


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[[flows]]\ncca = "bbr"\n', [("bbr-1", "bbr")]),
        (
            '[[flows]]\ncca = "bbr"\ncount = 2\n[[flows]]\ncca = "cubic"\n[[flows]]\ncca = "bbr"\n',
            [("bbr-1", "bbr"), ("bbr-2", "bbr"), ("cubic-1", "cubic"), ("bbr-3", "bbr")],
        ),
        ('[[flows]]\ncca = "bbr"\nname = "x"\n', [("x", "x")]),
        ('[[flows]]\ncca = "bbr"\nname = "x"\ncount = 2\n', [("x-1", "x"), ("x-2", "x")]),
        (
            '[[flows]]\ncca = "bbr"\nname = "bbr"\n[[flows]]\ncca = "bbr"\n',
            [("bbr", "bbr"), ("bbr-1", "bbr")],
        ),
    ],
)
def test_names(text: str, expected: list[tuple[str, str]]) -> None:
    assert names(text) == expected


def test_copies_of_a_chain_share_what_they_wait_for() -> None:
    chain = '[[flows]]\nname = "c"\ncca = "reno"\nsize = "1kb"\nrepeat_gap = "0s"\nwhile = "a-2"\n'
    both = f'[[flows]]\nname = "a"\ncca = "bbr"\nsize = "1mb"\ncount = 2\n{chain}count = 3\n'
    assert [name for name, _ in names(both)] == ["a-1", "a-2", "c-1", "c-2", "c-3"]


def test_while_may_wait_for_a_chain_that_ends() -> None:
    text = (
        '[[flows]]\nname = "a"\ncca = "bbr"\nsize = "1mb"\n'
        '[[flows]]\nname = "b"\ncca = "bbr"\nsize = "1kb"\nrepeat_gap = "0s"\nwhile = "a"\n'
        '[[flows]]\nname = "c"\ncca = "bbr"\nsize = "1kb"\nrepeat_gap = "0s"\nwhile = "b"\n'
    )
    assert len(names(text)) == 3


@pytest.mark.parametrize(
    ("override", "read"),
    [
        ("path.buffer=4bdp", lambda spec: spec.path.buffer == Size(Fraction(4), "bdp")),
        ("path.buffer = 4bdp", lambda spec: spec.path.buffer == Size(Fraction(4), "bdp")),
        ('path.buffer="4bdp"', lambda spec: spec.path.buffer == Size(Fraction(4), "bdp")),
        ("flows.0.cca=reno", lambda spec: spec.flows[0].cca == "reno"),
        ("flows[0].cca=reno", lambda spec: spec.flows[0].cca == "reno"),
        ("path.loss=0.01", lambda spec: spec.path.loss == 0.01),
        ("run.trials=3", lambda spec: spec.run.trials == 3),
        ("host.fq=true", lambda spec: spec.host.fq is True),
        ("name=other = thing", lambda spec: spec.name == "other = thing"),
        ("flows.0.while=x", None),
    ],
)
def test_overrides(override: str, read: object) -> None:
    if read is None:
        with pytest.raises(SpecError, match="repeat_gap"):
            spec_of(GOOD, [override])
    else:
        assert callable(read)
        assert read(spec_of(GOOD, [override]))


def test_the_last_override_wins() -> None:
    assert spec_of(GOOD, ["run.seed=2", "run.seed=3"]).run.seed == 3


def test_text_as_run_is_the_file_itself_without_overrides(tmp_path: Path) -> None:
    text = f"# a comment\n{GOOD}"
    assert load(write(tmp_path, text)).text == text


@pytest.mark.parametrize("text", [GOOD, TOGETHER])
@pytest.mark.parametrize(
    "override", ["path.buffer=3bdp", 'name=a "quoted" näme \\ 1', "flows.0.name=x y"]
)
def test_text_as_run_gives_the_same_again(text: str, override: str) -> None:
    loaded = parse(text.replace('"large"\n', '"x y"\n'), "test", [override])
    assert parse(loaded.text, "test").spec == loaded.spec


def test_options_are_kept_in_the_text() -> None:
    text = GOOD.replace(
        'cca = "cubic"\n', 'cca = "cubic"\noptions = {beta = 600, hystart = "search"}\n'
    )
    loaded = parse(text, "test", ["run.seed=9"])
    assert loaded.spec.flows[0].options == {"beta": 600, "hystart": "search"}
    assert parse(loaded.text, "test").spec == loaded.spec


def test_an_error_can_be_taken_apart() -> None:
    with pytest.raises(SpecError) as caught:
        parse(GOOD.replace("8mbit", "8Mbit"), "test", file="a.toml")
    error = caught.value
    assert (error.file, error.place) == ("a.toml", "path.rate")
    assert error.found == 'the unit "Mbit" in "8Mbit"'
    assert error.remedy == '"8mbit"'
    assert str(error) == (
        'a.toml: path.rate: found the unit "Mbit" in "8Mbit"; "8mbit" would be right'
    )
