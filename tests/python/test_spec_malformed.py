"""Malformed specifications: each ends with status 2, its place, and what would be right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from specimens import GOOD, run_cli, write


def with_change(old: str, new: str) -> str:
    """The good specification with one piece replaced."""
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


def flow(extra: str) -> str:
    """The good specification with lines added to its flow."""
    return with_change('cca = "cubic"\n', f'cca = "cubic"\n{extra}\n')


def path(extra: str) -> str:
    """The good specification with a line added to its path."""
    return with_change('buffer = "1bdp"', f'buffer = "1bdp"\n{extra}')


def run(extra: str) -> str:
    """The good specification with a line added to its run."""
    return f"{GOOD}{extra}\n"


def change(extra: str) -> str:
    """The good specification with a change after half a second."""
    return f'{GOOD}\n[[changes]]\nat = "0.5s"\n{extra}\n'


def second(lines: str) -> str:
    """The good specification with a second flow."""
    return f"{GOOD}\n[[flows]]\n{lines}\n"


FLOWLESS = with_change('[[flows]]\ncca = "cubic"\n', "")
RATE = 'rate = "8mbit"'
BUFFER = 'buffer = "1bdp"'

CHECK = '\n[[check]]\nmetric = "jain"\nat_least = 0\n\n[[check]]\n'

CASES = {
    "Mbps": (with_change("8mbit", "10Mbps"), "path.rate", '"10mbit"'),
    "tera": (with_change("8mbit", "10tbit"), "path.rate", "bit, kbit, mbit, gbit"),
    "another name of Reno": (with_change('"cubic"', '"newreno"'), "flows[0].cca", '"reno" would'),
    "two controls in a text": (
        with_change('"cubic"', '"reno, cubic"'),
        "flows[0].cca",
        'a [[flows]] for each, or in a study a list, cca = ["reno", "cubic"],',
    ),
    "an option of another control": (
        with_change('"cubic"', '"reno"\noptions.cwnd_gain = 2'),
        "flows[0].options.cwnd_gain",
        "a control that has it, bbr or ",
    ),
    "an option of no control": (
        with_change('"cubic"', '"reno"\noptions.zzz = 2'),
        "flows[0].options.zzz",
        "one of its options, hystart",
    ),
    "the end of a flow that isn't there": (
        flow('size = "1mb"\nrepeat_gap = "1s"\nwhile = "x"'),
        "flows[0].while",
        "another flow, with this name,",
    ),
    "a key twice": (
        with_change(RATE, f"{RATE}\n{RATE}"),
        '"rate" for the second time',
        "each key once",
    ),
    "a bracket that is missing": (with_change("[path]", "[path"), "unclosed table", '"[path]"'),
    "JSON": ('{"path": {"rate": "1mbit"}}', "no TOML, but JSON", "a line [path]"),
    "a metric that is none": (
        f'{GOOD}{CHECK}metric = "utilisation"\nat_least = 0\n',
        "good.toml:20:10: check[1].metric",
        '"utilization"',
    ),
    "a metric of no class": (
        f'{GOOD}{CHECK}at_least = 0\nmetric = "bbr.share"\n',
        "good.toml:21:10: check[1].metric",
        '"cubic.share"',
    ),
    "a unit in capitals": (with_change("8mbit", "8Mbit"), "path.rate", '"8mbit"'),
    "a unit of something else": (with_change("8mbit", "8ms"), "path.rate", "bit, kbit, mbit, gbit"),
    "no unit": (with_change("8mbit", "8"), "path.rate", '"80mbit"'),
    "a bare number": (with_change('"8mbit"', "8"), "path.rate", "a rate with its unit"),
    "a zero rate": (with_change("8mbit", "0mbit"), "path.rate", "above zero"),
    "a negative rate": (with_change("8mbit", "-8mbit"), "path.rate", "a positive one"),
    "a huge rate": (with_change("8mbit", "8000000000gbit"), "path.rate", "at most 1000gbit"),
    "a huge number": (with_change('"8mbit"', "9" * 200), "path.rate", "a rate with its unit"),
    "a number beyond all": (with_change('"8mbit"', "9" * 5000), "good.toml", "would be right"),
    "a rate of nan": (with_change('"8mbit"', "nan"), "path.rate", "a rate with its unit"),
    "a part of a bit": (with_change("8mbit", "0.5bit"), "path.rate", "a whole number of bit/s"),
    "a table of a rate": (
        with_change('"8mbit"', "{mbit = 8}"),
        "path.rate",
        "a rate with its unit",
    ),
    "no rate": (with_change(RATE, ""), "path.rate", "a rate with its unit"),
    "a zero delay": (with_change("20ms", "0ms"), "path.rtt", "above zero"),
    "an endless delay": (with_change("20ms", "20000000min"), "path.rtt", "at most 1000000s"),
    "no buffer": (with_change(BUFFER, ""), "path.buffer", '"1.75bdp"'),
    "a zero buffer": (with_change("1bdp", "0bdp"), "path.buffer", "above zero"),
    "a buffer in words": (with_change("1bdp", "large"), "path.buffer", "250kb"),
    "a buffer below a packet": (with_change("1bdp", "0.01bdp"), "path.buffer", "1500b"),
    "a buffer of everything": (with_change("1bdp", "99999999bdp"), "path.buffer", "at most 1000gb"),
    "half a packet": (with_change("1bdp", "0.5pkt"), "path.buffer", "a whole number of packets"),
    "an unknown queue": (path('queue = "dropttail"'), "path.queue", '"droptail"'),
    "a probability as a text": (path('loss = "0.01"'), "path.loss", "from 0 to"),
    "a probability of 100 %": (path('loss = "100%"'), "path.loss", "from 0 to below 1"),
    "a loss of nan": (path("loss = nan"), "path.loss", "from 0 to below 1"),
    "a loss of everything": (path("loss = 1"), "path.loss", "below 1"),
    "a negative loss": (path("loss = -0.1"), "path.loss", "from 0 to"),
    "an unknown key": (with_change(RATE, f'{RATE}\nbufer = "1bdp"'), "path.bufer", '"buffer"'),
    "a key of another table": (run('rtt = "20ms"'), "run.rtt", "`path.rtt`"),
    "a key outside its table": (f'rate = "1mbit"\n{GOOD}', "rate", "`path.rate`"),
    "an unknown table": (run("[hosts]"), "hosts", '"host"'),
    "a key in another alphabet": (run('"продолжение" = 1'), "run.продолжение", "duration"),
    "a path that is no table": ("path = 3\n", "path", "a table, [path]"),
    "a list of paths": (with_change("[path]", "[[path]]"), "path", "a table, [path]"),
    "no path": (GOOD[GOOD.index("[[flows]]") :], "path", "a table, [path]"),
    "no flows": (FLOWLESS, "flows", "[[flows]]"),
    "an empty list of flows": (f"flows = []\n{FLOWLESS}", "flows", "at least one"),
    "flows as a table": (with_change("[[flows]]", "[flows]"), "flows", "[[flows]]"),
    "flows as a text": (f'flows = "cubic"\n{FLOWLESS}', "flows", "[[flows]]"),
    "a flow that is a text": (f'flows = ["cubic"]\n{FLOWLESS}', "flows[0]", "[[flows]]"),
    "an unknown control": (
        with_change('cca = "cubic"', 'cca = "cubik"'),
        "flows[0].cca",
        '"cubic"',
    ),
    "no resemblance": (with_change('cca = "cubic"', 'cca = "quantum"'), "flows[0].cca", "one of "),
    "a control that is true": (
        with_change('"cubic"', "true"),
        "flows[0].cca",
        "a congestion control",
    ),
    "no control": (
        with_change('cca = "cubic"', 'name = "x"'),
        "flows[0].cca",
        "a congestion control",
    ),
    "an unknown option": (flow("options = {bta = 1}"), "flows[0].options.bta", '"beta"'),
    "an option out of range": (flow("options = {beta = 0}"), "flows[0].options.beta", "from 1 to"),
    "half an option": (flow("options = {beta = 1.5}"), "flows[0].options.beta", "a whole number"),
    "an option that is a text": (flow('options = {beta = "x"}'), "flows[0].options.beta", "number"),
    "an option by its old name": (
        flow("options = {hystart_ack_delta_us = 500}"),
        "flows[0].options.hystart_ack_delta_us",
        'hystart_ack_delta = "500us"',
    ),
    "an option by an old number": (
        flow("options = {hystart = 3}"),
        "flows[0].options.hystart",
        'hystart = "search"',
    ),
    "an option that is on as a number": (
        flow("options = {rfc9438 = 1}"),
        "flows[0].options.rfc9438",
        "rfc9438 = true",
    ),
    "an option that is no word": (
        flow('options = {hystart = "serach"}'),
        "flows[0].options.hystart",
        "one of off, hystart, hystart++, search",
    ),
    "an option without its unit": (
        flow("options = {hystart_ack_delta = 2}"),
        "flows[0].options.hystart_ack_delta",
        'from "0s" to "1s"',
    ),
    "an option finer than it can be": (
        flow('options = {hystart_ack_delta = "1.5us"}'),
        "flows[0].options.hystart_ack_delta",
        'in steps of "1us"',
    ),
    "options that are none": (flow("options = 3"), "flows[0].options", "a table"),
    "no flow at all": (flow("count = 0"), "flows[0].count", "a whole number from 1"),
    "half a flow": (flow("count = 1.5"), "flows[0].count", "a whole number"),
    "a count that is true": (flow("count = true"), "flows[0].count", "a whole number"),
    "a million flows": (flow("count = 1000000"), "flows[0].count", "from 1 to 10000"),
    "an empty name": (flow('name = " "'), "flows[0].name", "printable"),
    "a name that rings": (flow('name = "\\u0007"'), "flows[0].name", "printable"),
    "a reserved name": (flow('name = "all"'), "flows[0].name", "another name"),
    "the same name twice": (
        flow('name = "a"') + '\n[[flows]]\ncca = "reno"\nname = "a"\n',
        "flows[1].name",
        "a name of its own",
    ),
    "a name that a count makes": (
        second('cca = "reno"\nname = "cubic-1"'),
        "flows[1].name",
        "a name of its own",
    ),
    "a start after the end": (flow('start = "3s"'), "flows[0].start", "before the end"),
    "a negative start": (flow('start = "-1s"'), "flows[0].start", "a positive one"),
    "a bare zero": (flow("start = 0"), "flows[0].start", "a duration with its unit"),
    "a stop before the start": (flow('start = "1s"\nstop = "0.5s"'), "flows[0].stop", "after the"),
    "a size and a stop": (flow('size = "1mb"\nstop = "1s"'), "flows[0].stop", "one of the two"),
    "no size": (flow('size = "0b"'), "flows[0].size", "above zero"),
    "a size in packets": (flow('size = "10pkt"'), "flows[0].size", "a size in bytes"),
    "a gap without a size": (flow('repeat_gap = "1s"'), "flows[0].repeat_gap", "a size"),
    "while without a gap": (flow('while = "x"'), "flows[0].while", "repeat_gap"),
    "while an unknown flow": (
        second('cca = "reno"\nsize = "1kb"\nrepeat_gap = "0s"\nwhile = "cubic-2"'),
        "flows[1].while",
        '"cubic-1"',
    ),
    "while itself": (
        flow('name = "a"\nsize = "1kb"\nrepeat_gap = "0s"\nwhile = "a"'),
        "flows[0].while",
        "another flow",
    ),
    "while an endless flow": (
        second('cca = "reno"\nsize = "1kb"\nrepeat_gap = "0s"\nwhile = "cubic-1"'),
        "flows[1].while",
        "a flow with a size",
    ),
    "a warm-up without an end": (
        with_change('"500ms"', '"2s"'),
        "run.warmup",
        "shorter than the run",
    ),
    "a zero duration": (with_change('"2s"', '"0s"'), "run.duration", "above zero"),
    "a date for a duration": (with_change('"2s"', "2024-01-01"), "run.duration", "a duration"),
    "zero trials": (run("trials = 0"), "run.trials", "a whole number from 1"),
    "a negative seed": (run("seed = -1"), "run.seed", "a whole number from 0"),
    "a seed too far": (run("seed = 18446744073709551616"), "run.seed", "to 18446744073709551615"),
    "seeds too far": (
        run("seed = 18446744073709551615\ntrials = 2"),
        "run.seed",
        "at most 18446744073709551614",
    ),
    "a change without a time": (f"{GOOD}\n[[changes]]\nloss = 0.1", "changes[0].at", "a duration"),
    "a change of nothing": (change(""), "changes[0]", "`rate`, `rtt`, `loss`"),
    "a change after the end": (
        change('loss = 0.1\n[[changes]]\nat = "3s"'),
        "changes[1].at",
        "until",
    ),
    "a change after one that ends the run": (
        change('end = true\n[[changes]]\nat = "0.6s"\nloss = 0'),
        "changes[0].end",
        "an end that comes last",
    ),
    "changes out of order": (
        change('loss = 0.1\n[[changes]]\nat = "0.1s"\nloss = 0'),
        "changes[1].at",
        "in the order of their times",
    ),
    "a change of no link": (change('link = "x"\nrate = "1mbit"'), "changes[0].link", "bottleneck"),
    "a change of a link alone": (change('link = "bottleneck"'), "changes[0].link", "`rate`, too"),
    "a change to certain loss": (change("loss = 1.0"), "changes[0].loss", "below 1"),
    "a change of no flow": (change('flow = "x"\nstop = true'), "changes[0].flow", "cubic-1"),
    "a window of no flow": (change("window = 3"), "changes[0].flow", "the name of a flow"),
    "a window for cubic": (change('flow = "cubic-1"\nwindow = 3'), "changes[0].flow", '"fixed"'),
    "a zero window": (change('flow = "cubic-1"\nwindow = 0'), "changes[0].window", "from 1 to"),
    "stop when nobody": (run('stop_when = "cubic-7"'), "run.stop_when", '"cubic-1"'),
    "stop when all of none": (run('stop_when = "all"'), "run.stop_when", "a flow with a size"),
    "stop when an endless one": (run('stop_when = "cubic-1"'), "run.stop_when", "with a size"),
    "samples without end": (run('sample_interval = "1ns"'), "run.sample_interval", "at least"),
    "samples at once": (run('sample_interval = "0s"'), "run.sample_interval", "above zero"),
    "an unknown level": (run('record = "everything"'), "run.record", "summary, samples, packets"),
    "an unknown profile": (run('[host]\nprofile = "linux-6.2"'), "host.profile", '"linux-6.12"'),
    "a number for a switch": (run("[host]\nfq = 1"), "host.fq", "true or false"),
    "unknown socket buffers": (run('[host]\nsocket_buffers = "rised"'), "host", '"raised"'),
    "no quotes": ("[path]\nrate = 80mbit\n", ":2:8: found no TOML", 'rate = "80mbit"'),
    "no value": ("[path]\nrate =\n", ":2:7: found no TOML", "a line like"),
    "no TOML": ("<spec><rate>80</rate></spec>", ":1:29: found no TOML", "a line like"),
    "an open bracket": ("x = [[[", "good.toml", "would be right"),
    "too many brackets": (f"x = {'[' * 5000}", "good.toml", "would be right"),
    "nothing": ("", "path", "a table, [path]"),
    "a zero byte": (with_change("8mbit", "8\0mbit"), ":4:10: found no TOML", "would be right"),
    "a number of 401 digits": (
        with_change('"20ms"', "9" * 401),
        "path.rtt",
        "a duration with its unit",
    ),
    "digits without end": (
        with_change("8mbit", "9" * 401 + "mbit"),
        "path.rate",
        "with one of the units",
    ),
    "a huge exponent": (path("loss = 1e999999999"), "path.loss", "from 0 to below 1"),
    "flows without end": (
        flow('workload = { kind = "poisson", rate = "1e999999999/s", size = "1kb" }'),
        "flows[0].workload.rate",
        '"5/s"',
    ),
    "checks as one table": (
        f"{GOOD}\n[check]\nmetric = 'jain'\n",
        "check",
        "a list of tables, [[check]]",
    ),
    "checks as a number": (f"check = [1]\n{GOOD}", "check[0]", "a table, [[check]]"),
    "a check with places as a text": (
        f"{GOOD}\n[[check]]\nmetric = 'jain'\nat_least = 0\nwhere = 'path.rate=1'\n",
        "check[0].where",
        '{ "path.buffer" = "1bdp" }',
    ),
    "links as one table": (path('links = { name = "a" }'), "path.links", "[[path.links]]"),
    "a link as a text": (path('links = ["a"]'), "path.links[0]", "a table, [[path.links]]"),
    "a flow's links as a text": (flow('links = "a"'), "flows[0].links", '["bottleneck"]'),
    "a video's bare bitrate": (
        flow('workload = { kind = "video", bitrate = 5 }'),
        "flows[0].workload.bitrate",
        "a quantity with its unit",
    ),
    "a video's zero bitrate": (
        flow('workload = { kind = "video", bitrate = "0mbit" }'),
        "flows[0].workload.bitrate",
        "above zero",
    ),
}


OVERRIDES = {
    "no value": ("path.buffer", "--set", "PLACE=VALUE"),
    "no place": ("=1bdp", "--set", "PLACE=VALUE"),
    "a place with spaces": ("path . buffer=1bdp", "--set", "PLACE=VALUE"),
    "all places at once": ("flows[*].count=1", "--set", "flows[0].count"),
    "an unknown place": ("path.bufer=1bdp", "--set: path.bufer", '"buffer"'),
    "an unknown table": ("paht.buffer=1bdp", "--set: paht", '"path"'),
    "a flow too many": ("flows.1.cca=reno", "--set: flows[1].cca", "from 0 to 0"),
    "a flow with a huge number": (
        "flows[999999999].cca=reno",
        "--set: flows[999999999].cca",
        "from 0 to 0",
    ),
    "no number of a flow": ("flows.first.cca=reno", "--set: flows.first.cca", "flows.0.cca"),
    "a step into a value": ("path.rate.mbit=3", "--set: path.rate.mbit", "would be right"),
    "an unknown control": ("flows.0.cca=cubik", "--set: flows[0].cca", '"cubic"'),
    "a wrong unit": ("path.rate=3ms", "--set: path.rate", "bit, kbit, mbit, gbit"),
    "a relation": ("run.warmup=2s", "--set: run.warmup", "shorter than the run"),
    "a table for a value": ("path.rate={x = 1}", "--set: path.rate", "a rate with its unit"),
    "brackets without end": (f"path.rate={'[' * 5000}", "--set: path.rate", "would be right"),
    "two lines": ("run.trials=1\nx = 3", "--set: run.trials", "a whole number"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_malformed_file_is_refused_at_its_place(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, place, remedy = CASES[case]
    file = write(tmp_path, text)
    status = run_cli("run", file, "--out", str(tmp_path / "out"))
    line = check_refusal(status, capsys, place, remedy)
    assert re.match(rf"narrows: error: {re.escape(file)}:\d+:\d+: ", line)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("case", OVERRIDES)
def test_a_malformed_override_is_refused(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, place, remedy = OVERRIDES[case]
    status = run_cli("run", write(tmp_path), "--set", text, "--out", str(tmp_path / "out"))
    check_refusal(status, capsys, place, remedy)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["--trials", "--seed"])
@pytest.mark.parametrize("value", ["-1", "x", "1.5", ""])
def test_options_take_whole_numbers_only(
    option: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = run_cli("run", write(tmp_path), f"{option}={value}")
    check_refusal(status, capsys, f"{option}: run.{option[2:]}", "a whole number")


def test_an_option_beside_the_place_it_is_short_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for given in ("run.trials=3", "run.trials = 3"):
        status = run_cli("run", write(tmp_path), "--trials", "2", "--set", given)
        check_refusal(status, capsys, f"--trials: found 2 beside --set {given}", "one of the two")


def test_a_control_that_no_situation_knows(capsys: pytest.CaptureFixture[str]) -> None:
    status = run_cli("evaluate", "bbbr")
    check_refusal(status, capsys, "CONTROL: flows[0].cca", '"bbr"')


def test_a_missing_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_refusal(run_cli("run", str(tmp_path / "x.toml")), capsys, "x.toml", "the path of a spec")


def test_no_file_but_one_like_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path)
    check_refusal(run_cli("run", file.replace("good", "godo")), capsys, "godo.toml", file)


def test_a_directory_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_refusal(run_cli("run", str(tmp_path)), capsys, str(tmp_path), "`narrows.open_result`")


def test_a_file_used_as_a_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_refusal(run_cli("run", f"{write(tmp_path)}/x.toml"), capsys, "x.toml", "a file")


def test_bytes_that_are_no_text_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bytes.toml"
    file.write_bytes(b'name = "\xff\xfe"')
    check_refusal(run_cli("run", str(file)), capsys, "bytes.toml", "UTF-8")


def test_no_name_for_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    check_refusal(run_cli("run", "a\0b"), capsys, "a", "would be right")


def test_a_file_too_large(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "large.toml"
    file.write_bytes(b"#" * 10_000_001)
    check_refusal(run_cli("run", str(file)), capsys, "large.toml", "a specification")


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (["run"], "SPEC"),
        (["run", "a", "--speed", "3"], "--speed"),
        (["runn"], "runn"),
        (["run", "a", "--out"], "--out"),
    ],
)
def test_bad_command_lines(
    arguments: list[str], place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check_refusal(run_cli(*arguments), capsys, place, "--help` shows what would be right")


@pytest.mark.parametrize(("backend", "remedy"), [("simm", '"sim"')])
def test_other_back_ends(
    backend: str, remedy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = run_cli("run", write(tmp_path), "--backend", backend)
    check_refusal(status, capsys, f'--backend: found "{backend}"', remedy)


def test_every_problem_is_reported_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = with_change("8mbit", "8ms").replace('"cubic"', '"cubik"').replace('"2s"', '"2h"')
    assert run_cli("run", write(tmp_path, text)) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[3] for line in lines] == ["path.rate", "flows[0].cca", "run.duration"]


def test_options_of_an_unknown_control_are_no_second_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = flow("options = { beta = 700, bta = 1 }").replace('"cubic"', '"cubik"')
    assert run_cli("run", write(tmp_path, text)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert 'flows[0].cca: found "cubik", which is not a congestion control; "cubic"' in line


def check_refusal(status: int, capsys: pytest.CaptureFixture[str], place: str, remedy: str) -> str:
    """Checks an error message; gives its first line."""
    captured = capsys.readouterr()
    assert status == 2, captured.err
    assert captured.out == ""
    assert "Traceback" not in captured.err
    first = captured.err.splitlines()[0]
    assert first.startswith("narrows: error: ")
    assert place in first
    assert remedy in first
    assert len(first) < 500
    return first
