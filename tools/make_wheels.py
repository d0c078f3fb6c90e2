"""Builds the wheels of a release, each for any Linux of its kind, and the source archive.

    python tools/make_wheels.py FOLDER [KIND...]

Zig links for C libraries and processors other than this machine's: `pip install -r
requirements-release.lock` installs it, with maturin. The programs for runs on kernels need no C
library at all, so each processor has one build of them. FOLDER also becomes a package index
(PEP 503), which any server of static files can serve.
"""

from __future__ import annotations

import hashlib
import html
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from build_backend import PLACE, PROGRAMS, ROOT, known_sources, packaged_studies

KINDS = {
    "manylinux-x86_64": ("x86_64-unknown-linux-gnu", "manylinux_2_17"),
    "musllinux-x86_64": ("x86_64-unknown-linux-musl", "musllinux_1_2"),
    "manylinux-aarch64": ("aarch64-unknown-linux-gnu", "manylinux_2_17"),
    "musllinux-aarch64": ("aarch64-unknown-linux-musl", "musllinux_1_2"),
}
"""Rust's target, and the oldest C library: glibc 2.17 (2012) or musl 1.2 (2020)."""
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def main() -> int:
    """Builds the wanted kinds, all by default."""
    folder, wanted = Path(sys.argv[1]).resolve(), sys.argv[2:] or list(KINDS)
    if unknown := set(wanted) - KINDS.keys():
        print(f"{', '.join(sorted(unknown))}: one of {', '.join(KINDS)} is needed", file=sys.stderr)
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    run("maturin", "sdist", "--out", str(folder))
    for kind in wanted:
        wheel(folder, *KINDS[kind])
    write_index(folder)
    for file in sorted(folder.glob("narrows-*")):
        print(f"{file.stat().st_size / 1e6:6.1f} MB  {file.name}")
    return 0


def wheel(folder: Path, target: str, libc: str) -> None:
    """Builds one wheel."""
    run("rustup", "target", "add", target, f"{target.split('-')[0]}-unknown-linux-musl")
    with known_sources(), packaged_studies(), programs(target):
        run("maturin", "build", "--release", "--locked", "--zig", "--target", target,
            "--compatibility", libc, "--out", str(folder))  # fmt: skip


@contextmanager
def programs(target: str) -> Iterator[None]:
    """Puts the programs of a target's processor into the package while its wheel is made."""
    static = f"{target.split('-')[0]}-unknown-linux-musl"
    packages = [word for name in PROGRAMS for word in ("-p", name)]
    run("cargo", "zigbuild", "--release", "--locked", "--target", static, *packages)
    place = ROOT / PLACE
    for name in PROGRAMS:
        shutil.copy2(TARGET / static / "release" / name, place / name)
    yield


def write_index(folder: Path) -> None:
    """Writes `simple/`, which pip and uv read with `--index-url`."""
    page = folder / "simple" / "narrows" / "index.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    files = sorted((*folder.glob("narrows-*.whl"), *folder.glob("narrows-*.tar.gz")))
    links = [link(file) for file in files]
    page.write_text("<!doctype html>\n<title>narrows</title>\n" + "<br>\n".join(links) + "\n")
    (folder / "simple" / "index.html").write_text(
        '<!doctype html>\n<title>Packages</title>\n<a href="narrows/">narrows</a>\n'
    )


def link(file: Path) -> str:
    """A file's line in the index, with the digest that pip and uv compare."""
    name, digest = html.escape(file.name), hashlib.sha256(file.read_bytes()).hexdigest()
    return f'<a href="../../{name}#sha256={digest}">{name}</a>'


def run(*command: str) -> None:
    """Runs a command in the repository, with the tools of this Python first on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYO3_BUILD_EXTENSION_MODULE": "1"}
    subprocess.run(command, cwd=ROOT, check=True, env=environment)


if __name__ == "__main__":
    sys.exit(main())
