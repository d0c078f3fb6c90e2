"""Controls in eBPF: what is refused, and what the kernel has while a run lasts and after it."""

from __future__ import annotations

import base64
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from kernel_here import require_on_time
from required import kernel_missing, require
from specimens import GOOD
from waiting import await_that

from narrows.backends import get_backend
from narrows.backends.kernel import programs
from narrows.backends.kernel.machine import available_ccas
from narrows.backends.sim import Simulator
from narrows.errors import InputError, SpecError
from narrows.spec import load
from narrows.spec.kernel_program import content, is_program, refuse_programs
from narrows.spec.permission import allowing

EXAMPLE = Path(__file__).parents[2] / "experiments" / "own-control-ebpf"
SHORT = ["run.duration=2s", "run.warmup=500ms"]


def missing() -> str:
    """Says what is missing for such a control here; empty if nothing is."""
    if kernel_missing():
        return kernel_missing()
    try:
        programs.check(example())
    except InputError as error:
        return str(error)
    return ""


def example(changes: tuple[str, ...] = (), name: str = "aimd.bpf.c") -> dict[str, Any]:
    """The scenario of the example with a program of another name, perhaps."""
    with allowing([EXAMPLE]):
        loaded = load(EXAMPLE / "experiment.toml", [*SHORT, f"flows.0.cca={name}", *changes])
    return dict(loaded.spec.scenario)


@pytest.fixture
def programs_can_be_loaded() -> None:
    """Skips a test where no eBPF program can be compiled or loaded."""
    require("ebpf", missing())


able = pytest.mark.usefixtures("programs_can_be_loaded")


def write(directory: Path, name: str, data: bytes) -> Path:
    (directory / name).write_bytes(data)
    file = directory / "spec.toml"
    file.write_text(GOOD.replace('cca = "cubic"', f'cca = "{name}"'), encoding="utf-8")
    return file


def test_a_program_is_a_part_of_the_scenario_and_needs_a_permission(tmp_path: Path) -> None:
    spec = write(tmp_path, "mine.bpf.c", b"int x;\n")
    with pytest.raises(SpecError, match="code that nobody has allowed") as caught:
        load(spec)
    assert caught.value.place == "flows[0].cca"
    with allowing([tmp_path / "mine.bpf.c"]):
        scenario = load(spec).spec.scenario
        assert scenario["controls"]["mine.bpf.c"] == {"file": "mine.bpf.c", "text": "int x;\n"}
        with pytest.raises(SpecError, match="none, which it can't take"):
            load(spec, ["flows.0.options.gain=2"])
    binary = b"\x7fELF\xff"
    spec = write(tmp_path, "mine.bpf.o", binary)
    with allowing([tmp_path]):
        source = load(spec).spec.scenario["controls"]["mine.bpf.o"]
    assert base64.b64decode(source["text"]) == content("mine.bpf.o", source) == binary
    (tmp_path / "mine.bpf.o").unlink()
    with allowing([tmp_path]), pytest.raises(SpecError, match="no file"):
        load(spec)


def test_the_names_of_programs() -> None:
    names = ("a.bpf.c", "sub/a.o", ".bpf.c", "a.c", "cubic", "a:B")
    assert [is_program(name) for name in names] == [True, True, False, False, False, False]


def test_the_simulator_and_uml_refuse_a_program(tmp_path: Path) -> None:
    spec = write(tmp_path, "mine.bpf.c", b"")
    with allowing([tmp_path]):
        scenario = load(spec).spec.scenario
    with pytest.raises(
        SpecError, match=r"an eBPF program, which only a kernel runs; --backend kern"
    ):
        Simulator().run(scenario)
    with pytest.raises(SpecError, match="no JIT"):
        refuse_programs(dict(scenario), "no JIT")


def test_missing_programs_are_named_in_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = write(tmp_path, "mine.bpf.c", b"")
    with allowing([tmp_path]):
        scenario = load(spec).spec.scenario
    monkeypatch.setattr(programs, "which", lambda _program: None)
    monkeypatch.setattr(programs, "HEADERS", tmp_path / "none")
    with pytest.raises(InputError, match="`apt install clang bpftool libbpf-dev`"):
        programs.check(scenario)


@able
def test_the_example_shares_with_reno_and_is_gone_afterwards() -> None:
    result = get_backend("kernel:own").run(example())
    kept = result.info.conditions["controls"]["aimd.bpf.c"]
    assert kept["name"] == "aimd"
    assert len(kept["source_sha256"]) == len(kept["object_sha256"]) == 64
    assert "aimd" not in available_ccas()
    last = result.tables["flow_samples"].tail(2)
    ours, reno = (last.filter(last["flow"] == flow)["received_bytes"][0] for flow in (0, 1))
    assert ours > 0
    assert reno > 0
    require_on_time(result)
    assert 0.1 < ours / (ours + reno) < 0.9


@able
@pytest.mark.parametrize(
    ("text", "said"),
    [("int x\n", "C that clang refuses"), ("int x;\n", "the kernel refuses|0 controls in it")],
)
def test_a_program_that_is_refused_is_reported(tmp_path: Path, text: str, said: str) -> None:
    controls = {"mine.bpf.c": {"file": "mine.bpf.c", "text": text}}
    before = available_ccas()
    with (
        pytest.raises(SpecError, match=said),
        programs.register({"controls": controls}, tmp_path),
    ):
        pytest.fail("it was registered")
    assert available_ccas() == before


@able
def test_a_name_that_the_kernel_has_already_is_reported(tmp_path: Path) -> None:
    text = (EXAMPLE / "aimd.bpf.c").read_text(encoding="utf-8")
    controls = {"aimd.bpf.c": {"file": "aimd.bpf.c", "text": text}}
    places = [tmp_path / name for name in ("first", "second")]
    for place in places:
        place.mkdir()
    with programs.register({"controls": controls}, places[0]):
        with (
            pytest.raises(SpecError, match='"aimd", which the kernel has already'),
            programs.register({"controls": controls}, places[1]),
        ):
            pytest.fail("it was registered twice")
        assert "aimd" in available_ccas()
    assert "aimd" not in available_ccas()


@able
def test_a_control_is_unregistered_if_narrows_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from narrows.backends.kernel import programs\n"
        "text = Path(sys.argv[1]).read_text()\n"
        "controls = {'aimd.bpf.c': {'file': 'aimd.bpf.c', 'text': text}}\n"
        "with programs.register({'controls': controls}, Path(sys.argv[2])): input()\n"
    )
    command = [sys.executable, "-c", program, str(EXAMPLE / "aimd.bpf.c"), str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        await_that(lambda: "aimd" in available_ccas())
        os.kill(process.pid, signal.SIGKILL)
    await_that(lambda: "aimd" not in available_ccas())
