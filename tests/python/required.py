"""Things that tests need and a machine may lack: a test is skipped without them, or fails.

`NARROWS_REQUIRE=uml,tshark` names those that must be there, `NARROWS_REQUIRE=all` means each: a
test that would be skipped for want of one fails then.
"""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from browser import CHROMIUM

from narrows.backends import get_backend
from narrows.backends.uml import get_kernel, kernels
from narrows.errors import InputError
from narrows.kernel_tests import choose_kernel

VARIABLE = "NARROWS_REQUIRE"
ROOT = Path(__file__).resolve().parents[2]
MODULES = ("gymnasium", "cmaes", "distributed", "obstore")
"""Python packages of extras."""
PROGRAMS = ("curl", "faketime", "iperf3", "node", "openssl", "sudo", "tshark")
"""Programs on the PATH."""
OTHERS = ("ebpf", "moto", "on-time", "programs", "root", "site", "unshare")
"""Requirements that the tests themselves look for, by `require`."""


@cache
def uml_missing() -> str:
    """Says what `uml` lacks; empty if a kernel is built."""
    usual = [kernel for kernel in kernels() if kernel.has_usual_options]
    return "" if usual else "no User-Mode Linux kernel: `narrows kernel build` makes one"


@cache
def tests_missing() -> str:
    """Says what is missing for packetdrill scripts; empty if a kernel for them is built."""
    try:
        choose_kernel(None)
    except InputError as error:
        return str(error)
    return ""


@cache
def kernel_missing() -> str:
    """Says what this machine lacks to run scenarios on its own kernel; empty if nothing."""
    try:
        get_backend("kernel")
    except InputError as error:
        return str(error)
    return ""


def playground_missing() -> str:
    """Says what the playground's tests lack: the page that `make playground` makes."""
    built = ROOT / "target" / "playground" / "narrows.wasm"
    return "" if built.exists() else "the playground isn't built: make playground"


def modules_missing() -> str:
    """Says what `uml` lacks to load kernel modules; empty if nothing."""
    able = not uml_missing() and get_kernel().module_tree.is_file()
    return "" if able else "no User-Mode Linux kernel with what modules need"


def _program(name: str) -> Callable[[], str]:
    return lambda: "" if shutil.which(name) else f"{name} isn't on the PATH"


MISSING: Mapping[str, Callable[[], str]] = {
    "uml": uml_missing,
    "kernel": kernel_missing,
    "uml-modules": modules_missing,
    "uml-tests": tests_missing,
    "playground": playground_missing,
    "chromium": lambda: "" if CHROMIUM else "no Chromium is installed",
    **{name: _program(name) for name in PROGRAMS},
}
"""The missing part of each, in a sentence; empty if nothing is missing."""
KNOWN = (*MISSING, *MODULES, *OTHERS)


def needs(*names: str) -> pytest.MarkDecorator:
    """Marks a test that needs some of `MISSING`."""
    unknown = set(names) - set(MISSING)
    if unknown:
        raise ValueError(f"no test can need {', '.join(sorted(unknown))}")
    return pytest.mark.needs(*names)


def require(name: str, missing: str) -> None:
    """Skips a test, or a file of tests, if something is `missing`; fails if it has to be there."""
    if not missing:
        return
    if name in read_required():
        pytest.fail(f"{missing}; {VARIABLE} names {name}", pytrace=False)
    pytest.skip(f"{name}: {missing}", allow_module_level=True)


def module(name: str) -> ModuleType:
    """A Python package of an extra; without it the file is skipped, or fails."""
    try:
        return importlib.import_module(name)
    except ImportError:
        require(name, f"the package {name} isn't installed")
        raise


def read_required() -> tuple[str, ...]:
    """The requirements named by the environment; raises ValueError for unknown names."""
    names = tuple(filter(None, os.environ.get(VARIABLE, "").replace(" ", "").split(",")))
    if unknown := [name for name in names if name not in (*KNOWN, "all")]:
        raise ValueError(f"{VARIABLE}: found {', '.join(unknown)}; of {', '.join(KNOWN)} or all")
    return KNOWN if "all" in names else names
