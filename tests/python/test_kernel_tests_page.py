"""The page about the kernel's own tests is the one that its data make."""

from __future__ import annotations

import tomllib
from pathlib import Path

import collect_kernel_tests
from reference import kernel_tests


def test_kinds_of_the_list_and_of_the_scripts_agree() -> None:
    kinds = {script.kind for scripts in kernel_tests.read().values() for script in scripts}
    listed = tomllib.loads(kernel_tests.EXCLUDED.read_text(encoding="utf-8"))["excluded"]
    assert {one["kind"] for one in listed} - kinds <= {"psp", "epoll", "ioctl"}
    for one in listed:
        assert set(one["ends"]) <= {"kernel", "simulator"}
        assert one["reason"].endswith(".")


def test_reasons_are_about_scripts_that_dont_pass() -> None:
    reasons = tomllib.loads((kernel_tests.DATA / "reasons.toml").read_text(encoding="utf-8"))
    for end, known in reasons.items():
        failing = {
            name
            for scripts in kernel_tests.read().values()
            for script in scripts
            if script.word(end) not in ("passed", "")
            for name in (script.name, script.kind)
        }
        assert set(known) <= failing, end


def test_scripts_have_the_names_and_kinds_of_their_folders() -> None:
    cases = {
        "/x/gtests/net/tcp/fast_recovery/prr-ss.pkt": ("fast_recovery/prr-ss", "fast_recovery"),
        "/x/gtests/net/psp/psp-ofo.pkt": ("psp/psp-ofo", "psp"),
        "/x/packetdrill/tcp_slow_start_slow-start-app.pkt": (
            "slow_start_slow-start-app",
            "slow_start",
        ),
        "/x/packetdrill/tcp_accecn_noopt.pkt": ("accecn_noopt", "accecn"),
        "/x/packetdrill/tcp_ooo-before.pkt": ("ooo-before", "ooo"),
    }
    for path, expected in cases.items():
        script = Path(path)
        found = (collect_kernel_tests.name(script), collect_kernel_tests.kind(script))
        assert found == expected
