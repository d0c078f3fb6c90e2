"""Installs a wheel as somebody would who has nothing but Python, and makes a first figure.

    python tools/try_wheel.py FOLDER [SECONDS]

FOLDER is what tools/make_wheels.py wrote. Neither a compiler nor anything else is on the path. It
fails if the first figure takes longer than SECONDS (30), which counts everything from the empty
folder on, downloads of dependencies included.
"""

from __future__ import annotations

import functools
import http.server
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "narrows"


def main() -> int:
    """Tries pip and, where it is installed, uv."""
    folder, limit = Path(sys.argv[1]).resolve(), float((*sys.argv[2:], "30")[0])
    slow = False
    with serve(folder) as index:
        for name, install in (("pip", with_pip), ("uvx", with_uv)):
            if name == "uvx" and not uv():
                print("uvx: skipped, since uv isn't installed")
                continue
            with tempfile.TemporaryDirectory() as place:
                took = install(Path(place), index)
            print(f"{name}: {took:.1f} s from an empty folder to the first figure")
            slow |= took > limit
    return 1 if slow else 0


def with_pip(place: Path, index: str) -> float:
    """A virtual environment, the wheel, a run; returns the seconds that it took."""
    began = time.monotonic()
    run(place, sys.executable, "-m", "venv", "env")
    more = ("--extra-index-url", index, "--only-binary=:all:", "--disable-pip-version-check")
    run(place, "env/bin/pip", "install", "--quiet", "--no-cache-dir", *more, PACKAGE)
    figure(place, "env/bin/narrows")
    took = time.monotonic() - began
    if shutil.which("cargo", path="env/bin") or shutil.which("cc", path="env/bin"):
        raise SystemExit("a compiler is on the path")
    run(place, "env/bin/narrows", "demo")  # a plain installation has what figures and verdicts need
    report_sizes(next((place / "env" / "lib").glob("python*/site-packages")))
    for program in ("narrows-drill", "narrows-router", "narrows-traffic"):
        (found,) = (place / "env").rglob(program)
        if subprocess.run([found], capture_output=True, check=False).returncode < 0:
            raise SystemExit(f"{program} doesn't run here")
    return took


def with_uv(place: Path, index: str) -> float:
    """One command, with an empty cache; returns the seconds that it took."""
    began = time.monotonic()
    options = ("--index", index, "--python", sys.executable, "--cache-dir", str(place / "cache"))
    figure(place, uv(), "tool", "run", *options, PACKAGE)
    return time.monotonic() - began


def figure(place: Path, *command: str) -> None:
    """Runs the example of the README, and checks that it made its page."""
    (place / "fig9.toml").write_text(example((ROOT / "README.md").read_text(encoding="utf-8")))
    run(place, *command, "run", "fig9.toml", "--out", "result")
    if 'class="plot"' not in (page := place / "result" / "report.html").read_text(encoding="utf-8"):
        raise SystemExit(f"{page} has no figure")


def example(readme: str) -> str:
    """The specification of the README."""
    found = re.search(r"^```toml\n# fig9\.toml\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit("README.md has no fig9.toml")
    return found[1]


def report_sizes(packages: Path) -> None:
    """Prints what is installed, in MB; pip came with Python."""
    sizes: dict[str, int] = {}
    for file in packages.rglob("*"):
        name = file.relative_to(packages).parts[0].partition(".")[0].partition("-")[0]
        if file.is_file() and name not in ("pip", "setuptools", "pkg_resources", "_distutils_hack"):
            sizes[name] = sizes.get(name, 0) + file.stat().st_size
    large = sorted(sizes.items(), key=lambda item: -item[1])
    print(f"installed: {sum(sizes.values()) / 1e6:.0f} MB, of which",
          ", ".join(f"{name} {size / 1e6:.0f}" for name, size in large[:6]))  # fmt: skip


def run(place: Path, *command: str) -> None:
    """Runs a command with the new environment on the path, and no compiler."""
    kept: Mapping[str, str] = {
        name: value
        for name, value in os.environ.items()
        if name.endswith(("_proxy", "_PROXY", "_CERT", "_BUNDLE", "CERT_FILE"))
    }
    few = place / "few"
    few.mkdir(exist_ok=True)
    for tool in ("dirname", "realpath"):  # with which the scripts of uv find their Python
        if (found := shutil.which(tool)) and not (few / tool).exists():
            (few / tool).symlink_to(found)
    path = os.pathsep.join((str(place / "env" / "bin"), str(few)))
    environment = {**kept, "PATH": path, "HOME": str(place)}
    subprocess.run(command, cwd=place, check=True, env=environment)


def uv() -> str:
    """The program uv beside this Python or on the path; empty if there is none."""
    beside = str(Path(sys.executable).parent)
    return shutil.which("uv", path=os.pathsep.join((beside, os.environ["PATH"]))) or ""


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serves the wheels on loopback; yields the address of the index."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple/"
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    sys.exit(main())
