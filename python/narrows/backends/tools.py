"""The traffic tool: built from its sources beside the package, or found on the PATH."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from narrows.backends.uml.kernels import cache_directory
from narrows.errors import InputError, NarrowsError

NAME = "narrows-traffic"
_REMEDY = "the sources of narrows with cargo, or narrows-traffic on the PATH,"


def traffic_tool() -> Path:
    """The tool, built now if its sources have changed.

    Raises InputError if there are neither sources nor a tool.
    """
    sources = _sources()
    if sources is None:
        found = shutil.which(NAME)
        if found is None:
            raise InputError.at("--backend", f'"uml", which needs {NAME}', _REMEDY)
        return Path(found)
    built = cache_directory() / "tools" / f"{NAME}-{_fingerprint(sources)}"
    if not built.exists():
        _build(sources, built)
    return built


def _sources() -> Path | None:
    """The workspace that this package belongs to, if it is one."""
    workspace = Path(__file__).resolve().parents[4]
    return workspace if (workspace / "crates" / "traffic" / "Cargo.toml").is_file() else None


def _fingerprint(workspace: Path) -> str:
    crate = workspace / "crates" / "traffic"
    digest = hashlib.sha256()
    for file in [*sorted((crate / "src").glob("**/*.rs")), crate / "Cargo.toml"]:
        content = file.read_bytes()
        digest.update(f"{file.relative_to(crate)}:{len(content)}:".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def _build(workspace: Path, built: Path) -> None:
    if shutil.which("cargo") is None:
        raise InputError.at("--backend", '"uml", but no cargo to build its tool', _REMEDY)
    target = cache_directory() / "tools" / "target"
    command = ["cargo", "build", "--release", "--locked", "-p", NAME, "--quiet"]
    done = subprocess.run(
        [*command, "--target-dir", str(target)],
        cwd=workspace,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise NarrowsError(f"{NAME} can't be built: {done.stderr.strip()[-2000:]}")
    partial = built.with_name(f"{built.name}.{os.getpid()}")
    shutil.copy2(target / "release" / NAME, partial)
    partial.replace(built)
