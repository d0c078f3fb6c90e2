"""Packetdrill scripts of our own, and Linux's, on a kernel in virtual time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import strict_pcapng
from required import needs

from narrows.cli import main
from narrows.kernel_tests import (
    ScriptVerdict,
    choose_kernel,
    find_scripts,
    keep_failures,
    play_cases,
    selftests,
)

pytestmark = needs("uml-tests")

SCRIPTS = Path(__file__).parents[1] / "packetdrill"
CLOCK_NS = 10_000
"""Each look at the guest's clock takes 256 ns."""
WRONG = SCRIPTS / "wrong_ack.pkt"
RIGHT = sorted(set(SCRIPTS.glob("*.pkt")) - {WRONG})


def play(scripts: list[Path], *modes: str) -> tuple[ScriptVerdict, ...]:
    return play_cases(find_scripts(scripts, modes or ("ipv4",)), choose_kernel(None)).verdicts


def test_the_kernel_does_what_our_scripts_say_over_each_protocol() -> None:
    found = play(RIGHT, "ipv4", "ipv6", "ipv4-mapped-ipv6")
    assert len(found) == 3 * len(RIGHT)
    assert [(one.place, one.mode, one.message) for one in found if not one.is_pass] == []
    assert all(one.capture and one.events > 5 for one in found)


def test_a_capture_has_the_packets_since_the_start_of_the_script(tmp_path: Path) -> None:
    """The kernel's own packets for IPv6 left before."""
    for one in play(RIGHT[:1], "ipv4", "ipv6"):
        frames = frames_of(one, tmp_path)
        assert frames[0].at > 0
        assert {frame.data[0] >> 4 for frame in frames} == {6 if one.mode == "ipv6" else 4}


def test_a_protocol_doesnt_depend_on_those_before_it(tmp_path: Path) -> None:
    modes = ("ipv4", "ipv6", "ipv4-mapped-ipv6")
    alone = {mode: play([*RIGHT, WRONG], mode) for mode in modes}
    for order in (modes, modes[::-1]):
        together = play([*RIGHT, WRONG], *order)
        for mode in modes:
            found = [one for one in together if one.mode == mode]
            assert list(map(without_time, found)) == list(map(without_time, alone[mode]))
            for one, same in zip(found, alone[mode], strict=True):
                pairs = zip(frames_of(one, tmp_path), frames_of(same, tmp_path), strict=True)
                for packet, expected in pairs:
                    assert (packet.out, packet.length) == (expected.out, expected.length)
                    assert abs(packet.at - expected.at) < CLOCK_NS, (one.place, order)


def without_time(verdict: ScriptVerdict) -> dict[str, object]:
    """A verdict without the time of a packet in its message, which may be off by `CLOCK_NS`."""
    document = verdict.document()
    return {**document, "message": re.sub(r" at [0-9.]+ s", "", str(document["message"]))}


def frames_of(verdict: ScriptVerdict, place: Path) -> list[strict_pcapng.Frame]:
    """The packets of a capture."""
    file = place / "packets.pcapng"
    file.write_bytes(verdict.capture)
    return strict_pcapng.read_frames(file).frames


def test_settings_of_sysctl_reach_the_kernel(tmp_path: Path) -> None:
    script = tmp_path / "one.pkt"
    script.write_text(
        "`sysctl -q net.ipv4.tcp_wmem='4096 8192 16384' net.ipv4.tcp_sack=0`\n"
        "0 `[ $(sysctl -n net.ipv4.tcp_sack) = 0 ]`\n"
        "+0 `[ \"$(cat /proc/sys/net/ipv4/tcp_wmem)\" = $'4096\\t8192\\t16384' ]`\n"
        "+0 `sysctl -q net.ipv4.tcp_no_such=1`\n"
    )
    (found,) = play([script])
    assert (found.line, found.events) == (4, 2)
    assert "tcp_no_such: No such file or directory" in found.message


def test_a_failure_is_the_same_each_time_and_keeps_its_packets(tmp_path: Path) -> None:
    first, second = play([WRONG]), play([WRONG])
    assert first == second
    (verdict,) = first
    assert (verdict.verdict, verdict.line, verdict.column) == ("failed", 11, 4)
    assert verdict.message.startswith(
        "acknowledgement 1, not 2\n  expected P. 1:10001(10000) ack 2\n"
    )
    run = play_cases(find_scripts([WRONG]), choose_kernel(None))
    (folder,) = keep_failures(run, tmp_path)
    assert "acknowledgement 1, not 2" in (folder / "reason.txt").read_text(encoding="utf-8")
    assert (folder / "tun0.pcapng").read_bytes() == verdict.capture
    assert (folder / "page" / "report.html").is_file()


@pytest.mark.parametrize(
    ("text", "verdict", "message"),
    [
        ("0 socket(..., SOCK_STREAM, 0) = 4 EBADF", "failed", "socket gave 4, not EBADF"),
        ("0 socket(..., SOCK_STREAM) = 3", "failed", "socket: found 2 arguments; 3 are needed"),
        ("0 read(7, ..., 5) = 0", "failed", 'read: 1:8: found "7"; an open descriptor'),
        ("0 teleport(3) = 0", "unsupported", "the system call teleport"),
        ("0 `exit 3`", "failed", "`exit 3`: exit status: 3"),
        ("0 < S 0:0(0) win 1 <sackok>", "mistake", '1:21: found "sackok"; "sackOK" perhaps'),
    ],
)
def test_unsupported_parts_of_a_script_are_named(
    tmp_path: Path, text: str, verdict: str, message: str
) -> None:
    script = tmp_path / "one.pkt"
    script.write_text(text)
    (found,) = play([script])
    assert found.verdict == verdict
    assert found.message.startswith(message), found.message


def test_the_command_prints_tap_and_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernel", "test", str(WRONG), str(RIGHT[0]), "--tap"]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[1] == "1..2"
    assert printed[2] == "not ok 1 - wrong_ack ipv4"
    assert f"ok 2 - {RIGHT[0].stem} ipv4" in printed


def test_linux_passes_its_own_slow_start() -> None:
    kernel = choose_kernel(None)
    if not Path(kernel.source.partition(" with ")[0]).exists():
        pytest.skip(f"{kernel.source}, with the scripts, is gone")
    chosen = [case for case in selftests(kernel) if "slow_start" in case.script.stem]
    found = play_cases(chosen, kernel).verdicts
    assert len(chosen) >= 10
    assert [(one.place, one.mode, one.message) for one in found if not one.is_pass] == []
