"""Builds a kernel as a User-Mode Linux program and keeps it in the cache."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Protocol

from narrows.backends.linux.directory import run_directory
from narrows.backends.linux.tools import traffic_tool
from narrows.backends.uml.kernels import BINARY, LIBRARY, METADATA, Kernel, kernels_directory
from narrows.backends.uml.machine import GUEST_DIRECTORY, Program, boot, console
from narrows.errors import InputError, NarrowsError
from narrows.store.owned import owned_directory

DEFAULT_PACKAGE = "linux-source-6.12"
PACKAGES = "build-essential flex bison bc xz-utils libelf-dev libssl-dev"
"""The Debian packages that a build needs."""
_PROGRAMS = ("make", "gcc", "flex", "bison", "bc", "xz", "tar")
_SOURCES = Path("/usr/src")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_STEPS = 1150
"""About as many lines as make prints for the kernel; only for the progress."""
_HZ = 250
"""Debian's; User-Mode Linux would take 100."""
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
    """Hears what a build is doing."""

    def __call__(self, step: str, fraction: float, /) -> None:
        """`step` in words; `fraction` of the whole that is done, from 0 to 1."""


def build(
    name: str | None = None,
    *,
    source: Path | None = None,
    debian: str | None = None,
    config: Path | None = None,
    jobs: int | None = None,
    progress: BuildProgress = lambda _step, _fraction: None,
) -> Kernel:
    """Builds the kernel of a source tree, or of a Debian source package that is installed.

    The kernel replaces an older one of the same `name` (by default that of the
    package or tree). `config` is a file with further CONFIG_ lines, such as the
    tree's own controls. The tree isn't written to. Raises InputError if
    something is missing, NarrowsError if the kernel can't be built.
    """
    _check_programs()
    origin = _origin(source, debian)
    name = name or _default_name(origin)
    if not _NAME.fullmatch(name):
        raise InputError.at("--name", f'"{name}"', "a short word such as linux-6.12")
    traffic_tool()
    with owned_directory(kernels_directory() / name) as place:
        if origin.is_dir():
            tree = origin
        else:
            progress("unpacking the sources", 0.0)
            tree = _unpack(origin, place / "tree")
        progress("configuring", 0.1)
        objects = place / "objects"
        _configure(tree, objects, config)
        _make(tree, objects, jobs or os.cpu_count() or 1, progress)
        progress("trying it", 0.97)
        kernel = _install(objects, name, origin, place / "kernel")
    progress("done", 1.0)
    return kernel


def _check_programs() -> None:
    missing = [program for program in _PROGRAMS if shutil.which(program) is None]
    if missing:
        remedy = f"a machine with them (Debian: apt install {PACKAGES})"
        raise InputError.at("kernel build", f"no {', '.join(missing)}", remedy)


def _origin(source: Path | None, debian: str | None) -> Path:
    """A tree, or the archive of a Debian package."""
    if source is not None:
        if not (source / "arch" / "um" / "Kconfig").is_file():
            raise InputError.at("--source", f"{source}, no kernel tree", "a Linux source tree")
        return source.resolve()
    package = debian or DEFAULT_PACKAGE
    archive = _SOURCES / f"{package}.tar.xz"
    if not re.fullmatch(r"linux-source-[\w.]+", package) or not archive.is_file():
        remedy = f"an installed source package (apt install {DEFAULT_PACKAGE}) or --source TREE"
        raise InputError.at("--debian", f"{package}, which isn't at {archive}", remedy)
    return archive


def _default_name(origin: Path) -> str:
    return origin.name.removesuffix(".tar.xz").replace("linux-source-", "linux-")


def _unpack(archive: Path, into: Path) -> Path:
    into.mkdir()
    _call(["tar", "-xJf", str(archive), "--strip-components=1", "-C", str(into)], "the sources")
    return into


def _configure(tree: Path, objects: Path, config: Path | None) -> None:
    """The smallest kernel with our fragment; fails if a part of it that we need didn't hold."""
    objects.mkdir()
    fragment = _resource("kernel.config").read_text(encoding="utf-8")
    if config is not None:
        fragment += "\n" + config.read_text(encoding="utf-8")
    (objects / "fragment").write_text(fragment, encoding="utf-8")
    (objects / "Kconfig.narrows").write_text(_kconfig(tree), encoding="utf-8")
    all_ = f"KCONFIG_ALLCONFIG={objects / 'fragment'}"
    _call([*_command(tree, objects), all_, "allnoconfig"], "the configuration")
    settled = (objects / ".config").read_text(encoding="utf-8").splitlines()
    lost = [option for option in _REQUIRED if f"{option}=y" not in settled]
    if lost:
        raise NarrowsError(f"this kernel can't be used: it has no {', '.join(lost)}")


def _kconfig(tree: Path) -> str:
    """The tree's own top file with our clock rate before its: the first default counts."""
    text = (tree / "Kconfig").read_text(encoding="utf-8")
    start = text.index("source ")
    return f"{text[:start]}config HZ\n\tint\n\tdefault {_HZ}\n\n{text[start:]}"


_SAME_FOR_ALL = (
    "KBUILD_BUILD_TIMESTAMP=1970-01-01",
    "KBUILD_BUILD_USER=narrows",
    "KBUILD_BUILD_HOST=narrows",
    "KBUILD_BUILD_VERSION=1",
)
"""Otherwise the kernel would hold who built it and when, and two builds would differ."""


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
        raise NarrowsError(f"the kernel can't be built:\n{_last_lines(log.read_text())}")


def _install(objects: Path, name: str, origin: Path, place: Path) -> Kernel:
    """Collects the program and what goes with it, boots it, and puts it in the cache."""
    place.mkdir()
    shutil.copy2(objects / BINARY, place / BINARY)
    shutil.copy2(objects / ".config", place / "config")
    with resources.as_file(_resource("host.c")) as code:
        library = place / LIBRARY
        _call(["gcc", "-O2", "-shared", "-fPIC", "-o", str(library), str(code)], "host.c")
    release, ccas, parameters = _probe(Program(place / BINARY, place / LIBRARY))
    digest = hashlib.sha256((place / BINARY).read_bytes()).hexdigest()
    built = datetime.now(UTC).isoformat(timespec="seconds")
    kernel = Kernel(name, release, digest, ccas, parameters, str(origin), built)
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
    """The release, the controls and their parameters, as the kernel itself tells."""
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


def _call(command: Sequence[str], what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise NarrowsError(f"{what} failed:\n{_last_lines(done.stdout + done.stderr)}")


def _last_lines(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-15:])
