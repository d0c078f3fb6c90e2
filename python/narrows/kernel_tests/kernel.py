"""Kernels that can play scripts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from importlib import resources
from pathlib import Path

from narrows.backends.uml.builder import BuildProgress, build
from narrows.backends.uml.kernels import BuiltKernel, kernels
from narrows.backends.uml.origin import find_origin
from narrows.backends.uml.packages import DEFAULT_PACKAGE
from narrows.errors import InputError

_OPTIONS = "kernel.config"
_NEEDED = ("CONFIG_TUN=y", "CONFIG_IPV6=y", "CONFIG_HZ=1000")


def build_kernel(
    name: str | None = None,
    *,
    source: Path | None = None,
    debian: str | None = None,
    patches: Sequence[Path] = (),
    config: Path | None = None,
    for_tests: bool = False,
    jobs: int | None = None,
    force: bool = False,
    progress: BuildProgress = lambda _step, _fraction: None,
) -> BuiltKernel:
    """Builds a kernel as `backends.uml.build` does, if wanted with the options that scripts need.

    The name of such a kernel ends with "-tests" by default. Raises InputError if a file of options
    is given as well.
    """
    if for_tests and config is not None:
        raise InputError.at("--config", f"{config} with --tests", "one of the two")
    if for_tests and name is None:
        name = find_origin(source, debian or DEFAULT_PACKAGE, patches, None).name + "-tests"
    own = resources.files(__package__).joinpath(_OPTIONS)
    with resources.as_file(own) if for_tests else nullcontext(config) as options:
        return build(
            name,
            source=source,
            debian=debian,
            patches=patches,
            config=options,
            jobs=jobs,
            force=force,
            progress=progress,
        )


def can_test(kernel: BuiltKernel) -> bool:
    """Returns True if a kernel has the options that scripts need."""
    try:
        options = (kernel.path / "config").read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    return set(_NEEDED) <= set(options)


def choose_kernel(name: str | None) -> BuiltKernel:
    """Returns the kernel of that name, or the one built last that can play scripts.

    Raises InputError if it can't, or if there is none.
    """
    fitting = {kernel.name: kernel for kernel in kernels() if can_test(kernel)}
    remedy = "`narrows kernel build --tests` first"
    if name is not None and name not in fitting:
        known = ", ".join(fitting) or "none here"
        found = f'"{name}", which no kernel for tests has ({known})'
        raise InputError.at("--kernel", found, f"one of those, or {remedy},")
    if not fitting:
        raise InputError.at("--kernel", "no kernel that can play scripts", remedy)
    if name is not None:
        return fitting[name]
    return max(fitting.values(), key=lambda kernel: kernel.built)
