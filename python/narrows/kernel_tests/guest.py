"""Plays a script in a guest, over one protocol after the other."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from narrows.backends.linux.directory import run_directory
from narrows.backends.uml.kernels import BuiltKernel
from narrows.backends.uml.machine import (
    GUEST_DIRECTORY,
    LOG,
    SCRIPT,
    GuestError,
    Program,
    boot,
    complain,
)
from narrows.kernel_tests.modes import MODES
from narrows.kernel_tests.scripts import ScriptCase
from narrows.kernel_tests.verdict import BROKEN, ScriptVerdict

_SEED = 1
_SECCOMP = (6, 16)
"""From this version on, guests can run processes by seccomp instead of ptrace, for 2/3 of the CPU
time.
"""
_HOST = f"{GUEST_DIRECTORY}/host"
"""Where the guest mounts the host's files a second time, as its own /tmp hides the host's."""
_INIT = """\
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp
exec {drill} guest {here} {jobs} > {here}/{log} 2>&1
"""


def play(case: ScriptCase, kernel: BuiltKernel, drill: Path) -> list[ScriptVerdict]:
    """Plays a script over each of its protocols in one guest, with the program `drill`."""
    with run_directory("uml") as directory:
        for mode in case.modes:
            text = json.dumps(_job(case, mode))
            (directory / f"{mode}.json").write_text(text, encoding="utf-8")
        jobs = [f"{GUEST_DIRECTORY}/{mode}.json" for mode in case.modes]
        (directory / SCRIPT).write_text(_init(drill, jobs), encoding="utf-8")
        try:
            program = Program(kernel.binary, kernel.library)
            boot(program, directory, seed=_SEED, parameters=_parameters(kernel))
            complain(directory)
            trouble = "the guest wrote no result"
        except GuestError as error:
            trouble = str(error)
        return [_read(directory, case, mode, trouble) for mode in case.modes]


def _parameters(kernel: BuiltKernel) -> tuple[str, ...]:
    """Words of the command line that let a guest's processes run faster, with the same verdicts."""
    return ("seccomp=on",) if kernel.version >= _SECCOMP else ()


def _init(drill: Path, jobs: list[str]) -> str:
    program = shlex.quote(str(drill))
    return _INIT.format(drill=program, here=GUEST_DIRECTORY, jobs=" ".join(jobs), log=LOG)


def _job(case: ScriptCase, name: str) -> dict[str, Any]:
    mode = MODES[name]
    return {
        "script": f"{_HOST}{case.script}",
        "ip_version": name,
        "defines": dict(mode.words),
        "addresses": {
            "local": mode.local,
            "prefix": mode.prefix,
            "gateway": mode.gateway,
            "remote": mode.remote,
        },
        "fixed_addresses": case.fixed_addresses,
        "mtu": mode.mtu,
        "result": f"{GUEST_DIRECTORY}/{name}.result",
        "capture": f"{GUEST_DIRECTORY}/{name}.pcapng",
    }


def _read(directory: Path, case: ScriptCase, mode: str, trouble: str) -> ScriptVerdict:
    try:
        found = json.loads((directory / f"{mode}.result").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ScriptVerdict(case.name, mode, BROKEN, message=trouble)
    line, column = found["at"] or (None, None)
    capture = directory / f"{mode}.pcapng"
    return ScriptVerdict(
        case.name,
        mode,
        found["verdict"],
        line,
        column,
        found["message"],
        tuple(found["printed"]),
        found["events"],
        capture.read_bytes() if capture.is_file() else b"",
    )
