"""Builds a kernel as a User-Mode Linux program, and keeps it in the cache."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Protocol

from narrows.backends.linux.directory import run_directory
from narrows.backends.linux.tools import traffic_tool
from narrows.backends.uml.kernels import (
    BINARY,
    LIBRARY,
    METADATA,
    BuiltKernel,
    kernels,
    kernels_directory,
)
from narrows.backends.uml.machine import GUEST_DIRECTORY, Program, boot, console
from narrows.backends.uml.module_tree import ARCHIVE, pack
from narrows.backends.uml.origin import Origin, call, find_origin, last_lines
from narrows.backends.uml.packages import DEFAULT_PACKAGE, check_machine
from narrows.errors import InputError, NarrowsError
from narrows.store.owned import owned_directory

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_STEPS = 1150
"""The approximate number of lines that make prints for a kernel, to estimate the progress."""
_HZ = 250
"""The clock rate, as Debian's; User-Mode Linux would take 100. A file of options may change it."""
_REQUIRED = (
    "CONFIG_UML_TIME_TRAVEL_SUPPORT",
    "CONFIG_HIGH_RES_TIMERS",
    "CONFIG_HOSTFS",
    "CONFIG_NET_NS",
    "CONFIG_VETH",
    "CONFIG_NET_SCH_TBF",
    "CONFIG_NET_SCH_NETEM",
)
_PROBE = """\
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc && mount -t sysfs sys /sys
uname -r > {out}/release
cat /proc/sys/net/ipv4/tcp_available_congestion_control > {out}/ccas
for p in /sys/module/tcp_*/parameters/*; do echo $p; done > {out}/parameters
exec {tool} power-off
"""


class BuildProgress(Protocol):
    """Receives the progress of a build."""

    def __call__(self, step: str, fraction: float, /) -> None:
        """Receives the `step` in words, and the `fraction` that is done, from 0 to 1."""


def build(
    name: str | None = None,
    *,
    source: Path | None = None,
    debian: str | None = None,
    patches: Sequence[Path] = (),
    config: Path | None = None,
    jobs: int | None = None,
    force: bool = False,
    progress: BuildProgress = lambda _step, _fraction: None,
) -> BuiltKernel:
    """Builds the kernel of a source tree, or of a Debian source package that is installed.

    The `patches` are applied in order to a copy; the tree isn't changed. `config` is a file with
    further CONFIG_ lines. The kernel replaces an older one of the same `name` (by default that of
    the package or tree, and of the patches). A kernel built from the same contents before is
    reused, unless `force` is given. Raises InputError if something is missing, NarrowsError if the
    kernel can't be built.
    """
    check_machine((debian or DEFAULT_PACKAGE) if source is None else None)
    origin = find_origin(source, debian or DEFAULT_PACKAGE, patches, config)
    name = name or origin.name
    if not _NAME.fullmatch(name):
        raise InputError.at("--name", f'"{name}"', "a short word such as linux-6.12")
    traffic_tool()
    progress("reading the sources", 0.0)
    fingerprint = origin.fingerprint(_recipe())
    known = None if force else _built_before(fingerprint, name)
    with owned_directory(kernels_directory() / name) as place:
        if known is not None:
            kernel = _take_existing(known, name, place / "kernel")
        else:
            kernel = compile_kernel(origin, name, fingerprint, place, jobs, progress)
    progress("done", 1.0)
    return kernel


def compile_kernel(
    origin: Origin,
    name: str,
    fingerprint: str,
    place: Path,
    jobs: int | None,
    progress: BuildProgress,
) -> BuiltKernel:
    """Compiles the sources of a kernel in `place`, and keeps the files for building modules."""
    progress("unpacking the sources", 0.02)
    tree = origin.prepare(place / "tree")
    progress("configuring", 0.1)
    objects = place / "objects"
    _configure(tree, objects, origin.config)
    _make(tree, objects, jobs or os.cpu_count() or 1, progress)
    progress("keeping what modules need", 0.96)
    call([*_command(tree, objects), "modules_prepare"], "what modules need")
    pack(tree, objects, objects / ARCHIVE)
    progress("trying it", 0.97)
    return _install(objects, name, origin, fingerprint, place / "kernel")


def _recipe() -> str:
    """Returns the build recipe: this code, these options, this library and this compiler."""
    gcc = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=False)
    parts = [gcc.stdout.partition("\n")[0], str(_HZ), str(_SAME_FOR_ALL), str(_RECIPE)]
    parts += [_resource(name).read_text(encoding="utf-8") for name in ("kernel.config", "host.c")]
    return "\0".join(parts)


def _built_before(fingerprint: str, name: str) -> BuiltKernel | None:
    """Returns a kernel built from the same contents, preferably the one of this name."""
    found = (kernel for kernel in kernels() if kernel.fingerprint == fingerprint)
    # Earlier versions of this program kept no files for building modules.
    same = [kernel for kernel in found if kernel.module_tree.is_file()]
    return min(same, key=lambda kernel: kernel.name != name, default=None)


def _take_existing(known: BuiltKernel, name: str, place: Path) -> BuiltKernel:
    """Reuses an existing kernel, with a copy if it has another name."""
    if known.name == name:
        return known
    shutil.copytree(known.path, place)
    kernel = replace(known, name=name)
    kernel.write(place)
    _replace(kernel.path, place)
    return kernel


