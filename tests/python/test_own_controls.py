"""Congestion controls written in Python: found, checked, run, and part of the hash."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from test_native import flow, scenario

from narrows import _native, runner
from narrows.backends.protocol import refuse_own_controls
from narrows.backends.sim import Simulator
from narrows.cli import main
from narrows.errors import SpecError
from narrows.plan import plan
from narrows.spec import load as load_unasked
from narrows.spec import python_control
from narrows.spec.permission import EVERYTHING, allowing

EXAMPLE = Path(__file__).parents[2] / "experiments" / "own-control-python"
SPEC = """
[path]
rate = "8mbit"
rtt = "20ms"
buffer = "1bdp"
[[flows]]
cca = "mine:Mine"
[run]
duration = "2s"
"""
GOOD = """
class Mine:
    def __init__(self, window=20.0):
        self.window = window
    def on_ack(self, sample):
        pass
    def on_congestion(self, event):
        pass
    def control(self):
        return self.window
"""


def load(*arguments):
    """Reads a specification whose code may run."""
    with allowing([EVERYTHING]):
        return load_unasked(*arguments)


class Recorder:
    """A control that keeps what it is told."""

    told: list

    def __init__(self):
        self.cwnd = 60.0

    def on_connect(self, connection):
        self.told.append(connection)

    def on_ack(self, sample):
        self.told.append(sample)

    def on_congestion(self, event):
        self.told.append(event)
        self.cwnd = max(2.0, event.cwnd / 2)

    def control(self):
        return self.cwnd


def native(control, **path):
    """Two seconds of one flow with `control`, which is called "mine"."""
    case = scenario(record="summary")
    case["path"] |= {"loss": 0.0} | path
    case["flows"] = [flow("mine", cca="mine")]
    return _native.run(json.dumps(case), controls={"mine": control})


def write(directory, source=GOOD, name="mine.py"):
    """A specification and a module next to it."""
    (directory / name).write_text(textwrap.dedent(source))
    spec = directory / "own.toml"
    spec.write_text(SPEC)
    return spec


def test_the_example_shares_fairly_with_reno(tmp_path):
    lines = (EXAMPLE / "aimd.py").read_text().splitlines()
    assert len([line for line in lines if line.strip()]) <= 22
    with allowing([EXAMPLE]):
        result = runner.run(EXAMPLE / "experiment.toml", out=tmp_path / "run")
    shares = [flow["share"] for flow in result.summary["runs"][0]["flows"]]
    assert shares[0] == pytest.approx(0.5, abs=0.06)
    assert result.summary["runs"][0]["bottleneck"]["utilization"] > 0.98


def test_a_control_gets_what_the_sender_sees():
    Recorder.told = []
    output = native(Recorder)
    connection, *rest = Recorder.told
    assert (connection.mss, connection.initial_cwnd) == (1448, 10)
    assert connection.rtt_s == pytest.approx(0.0203, abs=0.001)
    acks = [told for told in rest if isinstance(told, _native.AckSample)]
    events = [told for told in rest if isinstance(told, _native.CongestionEvent)]
    assert output.packets > 1000
    assert sum(ack.acked for ack in acks) == acks[-1].delivered - 1 > 1000  # a SYN counts
    assert sum(ack.lost for ack in acks) == acks[-1].lost_total > 0
    assert all(ack.min_rtt_s >= 0.02 for ack in acks)
    assert max(ack.delivery_rate_bps or 0 for ack in acks) == pytest.approx(7.7e6, rel=0.05)
    rounds = sum(ack.round_start for ack in acks)
    assert 40 <= rounds <= 100  # of 20 to 44 ms each, in 2 s
    assert {ack.state for ack in acks} >= {"open", "recovery"}
    assert (events[0].kind, events[0].first, events[0].cwnd) == ("loss", True, 60)
    assert 'kind: "loss"' in repr(events[0])


class Witness(Recorder):
    """A control with every method."""

    def on_delivered(self, sample):
        self.told.append(sample)

    def on_lost(self, packet):
        self.told.append(packet)

    def on_start(self, event):
        self.told.append(event)

    def on_undo(self, event):
        self.told.append(event)


def test_a_control_with_every_method_hears_of_each_lost_packet_and_of_its_start():
    told = []
    result = native(type("Told", (Witness,), {"told": told}))
    by_kind = {}
    for one in told:
        by_kind.setdefault(type(one).__name__, []).append(one)
    lost, acks = by_kind["LostPacket"], by_kind["AckSample"]
    assert [packet.lost_total for packet in lost] == list(range(1, len(lost) + 1))
    assert len(lost) == acks[-1].lost_total > 0
    assert all(0 < packet.in_flight_at_send <= 200 for packet in lost)
    sampled = [ack for ack in acks if ack.delivery_rate_bps is not None]
    assert all(ack.in_flight_at_send > 0 and ack.rate_interval_s > 0 for ack in sampled)
    assert all(ack.delivered_at_s <= ack.now_s <= ack.departure_s + 1 for ack in acks)
    (start,) = by_kind["StartEvent"]
    assert start.last_sent_s is None
    assert start.now_s <= acks[0].now_s - acks[0].rtt_s
    delivered = by_kind["DeliveredSample"]
    assert sum(sample.acked for sample in delivered) <= acks[-1].delivered
    without = []
    assert native(type("Told", (Recorder,), {"told": without})).digest == result.digest
    assert {type(one).__name__ for one in without} == {"Connection", "AckSample", "CongestionEvent"}


def test_a_pacing_rate_spaces_packets():
    class PacedRecorder(Recorder):
        told: list = []  # noqa: RUF012

        def control(self):
            return 1000, 4e6

    output = native(PacedRecorder)
    seconds = 2 - 0.5
    assert output.packets == pytest.approx(4e6 * seconds / 8 / 1448, rel=0.4)
    assert PacedRecorder.told[-1].lost_total == 0
    assert PacedRecorder.told[-1].delivery_rate_bps == pytest.approx(4e6, rel=0.03)


def test_a_control_of_its_own_recovery_keeps_its_window():
    class Stubborn(Recorder):
        told: list = []  # noqa: RUF012
        owns_recovery = True

        def on_congestion(self, event):
            pass

    native(Stubborn, loss=0.05)
    flights = [told.in_flight for told in Stubborn.told[1:] if getattr(told, "rtt_s", None)]
    assert sorted(flights)[len(flights) // 2] > 30


def wrong(**methods):
    return type("Wrong", (Recorder,), {"told": [], **methods})


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (None, "None"),
        ("ten", "'ten', a str"),
        (True, "True, a bool"),
        (0.5, "a window of 0.5"),
        (float("nan"), "a window of NaN"),
        (1e9, "a window of 1000000000"),
        ((1, 2, 3), "a tuple of 3"),
        ((10, -1), "a pacing rate of -1"),
        ((10, 1e300), "a pacing rate of 1e300"),
        (float("-inf"), "a window of -inf"),
        ((10, "fast"), "'fast', a str"),
        ({}, "{}, a dict"),
        (10**400, f"1{'0' * 59}..., an int"),
    ],
)
def test_a_wrong_answer_names_the_class_and_the_method(answer, found):
    with pytest.raises(_native.ControlError) as caught:
        native(wrong(control=lambda _self: answer))
    place, what, remedy = caught.value.args
    assert place == "Wrong.control"
    assert what == found
    assert remedy.startswith("a window from 1 to 10000000 packets")


def test_a_rate_that_comes_late_is_refused():
    answers = iter([(10, None)])
    with pytest.raises(_native.ControlError, match="a pacing rate, though the first output"):
        native(wrong(control=lambda _self: next(answers, (10, 1e6))))


@pytest.mark.parametrize("method", ["on_ack", "on_congestion", "control"])
def test_a_missing_method_is_named(method):
    with pytest.raises(_native.ControlError) as caught:
        native(wrong(**{method: None}))
    assert caught.value.args[:2] == (f"Wrong.{method}", "no such method")


def test_an_exception_ends_the_run_with_its_own_line():
    def on_ack(_self, sample):
        return sample.nonsense

    with pytest.raises(_native.ControlError) as caught:
        native(wrong(on_ack=on_ack, control=lambda _self: 10))
    place, found, _ = caught.value.args
    assert place == "Wrong.on_ack"
    assert re.search(
        r"AttributeError: .*nonsense.* in line \d+ of .*: return sample.nonsense", found
    )
    assert isinstance(caught.value.__cause__, AttributeError)


def test_an_exception_that_is_no_error_passes_unchanged():
    def on_ack(_self, _sample):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        native(wrong(on_ack=on_ack))


def test_an_exception_names_its_trial_if_there_are_several(tmp_path):
    spec = write(tmp_path, GOOD.replace("pass", "raise ValueError('oh')"))
    with allowing([tmp_path]), pytest.raises(SpecError, match=r"in trial ([12]) \(seed \1\); "):
        runner.run(spec, ["run.trials=2"], out=tmp_path / "several")
    with allowing([tmp_path]), pytest.raises(SpecError, match="ValueError: oh") as caught:
        runner.run(spec, out=tmp_path / "one")
    assert "trial" not in str(caught.value)


def test_a_module_next_to_the_specification_is_found_and_belongs_to_the_hash(tmp_path):
    spec = write(tmp_path)
    first = plan(load(spec).spec, "1")
    assert first.trials[0].scenario["controls"]["mine:Mine"]["text"] == textwrap.dedent(GOOD)
    assert str(tmp_path) not in json.dumps(first.trials[0].scenario)
    assert plan(load(spec).spec, "1").hash == first.hash
    write(tmp_path, GOOD.replace("20.0", "21.0"))
    assert plan(load(spec).spec, "1").hash != first.hash


def test_a_module_is_found_where_python_looks(tmp_path, monkeypatch):
    home = tmp_path / "elsewhere"
    home.mkdir()
    (home / "narrows_test_elsewhere.py").write_text(textwrap.dedent(GOOD))
    monkeypatch.syspath_prepend(home)
    spec = tmp_path / "own.toml"
    spec.write_text(SPEC.replace("mine:Mine", "narrows_test_elsewhere:Mine"))
    assert list(load(spec).spec.scenario["controls"]) == ["narrows_test_elsewhere:Mine"]


def test_runs_share_nothing(tmp_path):
    counting = "total = []\n" + GOOD.replace(
        "        pass\n    def on_c", "        total.append(1)\n    def on_c"
    )
    counting += "        return 5.0 + len(total) // 1000\n"
    counting = counting.replace("        return self.window\n", "")
    scenario_ = plan(load(write(tmp_path, counting)).spec, "1").trials[0].scenario
    digests = {Simulator().run(scenario_).info.digest for _ in range(2)}
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1", r'flows\[0\].cca: found no "Mine" in mine.py; a class with the methods'),
        ("class Min: pass", 'found no "Mine" in mine.py; "Min" would be right'),
        ("Mine = 3", "found an int, which is not a class"),
        ("class Mine: pass", "found a class without on_ack; a class with the methods on_ack"),
        ("import nowhere", "found ModuleNotFoundError: .* in line 1 of mine.py: import nowhere"),
        ("class Mine(:", r"found SyntaxError: .*mine.py, line 1"),
        ("raise SystemExit(0)", "found SystemExit: 0 in line 1 of mine.py: raise SystemExit"),
        ("class E(BaseException): pass\nraise E", "found E in line 2 of mine.py: raise E"),
        ("def __getattr__(name): exit(3)", "found SystemExit: 3 in line 1 of mine.py"),
    ],
)
def test_a_module_that_is_wrong_names_the_place(tmp_path, source, message):
    with pytest.raises(SpecError, match=message):
        load(write(tmp_path, source))


@pytest.mark.parametrize("method", ["on_ack", "on_connect", "on_lost", "control"])
def test_a_method_that_nobody_awaits_is_refused(tmp_path, method):
    source = GOOD.replace(f"def {method}(", f"async def {method}(")
    if source == GOOD:
        source += f"    async def {method}(self, connection):\n        pass\n"
    file = write(tmp_path, source)
    with pytest.raises(SpecError, match=f"async def {method}, which nobody awaits"):
        load(file)


def test_a_complete_result_says_which_modules_it_did_not_compare(tmp_path, capsys):
    (tmp_path / "helper.py").write_text("WINDOW = 10\n")
    file = write(tmp_path, f"import sys\nimport helper\nfrom helper import WINDOW\n{GOOD}")
    command = ["run", str(file), "--allow-code", str(tmp_path), "--out", str(tmp_path / "out")]
    sys.path.insert(0, str(tmp_path))
    try:
        assert main(command) == 0
        capsys.readouterr()
        assert main(command) == 0
    finally:
        sys.path.remove(str(tmp_path))
    said = capsys.readouterr().err
    assert "was already complete" in said
    assert "narrows: mine.py imports helper, whose changes aren't noticed\n" in said


def test_names_and_options_that_are_wrong(tmp_path):
    spec = write(tmp_path)
    with pytest.raises(
        SpecError, match=r"unexpected keyword argument 'x'.*; window would be right"
    ):
        load(spec, ["flows.0.options.x=1"])
    with pytest.raises(SpecError, match=r'no module "nowhere"; nowhere\.py in '):
        load(spec, ["flows.0.cca=nowhere:Mine"])
    with pytest.raises(SpecError, match="a module and a class in it"):
        load(spec, ["flows.0.cca=mine:"])
    with pytest.raises(SpecError, match="which has no Python source"):
        load(spec, ["flows.0.cca=sys:Mine"])


def test_the_command_says_it_in_a_line(tmp_path, capsys):
    bad = GOOD.replace("return self.window", "return 'ten'")
    spec = write(tmp_path, bad)
    allowed = ["--allow-code", str(tmp_path)]
    assert main(["run", str(spec), "--out", str(tmp_path / "out"), *allowed]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith("narrows: error: Mine.control: found 'ten', a str; a window from 1 to")
    assert not (tmp_path / "out").exists()


def test_kernels_refuse_it(tmp_path):
    made = plan(load(write(tmp_path)).spec, "1").trials[0].scenario
    with pytest.raises(SpecError, match=r'"mine:Mine", which is written in Python; --backend sim'):
        refuse_own_controls(made)


def write_marking(directory):
    """A control whose module leaves a file when it is executed, and its specification."""
    mark = directory / "ran"
    source = f"from pathlib import Path\nPath({str(mark)!r}).touch()\n{textwrap.dedent(GOOD)}"
    return write(directory, source), mark


@pytest.mark.parametrize("command", [["run"], ["run", "--dry-run"]])
def test_nobodys_code_runs_because_a_specification_names_it(tmp_path, capsys, command):
    spec, mark = write_marking(tmp_path)
    assert main([*command, str(spec), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert f"--allow-code {tmp_path / 'mine.py'}, if you trust it, would be right" in said
    assert "flows[0].cca" in said
    assert not mark.exists()


def test_packages_of_a_module_arent_imported_before_they_are_allowed(tmp_path, monkeypatch):
    mark, package = tmp_path / "ran", tmp_path / "narrows_test_package"
    package.mkdir()
    (package / "__init__.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    (package / "inner.py").write_text(textwrap.dedent(GOOD))
    monkeypatch.syspath_prepend(tmp_path)
    spec = tmp_path / "elsewhere" / "own.toml"
    spec.parent.mkdir()
    spec.write_text(SPEC.replace("mine:Mine", "narrows_test_package.inner:Mine"))
    with pytest.raises(SpecError, match="code that nobody has allowed to run"):
        load_unasked(spec)
    assert not mark.exists()
    assert list(load(spec).spec.scenario["controls"]) == ["narrows_test_package.inner:Mine"]


def test_code_runs_once_it_is_named(tmp_path, monkeypatch):
    spec, mark = write_marking(tmp_path)

    def runs(*arguments):
        mark.unlink(missing_ok=True)
        status = main(["run", "--dry-run", str(spec), *arguments])
        assert mark.exists() == (status == 0)
        return status == 0

    other = tmp_path / "other.py"
    other.touch()
    assert not runs("--allow-code", str(other))
    assert not runs("--set", "flows.0.cca=other:Mine")
    assert runs("--allow-code", str(tmp_path / "mine.py"))
    assert runs("--allow-code", str(tmp_path))
    assert runs("--set", "flows.0.cca=mine:Mine")
    listed = tmp_path / "config" / "narrows" / "allow-code"
    listed.parent.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    listed.write_text(f"# mine\n\n{tmp_path}\n")
    assert runs()
    for wrong_line in ("relative", "~nobody-of-that-name/code"):
        listed.write_text(f"{wrong_line}\n")
        assert not runs()


def test_somebody_without_a_home_has_allowed_nothing(tmp_path, monkeypatch):
    spec, mark = write_marking(tmp_path)
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 4_000_000_000)  # of nobody
    monkeypatch.chdir(tmp_path)
    planted = tmp_path / "~" / ".config" / "narrows" / "allow-code"
    planted.parent.mkdir(parents=True)
    planted.write_text(f"{tmp_path}\n")
    with pytest.raises(SpecError, match="nobody has allowed"):
        load_unasked(spec)
    assert not mark.exists()


def test_a_program_names_its_controls_itself(tmp_path, monkeypatch):
    import narrows as nw

    spec, mark = write_marking(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpecError, match="nobody has allowed"):
        nw.run(spec)
    assert not mark.exists()
    nw.run(spec, allow_code=["mine.py"])
    path, mine = {"rate": "8mbit", "rtt": "20ms", "buffer": "1bdp"}, {"cca": "mine:Mine"}
    nw.run({"path": path, "flows": [mine], "run": {"duration": "1s"}})


@pytest.mark.parametrize("method", ["__init__", "on_connect", "on_ack", "control"])
def test_a_control_that_exits_ends_the_run_not_the_program(method):
    def leave(*_):
        raise SystemExit(0)

    with pytest.raises(_native.ControlError) as caught:
        native(wrong(**{"control": lambda _self: 10, method: leave}))
    place, found, _ = caught.value.args
    assert place == f"Wrong.{method}"
    assert found.startswith("SystemExit: 0 in line")


PATIENT = """
import sys
from narrows.spec import python_control
python_control.WARN_AFTER_S = 0.5
from narrows import cli
sys.argv[1:] = ["run", "own.toml", "--allow-code", "mine.py", "--out", "out"]
sys.exit(cli.main())
"""
ENDLESS = "        while True: pass\n"
STUBBORN = """
        while True:
            try:
                while True: pass
            except BaseException: pass
