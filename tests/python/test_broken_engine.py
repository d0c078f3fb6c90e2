"""A run in which the engine breaks ends with a sentence, and with a file that repeats it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from narrows import _native
from narrows.backends.sim import translate_errors
from narrows.cli import main
from narrows.errors import EngineError
from narrows.spec import load, parse

TEXT = """\
name = "fragile"
[path]
rate = "2mbit"
rtt = "20ms"
buffer = "1bdp"
[[flows]]
cca = "reno"
[run]
duration = "1s"
trials = 2
seed = 4
"""
STUDY = TEXT.replace('"1bdp"', '["1bdp", "2bdp"]').replace('"reno"', '["cubic", "reno"]')
WORDS = "packets vanished (crates/sim/src/account.rs:90)"


class PanicException(BaseException):
    """As pyo3 calls it, and looks."""


@pytest.fixture
def breaks(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Any], bool]], list[Any]]:
    """Lets the engine break in some scenarios; returns the list of those."""

    def install(chosen: Callable[[Any], bool]) -> list[Any]:
        broken: list[Any] = []
        run = _native.run

        def fragile(text: str, *more: object) -> object:
            scenario = json.loads(text)
            if not chosen(scenario):
                return run(text, *more)
            broken.append(scenario)
            raise PanicException(WORDS)

        monkeypatch.setattr(_native, "run", fragile)
        return broken

    return install


def canonical(file: Path) -> list[Any]:
    spec = load(file).spec
    return [json.loads(spec.canonical(trial + 1)) for trial in range(spec.trials)]


def test_a_run_says_so_in_a_line_and_leaves_a_specification_that_repeats_it(
    breaks, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = breaks(lambda scenario: scenario["seed"] == 5)
    (tmp_path / "fragile.toml").write_text(TEXT)
    out = tmp_path / "results" / "mine"
    command = ["run", str(tmp_path / "fragile.toml"), "--set", "path.buffer=3bdp"]
    assert main([*command, "--out", str(out)]) == 70
    file = out.with_name("mine-broken.toml")
    [line] = capsys.readouterr().err.splitlines()
    assert line == (
        f"narrows: error: the simulator broke off ({WORDS}): a mistake in narrows, not in your "
        f"input; please report it with {file}, which repeats it"
    )
    assert canonical(file) == broken
    assert not out.exists()


def test_a_sweep_goes_on_and_leaves_one_for_the_first(
    breaks, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = breaks(
        lambda scenario: (
            scenario["flows"][0]["cca"] == "reno" and scenario["path"]["buffer"]["bytes"] > 5_001
        )
    )
    (tmp_path / "study.toml").write_text(STUDY)
    out = tmp_path / "store"
    assert main(["run", str(tmp_path / "study.toml"), "--out", str(out)]) == 1
    printed = capsys.readouterr().out
    file = tmp_path / "store-broken.toml"
    assert "6 new, 0 stored before, 2 failed" in printed
    assert f"the simulator broke off ({WORDS})" in printed
    assert f"{file} repeats the first failure" in printed
    assert canonical(file) == [min(broken, key=lambda scenario: scenario["seed"])]


def test_a_panic_is_reported_by_its_words_and_its_place(capfd: pytest.CaptureFixture[str]) -> None:
    scenario = parse(TEXT, "panics").spec.canonical(1)
    simulation = _native.Simulation(scenario)
    message = r"index out of bounds.* \(crates/.*\.rs:\d+\)"
    with pytest.raises(EngineError, match=message), translate_errors(_native):
        simulation.flow(9)
    assert capfd.readouterr().err == ""
