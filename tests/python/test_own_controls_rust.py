"""Congestion controls in a file in Rust: compiled once, loaded, checked, and part of the hash."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from narrows import _native
from narrows.backends.protocol import refuse_own_controls
from narrows.backends.sim import Simulator
from narrows.cli import main
from narrows.errors import SpecError
from narrows.evaluate import evaluate
from narrows.plan import plan
from narrows.search import search
from narrows.spec import Override, SpecificationText, rust_control
from narrows.spec import load as load_unasked
from narrows.spec.permission import EVERYTHING, allowing

EXAMPLE = Path(__file__).parents[2] / "experiments" / "own-control-rust-file"
SHORT = (Override("run.duration=3s"), Override("run.warmup=1s"))
SPEC = """
[path]
rate = "8mbit"
rtt = "20ms"
buffer = "1bdp"
[[flows]]
cca = "mine.rs"
[run]
duration = "3s"
warmup = "1s"
"""
CONTROL = """
use narrows_control::*;
struct Mine(u32);
impl CongestionControl for Mine {
    const OPTIONS: &'static [(&'static str, f64)] = &[("window", 20.0)];
    fn new(connection: &Connection) -> Self { Self(connection.option("window") as u32) }
    fn on_ack(&mut self, _sample: &AckSample) { /* on_ack */ }
    fn on_congestion(&mut self, _event: &CongestionEvent) {}
    fn control(&self) -> Control { /* control */ Control::window(self.0) }
    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("twice", f64::from(self.0) * 2.0)
    }
    fn state(&self) -> &'static str { "still" }
}
narrows_control::export!(Mine);
"""


def write(folder, **changed):
    """A specification beside a control, in which comments are replaced by code."""
    text = CONTROL
    for place, code in changed.items():
        text = text.replace(f"/* {place} */", code)
    (folder / "mine.rs").write_text(text)
    file = folder / "mine.toml"
    file.write_text(SPEC)
    return file


def run(file, *changes):
    with allowing([EVERYTHING]):
        spec = load_unasked(file, [*changes]).spec
    return Simulator().run(plan(spec, Simulator().engine_of, "sim").trials[0].scenario)


def refusal(file, *changes):
    """The only problem of a specification or its run."""
    with pytest.raises(SpecError) as caught:
        run(file, *changes)
    (problem,) = caught.value.problems
    return problem


def test_the_example_repeats_reno_packet_by_packet():
    file = EXAMPLE / "experiment.toml"
    ours = run(file, *SHORT)
    lines = file.read_text().replace('"aimd.rs" ', '"reno"').replace("options", "# options")
    reno = run(SpecificationText(lines), *SHORT)
    assert ours.info.packets > 1000
    assert ours.info.digest == reno.info.digest
    less = run(file, *SHORT, Override("flows.0.options.decrease=0.1"))
    assert less.info.digest != reno.info.digest


def test_the_same_control_in_python_and_rust_is_the_same(tmp_path):
    page = (Path(__file__).parents[2] / "docs/how-to/own-control.md").read_text(encoding="utf-8")
    for language, name in (("python", "aimd.py"), ("rust", "mine.rs")):
        code = re.search(rf"```{language}\n((?:#|//) {name}\n.*?)```", page, re.DOTALL)
        (tmp_path / name).write_text(code[1])
    (tmp_path / "mine.toml").write_text(SPEC)
    changes = (Override("path.queue=fq_codel"), Override("flows.0.ecn=classic"))
    rust, python = (
        run(tmp_path / "mine.toml", Override(f"flows.0.cca={cca}"), *changes)
        for cca in ("mine.rs", "aimd:Aimd")
    )
    assert rust.info.digest == python.info.digest
    samples = zip(
        rust.tables["flow_samples"]["time_s"], rust.tables["flow_samples"]["cwnd"], strict=True
    )
    assert max(cwnd for at, cwnd in samples if at < 0.15) >= 30, "without slow start 15"


def test_the_internals_and_the_compiler_of_a_control_are_kept(tmp_path):
    result = run(write(tmp_path), Override("flows.0.options.window=7"))
    tables = result.tables
    assert set(tables["internals"]["value"]) == {14.0}
    assert set(tables["flow_samples"]["cca_state"]) == {"", "still"}  # none in the handshake
    made = result.info.conditions["controls"]["mine.rs"]
    assert made["compiler"].startswith("rustc ")
    assert len(made["source_sha256"]) == 64


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("let none: Option<u32> = None; none.unwrap();", "`None` value in line 7 of mine.rs"),
        ("self.0 -= 21;", "attempt to subtract with overflow in line 7 of mine.rs"),
    ],
)
def test_a_panic_ends_the_run_with_its_line(tmp_path, code, said):
    problem = refusal(write(tmp_path, on_ack=code))
    assert problem.place == "mine.rs: on_ack"
    assert problem.found.startswith("a panic: ")
    assert said in problem.found


def test_an_impossible_window_is_refused(tmp_path):
    problem = refusal(write(tmp_path, on_ack="self.0 = 0;"))
    assert (problem.place, problem.found) == ("mine.rs: control", "a window of 0 after on_ack")


def test_a_rate_that_comes_late_is_refused(tmp_path):
    late = "if self.0 > 20 { return Control::window(9).with_pacing_rate(1_000_000); }"
    problem = refusal(write(tmp_path, on_ack="self.0 += 1;", control=late))
    assert problem.found == "a pacing rate, though the first output had none"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('let _ = include!("FOLDER/window.txt");', "a source that includes FOLDER/window.txt"),
        ('let _ = include_str!("FOLDER/window.txt");', "a source that includes FOLDER/window.txt"),
        ('let _ = option_env!("WINDOW");', "the environment variable WINDOW in the source"),
    ],
)
def test_a_source_that_reads_more_than_itself_is_refused(tmp_path, code, found):
    """Only the file's content is recorded and decides whether a run is made again."""
    (tmp_path / "window.txt").write_text("10")
    file = write(tmp_path, control=code.replace("FOLDER", str(tmp_path)))
    assert found.replace("FOLDER", str(tmp_path)) in str(refusal(file))


