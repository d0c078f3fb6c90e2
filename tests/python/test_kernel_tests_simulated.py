"""Packetdrill scripts on the simulator's TCP."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from narrows.cli import main
from narrows.errors import InputError
from narrows.kernel_tests import play_simulated
from narrows.kernel_tests.scripts import FOLDER

SCRIPTS = Path(__file__).parents[1] / "packetdrill"
SOURCES = Path("/usr/src/linux-source-6.12.tar.xz")


def test_a_script_gets_its_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    scripts = [str(SCRIPTS / name) for name in ("lost_packet.pkt", "wrong_ack.pkt")]
    assert main(["kernel", "test", *scripts, "--profile", "linux-6.12", "--json"]) == 1
    right, wrong = json.loads(capsys.readouterr().out)
    assert (right["verdict"], right["message"]) == ("passed", "")
    assert (wrong["verdict"], wrong["line"], wrong["column"]) == ("failed", 11, 4)
    assert wrong["message"].startswith("acknowledgement 1, not 2\n")


def test_features_that_the_simulator_lacks_are_unsupported(tmp_path: Path) -> None:
    script = tmp_path / "a.pkt"
    script.write_text("0 `sysctl net.ipv4.tcp_recovery=0`\n", encoding="utf-8")
    (verdict,) = play_simulated("linux-7.3", [script]).verdicts
    assert (verdict.verdict, verdict.message) == (
        "unsupported",
        "tcp_recovery = 0; the simulator has 1",
    )


def test_profile_and_kernel_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernel", "test", "--selftests", "--profile", "linux-6.12"]) == 2
    assert "--profile: found a kernel as well" in capsys.readouterr().err


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(InputError, match=r"linux-6\.12"):
        play_simulated("linux-6.21", [SCRIPTS / "client.pkt"])


@pytest.mark.skipif(not SOURCES.is_file(), reason=f"{SOURCES} isn't here")
def test_linux_own_slow_start_scripts_pass(tmp_path: Path) -> None:
    command = ["tar", "-xf", str(SOURCES), "--strip-components=1", "-C", str(tmp_path)]
    subprocess.run([*command, "--wildcards", f"*/{FOLDER}/*"], check=True)
    scripts = sorted((tmp_path / FOLDER).glob("tcp_slow_start*.pkt"))
    run = play_simulated("linux-6.12", scripts)
    assert len(run.verdicts) == 10
    assert [(one.place, one.message) for one in run.verdicts if not one.is_pass] == []
