"""The meaning of valid specifications: values, names, overrides, and the text as run."""

from __future__ import annotations

from pathlib import Path

import pytest
from specimens import GOOD, TOGETHER, spec_of, write

from narrows.errors import SpecError
from narrows.spec import load, parse, same_value
from narrows.spec.values import measure


def flows(text: str) -> str:
    """The good specification with other flows."""
    return GOOD.replace('[[flows]]\ncca = "cubic"\n', text)


def names(text: str) -> list[tuple[str, str]]:
    spec = spec_of(flows(text))
    flows_ = spec.scenario["flows"]
    return [(flow["name"], group) for flow, group in zip(flows_, spec.groups, strict=True)]


def test_a_share_may_be_in_percent() -> None:
    losses = 'path.impairments=[{ kind = "loss", probability = %s }]'
    spec = spec_of(GOOD, ["path.loss=0.3%", losses % '"2%"'])
    same = spec_of(GOOD, ["path.loss=0.003", losses % "0.02"])
    assert spec.scenario["path"]["loss"] == 0.003
    assert spec.scenario == same.scenario
    assert same_value("0.3%", 0.003)
    assert not same_value("3%", 0.003)
    with pytest.raises(SpecError, match=r'path.loss: found "100%"; .* such as 0.01 or "1%"'):
        spec_of(GOOD, ["path.loss=100%"])


def test_values_are_exact() -> None:
    spec = spec_of(TOGETHER)
    path, host, run = (spec.scenario[key] for key in ("path", "host", "run"))
    assert (path["rate_bps"], path["rtt_ns"], path["loss"]) == (8_000_000, 20_000_000, 0.001)
    assert path["buffer"] == {"bytes": 40_000}
    large, chain, endless, another = spec.scenario["flows"]
    assert (large["size_bytes"], large["start_ns"], large["stop_ns"]) == (800_000, 0, None)
    assert (chain["repeat_gap_ns"], chain["while"]) == (50_000_000, "large")
    assert chain["start_ns"] == 100_000_000
    assert (endless["stop_ns"], endless["rtt_ns"]) == (10**9, 30_000_000)
    assert {**endless, "name": ""} == {**another, "name": ""}
    assert (host["jitter_ns"], host["fq"], host["socket_buffers"]) == (10_000, True, "unlimited")
    assert (spec.trials, spec.scenario["seed"], run["record"]) == (2, 7, "packets")


def test_missing_keys_get_their_defaults() -> None:
    spec = spec_of()
    path, host, run = (spec.scenario[key] for key in ("path", "host", "run"))
    assert (path["queue"], path["loss"]) == ({"kind": "droptail"}, 0.0)
    assert (host["profile"], host["fq"], host["jitter_ns"]) == ("linux-6.12", False, 0)
    assert host["socket_buffers"] == "raised"
    assert (spec.trials, spec.scenario["seed"], run["stop_when"]) == (1, 1, None)
    assert (run["sample_interval_ns"], run["record"]) == (100_000_000, "samples")


def test_a_specification_without_a_name_is_named_after_its_file(tmp_path: Path) -> None:
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
def test_flows_without_names_get_some(text: str, expected: list[tuple[str, str]]) -> None:
    assert names(text) == expected


def test_copies_of_a_chain_wait_for_the_same_flow() -> None:
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
        ("path.buffer=4bdp", lambda spec: spec.scenario["path"]["buffer"] == {"bytes": 80_000}),
        ("path.buffer = 4bdp", lambda spec: spec.scenario["path"]["buffer"] == {"bytes": 80_000}),
        ('path.buffer="4bdp"', lambda spec: spec.scenario["path"]["buffer"] == {"bytes": 80_000}),
        ("flows.0.cca=reno", lambda spec: spec.scenario["flows"][0]["cca"] == "reno"),
        ("flows[0].cca=reno", lambda spec: spec.scenario["flows"][0]["cca"] == "reno"),
        ("path.loss=0.01", lambda spec: spec.scenario["path"]["loss"] == 0.01),
        ("run.trials=3", lambda spec: spec.trials == 3),
        ("host.fq=true", lambda spec: spec.scenario["host"]["fq"] is True),
        ("name=other = thing", lambda spec: spec.name == "other = thing"),
        ("flows.0.while=x", None),
    ],
)
def test_an_override_replaces_a_value(override: str, read: object) -> None:
    if read is None:
        with pytest.raises(SpecError, match="repeat_gap"):
            spec_of(GOOD, [override])
    else:
        assert callable(read)
        assert read(spec_of(GOOD, [override]))


def test_the_last_override_wins() -> None:
    assert spec_of(GOOD, ["run.seed=2", "run.seed=3"]).scenario["seed"] == 3


def test_text_as_run_is_the_file_itself_without_overrides(tmp_path: Path) -> None:
    text = f"# a comment\n{GOOD}"
    assert load(write(tmp_path, text)).text == text


@pytest.mark.parametrize("text", [GOOD, TOGETHER])
@pytest.mark.parametrize(
    "override", ["path.buffer=3bdp", 'name=a "quoted" näme \\ 1', "flows.0.name=x y"]
)
def test_text_as_run_gives_the_same_specification(text: str, override: str) -> None:
    loaded = parse(text.replace('"large"\n', '"x y"\n'), "test", [override])
    assert parse(loaded.text, "test").spec == loaded.spec


def test_options_are_kept_in_the_text() -> None:
    text = GOOD.replace(
        'cca = "cubic"\n', 'cca = "cubic"\noptions = {beta = 600, hystart = "search"}\n'
    )
    loaded = parse(text, "test", ["run.seed=9"])
    assert loaded.spec.scenario["flows"][0]["options"] == {"beta": 600, "hystart": "search"}
    assert parse(loaded.text, "test").spec == loaded.spec


def test_an_error_has_its_parts_as_attributes() -> None:
    with pytest.raises(SpecError) as caught:
        parse(GOOD.replace("8mbit", "8Mbit"), "test", file="a.toml")
    error = caught.value
    assert (error.file, error.place) == ("a.toml", "path.rate")
    assert error.problems[0].found == 'the unit "Mbit" in "8Mbit"'
    assert error.remedy == '"8mbit"'
    assert (error.problems[0].line, error.problems[0].column) == (4, 8)
    assert str(error) == (
        'a.toml:4:8: path.rate: found the unit "Mbit" in "8Mbit"; "8mbit" would be right'
    )


def test_a_problem_in_a_text_without_a_file_names_its_line() -> None:
    with pytest.raises(SpecError, match=r"^line 4, column 8: path.rate: found"):
        parse(GOOD.replace("8mbit", "8Mbit"), "test")


def test_values_that_mean_the_same_are_equal() -> None:
    assert same_value("0.5bdp", ".5bdp")
    assert same_value("1000kbit", "1mbit")
    assert same_value("2", 2)
    assert same_value("true", True)
    assert not same_value("1000b", "1000pkt")
    assert not same_value("1s", "1000000000bit")
    assert measure("1.75bdp") == ("bdp", 1.75)
    assert measure("bbr") is None
