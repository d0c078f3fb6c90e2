"""Plays many scripts, several in parallel."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from narrows.backends.linux.tools import drill_tool
from narrows.backends.uml.builder import BuildProgress
from narrows.backends.uml.kernels import BuiltKernel
from narrows.errors import InputError
from narrows.kernel_tests.guest import play
from narrows.kernel_tests.modes import MODES
from narrows.kernel_tests.scripts import ScriptCase, find_scripts, selftests
from narrows.kernel_tests.verdict import ScriptVerdict
from narrows.spec.suggest import one_of


@dataclass(frozen=True)
class ScriptRun:
    """The verdicts about scripts, in the order of the scripts.

    `name` is that of the kernel or of the profile, `where` the place in words.
    """

    name: str
    where: str
    verdicts: tuple[ScriptVerdict, ...]

    @property
    def is_pass(self) -> bool:
        """Returns True if every script passed over each of its protocols."""
        return all(verdict.is_pass for verdict in self.verdicts)


def play_cases(
    cases: Sequence[ScriptCase],
    kernel: BuiltKernel,
    *,
    jobs: int | None = None,
    progress: BuildProgress = lambda _step, _fraction: None,
) -> ScriptRun:
    """Plays each script in its own guest; the verdicts depend on nothing but script and kernel."""
    verdicts: list[ScriptVerdict] = []
    whole = sum(len(case.modes) for case in cases)
    drill = drill_tool()
    with ThreadPoolExecutor(jobs or len(os.sched_getaffinity(0))) as pool:
        for found in pool.map(lambda case: play(case, kernel, drill), cases):
            verdicts += found
            progress(found[0].script.stem, len(verdicts) / whole)
    return ScriptRun(kernel.name, f"Linux {kernel.release}", tuple(verdicts))


def play_all(
    kernel: BuiltKernel,
    paths: Sequence[Path],
    *,
    own: bool = False,
    modes: Sequence[str] = ("ipv4",),
    jobs: int | None = None,
    progress: BuildProgress = lambda _step, _fraction: None,
) -> ScriptRun:
    """Plays given scripts, and those of the kernel's `own` sources.

    Raises InputError if there is nothing to play, or for an unknown protocol in `modes`.
    """
    for mode in modes:
        if mode not in MODES:
            raise InputError.at("--ip", f'"{mode}"', one_of(mode, MODES))
    if not paths and not own:
        raise InputError.at("SCRIPT", "no script", "a script, a folder or --selftests")
    cases = find_scripts(paths, modes)
    if own:
        cases += selftests(kernel)
    return play_cases(cases, kernel, jobs=jobs, progress=progress)
