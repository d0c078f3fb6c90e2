"""The command line from the outside: what it prints, its exit status, what it loads."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest
import typer
from specimens import GOOD, TOGETHER, run_cli, write

import narrows
from narrows import console, runner
from narrows.cli import status as statuses
from narrows.cli.app import app
from narrows.cli.help import SECTIONS
from narrows.errors import NarrowsError
from narrows.execute import RunProgress

Capture = pytest.CaptureFixture[str]
HEAVY = {"jinja2", "matplotlib", "numpy", "plotly", "polars", "pydantic", "rich"}


def loaded_packages(*arguments: str) -> set[str]:
    """The heavy packages that a command imports."""
    code = (
        "import sys\nfrom narrows.cli import main\nstatus = main(sys.argv[1:])\n"
        "print(*sys.modules, file=sys.stderr)\nsys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    return HEAVY & set(done.stderr.split())


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["run", "--help"], []])
def test_answers_at_once(arguments: list[str]) -> None:
    # Newer versions of typer load pydantic themselves once there is a command.
    allowed = set() if arguments in (["--help"], ["--version"]) else {"pydantic"}
    assert loaded_packages(*arguments) <= allowed


def test_lists_need_nothing_heavy() -> None:
    assert loaded_packages("list", "figures") <= {"pydantic"}


def test_help_lists_the_commands(capsys: Capture) -> None:
    assert run_cli("--help") == 0
    said = capsys.readouterr().out
    for command in ("run", "list", "open", "reproduce", "verify"):
        assert re.search(rf"^  {command} ", said, re.MULTILINE)


def test_there_are_few_commands() -> None:
    assert sum(map(len, SECTIONS.values())) <= 18


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["run", "SPEC", "--set", "path.rate=8mbit,9mbit", "--qlog"],
            "run: found --qlog for a study",
        ),
        (["run", "SPEC", "--jobs", "2", "--force"], "run: found --force for a study"),
        (["run", "SPEC", "SPEC"], "SPEC: found 2 specifications; one, or --check"),
        (["figure", "SPEC", "--metric", "jain"], "figure: found --metric for a specification"),
        (["figure", ".", "share", "--set", "path.rate=1mbit"], "figure: found --set for results"),
        (["search", "cubic", "--trials", "3"], "search: found --trials without --for"),
    ],
)
def test_an_option_of_another_use_is_refused(
    arguments: list[str], said: str, tmp_path: Path, capsys: Capture
) -> None:
    spec = write(tmp_path)
    assert run_cli(*[spec if word == "SPEC" else word for word in arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_study_read_from_a_pipe_runs(tmp_path: Path) -> None:
    code = "import sys; from narrows.start import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "run", "-", "--set", "path.rate=8mbit,9mbit", "--json"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "out")], input=GOOD, capture_output=True, text=True,
        check=True, timeout=120,
    )  # fmt: skip
    assert json.loads(done.stdout)["combinations"] == 2


def test_the_version_is_that_of_the_package(capsys: Capture) -> None:
    assert run_cli("--version") == 0
    assert capsys.readouterr().out == f"narrows {narrows.__version__}\n"


def test_one_version_everywhere() -> None:
    root = Path(__file__).parents[2]
    cargo = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))
    assert cargo["workspace"]["package"]["version"] == narrows.__version__
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["version"] == narrows.__version__


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("ccas", {"reno", "cubic", "bbr"}),
        ("queues", {"droptail"}),
        ("workloads", {"poisson", "web"}),
        ("distributions", {"pareto", "lognormal"}),
        ("profiles", {"linux-6.12"}),
        ("fields", {"path.rate", "flows.cca", "sweep.until.metric"}),
        ("figures", {"panaderia/fig9"}),
        ("metrics", {"utilization", "share", "completion_p99_s", "stalls"}),
    ],
)
def test_each_listing_has_names_with_their_meaning(
    kind: str, names: set[str], capsys: Capture
) -> None:
    assert run_cli("list", kind) == 0
    lines = capsys.readouterr().out.splitlines()
    assert names <= {line.split()[0] for line in lines}
    assert all(len(line.split()) > 1 for line in lines)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("tcp_friendliness", "cubic"),
        ("path.buffer", "path.buffer"),
        ("Page load p95 (s)", "completion_p95_s"),
        ("retransmits", "retransmits"),
    ],
)
def test_a_name_is_found_whatever_it_is_of(name: str, found: str, capsys: Capture) -> None:
    assert run_cli("list", name) == 0
    assert found in [line.split()[0] for line in capsys.readouterr().out.splitlines()]


def test_an_unknown_list_is_refused_with_the_known_ones(capsys: Capture) -> None:
    assert run_cli("list", "metric") == 2
    said = capsys.readouterr().err
    assert (
        'list: found "metric", which is neither a kind nor a name; "metrics" would be right' in said
    )
    assert run_cli("list", "cubik") == 2
    assert '"cubic" (ccas) would be right' in capsys.readouterr().err
    assert run_cli("list", "xyzzyx") == 2
    assert "one of these lists: narrows list ccas|media|queues|" in capsys.readouterr().err


def test_a_directory_is_listed_as_results(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "users5").mkdir()
    assert run_cli("list", "users5") == 2
    assert "`narrows list results users5` would be right" in capsys.readouterr().err


def as_json(capsys: Capture, *arguments: str) -> dict[str, object]:
    assert run_cli("run", *arguments, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    return document


def test_json_has_the_means_over_the_trials(tmp_path: Path, capsys: Capture) -> None:
    spec, out = write(tmp_path, TOGETHER), str(tmp_path / "out")
    document = as_json(capsys, spec, "--out", out, "--trials", "3")
    found = document["means"]["large.goodput_mbps"]
    each = [
        flow["goodput_mbps"]
        for run in document["runs"]
        for flow in run["flows"]
        if flow["name"] == "large"
    ]
    assert found["trials"] == len(each) == 3
    assert found["mean"] == pytest.approx(sum(each) / 3)
    # Student's t for two degrees of freedom is 4.3027.
    assert found["half_width"] == pytest.approx(4.3027 * stdev(each) / 3**0.5, rel=1e-4)
    alone = as_json(capsys, spec, "--out", f"{out}-1", "--trials", "1")
    assert alone["means"]["utilization"]["half_width"] is None


def test_json_is_the_whole_output(tmp_path: Path, capsys: Capture) -> None:
    out = str(tmp_path / "out")
    document = as_json(capsys, write(tmp_path, TOGETHER), "--out", out)
    assert list(document) == ["scenario", "means", "runs", "directory"]
    assert document["scenario"]["path"]["rate_bps"] == 8_000_000
    assert document["directory"] == out
    runs = document["runs"]
    assert [run["seed"] for run in runs] == [7, 8]
    for run in runs:
        assert run["backend"] == "sim"
        assert "scenario" not in run, "it is there once"
        flows = run["flows"]
        assert sum(flow["share"] for flow in flows) == pytest.approx(1, abs=0.02)
        [large] = [flow for flow in flows if flow["name"] == "large"]
        assert 0.5 < large["fct_s"] < 5
        chain = [flow for flow in flows if flow["name"] == "chain"]
        assert len(chain) >= 2
        assert all(flow["fct_s"] > 0.02 for flow in chain[:-1])
        starts = [flow["start_s"] for flow in chain]
        assert starts == sorted(starts)
        assert starts[1] == pytest.approx(0.1 + chain[0]["fct_s"] + 0.05)
        bottleneck = run["bottleneck"]
        assert 0.1 < bottleneck["utilization"] <= 1
        assert bottleneck["queue_bdp"]["p5"] <= bottleneck["queue_bdp"]["max"] <= 2.01
    saved = json.loads((tmp_path / "out" / "summary.json").read_text())["runs"]
    assert saved[0]["scenario"] == document["scenario"]
    assert [{k: v for k, v in run.items() if k != "scenario"} for run in saved] == runs


def test_a_single_flow_fills_the_path(tmp_path: Path, capsys: Capture) -> None:
    file, out = write(tmp_path), str(tmp_path / "out")
    [run] = as_json(capsys, file, "--out", out, "--set", "run.duration=20s")["runs"]
    [flow] = run["flows"]
    assert flow["share"] == 1.0
    assert 8 * 0.9 < flow["throughput_mbps"] < 8.01
    assert flow["goodput_mbps"] == pytest.approx(flow["throughput_mbps"] * 1448 / 1500, rel=0.01)
    assert 20 < flow["rtt_ms"]["min"] < flow["rtt_ms"]["mean"]
    assert flow["rtt_ms"]["p99"] < 20 + 20 + 5


def test_overrides_reach_the_run_and_its_record(tmp_path: Path, capsys: Capture) -> None:
    file, out = write(tmp_path), tmp_path / "out"
    changes = ["--set", "path.buffer=4bdp", "--set", "flows.0.cca=reno", "--trials", "2"]
    document = as_json(capsys, file, "--out", str(out), *changes, "--seed", "5")
    assert [run["seed"] for run in document["runs"]] == [5, 6]
    scenario = document["scenario"]
    assert scenario["path"]["buffer"] == {"bytes": 80_000}
    assert scenario["flows"][0]["cca"] == "reno"
    kept = tomllib.loads((out / "spec.toml").read_text())
    assert kept["path"]["buffer"] == "4bdp"
    assert kept["run"]["trials"] == 2
    assert sorted(path.name for path in out.glob("trial-*")) == ["trial-1", "trial-2"]


def test_the_summary_for_people(tmp_path: Path, capsys: Capture) -> None:
    out = str(tmp_path / "out")
    assert run_cli("run", write(tmp_path, TOGETHER), "--out", out) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    said = captured.out
    assert "means of 2 trials, seeds 7 to 8" in said
    for name in ("large", "chain (", "bbr-1", "bbr-2", "bottleneck: utilization"):
        assert name in said
    paths = said.splitlines()[-2:]
    names = ["out", "report.html"]
    assert [Path(path).name for path in paths] == names
    assert all(Path(path).exists() for path in paths)


def test_means_of_several_trials_have_intervals(tmp_path: Path, capsys: Capture) -> None:
    hint = "eans ± half of the 95 % interval"
    for trials, count in ("3", 1), ("1", 0):
        out = str(tmp_path / f"out{count}")
        changes = ("--trials", trials, "--set", "host.jitter=200us")
        assert run_cli("run", write(tmp_path, GOOD), *changes, "--out", out) == 0
        said, page = capsys.readouterr().out, (Path(out) / "report.html").read_text()
        assert (said.count(hint), page.count(hint)) == (count, count)
        assert ("± " in said, "± " in page.partition("Figures")[0]) == (count == 1, count == 1)


def test_a_result_is_not_computed_twice(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path)
    assert run_cli("run", file) == 0
    first = capsys.readouterr()
    [directory] = (tmp_path / "narrows-results").iterdir()
    stamp = (directory / "manifest.json").stat().st_mtime_ns
    assert run_cli("run", file) == 0
    second = capsys.readouterr()
    assert second.out == first.out
    assert "already complete" in second.err
    assert "--force" in second.err
    assert (directory / "manifest.json").stat().st_mtime_ns == stamp
    assert run_cli("run", file, "--force") == 0
    assert (directory / "manifest.json").stat().st_mtime_ns > stamp
    assert [directory] == list((tmp_path / "narrows-results").iterdir())


def test_a_directory_of_something_else_is_refused(tmp_path: Path, capsys: Capture) -> None:
    file = write(tmp_path)
    assert run_cli("run", file, "--out", str(tmp_path)) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"narrows: error: {tmp_path}: found something other than a result; ")


def test_report_makes_the_page_again(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out"
    assert run_cli("run", write(tmp_path), "--out", str(out)) == 0
    (out / "report.html").unlink()
    capsys.readouterr()
    assert run_cli("open", "--no-show", "--rebuild", str(out)) == 0
    assert capsys.readouterr().out.splitlines()[0] == str(out / "report.html")
    assert (out / "report.html").is_file()


def test_report_of_nothing(tmp_path: Path, capsys: Capture) -> None:
    assert run_cli("open", "--no-show", "--rebuild", str(tmp_path)) == 2
    assert "manifest.json" in capsys.readouterr().err


def test_an_unknown_figure(capsys: Capture) -> None:
    assert run_cli("reproduce", "panaderia/fig99") == 2
    assert "panaderia/fig9" in capsys.readouterr().err


def test_our_own_mistakes_keep_their_traceback(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(runner, "execute", broken)
    assert run_cli("run", write(tmp_path)) == 70
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert "on purpose" in said
    assert "mistake in narrows" in said


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (NarrowsError("no verdict"), 1, "narrows: error: no verdict"),
        (BrokenPipeError(), 0, ""),
    ],
)
def test_an_error_gives_the_status_of_its_kind(
    error: BaseException,
    status: int,
    said: str,
    tmp_path: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(runner, "execute", fail)
    monkeypatch.setattr(statuses, "silence_output", lambda: None)
    assert run_cli("run", write(tmp_path)) == status
    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_in_disguise(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def disguise(*_: object, **__: object) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            raise RuntimeError("a class could not be made") from error

    monkeypatch.setattr(runner, "execute", disguise)
    assert run_cli("run", write(tmp_path)) == 130
    assert capsys.readouterr().err == "narrows: interrupted\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_whoever_reads_the_output_may_stop(tmp_path: Path) -> None:
    file, out = write(tmp_path), str(tmp_path / "out")
    code = "import sys; from narrows.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "run", file, "--json", "--out", out]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        said = child.stderr.read().decode()
    assert child.returncode == 0, said
    assert said == ""


def flows(count: int, cca: str = "cubic") -> list[dict[str, object]]:
    return [
        {
            "name": f"{cca}-{number}",
            "cca": cca,
            "goodput_mbps": 2.0,
            "share": 0.5 / count,
            "retransmits": 3,
            "rtt_ms": {"mean": 25.0, "p95": None},
            "fct_s": None,
        }
        for number in range(1, count + 1)
    ]


def test_a_row_for_every_flow() -> None:
    run = {"flows": [*flows(1, "bbr"), *flows(1)]}
    assert console.flow_rows([run, run]) == [
        ("bbr-1", "bbr", ["2.00", "50.0", "3", "25.0", "-", "-"]),
        ("cubic-1", "cubic", ["2.00", "50.0", "3", "25.0", "-", "-"]),
    ]


def test_many_flows_share_a_row() -> None:
    run = {"flows": [*flows(50, "bbr"), *flows(50)]}
    assert console.flow_rows([run]) == [
        ("50 flows", "bbr", ["2.00", "50.0", "150", "25.0", "-", "-"]),
        ("50 flows", "cubic", ["2.00", "50.0", "150", "25.0", "-", "-"]),
    ]


def test_the_flows_of_a_chain_share_a_row() -> None:
    chain = [{**flows(1)[0], "fct_s": fct_s} for fct_s in (0.5, 1.0, None)]
    assert console.flow_rows([{"flows": chain}]) == [
        ("cubic-1 (3 flows)", "cubic", ["2.00", "150.0", "9", "25.0", "-", "0.750"]),
    ]


def test_a_chain_among_many_flows_counts_as_one() -> None:
    chain = [{**flows(1)[0], "name": "chain", "goodput_mbps": 52.0} for _ in range(30)]
    [row] = console.flow_rows([{"flows": [*flows(49), *chain]}])
    assert row == ("50 flows", "cubic", ["3.00", "1550.0", "237", "25.0", "-", "-"])


def test_trials_count_alike_however_many_flows_a_chain_has() -> None:
    one, other = ({**flows(1)[0], "goodput_mbps": mbps} for mbps in (2.0, 4.0))
    [row] = console.flow_rows([{"flows": [one, one, one]}, {"flows": [other]}])
    assert row[2][0] == "3.00\n± 12.71"  # half of the 95 % interval of two values


def state(sim_s: float, packets: int, step: str = "") -> RunProgress:
    return RunProgress(0, 0, 1, sim_s, 60.0, packets, sim_s / 60, step)


def test_no_bar_without_a_terminal(capsys: Capture) -> None:
    with console.ProgressBar(clock=lambda: 10.0) as bar:
        bar(state(1.0, 1000))
        for step in ("trials 1 to 2", "trials 1 to 2", "trials 3 to 4"):
            bar(state(1.0, 1000, step))
    assert capsys.readouterr().err == "narrows: trials 1 to 2\nnarrows: trials 3 to 4\n"


def test_a_log_gets_a_line_every_half_minute(capsys: Capture) -> None:
    now = [0.0]
    with console.ProgressBar(clock=lambda: now[0]) as bar:
        for second in range(100):
            now[0] = float(second)
            bar(RunProgress(second, 0, 200, 1.0, 60.0, 1000, second / 200))
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(",")[0] for line in lines] == [
        "narrows: 30 of 200 done", "narrows: 60 of 200 done", "narrows: 90 of 200 done",
    ]  # fmt: skip
    assert lines[0].endswith("170 s left") or "min left" in lines[0]


def test_a_bar_after_a_second_on_a_terminal(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    now = [0.0]
    with console.ProgressBar(clock=lambda: now[0]) as bar:
        bar(state(0.5, 1000))
        assert capsys.readouterr().err == ""
        now[0] = 10.0
        bar(state(30.0, 1_000_000))
        bar(state(31.0, 2_000_000))
    said = capsys.readouterr().err
    assert "of 60 s simulated" in said
    assert "packets/s" in said


def test_the_time_left_of_further_runs_is_their_own(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    now = [0.0]
    with console.ProgressBar(clock=lambda: now[0]) as bar:
        now[0] = 1000.0
        bar(state(60.0, 1000))
        now[0] = 1100.0
        bar(state(0.1, 1000))
        now[0] = 1130.0
        bar(state(30.0, 1000))
    assert "30 s left" in capsys.readouterr().err


def test_the_table_of_flows_has_completion_times_only_if_something_ended(
    tmp_path: Path, capsys: Capture
) -> None:
    spec = write(tmp_path, GOOD)
    assert run_cli("run", str(spec), "--out", str(tmp_path / "a")) == 0
    assert "fct" not in capsys.readouterr().out
    sized = ["--set", "flows[0].size=100kb"]
    assert run_cli("run", str(spec), *sized, "--out", str(tmp_path / "b")) == 0
    assert "fct" in capsys.readouterr().out


def test_every_option_says_what_it_takes() -> None:
    commands = dict(every_command("narrows", typer.main.get_command(app)))
    assert {"narrows export", "narrows kernel build", "narrows store gc"} <= commands.keys()
    for name, command in commands.items():
        said = command.get_help(command.make_context(name, [], resilient_parsing=True))
        assert not re.search(r"<\w+>", said), f"{name}: {said}"


def test_figures_are_called_by_their_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    spec = write(tmp_path, GOOD)
    assert (
        run_cli("run", spec, "--set", 'path.buffer=["1bdp", "2bdp"]', "--out", str(tmp_path / "s"))
        == 0
    )
    capsys.readouterr()
    monkeypatch.chdir(tmp_path)
    metric = ("--metric", "utilization", "--width", "3.4", "--format", "pdf,png")
    assert run_cli("figure", str(tmp_path / "s"), "lines", *metric) == 0
    assert capsys.readouterr().out.split() == ["good-lines.pdf", "good-lines.png"]
    assert Path("good-lines.pdf").read_bytes().startswith(b"%PDF")


def test_without_a_name_a_sweep_draws_shares_and_a_run_its_timeline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    spec, axis = write(tmp_path, GOOD), 'path.buffer=["1bdp", "2bdp"]'
    assert run_cli("run", spec, "--out", "one", "--pcap") == 0
    assert "captures: one/trial-1/captures\n" in capsys.readouterr().out
    assert Path("one/trial-1/captures/sender.pcapng").is_file()
    assert run_cli("run", spec, "--set", axis, "--out", "two") == 0
    capsys.readouterr()
    rival = '\n[[flows]]\ncca = "bbr"\n'
    beside = write(tmp_path, GOOD.replace('"good"', '"beside"') + rival, "beside.toml")
    assert run_cli("run", beside, "--set", axis, "--out", "beside") == 0
    capsys.readouterr()
    for place, name in (("one", "timeline"), ("two", "lines"), ("beside", "share")):
        assert run_cli("figure", place, "--format", "svg") == 0
        study = "beside" if place == "beside" else "good"
        assert capsys.readouterr().out.split() == [f"{study}-{name}.svg"]
    assert run_cli("figure", "one", "share") == 2
    assert "a figure of a sweep, and this is one run; one of timeline" in capsys.readouterr().err
    assert run_cli("figure", "nowhere", "share") == 2
    assert "nowhere: found no such directory" in capsys.readouterr().err
    assert run_cli("export", "two") == 0
    assert capsys.readouterr().out.startswith("study,")


def every_command(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """A command and those inside of it, with the words that call them."""
    yield name, command
    for word, inner in getattr(command, "commands", {}).items():
        yield from every_command(f"{name} {word}", inner)


def test_a_run_prints_the_mean_rate_of_a_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("link.trace").write_text("".join(f"{ms}\n" for ms in range(2, 1001, 2)))
    service = 'path.service={ kind = "trace", file = "link.trace" }'
    assert run_cli("run", write(tmp_path, GOOD), "--set", service, "--out", "traced") == 0
    assert "bottleneck of 6 Mbit/s on average: utilization" in capsys.readouterr().out
    uneven = [*range(2, 1001, 2), *range(1001, 2001)]  # 6 Mbit/s before the warm-up's end, then 12
    Path("link.trace").write_text("".join(f"{ms}\n" for ms in uneven))
    late = ("--set", service, "--set", "run.warmup=1s", "--out", "late")
    assert run_cli("run", write(tmp_path, GOOD), *late) == 0
    assert "bottleneck of 12 Mbit/s on average: utilization" in capsys.readouterr().out
    assert run_cli("run", write(tmp_path, GOOD), "--out", "constant") == 0
    assert "bottleneck: utilization" in capsys.readouterr().out


SHORT = GOOD.replace('"2s"', '"9s"')


@pytest.mark.parametrize(
    ("text", "mean"),
    [
        (
            SHORT.replace("[run]", 'size = "500kb"\n\n[run]')
            + 'stop_when = "cubic-1"\n\n[[changes]]\nat = "2s"\nrate = "1mbit"\n',
            "8",
        ),
        (
            SHORT + '\n[[changes]]\nat = "1s"\nrate = "4mbit"\n'
            '\n[[changes]]\nat = "1500ms"\nend = true\n',
            "6",
        ),
    ],
)
def test_the_mean_rate_of_a_run_that_ends_early_counts_up_to_its_end(
    text: str, mean: str, tmp_path: Path, capsys: Capture
) -> None:
    out = tmp_path / "out"
    assert run_cli("run", write(tmp_path, text), "--out", str(out)) == 0
    assert f"bottleneck of {mean} Mbit/s on average: utilization" in capsys.readouterr().out
    page = (out / "report.html").read_text(encoding="utf-8")
    shown = re.findall(r"([\d.]+) Mbit/s on average", page)
    assert len(shown) > 1
    assert set(shown) == {mean}
