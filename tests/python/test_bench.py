"""`make bench`: packets per CPU second, also of another simulator."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
try:
    import bench
    import bench_against
    import bench_loads
finally:
    sys.path.pop(0)

Capture = pytest.CaptureFixture[str]
PEER = """#!/bin/sh
echo "$@" >> "{log}"
echo '{answer}'
"""


@pytest.fixture(autouse=True)
def hundredths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_against, "QUICK", 100)


def peer(folder: Path, answer: str) -> Path:
    """A program that prints `answer` and logs its options."""
    program = folder / "peer"
    program.write_text(PEER.format(log=folder / "log", answer=answer))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def test_another_simulator_runs_the_same_loads(tmp_path: Path, capsys: Capture) -> None:
    program = peer(tmp_path, '{"packets": 1000, "cpu_s": 0.02}')
    assert bench.main(["--quick", "--json", "--against", str(program)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["against"] == str(program)
    for entry in document["scenarios"]:
        assert entry["peer_packets_per_cpu_s"] == 50_000
        low, high = entry["ratio_range"]
        assert 0 < low <= entry["ratio"] <= high
    asked = (tmp_path / "log").read_text().splitlines()
    assert len(asked) == 4 * bench_against.PAIRS
    second = asked[bench_against.PAIRS]
    flows = "--flows=bbr,bbr,cubic,cubic"
    assert second == f"--rate=80000000 --rtt=25000000 --buffer=437500 {flows} --duration=600000000"


def test_each_load_gets_a_line(tmp_path: Path, capsys: Capture) -> None:
    program = peer(tmp_path, '{"packets": 1000, "cpu_s": 0.02}')
    assert bench.main(["--quick", "--against", str(program)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert all("peer 50,000" in line and "times" in line for line in lines)


def test_an_unknown_peer(capsys: Capture) -> None:
    assert bench.main(["--against", "ns4"]) == 2
    assert "the path of a program" in capsys.readouterr().err


def test_ns3_that_is_not_there(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_against, "LIBRARIES", ("ns3-of-no-machine",))
    assert bench.main(["--against", "ns3"]) == 2
    assert "libns3-dev" in capsys.readouterr().err


def test_the_compilers_first_error_is_shown(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flags that pkg-config gives, and a compiler that lacks a header."""
    tools = {
        "pkg-config": "echo -I/opt/ns3",
        "g++": 'echo "In file included from a.h" >&2; echo "a.h:3: fatal error: gsl.h" >&2; exit 1',
    }
    for name, body in tools.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert bench.main(["--against", "ns3"]) == 1
    error = capsys.readouterr().err
    assert "Compiling bench_ns3.cc" in error
    assert "a.h:3: fatal error: gsl.h" in error
    assert "-I/opt/ns3" in error


def test_each_line_appears_when_its_load_is_measured(tmp_path: Path) -> None:
    program = peer(tmp_path, '{"packets": 1000, "cpu_s": 0.02}')
    results = bench_against.compare(program, quick=True)
    assert next(results)["name"] == "S1"
    assert len((tmp_path / "log").read_text().splitlines()) == bench_against.PAIRS


@pytest.mark.parametrize("answer", ["no JSON", "{}", "[]", '{"packets": 1, "cpu_s": 0}'])
def test_a_peer_that_answers_something_else(tmp_path: Path, capsys: Capture, answer: str) -> None:
    program = peer(tmp_path, answer)
    assert bench.main(["--quick", "--against", str(program)]) == 2
    assert '"cpu_s"' in capsys.readouterr().err


def test_a_peer_that_fails(tmp_path: Path, capsys: Capture) -> None:
    program = peer(tmp_path, "")
    program.write_text("#!/bin/sh\necho no such rate >&2\nexit 3\n")
    assert bench.main(["--quick", "--against", str(program)]) == 1
    error = capsys.readouterr().err
    assert "--rate=10000000" in error
    assert "status 3: no such rate" in error


def test_bench_counts_packets_per_cpu_second(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_loads, "QUICK", 100)
    assert bench.main(["--quick", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["quick"] is True
    assert [entry["name"] for entry in document["scenarios"]] == ["S1", "S2", "S3", "S4"]
    for entry in document["scenarios"]:
        rate = entry["packets"] / entry["cpu_s"]
        assert entry["packets_per_cpu_s"] == pytest.approx(rate)
        assert entry["packets"] > 100
    assert [entry["duration_s"] for entry in document["scenarios"]] == [0.6, 0.6, 0.2, 0.2]


def test_bench_says_what_it_shortened(capsys: Capture) -> None:
    result = {
        "name": "S1",
        "title": "1 CUBIC",
        "buffer": "1bdp",
        "packets": 1000,
        "cpu_s": 0.5,
        "packets_per_cpu_s": 2000.0,
    }
    bench_loads.print_measurements([result], quick=True)
    quick, line = capsys.readouterr().out.splitlines()
    assert "a tenth" in quick
    assert "2,000 packets per CPU second" in line
