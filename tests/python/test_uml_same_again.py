"""A run in a guest repeats bit by bit, whatever was installed on the host meanwhile."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from required import needs, require
from specimens import GOOD

from narrows.backends.uml import Uml, get_kernel, machine

pytestmark = needs("uml")

LIBRARIES = 500
CACHE = Path("/etc/ld.so.cache")


def digest_of_run(spec: Path, out: Path, *before: str) -> str:
    """Runs a specification, if need be by another command, which sees another host."""
    run = [sys.executable, "-c", "from narrows.start import main; main()"]
    run += ["run", str(spec), "--backend", f"uml:{get_kernel().name}", "--out", str(out)]
    subprocess.run([*before, *run], check=True, capture_output=True)
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    return str(manifest["trials"][0]["digest"])


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc to make libraries with")
def test_a_run_is_the_same_after_libraries_were_installed(tmp_path: Path) -> None:
    require("root", "" if os.geteuid() == 0 else "a mount needs root")
    require("unshare", "" if shutil.which("unshare") else "no unshare, for a mount of our own")
    spec = tmp_path / "spec.toml"
    spec.write_text(GOOD + '\n[[flows]]\ncca = "bbr"\n', encoding="utf-8")
    cache = larger_cache(tmp_path)
    assert cache.stat().st_size > CACHE.stat().st_size + 4096
    bind = f"mount --bind {shlex.quote(str(cache))} {CACHE}"
    changed = ("unshare", "--mount", "sh", "-c", f'{bind} && exec "$@"', "sh")
    before = digest_of_run(spec, tmp_path / "before")
    assert digest_of_run(spec, tmp_path / "after", *changed) == before


def larger_cache(folder: Path) -> Path:
    """The loader's cache as it is with many more libraries."""
    libraries = folder / "lib"
    libraries.mkdir()
    first = libraries / "libnarrows0.so.1"
    subprocess.run(["gcc", "-shared", "-x", "c", "-o", first, "/dev/null"], check=True)
    for number in range(1, LIBRARIES):
        shutil.copy(first, libraries / f"libnarrows{number}.so.1")
    config, cache = folder / "ld.so.conf", folder / "ld.so.cache"
    config.write_text(f"include /etc/ld.so.conf\n{libraries}\n", encoding="utf-8")
    ldconfig = machine.which("ldconfig") or "ldconfig"
    subprocess.run([ldconfig, "-X", "-C", cache, "-f", config], check=True)
    return cache


def test_the_engine_has_a_mark_of_the_programs_that_set_up_a_guest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Uml().engine
    other = tmp_path / "sh"
    other.write_text("another shell", encoding="utf-8")
    which = machine.which
    monkeypatch.setattr(machine, "which", lambda name: str(other) if name == "sh" else which(name))
    assert Uml().engine != before
