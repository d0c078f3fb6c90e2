"""Builds controls as kernel modules, once for each kernel, and loads them in its guests."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from narrows.backends.linux.directory import run_directory
from narrows.backends.linux.tools import traffic_tool, which
from narrows.backends.uml.kernels import METADATA, BuiltKernel
from narrows.backends.uml.machine import GUEST_DIRECTORY, Program, boot, console
from narrows.backends.uml.module_tree import unpack
from narrows.backends.uml.origin import last_lines
from narrows.errors import InputError, NarrowsError, SpecError
from narrows.spec.kernel_program import is_module
from narrows.spec.scenario import Flow, Scenario
from narrows.store.owned import owned_directory

_FILE = "control.ko"
_AVAILABLE = "/proc/sys/net/ipv4/tcp_available_congestion_control"
_PROBE = """\
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
cat {available} > {out}/before
insmod {module} 2> {out}/said && cat {available} > {out}/after
exec {tool} power-off
"""


@dataclass(frozen=True)
class Module:
    """A built module: the name of its control in the kernel, and what it was made from."""

    name: str
    source_sha256: str
    object_sha256: str
    file: Path

    def as_conditions(self) -> dict[str, str]:
        """Describes the module for the conditions of a run."""
        return {key: value for key, value in asdict(self).items() if key != "file"}


def check(scenario: Scenario, kernels: Sequence[BuiltKernel]) -> None:
    """Raises InputError if this machine or a kernel lacks the tools to build modules."""
    if not any(is_module(flow["cca"]) for flow in scenario["flows"]):
        return
    packages = {"make": "build-essential", "gcc": "build-essential", "insmod": "kmod"}
    if missing := [name for name in packages if which(name) is None]:
        wanted = " ".join(dict.fromkeys(packages[name] for name in missing))
        found = f"a control as a kernel module, but no {', '.join(missing)}"
        raise InputError.at("--backend", found, f"`apt install {wanted}`")
    for kernel in kernels:
        if not kernel.module_tree.is_file():
            found = f"the kernel {kernel.name}, which was built without what modules need"
            remedy = "the same once more by `narrows kernel build`"
            raise InputError.at("--backend", found, remedy)


def modules(scenario: Scenario, flows: Sequence[Flow], kernel: BuiltKernel) -> dict[str, Module]:
    """Returns the modules of some flows, by the flows' names for them; builds them if necessary.

    Raises SpecError for a module that can't be built or loaded.
    """
    controls: Mapping[str, Mapping[str, str]] = scenario.get("controls", {})
    wanted = sorted({flow["cca"] for flow in flows if is_module(flow["cca"])})
    return {cca: _module(cca, controls[cca]["text"], kernel) for cca in wanted}


def _module(cca: str, text: str, kernel: BuiltKernel) -> Module:
    mark = hashlib.sha256(text.encode()).hexdigest()
    place = kernel.path / "modules" / mark[:16]
    if not (place / METADATA).is_file():
        with owned_directory(place) as work:
            made = work / "made"
            made.mkdir()
            shutil.copy2(_build(cca, text, kernel, work), made / _FILE)
            known = {
                "name": _probe(cca, kernel, made / _FILE),
                "source_sha256": mark,
                "object_sha256": hashlib.sha256((made / _FILE).read_bytes()).hexdigest(),
            }
            (made / METADATA).write_text(json.dumps(known), encoding="utf-8")
            if not place.exists():
                made.rename(place)
    known = json.loads((place / METADATA).read_text(encoding="utf-8"))
    return Module(**known, file=place / _FILE)


def _build(cca: str, text: str, kernel: BuiltKernel, work: Path) -> Path:
    unpack(kernel.module_tree, work / "tree")
    source = work / "source"
    source.mkdir()
    # No built-in control may have the same name, since the kernel finds controls by name.
    (source / "narrows_own.c").write_text(text, encoding="utf-8")
    (source / "Kbuild").write_text("obj-m := narrows_own.o\n", encoding="utf-8")
    done = subprocess.run(
        ["make", "-C", str(work / "tree"), "ARCH=um", f"M={source}", "modules"],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        said = last_lines((done.stdout + done.stderr).replace(f"{source}/", "").splitlines())
        found = f"C that doesn't build as a module of {kernel.name}:\n{said}\n"
        raise SpecError.at(cca, found, "the source of a kernel module")
    return source / "narrows_own.ko"


def _probe(cca: str, kernel: BuiltKernel, module: Path) -> str:
    """Returns the name of the control that a module adds, as reported by a guest that loads it."""
    with run_directory("uml") as directory:
        script = _PROBE.format(
            out=GUEST_DIRECTORY, tool=traffic_tool(), module=module, available=_AVAILABLE
        )
        (directory / "init").write_text(script, encoding="utf-8")
        boot(Program(kernel.binary, kernel.library), directory, seed=0)
        try:
            before = (directory / "before").read_text(encoding="ascii").split()
        except OSError:
            raise NarrowsError(f"the kernel doesn't boot: {console(directory)}") from None
        after = directory / "after"
        if not after.exists():
            said = (directory / "said").read_text(encoding="utf-8", errors="replace").strip()
            found = f"a module that {kernel.name} refuses: {said}; {console(directory)}"
            raise SpecError.at(cca, found, "one that it loads")
        added = set(after.read_text(encoding="ascii").split()) - set(before)
    if len(added) != 1:
        remedy = "a module that registers one control, with a name of its own"
        raise SpecError.at(cca, f"{len(added)} controls in it", remedy)
    return added.pop()
