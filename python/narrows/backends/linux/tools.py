"""Finds programs; our own are built from their sources, in the wheel, or on the PATH.

`make` calls this module, so that no run has to compile anything.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from narrows.cached import cache_directory, is_private, private_directory
from narrows.errors import InputError, NarrowsError
from narrows.store.owned import owned_file

_PREFIX = "narrows-"
_TRAFFIC = f"{_PREFIX}traffic"
_ROUTER = f"{_PREFIX}router"
_DRILL = f"{_PREFIX}drill"
INSTALLED = Path(__file__).resolve().parents[2] / "programs"
"""The directory of the programs in a wheel."""


def which(name: str) -> str | None:
    """Finds a program, also in the directories that only an administrator's PATH has."""
    path = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
    return shutil.which(name, path=path)


def require_built(backend: str) -> None:
    """Raises InputError if the programs of `backend` would first have to be built."""
    sources = rust_sources()
    for name in (_TRAFFIC, _ROUTER):
        if sources is not None and not is_private(_place(sources, name)):
            found = f'"{backend}" without {name}'
            raise InputError.at("--backend", found, "`make setup`, which builds it,")


def traffic_tool(backend: str = "uml") -> Path:
    """Returns the program that sends, receives and samples flows for `backend`.

    It is rebuilt if it is outdated. Raises InputError if there are neither sources nor a program.
    """
    return _tool(_TRAFFIC, backend)


def router_tool(backend: str = "kernel") -> Path:
    """Returns the program that carries packets in real time for `backend`.

    It is rebuilt if it is outdated. Raises InputError if there are neither sources nor a program.
    """
    return _tool(_ROUTER, backend)


def drill_tool() -> Path:
    """Returns the program that plays packetdrill scripts in a guest.

    It is rebuilt if it is outdated. Raises InputError if there are neither sources nor a program.
    """
    return _tool(_DRILL, "uml")


def _tool(name: str, backend: str) -> Path:
    sources = rust_sources()
    if sources is None:
        found = shutil.which(name, path=str(INSTALLED)) or shutil.which(name)
        if found is None:
            raise InputError.at("--backend", f'"{backend}", which needs {name}', _remedy(name))
        return Path(found)
    built = _place(sources, name)
    if not is_private(built):
        _build(sources, name, built, backend)
    return built


def _place(sources: Path, name: str) -> Path:
    """Returns the place of the program that was built from these sources."""
    folder = private_directory(cache_directory() / "tools")
    return folder / f"{name}-{fingerprint(sources, name)}"


def _remedy(name: str) -> str:
    return f"the sources of narrows with cargo, or {name} on the PATH,"


def rust_sources() -> Path | None:
    """Returns the workspace that this package belongs to, if any."""
    workspace = Path(__file__).resolve().parents[4]
    return workspace if (workspace / "crates" / "traffic" / "Cargo.toml").is_file() else None


def _crates(workspace: Path, name: str) -> set[str]:
    """Returns the crate of a program, and the workspace's crates that it depends on."""
    found: set[str] = set()
    pending = {name}
    while pending:
        crate = pending.pop()
        found.add(crate)
        manifest = workspace / "crates" / crate.removeprefix(_PREFIX) / "Cargo.toml"
        needed = tomllib.loads(manifest.read_text(encoding="utf-8")).get("dependencies", {})
        pending |= {other for other in needed if other.startswith(_PREFIX)} - found
    return found


def fingerprint(workspace: Path, name: str) -> str:
    """Returns a digest of the sources of a program, which names what was built from them."""
    digest = hashlib.sha256()
    for crate in sorted(_crates(workspace, name)):
        place = workspace / "crates" / crate.removeprefix(_PREFIX)
        for file in [*sorted((place / "src").glob("**/*")), place / "Cargo.toml"]:
            if file.is_dir():
                continue
            content = file.read_bytes()
            digest.update(f"{file.relative_to(workspace)}:{len(content)}:".encode())
            digest.update(content)
    return digest.hexdigest()[:16]


def _build(workspace: Path, name: str, built: Path, backend: str) -> None:
    if shutil.which("cargo") is None:
        found = f'"{backend}", but no cargo to build {name}'
        raise InputError.at("--backend", found, _remedy(name))
    print(f"narrows: building {name} from its sources, once; this takes minutes", file=sys.stderr)
    # The crates of the native module were already compiled there.
    target = workspace / "target"
    if not os.access(target, os.W_OK):
        target = cache_directory() / "tools" / "target"
    command = ["cargo", "build", "--release", "--locked", "-p", name, "--quiet"]
    done = subprocess.run(
        [*command, "--target-dir", str(target)],
        cwd=workspace,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise NarrowsError(f"{name} can't be built: {done.stderr.strip()[-2000:]}")
    with owned_file(built) as work:
        shutil.copyfile(target / "release" / name, work)
        work.chmod(0o700)


if __name__ == "__main__":
    router_tool()
    traffic_tool()
    drill_tool()
