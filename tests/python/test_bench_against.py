"""`narrows bench --against`: another simulator beside narrows."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from specimens import run_cli

from narrows.bench import against

Capture = pytest.CaptureFixture[str]
PEER = """#!/bin/sh
echo "$@" >> "{log}"
echo '{answer}'
"""


@pytest.fixture(autouse=True)
def hundredths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(against, "QUICK", 100)


def peer(folder: Path, answer: str) -> Path:
    """A program that answers this, and notes its options."""
    program = folder / "peer"
    program.write_text(PEER.format(log=folder / "log", answer=answer))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def test_another_simulator_runs_the_same_loads(tmp_path: Path, capsys: Capture) -> None:
    program = peer(tmp_path, '{"packets": 1000, "cpu_s": 0.02}')
    assert run_cli("bench", "--quick", "--json", "--against", str(program)) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["against"] == str(program)
    for entry in document["scenarios"]:
        assert entry["peer_packets_per_cpu_s"] == 50_000
        low, high = entry["ratio_range"]
        assert 0 < low <= entry["ratio"] <= high
    asked = (tmp_path / "log").read_text().splitlines()
    assert len(asked) == 4 * against.PAIRS
    second = asked[against.PAIRS]
    flows = "--flows=bbr,bbr,cubic,cubic"
    assert second == f"--rate=80000000 --rtt=25000000 --buffer=437500 {flows} --duration=600000000"


def test_each_load_gets_a_line(tmp_path: Path, capsys: Capture) -> None:
    program = peer(tmp_path, '{"packets": 1000, "cpu_s": 0.02}')
    assert run_cli("bench", "--quick", "--against", str(program)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert all("peer 50,000" in line and "times" in line for line in lines)


def test_an_unknown_peer(capsys: Capture) -> None:
    assert run_cli("bench", "--against", "ns4") == 2
    assert "the path of a program" in capsys.readouterr().err


def test_ns3_that_is_not_there(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(against, "LIBRARIES", ("ns3-of-no-machine",))
    assert run_cli("bench", "--against", "ns3") == 2
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
    assert run_cli("bench", "--against", "ns3") == 1
    error = capsys.readouterr().err
    assert "Compiling ns3.cc" in error
    assert "a.h:3: fatal error: gsl.h" in error
    assert "-I/opt/ns3" in error


def test_each_line_appears_when_its_load_is_measured(tmp_path: Path) -> None:
    program = peer(tmp_path, '{"packets": 1000, "cpu_s": 0.02}')
    results = against.compare(program, quick=True)
    assert next(results)["name"] == "S1"
    assert len((tmp_path / "log").read_text().splitlines()) == against.PAIRS


@pytest.mark.parametrize("answer", ["no JSON", "{}", "[]", '{"packets": 1, "cpu_s": 0}'])
def test_a_peer_that_answers_something_else(tmp_path: Path, capsys: Capture, answer: str) -> None:
    program = peer(tmp_path, answer)
    assert run_cli("bench", "--quick", "--against", str(program)) == 2
    assert '"cpu_s"' in capsys.readouterr().err


def test_a_peer_that_fails(tmp_path: Path, capsys: Capture) -> None:
    program = peer(tmp_path, "")
    program.write_text("#!/bin/sh\necho no such rate >&2\nexit 3\n")
    assert run_cli("bench", "--quick", "--against", str(program)) == 1
    error = capsys.readouterr().err
    assert "--rate=10000000" in error
    assert "status 3: no such rate" in error
