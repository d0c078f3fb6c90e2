"""Every result says what made it."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import pytest
from specimens import GOOD

from narrows import provenance
from narrows.cli import main

ROOT = Path(__file__).parents[2]


def test_a_run_and_a_sweep_say_what_made_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.toml").write_text(GOOD)
    assert main(["run", "good.toml", "--out", "run"]) == 0
    assert main(["run", "good.toml", "--jobs", "1", "--out", "sweep"]) == 0
    (study,) = Path("sweep", "studies").glob("*.json")
    run = json.loads(Path("run", "manifest.json").read_text())["provenance"]
    assert run == json.loads(study.read_text())["provenance"] == provenance.provenance()
    for name, digest in run["locks"].items():
        assert digest == hashlib.sha256((ROOT / name).read_bytes()).hexdigest()
    assert run["locks"].keys() == {"Cargo.lock", "requirements.lock"}
    assert run["packages"].keys() == {"numpy", "polars"}
    assert run["cores"] >= 1


def test_a_changed_tree_is_no_commit(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        person = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *person, *words], cwd=tmp_path, check=True, capture_output=True)

    lock = tmp_path / "Cargo.lock"
    lock.write_text("1")
    assert provenance.sources(tmp_path)["commit"] is None
    git("init")
    git("add", "--all")
    git("commit", "--message", "one")
    clean = provenance.sources(tmp_path)["commit"]
    assert clean is not None
    assert len(clean) == 40
    lock.write_text("2")
    assert provenance.sources(tmp_path)["commit"] == f"{clean}-dirty"


def test_a_wheel_says_what_it_was_built_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = tmp_path / "build.json"
    built.write_text(json.dumps({"commit": "c", "locks": {}}))
    monkeypatch.setattr(provenance, "BUILT", built)
    found = provenance.provenance.__wrapped__()
    assert (found["commit"], found["locks"]) == ("c", {})
