"""The page about the kernel's own tests is the one that its data make."""

from __future__ import annotations

import tomllib
from pathlib import Path

import collect_kernel_tests
import repeat_kernel_tests
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


def test_rounds_are_counted_under_the_same_conditions_only(tmp_path: Path) -> None:
    file = tmp_path / "linux-9.9-tests.json"
    conditions = {"kernel": "9.9.1 0123456789ab", "load": 15, "processors": 2}
    for mark in ("a", "a", "b"):
        counts = repeat_kernel_tests.add(file, conditions, mark, 2.0)
    assert counts == {"a": 2, "b": 1}
    row = "linux-9.9-tests (9.9.1 0123456789ab) | 3 | 2 | 15 busy processes on 2 processors | 2.0"
    assert f"| {row} |" in kernel_tests.repetitions(tmp_path)
    assert repeat_kernel_tests.add(file, conditions | {"load": 0}, "b", 1.0) == {"b": 1}


def test_the_load_ends_with_the_block() -> None:
    with repeat_kernel_tests.busy(2) as started:
        assert [process.poll() for process in started] == [None, None]
    assert all(process.poll() is not None for process in started)
