"""Makes captures of known cause: `make.py SET DIRECTORY [KERNEL]`, with SET of `cases.SETS`.

Each case runs on a real Linux in virtual time (a User-Mode Linux, from `narrows kernel build`), so
the captures depend neither on the machine nor on its load. A directory per case gets case.json,
sender.pcapng and receiver.pcapng; those that exist are left alone.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

from cases import CaptureCase, cases
from network import init_script

from narrows.backends.uml.kernels import get_kernel
from narrows.backends.uml.machine import GUEST_DIRECTORY, SCRIPT, Program, boot, complain

PROGRAM = "guest.py"
KEPT = ("case.json", "sender.pcapng", "receiver.pcapng")


def make(case: CaptureCase, program: Program, final: Path) -> float:
    """Runs a case in a guest and keeps its captures; returns the CPU seconds."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "case.json").write_text(json.dumps(case, indent=1) + "\n", encoding="utf-8")
        shutil.copy(Path(__file__).parent / PROGRAM, directory)
        python = str(Path(sys.executable).resolve())
        script = init_script(case, GUEST_DIRECTORY, python, PROGRAM)
        (directory / SCRIPT).write_text(script, encoding="utf-8")
        begin = time.monotonic()
        spent = boot(
            program, directory, seed=case["seed"], watch=lambda: (time.monotonic() - begin) // 100
        )
        complain(directory)
        final.mkdir(parents=True)
        for kept in KEPT:
            shutil.copy(directory / kept, final)
        return spent


def main() -> None:
    """Makes the captures of a set."""
    name, directory, *kernels = sys.argv[1:]
    kernel = get_kernel(kernels[0] if kernels else None)
    program = Program(kernel.binary, kernel.library)
    for case in cases(name):
        final = Path(directory) / case["name"]
        if not final.exists():
            spent = make(case, program, final)
            print(f"{case['name']} {case['cause']}: {spent:.1f} s", flush=True)


if __name__ == "__main__":
    main()
