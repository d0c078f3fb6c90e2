"""Plays scripts against the simulator's TCP."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from narrows import _native
from narrows.errors import InputError
from narrows.kernel_tests.make import ScriptRun
from narrows.kernel_tests.modes import MODES
from narrows.kernel_tests.scripts import ScriptCase, find_scripts
from narrows.kernel_tests.verdict import ScriptVerdict
from narrows.spec.suggest import one_of

_MODE = "ipv4"
"""The mode whose words the script gets, since the simulator has no protocol below TCP."""


def play_simulated(profile: str, paths: Sequence[Path]) -> ScriptRun:
    """Plays scripts against the simulator's TCP of a profile.

    Raises InputError for an unknown profile, and if there is nothing to play.
    """
    profiles = _native.profiles()
    if profile not in profiles:
        raise InputError.at("--profile", f'"{profile}"', one_of(profile, profiles))
    if not paths:
        raise InputError.at("SCRIPT", "no script", "a script or a folder")
    verdicts = tuple(_play(case, profile) for case in find_scripts(paths))
    return ScriptRun(profile, f"the simulator's {profile}", verdicts)


def _play(case: ScriptCase, profile: str) -> ScriptVerdict:
    found = _native.play_script(case.script, profile, dict(MODES[_MODE].words))
    line, column = found.at or (None, None)
    return ScriptVerdict(
        case.name,
        _MODE,
        found.verdict,
        line,
        column,
        found.message,
        tuple(found.printed),
        found.events,
    )