def test_only_a_library_that_nobody_else_can_write_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = write(tmp_path)
    run(file, *SHORT)
    (library,) = (tmp_path / "cache" / "narrows" / "controls").glob("*.so")
    library.unlink()  # the old one is in use
    library.write_bytes(b"somebody else's")
    library.chmod(0o722)
    library.parent.chmod(0o777)
    run(file, *SHORT)
    assert library.stat().st_mode & 0o777 == 0o700
    assert library.parent.stat().st_mode & 0o777 == 0o755
    if os.getuid() == 0:
        os.chown(library.parent, 12345, -1)
        assert "a directory of somebody else" in str(refusal(file))


def test_a_control_that_does_not_compile_names_the_line(tmp_path, capsys):
    file = write(tmp_path, on_ack="self.1 += 1;")
    assert refusal(file).place == "flows[0].cca"
    assert main(["run", str(file), "--allow-code", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "error[E0609]: no field `1` on type `&mut Mine`" in said
    assert "--> mine.rs:7:" in said
    assert "Traceback" not in said


def test_a_machine_without_a_compiler_is_reported(tmp_path, monkeypatch):
    file = write(tmp_path)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    problem = refusal(file)
    assert problem.found == '"mine.rs", a control in Rust, but no rustc'
    assert "rustup.rs" in problem.remedy


def test_a_library_of_another_interface_is_refused(tmp_path, monkeypatch):
    own = rust_control.crate_sources()
    other = [(name, text.replace("VERSION: u64 = 1", "VERSION: u64 = 2")) for name, text in own]
    assert other != own
    monkeypatch.setattr(rust_control, "crate_sources", lambda: other)
    assert "its interface has version 2, not 1" in refusal(write(tmp_path)).found


def test_a_file_that_is_no_control_is_refused(tmp_path):
    (tmp_path / "no.so").write_bytes(b"no library")
    with pytest.raises(_native.ControlError, match="can't be used"):
        _native.RustControl(tmp_path / "no.so", "mine.rs")
    file = write(tmp_path)
    (tmp_path / "mine.rs").write_text("pub fn nothing() {}")
    assert "narrows_control::export!" in refusal(file).remedy


@pytest.mark.parametrize(
    ("option", "found"),
    [
        ("gain=2", '"gain", which is not an option of the control'),
        ("window=true", "window = True"),
        ('window="a"', "window = 'a'"),
    ],
)
def test_options_that_are_wrong(tmp_path, option, found):
    problem = refusal(write(tmp_path), Override(f"flows.0.options.{option}"))
    assert problem.place == "flows[0].options"
    assert problem.found == found


def test_it_runs_only_once_it_is_named(tmp_path, capsys):
    file = write(tmp_path)
    command = ["run", str(file), "--out", str(tmp_path / "result")]
    assert main(command) == 2
    assert "code that nobody has allowed to run" in capsys.readouterr().err
    assert main([*command, "--set", "flows.0.cca=mine.rs"]) == 0


def test_a_changed_line_is_another_experiment(tmp_path):
    def key():
        with allowing([EVERYTHING]):
            return plan(load_unasked(file).spec, Simulator().engine_of, "sim").hash

    file = write(tmp_path)
    before = key()
    assert key() == before
    (tmp_path / "mine.rs").write_text(CONTROL.replace("20.0", "21.0"))
    assert key() != before


def test_kernels_refuse_it(tmp_path):
    with allowing([EVERYTHING]):
        spec = load_unasked(write(tmp_path)).spec
    with pytest.raises(SpecError, match="which is written in Rust"):
        refuse_own_controls(spec.scenario)


def test_evaluate_and_search_take_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "controls").mkdir()
    write(tmp_path / "controls")
    with allowing(controls=["controls/mine.rs"]):
        made = evaluate(
            ["controls/mine.rs:window=9"], suite="quick", only=["tail-drop"], beside=(), trials=1
        )
        found = search("controls/mine.rs", tries=2, most=1)
    assert [one.trouble for one in made.judged] == [""]
    assert found
