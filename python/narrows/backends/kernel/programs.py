"""Compiles eBPF controls, and registers them with the kernel for the duration of a run.

A program of `struct_ops` stays registered until somebody unregisters it, whoever registered it. So
a guardian does both: a shell that waits for the end of its standard input. That end comes however
narrows ends, even by `kill -9`. The guardian runs in its own session, which Ctrl-C doesn't reach.
"""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from narrows.backends.kernel.machine import KernelRunError, available_ccas
from narrows.backends.linux.tools import which
from narrows.errors import InputError, SpecError
from narrows.spec.kernel_program import COMPILED, content, is_program
from narrows.spec.scenario import Scenario

_BTF = Path("/sys/kernel/btf/vmlinux")
HEADERS = Path("/usr/include/bpf/bpf_helpers.h")
"""A header without which nothing compiles."""
_NEEDED = {"clang": "clang", "bpftool": "bpftool"}
"""The required programs, with the Debian package of each."""
_NAME_BYTES = 16
"""Size of the name in a `struct tcp_congestion_ops` (TCP_CA_NAME_MAX)."""
_GUARDIAN = """\
trap '' INT TERM HUP PIPE
told=$("$1" struct_ops register "$2" 2>&1) || { echo "$told" >&2; exit 1; }
ids=$(echo "$told" | sed -n 's/^Registered .* id //p')
echo registered
while read -r _; do :; done
failed=0
for id in $ids; do
    "$1" struct_ops unregister id "$id" >&2 || failed=1
done
exit $failed
"""
_ARCHITECTURES = {"x86_64": "x86", "aarch64": "arm64", "riscv64": "riscv"}
"""Names of machines as the headers of libbpf expect them."""


@dataclass(frozen=True)
class BpfProgram:
    """A registered control: its name in the kernel, and what it was made from."""

    name: str
    source_sha256: str
    object_sha256: str


def controls(scenario: Scenario) -> dict[str, Mapping[str, str]]:
    """Returns the eBPF programs of a scenario, by the names that flows use."""
    named: Mapping[str, Mapping[str, str]] = scenario.get("controls", {})
    return {cca: source for cca, source in named.items() if is_program(cca)}


def check(scenario: Scenario) -> None:
    """Raises InputError if this machine or this user can't run the programs of a scenario."""
    wanted = controls(scenario)
    if not wanted:
        return
    compiling = [cca for cca in wanted if not cca.endswith(COMPILED)]
    needed = dict(_NEEDED) if compiling else {"bpftool": "bpftool"}
    missing = [package for program, package in needed.items() if which(program) is None]
    if compiling and not HEADERS.is_file():
        missing.append("libbpf-dev")
    if missing:
        found = f"a control in eBPF, but no {', '.join(missing)}"
        raise InputError.at("--backend", found, f"`apt install {' '.join(missing)}`")
    if not _BTF.is_file():
        found = f"a kernel without {_BTF}"
        raise InputError.at("--backend", found, "one with CONFIG_DEBUG_INFO_BTF for eBPF controls")
    if os.geteuid() != 0:
        raise InputError.at("--backend", "a control in eBPF and a user who isn't root", "root")


@contextmanager
def register(scenario: Scenario, directory: Path) -> Iterator[dict[str, BpfProgram]]:
    """Keeps the programs of a scenario in the kernel until the end of the block.

    They are compiled in `directory`. Raises SpecError, with the tool's message, for a program that
    can't be compiled or that the kernel refuses.
    """
    with ExitStack() as ends:
        yield {
            cca: ends.enter_context(_register(cca, source, directory / f"program-{number}"))
            for number, (cca, source) in enumerate(sorted(controls(scenario).items()))
        }


@contextmanager
def _register(cca: str, source: Mapping[str, str], directory: Path) -> Iterator[BpfProgram]:
    directory.mkdir()
    given = content(cca, source)
    compiled = _compile(cca, given, directory)
    before = set(available_ccas())
    with _guardian(cca, compiled, directory):
        new = set(available_ccas()) - before
        if len(new) != 1:
            remedy = "a program with one struct tcp_congestion_ops"
            raise SpecError.at(cca, f"{len(new)} controls in it", remedy)
        sums = [hashlib.sha256(data).hexdigest() for data in (given, compiled.read_bytes())]
        yield BpfProgram(new.pop(), *sums)


def _compile(cca: str, given: bytes, directory: Path) -> Path:
    """Returns the program as an object file; C is compiled against this machine's kernel."""
    made = directory / "control.bpf.o"
    if cca.endswith(COMPILED):
        made.write_bytes(given)
        return made
    source = directory / Path(cca).name
    source.write_bytes(given)
    with (directory / "vmlinux.h").open("wb") as header:
        dump = [
            which("bpftool") or "bpftool",
            "btf",
            "dump",
            "file",
            str(_BTF),
            "format",
            "c",
        ]
        subprocess.run(dump, stdout=header, stderr=subprocess.DEVNULL, check=True)
    architecture = _ARCHITECTURES.get(platform.machine(), platform.machine())
    command = [
        "clang",
        "-O2",
        "-g",
        "-target",
        "bpf",
        "-fdebug-compilation-dir=.",
        f"-D__TARGET_ARCH_{architecture}",
    ]
    done = subprocess.run(
        [*command, "-I", ".", "-c", source.name, "-o", made.name],
        cwd=directory,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise SpecError.at(
            cca, f"C that clang refuses:\n{_last_lines(done.stderr)}\n", "C that it takes"
        )
    return made


@contextmanager
def _guardian(cca: str, compiled: Path, directory: Path) -> Iterator[None]:
    """Keeps the program registered until the end of the block, or of this process."""
    log = directory / "log"
    with log.open("w", encoding="utf-8") as said:
        guardian = subprocess.Popen(
            ["sh", "-c", _GUARDIAN, "sh", which("bpftool") or "bpftool", str(compiled)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            start_new_session=True,
        )
    with guardian:
        assert guardian.stdin is not None  # noqa: S101 (for the type checker)
        assert guardian.stdout is not None  # noqa: S101
        try:
            if not guardian.stdout.readline().startswith("registered"):
                raise _refusal(cca, compiled, log.read_text(encoding="utf-8", errors="replace"))
            yield
        finally:
            guardian.stdin.close()
            failed = guardian.wait() != 0
    if failed:
        raise KernelRunError(f"{cca} stayed in the kernel: {_last_lines(log.read_text())}")


def _refusal(cca: str, compiled: Path, said: str) -> SpecError:
    """Explains why the kernel didn't register a program: perhaps its name is taken."""
    data = compiled.read_bytes()
    for name in available_ccas():
        if name.encode().ljust(_NAME_BYTES, b"\0") in data:
            remedy = (
                f"another name (or `bpftool struct_ops unregister name {name}`, if it was left)"
            )
            return SpecError.at(cca, f'"{name}", which the kernel has already', remedy)
    found = f"a program that the kernel refuses:\n{_last_lines(said)}\n"
    return SpecError.at(cca, found, "one that it takes")


def _last_lines(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-12:])
