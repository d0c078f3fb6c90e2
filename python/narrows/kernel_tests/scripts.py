"""Finds scripts: given ones, those of a folder, and those of a kernel's own sources."""

from __future__ import annotations

import hashlib
import re
import subprocess
import tarfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from narrows.backends.uml.kernels import BuiltKernel
from narrows.cached import cache_directory, private_directory
from narrows.errors import InputError
from narrows.kernel_tests.modes import MODES
from narrows.store.owned import owned_directory

SUFFIX = ".pkt"
FOLDER = "tools/testing/selftests/net/packetdrill"
"""The directory of the scripts in a kernel's sources."""
RUNNER = "ksft_runner.sh"
"""The kernel's own runner, beside its scripts."""
_VERSION = re.compile(r"^--ip_version=(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class ScriptCase:
    """A script and the protocols over which it runs.

    `script` is the file, and `name` its name in verdicts: the path within its kernel's tree, or the
    given path. A selftest's own addresses are replaced by those of the kernel's runner
    (`fixed_addresses`).
    """

    script: Path
    name: Path
    modes: tuple[str, ...]
    fixed_addresses: bool = False


def find_scripts(
    paths: Sequence[Path], modes: Sequence[str] = ("ipv4",), *, tree: Path | None = None
) -> list[ScriptCase]:
    """Returns the scripts among files and below folders, over `modes` unless they name their own.

    A name that ends with v4 or v6 names one, as in google/packetdrill. Scripts of a `tree` have
    their names within it.

    Raises InputError for a path that doesn't exist, and for a folder without scripts.
    """
    cases = []
    for path in paths:
        found = sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else [path]
        if not found or not path.exists():
            raise InputError.at("SCRIPT", f"{path}", f"a script, or a folder with *{SUFFIX}")
        cases += [
            _case(script, script.relative_to(tree) if tree else script, modes) for script in found
        ]
    return cases


def _case(script: Path, name: Path, modes: Sequence[str]) -> ScriptCase:
    text = script.read_text(encoding="utf-8", errors="replace")
    runner = script.parent / RUNNER
    if runner.is_file():
        known = runner.read_text(encoding="utf-8")
        modes = [mode for mode in MODES if f"[{mode}]" in known or f"{mode}_args" in known]
    own = _VERSION.search(text)
    if own and own[1] in MODES:
        modes = (own[1],)
    elif script.stem.endswith("v6"):
        modes = ("ipv6",)
    elif script.stem.endswith("v4"):
        modes = [mode for mode in modes if mode != "ipv6"] or ("ipv4",)
    return ScriptCase(script.resolve(), name, tuple(modes), fixed_addresses=runner.is_file())


def selftests(kernel: BuiltKernel) -> list[ScriptCase]:
    """Returns the scripts of a kernel's own sources; archives are unpacked once, in the cache.

    Raises InputError if the sources are gone or have none.
    """
    source = Path(kernel.source.partition(" with ")[0])
    return _all_in(source if source.is_dir() else _unpack_once(source))


def _all_in(tree: Path) -> list[ScriptCase]:
    folder = tree / FOLDER
    if not folder.is_dir():
        found = f"{folder}, which isn't there"
        raise InputError.at("--selftests", found, "a kernel since Linux 6.12 with its sources")
    return find_scripts([folder], tree=tree)


def _unpack_once(archive: Path) -> Path:
    """Returns the folder of scripts alone.

    Reading a whole archive takes longer than playing some scripts.
    """
    if not archive.is_file() or not tarfile.is_tarfile(archive):
        raise InputError.at("--selftests", f"{archive}", "the kernel's sources, which are gone")
    state = archive.stat()
    mark = f"{archive.resolve()}:{state.st_size}:{state.st_mtime_ns}"
    name = hashlib.sha256(mark.encode()).hexdigest()[:16]
    place = private_directory(cache_directory() / "selftests") / name
    if not place.is_dir():
        with owned_directory(place) as work:
            _unpack(archive, work)
            with suppress(OSError):  # another process was faster
                work.rename(place)
    return place


def _unpack(archive: Path, place: Path) -> None:
    command = ["tar", "-xf", str(archive), "--strip-components=1", "-C", str(place)]
    done = subprocess.run(
        [*command, "--wildcards", f"*/{FOLDER}/*"], capture_output=True, text=True, check=False
    )
    if done.returncode and "Not found in archive" not in done.stderr:
        raise InputError.at("--selftests", f"{archive}: {done.stderr.strip()}", "a whole archive")