"""


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            GOOD.replace("(self, sample):\n        pass", f"(self, sample):\n{ENDLESS}"),
            'flow "mine:Mine-1": its control Mine',
        ),
        (
            GOOD.replace("(self, sample):\n        pass", f"(self, sample):\n{STUBBORN}"),
            'flow "mine:Mine-1": its control Mine',
        ),
        (f"while True: pass\n{GOOD}", 'mine.py, the module of "mine:Mine",'),
    ],
)
def test_code_that_never_returns_is_named_and_ends_with_ctrl_c(tmp_path, source, said):
    write(tmp_path, source)
    before = sorted(tmp_path.iterdir())
    child = subprocess.Popen(
        [sys.executable, "-c", PATIENT], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    try:
        line = child.stderr.readline()
        assert line.startswith(f"narrows: {said} hasn't returned for 0.5 s; Ctrl-C stops it"), line
        assert re.search(r"kill -9 \d+", line)
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=120) == 130
        assert child.stderr.read() == "narrows: interrupted\n"
    finally:
        child.kill()
        child.wait()
        child.stderr.close()
    assert sorted(tmp_path.iterdir()) == before


def test_code_that_holds_the_interpreter_is_named_and_can_be_killed(tmp_path):
    """No Python runs meanwhile, not even a handler of Ctrl-C."""
    held = '        re.match(r"(a+)+$", "a" * 64 + "b")\n'
    write(
        tmp_path,
        "import re\n" + GOOD.replace("(self, sample):\n        pass\n", f"(self, sample):\n{held}"),
    )
    child = subprocess.Popen(
        [sys.executable, "-c", PATIENT], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    with child, child.stderr:
        line = child.stderr.readline()
        assert 'flow "mine:Mine-1": its control Mine hasn\'t returned' in line
        os.kill(int(re.search(r"`kill -9 (\d+)`", line)[1]), signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    assert [path.suffix for path in tmp_path.iterdir() if path.name.startswith(".")] == [".partial"]
    write(tmp_path)
    with allowing([tmp_path]):
        runner.run(tmp_path / "own.toml", out=tmp_path / "out")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_code_that_returns_is_not_named(capfd):
    """The limit holds for one call, not for the whole run."""
    with allowing([EXAMPLE]):
        job = runner.prepare(EXAMPLE / "experiment.toml")
    scenario_ = job.plan.trials[0].scenario
    python_control.WARN_AFTER_S, before = 0.05, python_control.WARN_AFTER_S
    try:
        Simulator().run(scenario_)
    finally:
        python_control.WARN_AFTER_S = before
    assert capfd.readouterr().err == ""


def test_a_property_that_exits_ends_the_run():
    def leave(_self):
        raise SystemExit(0)

    with pytest.raises(_native.ControlError, match="SystemExit"):
        native(wrong(on_undo=property(leave), control=lambda _self: 10))