def _configure(tree: Path, objects: Path, config: Path | None) -> None:
    """Configures the smallest kernel with our fragment; fails if a needed part was dropped."""
    objects.mkdir()
    fragment = _resource("kernel.config").read_text(encoding="utf-8") + _own_controls(tree)
    fragment += _root_support(tree)
    if config is not None:
        fragment += "\n" + config.read_text(encoding="utf-8")
    (objects / "fragment").write_text(fragment, encoding="utf-8")
    (objects / "Kconfig.narrows").write_text(_kconfig(tree, _hz(fragment)), encoding="utf-8")
    all_ = f"KCONFIG_ALLCONFIG={objects / 'fragment'}"
    call([*_command(tree, objects), all_, "allnoconfig"], "the configuration")
    settled = (objects / ".config").read_text(encoding="utf-8").splitlines()
    lost = [option for option in _REQUIRED if f"{option}=y" not in settled]
    if lost:
        raise NarrowsError(f"this kernel can't be used: it has no {', '.join(lost)}")


def _own_controls(tree: Path) -> str:
    """Returns options that build in every congestion control of the tree, even those of patches."""
    options = (tree / "net" / "ipv4" / "Kconfig").read_text(encoding="utf-8")
    names = re.findall(r"^config (TCP_CONG_\w+)$", options, re.MULTILINE)
    return "".join(f"CONFIG_{name}=y\n" for name in names)


def _root_support(tree: Path) -> str:
    """Returns the option that old kernels, such as 5.10, need to mount any root.

    Later kernels mount a root without a block device by `mount_nodev_root`.
    """
    mounts = (tree / "init" / "do_mounts.c").read_text(encoding="utf-8")
    return "" if "mount_nodev_root" in mounts else "CONFIG_BLOCK=y\n"


def _hz(fragment: str) -> int:
    """Returns the clock rate, CONFIG_HZ of a file of options.

    User-Mode Linux wouldn't ask for it.
    """
    found = re.findall(r"^CONFIG_HZ=(\d+)$", fragment, re.MULTILINE)
    return int(found[-1]) if found else _HZ


def _kconfig(tree: Path, hz: int) -> str:
    """Returns the tree's top Kconfig with our clock rate first, since the first default counts."""
    text = (tree / "Kconfig").read_text(encoding="utf-8")
    start = text.index("source ")
    return f"{text[:start]}config HZ\n\tint\n\tdefault {hz}\n\n{text[start:]}"


_RECIPE = 1
"""The version of this recipe; increase it when a change of this code changes the kernels."""
_SAME_FOR_ALL = (
    "KBUILD_BUILD_TIMESTAMP=1970-01-01",
    "KBUILD_BUILD_USER=narrows",
    "KBUILD_BUILD_HOST=narrows",
    "KBUILD_BUILD_VERSION=1",
)
"""Settings that keep the kernel from recording who built it and when, so that builds are equal."""


def _command(tree: Path, objects: Path) -> list[str]:
    kconfig = f"KBUILD_KCONFIG={objects / 'Kconfig.narrows'}"
    return ["make", "-C", str(tree), f"O={objects}", "ARCH=um", kconfig, *_SAME_FOR_ALL]


def _make(tree: Path, objects: Path, jobs: int, progress: BuildProgress) -> None:
    log = objects / "build.log"
    command = ["nice", "-n", "10", *_command(tree, objects), f"-j{jobs}", BINARY]
    with (
        log.open("w", encoding="utf-8") as file,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        ) as make,
    ):
        assert make.stdout is not None  # noqa: S101 (for the type checker)
        for count, line in enumerate(make.stdout):
            file.write(line)
            progress("compiling", 0.12 + 0.85 * min(1.0, count / _STEPS))
    if make.returncode:
        said = last_lines(log.read_text(encoding="utf-8", errors="replace").splitlines())
        raise NarrowsError(f"the kernel can't be built:\n{said}")


def _install(
    objects: Path, name: str, origin: Origin, fingerprint: str, place: Path
) -> BuiltKernel:
    """Collects the program and its files, boots it, and puts it in the cache."""
    place.mkdir()
    shutil.copy2(objects / BINARY, place / BINARY)
    shutil.copy2(objects / ".config", place / "config")
    shutil.copy2(objects / ARCHIVE, place / ARCHIVE)
    with resources.as_file(_resource("host.c")) as code:
        library = place / LIBRARY
        call(["gcc", "-O2", "-shared", "-fPIC", "-o", str(library), str(code)], "host.c")
    release, ccas, parameters = _probe(Program(place / BINARY, place / LIBRARY))
    digest = hashlib.sha256((place / BINARY).read_bytes()).hexdigest()
    built = datetime.now(UTC).isoformat(timespec="seconds")
    patches = tuple(patch.name for patch in origin.patches)
    kernel = BuiltKernel(
        name, release, digest, ccas, parameters, str(origin), built, patches, fingerprint
    )
    kernel.write(place)
    _replace(kernel.path, place)
    return kernel


def _replace(final: Path, place: Path) -> None:
    if final.exists():
        if any(final.iterdir()) and not (final / METADATA).is_file():
            raise InputError.at("--name", f"{final}, which holds no kernel", "another name")
        shutil.rmtree(final)
    place.rename(final)


def _probe(program: Program) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Boots the kernel, which reports its release, its controls and their parameters."""
    with run_directory("uml") as directory:
        script = _PROBE.format(out=GUEST_DIRECTORY, tool=traffic_tool())
        (directory / "init").write_text(script, encoding="utf-8")
        boot(program, directory, seed=0)
        try:
            release = (directory / "release").read_text(encoding="ascii").strip()
            ccas = (directory / "ccas").read_text(encoding="ascii").split()
            paths = (directory / "parameters").read_text(encoding="ascii").split()
        except OSError:
            raise NarrowsError(f"the kernel doesn't boot: {console(directory)}") from None
    parts = [path.split("/") for path in paths if "*" not in path]
    return release, tuple(sorted(ccas)), tuple(sorted(f"{p[3]}.{p[5]}" for p in parts))


def _resource(name: str) -> resources.abc.Traversable:
    return resources.files("narrows.backends.uml").joinpath(name)
