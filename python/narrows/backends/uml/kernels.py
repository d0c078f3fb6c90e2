"""The built kernels, each in its own directory in the user's cache."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from narrows.backends.linux.versions import kernel_version
from narrows.backends.uml.module_tree import ARCHIVE
from narrows.cached import cache_directory, private_directory
from narrows.errors import InputError
from narrows.spec.suggest import one_of

METADATA = "kernel.json"
BINARY = "linux"
LIBRARY = "host.so"
DEFAULT_PROFILE = "linux-6.12"
"""The profile of a specification that names none."""


@dataclass(frozen=True)
class BuiltKernel:
    """A kernel that can be booted.

    `release` is the kernel's own (`uname -r`), `digest` the SHA-256 of the program, `ccas` the
    controls in `tcp_available_congestion_control`, `parameters` their module parameters
    ("tcp_cubic.hystart"), `source` the sources, `built` the time of the build, `patches` the names
    of the patches, `fingerprint` the SHA-256 of everything that the build used.
    """

    name: str
    release: str
    digest: str
    ccas: tuple[str, ...]
    parameters: tuple[str, ...]
    source: str
    built: str
    patches: tuple[str, ...] = ()
    fingerprint: str = ""

    @property
    def path(self) -> Path:
        """The kernel's directory."""
        return kernels_directory() / self.name

    @property
    def binary(self) -> Path:
        """The kernel as a program."""
        return self.path / BINARY

    @property
    def library(self) -> Path:
        """The library between the program and its host; see host.c."""
        return self.path / LIBRARY

    @property
    def module_tree(self) -> Path:
        """The tree for building modules; see `narrows.backends.uml.module_tree`."""
        return self.path / ARCHIVE

    @property
    def version(self) -> tuple[int, int]:
        """The first two numbers of the release."""
        return kernel_version(self.release)

    @property
    def profile(self) -> str:
        """The profile of the simulator that has the same TCP, such as "linux-6.12"."""
        return "linux-{}.{}".format(*self.version)

    @property
    def has_usual_options(self) -> bool:
        """Returns True if it was built without special options, such as those for scripts."""
        return " with " not in self.source

    @property
    def is_stock(self) -> bool:
        """Returns True if the kernel was built from a distribution's unchanged sources."""
        return self.source.endswith(".tar.xz") and not self.patches

    def write(self, directory: Path) -> None:
        """Writes the description beside the program in `directory`."""
        text = json.dumps(asdict(self), indent=1)
        (directory / METADATA).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def read(cls, directory: Path) -> Self:
        """Reads the description of the kernel in `directory`; raises OSError or ValueError."""
        if not (directory / LIBRARY).is_file():
            raise ValueError(f"{directory}: incomplete")
        known: dict[str, Any] = json.loads((directory / METADATA).read_text(encoding="utf-8"))
        try:
            return cls(
                name=directory.name,
                release=known["release"],
                digest=known["digest"],
                ccas=tuple(known["ccas"]),
                parameters=tuple(known["parameters"]),
                source=known["source"],
                built=known["built"],
                patches=tuple(known.get("patches", ())),
                fingerprint=known.get("fingerprint", ""),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"{directory}: incomplete") from error


def kernels_directory() -> Path:
    """Returns the directory of the kernels."""
    return cache_directory() / "kernels"


def kernels() -> list[BuiltKernel]:
    """Returns all built kernels, by name."""
    found = []
    for metadata in sorted(kernels_directory().glob(f"*/{METADATA}")):
        try:
            found.append(BuiltKernel.read(metadata.parent))
        except (OSError, ValueError):
            continue
    return found


def get_kernel(name: str | None = None, place: str = "--backend") -> BuiltKernel:
    """Returns the kernel called `name`, or without a name the default one.

    The default is the kernel of `DEFAULT_PROFILE` that was built last, preferably a distribution's
    own. If no kernel has this profile, the default is chosen from all kernels with the usual
    options. Raises InputError at `place` if there is none.
    """
    known = {kernel.name: kernel for kernel in kernels()}
    usual = [kernel for kernel in known.values() if kernel.has_usual_options]
    if not known or (name is None and not usual):
        found = '"uml", for which no kernel is built yet'
        remedy = (
            "`narrows kernel build` first (minutes, once), or one that needs no build, "
            '"kernel" (this machine\'s Linux, in real time) or "sim",'
        )
        raise InputError.at("--backend", found, remedy)
    private_directory(kernels_directory(), place)
    if name is None:
        return max(usual, key=_preference)
    if name not in known:
        raise InputError.at(place, f'the kernel "{name}", unknown', one_of(name, known))
    return known[name]


def _preference(kernel: BuiltKernel) -> tuple[bool, bool, str]:
    return kernel.profile == DEFAULT_PROFILE, kernel.is_stock, kernel.built


def kernel_of_profile(profile: str, place: str) -> BuiltKernel:
    """Returns the kernel with this profile, preferably a distribution's.

    Raises InputError at `place` if there is none.
    """
    fitting = [one for one in kernels() if one.profile == profile and one.has_usual_options]
    if not fitting:
        have = ", ".join(sorted({kernel.profile for kernel in kernels()})) or "none"
        remedy = f"a profile whose kernel was built (`narrows kernel build`; here: {have})"
        raise InputError.at(place, f'"{profile}"', remedy)
    return max(fitting, key=_preference)
