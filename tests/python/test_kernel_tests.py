"""Packetdrill scripts on kernels: which are found, and how verdicts are written."""

from __future__ import annotations

import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from narrows.backends.uml.kernels import BuiltKernel
from narrows.cli import main
from narrows.errors import InputError
from narrows.kernel_tests import ScriptRun, ScriptVerdict, find_scripts, selftests
from narrows.kernel_tests.scripts import FOLDER
from narrows.kernel_tests.written import junit, lines, tap

LISTEN = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n"


def verdict(name: str, word: str, message: str = "", line: int | None = None) -> ScriptVerdict:
    column = None if line is None else 4
    return ScriptVerdict(Path(f"/a/{name}.pkt"), "ipv4", word, line, column, message)


RUN = ScriptRun(
    "linux-9.9-tests",
    "Linux 9.9.1",
    (
        verdict("good", "passed"),
        verdict("bad", "failed", "flags R, not <.>\n  expected . 1:1(0)\n  sent R 1:1(0)", 12),
        verdict("odd", "unsupported", "the system call teleport\x07", 3),
    ),
)


def test_scripts_are_found_with_their_protocols(tmp_path: Path) -> None:
    (tmp_path / "b.pkt").write_text(LISTEN)
    (tmp_path / "a.pkt").write_text(f"--ip_version=ipv6\n{LISTEN}")
    (tmp_path / "c-v6.pkt").write_text(LISTEN)
    (tmp_path / "d-v4.pkt").write_text(LISTEN)
    (tmp_path / "notes.txt").write_text("")
    cases = find_scripts([tmp_path], ("ipv4", "ipv6"))
    assert [(case.script.name, case.modes) for case in cases] == [
        ("a.pkt", ("ipv6",)),
        ("b.pkt", ("ipv4", "ipv6")),
        ("c-v6.pkt", ("ipv6",)),
        ("d-v4.pkt", ("ipv4",)),
    ]
    assert not cases[0].fixed_addresses


def test_selftests_run_over_what_their_runner_names(tmp_path: Path) -> None:
    (tmp_path / "a.pkt").write_text(LISTEN)
    (tmp_path / "ksft_runner.sh").write_text("readonly ipv4_args=(x)\nreadonly ipv6_args=(y)\n")
    (case,) = find_scripts([tmp_path])
    assert (case.modes, case.fixed_addresses) == (("ipv4", "ipv6"), True)
    (tmp_path / "ksft_runner.sh").write_text("[ipv4]=\n[ipv4-mapped-ipv6]=\n[ipv6]=\n")
    (case,) = find_scripts([tmp_path])
    assert case.modes == ("ipv4", "ipv6", "ipv4-mapped-ipv6")


def test_scripts_are_called_as_given_or_by_their_place_in_the_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "linux" / FOLDER
    folder.mkdir(parents=True)
    (folder / "tcp_a.pkt").write_text(LISTEN)
    monkeypatch.chdir(tmp_path)
    (given,) = find_scripts([Path("linux")])
    assert (given.name, given.script) == (Path("linux", FOLDER, "tcp_a.pkt"), folder / "tcp_a.pkt")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    archive = tmp_path / "linux-source-9.9.tar.xz"
    subprocess.run(["tar", "-cJf", archive, "linux"], check=True)
    for source in (archive, tmp_path / "linux"):
        kernel = BuiltKernel("k", "9.9.1", "", (), (), str(source), "")
        (own,) = selftests(kernel)
        assert own.name == Path(FOLDER, "tcp_a.pkt")
        assert own.script.read_text() == LISTEN


def test_an_archive_is_unpacked_once_and_again_when_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    script = tmp_path / "linux" / FOLDER / "tcp_a.pkt"
    script.parent.mkdir(parents=True)
    archive = tmp_path / "linux-source-9.9.tar.xz"
    kernel = BuiltKernel("k", "9.9.1", "", (), (), str(archive), "")
    found = []
    for text in (LISTEN, LISTEN + LISTEN):
        script.write_text(text)
        subprocess.run(["tar", "-C", tmp_path, "-cJf", archive, "linux"], check=True)
        for _ in range(2):
            (own,) = selftests(kernel)
            found.append((own.script, own.script.stat().st_ino, own.script.read_text()))
    assert found[0] == found[1] != found[2] == found[3]
    assert [text for _, _, text in found[1:3]] == [LISTEN, LISTEN + LISTEN]


@pytest.mark.parametrize("name", ["none.pkt", "empty"])
def test_a_path_without_scripts_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=f"SCRIPT.*{name}"):
        find_scripts([tmp_path / name])


def test_text_has_a_line_for_each_failure() -> None:
    assert list(lines(RUN)) == [
        "failed: bad.pkt:12:4 (ipv4): flags R, not <.>\n  expected . 1:1(0)\n  sent R 1:1(0)",
        "unsupported: odd.pkt:3:4 (ipv4): the system call teleport\x07",
        "1 of 3 passed, 1 failed, 1 unsupported, 3 scripts on Linux 9.9.1",
    ]
    assert not RUN.is_pass


def test_the_place_in_a_message_is_reported_once() -> None:
    typo = verdict("typo", "mistake", '9:31: found "sackok"; sackOK is needed', 9)
    run = ScriptRun("linux-9.9-tests", "Linux 9.9.1", (typo,))
    assert list(lines(run)) == [
        'mistake: typo.pkt:9:31 (ipv4): found "sackok"; sackOK is needed',
        "0 of 1 passed, 1 mistake, 1 script on Linux 9.9.1",
    ]


def test_tap_skips_what_is_unsupported() -> None:
    assert list(tap(RUN)) == [
        "TAP version 13",
        "1..3",
        "ok 1 - good ipv4",
        "not ok 2 - bad ipv4",
        "# bad.pkt:12:4: flags R, not <.>",
        "#   expected . 1:1(0)",
        "#   sent R 1:1(0)",
        "ok 3 - odd ipv4 # SKIP the system call teleport",
    ]


def test_junit_counts_and_quotes() -> None:
    suite = ET.fromstring(junit(RUN))
    assert suite.attrib == {
        "name": "packetdrill on linux-9.9-tests",
        "tests": "3",
        "failures": "1",
        "skipped": "1",
    }
    failure = suite.find("testcase[@classname='bad']/failure")
    assert failure is not None
    assert failure.attrib["message"] == "flags R, not <.>"
    assert "sent R 1:1(0)" in (failure.text or "")


def test_nothing_to_play_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernel", "test", "--kernel", "no-such-kernel"]) != 0
    assert "kernel build --tests" in capsys.readouterr().err
