"""Files that never end, that nobody writes to, that are full or damaged: words, no traceback."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from specimens import GOOD, run_cli, write
from waiting import HANG_S

from narrows.files import read_limited

Capture = pytest.CaptureFixture[str]
MAIN = "import sys; from narrows.cli import main; sys.exit(main(sys.argv[1:]))"
ARRIVALS = GOOD.replace('cca = "cubic"', 'cca = "cubic"\nworkload = WORKLOAD')


def narrows(*arguments: str | bytes, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", MAIN, *arguments]
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        command, **{"stderr": subprocess.PIPE, "text": True, "timeout": HANG_S} | options
    )


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe.toml")
    return tmp_path / "pipe.toml"


@pytest.mark.parametrize("command", ["run", "analyze", "import"])
def test_only_regular_files_are_read(command: str, fifo: Path, capsys: Capture) -> None:
    for file in ("/dev/zero", str(fifo)):
        assert run_cli(command, file) == 2
        said = capsys.readouterr().err
        assert "something other than a regular file" in said
        assert file in said


@pytest.mark.parametrize(
    "workload",
    [
        '{ kind = "arrivals", gap = "1s", size = { kind = "empirical", file = "pipe.toml" } }',
        '{ kind = "poisson", rate = "1e999999999/s", size = "1kb" }',
        '{ kind = "poisson", rate = "1e-999999999/s", size = "1kb" }',
        '{ kind = "arrivals", gap = "1s", size = { kind = "pareto", min = "1kb", shape = 0.01 } }',
        '{ kind = "arrivals", gap = "1s", size = { kind = "pareto", min = "1kb", shape = 1e-9 } }',
        '{ kind = "on_off", on = "1s", off = { kind = "pareto", min = "1s", shape = 1e-9 } }',
    ],
)
def test_workloads_out_of_all_bounds(
    workload: str, fifo: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert fifo.exists()
    spec = write(tmp_path, ARRIVALS.replace("WORKLOAD", workload))
    assert run_cli("run", spec) == 2
    assert "flows[0].workload" in capsys.readouterr().err


@pytest.mark.parametrize("digits", [401, 4000, 5000])
@pytest.mark.parametrize(
    "key", ["path.loss", "run.seed", "run.trials", "flows.0.count", "flows.0.options.beta", "x"]
)
def test_numbers_of_many_digits_are_refused(
    key: str, digits: int, tmp_path: Path, capsys: Capture
) -> None:
    assert run_cli("run", write(tmp_path), "--set", f"{key}={'9' * digits}") == 2
    assert "found" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 100_000, "a" + ".a" * 20_000 + " = 1", "a = " + "{ a = " * 5000]
)
def test_deep_documents_are_refused(text: str, tmp_path: Path, capsys: Capture) -> None:
    assert run_cli("run", write(tmp_path, text)) == 2
    assert "good.toml" in capsys.readouterr().err


def test_standard_input_is_read_with_a_limit(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    done = narrows("run", "/dev/stdin", "--out", out, input=GOOD, stdout=subprocess.DEVNULL)
    assert (done.returncode, done.stderr) == (0, "")
    with Path("/dev/zero").open("rb") as endless:
        done = narrows("run", "/dev/stdin", stdin=endless)
    assert done.returncode == 2
    assert "more than 10,000,000 bytes" in done.stderr


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_standard_input_may_be_a_file(name: str, tmp_path: Path) -> None:
    spec, drawn = Path(write(tmp_path)), str(tmp_path / "drawn.svg")
    with spec.open() as file:
        done = narrows("run", name, "--out", str(tmp_path / "out"), stdin=file)
    assert (done.returncode, done.stderr) == (0, "")
    with spec.open() as file:
        done = narrows("figure", name, "--out", drawn, stdin=file)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_network_is_drawn_of_a_piped_specification(tmp_path: Path) -> None:
    drawn = tmp_path / "drawn.svg"
    done = narrows("figure", "-", "--out", str(drawn), input=GOOD)
    assert (done.returncode, done.stderr) == (0, "")
    assert drawn.is_file()


def test_a_limit_holds_for_a_file_that_says_it_is_empty() -> None:
    with pytest.raises(OSError, match="more than 3 bytes"):
        read_limited(Path("/proc/self/status"), 3)


def test_a_full_standard_output_is_one_sentence(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = narrows("run", write(tmp_path), "--json", "--out", str(tmp_path / "o"), stdout=full)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "narrows: error: standard output: found no space"
    )
    assert "Traceback" not in done.stderr


def test_an_export_that_finds_no_room_or_no_reader(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    assert run_cli("run", write(tmp_path), "--out", out) == 0
    for form in ("csv", "json", "parquet"):
        command = ("export", out, "flow_samples", "--format", form)
        with Path("/dev/full").open("w") as full:
            done = narrows(*command, stdout=full)
        assert (form, done.returncode, done.stderr.count("\n")) == (form, 1, 1)
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "w") as nobody:
            done = narrows(*command, stdout=nobody)
        assert (form, done.returncode, done.stderr) == (form, 0, "")


@pytest.mark.parametrize("options", [(), ("--jobs", "2")])
def test_a_disk_without_room_is_one_sentence(options: tuple[str, ...], tmp_path: Path) -> None:
    """No file may have more than 3,000 bytes, which stands for a full disk."""
    spec, out = write(tmp_path), tmp_path / "out"
    most = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)); "
    code = [sys.executable, "-c", most + MAIN, "run", spec, *options, "--out", str(out)]
    done = subprocess.run(code, capture_output=True, text=True, timeout=HANG_S)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("that can be written (--out DIR) would be right")
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.rglob("*.partial"))


def test_a_place_that_is_no_file_stays_as_it_is(
    fifo: Path, tmp_path: Path, capsys: Capture
) -> None:
    """A file that appears at once takes the place of what had its name: never of a device."""
    spec, out = write(tmp_path), str(tmp_path / "out")
    assert run_cli("run", spec, "--out", out) == 0
    for command in (("figure", spec), ("export", out, "flows")):
        for place in (str(fifo), "/", str(tmp_path)):
            assert run_cli(*command, "--out", place) == 2
            assert f"{place}: found something other than a regular file" in capsys.readouterr().err
        assert fifo.is_fifo()
        link, target = tmp_path / "link", tmp_path / "target"
        link.symlink_to(target)
        assert run_cli(*command, "--out", str(link)) == 0
        assert link.is_symlink()
        assert target.read_text()
        link.unlink()


@pytest.mark.parametrize("place", ["missing/x", "/", "."])
def test_places_where_nothing_can_be_written(place: str, tmp_path: Path, capsys: Capture) -> None:
    spec, out = write(tmp_path), str(tmp_path / "out")
    assert run_cli("run", spec, "--out", out) == 0
    for command in (("figure", spec), ("export", out, "flows"), ("figure", out, "timeline")):
        with contextlib.chdir(tmp_path):
            assert run_cli(*command, "--out", place) == 2
        said = capsys.readouterr().err
        assert "that can be written" in said
        assert ".partial" not in said
    assert run_cli("run", spec, "--out", "s3://bucket/run") == 2
    assert "a URL" in capsys.readouterr().err


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_inputs_and_outputs_that_are_closed(closed: str, tmp_path: Path) -> None:
    code = "import sys; from narrows.start import main; sys.exit(main())"
    for arguments, status in (
        (["run", "--check", write(tmp_path)], 0),
        (["run", "--check", "nothing"], 2),
    ):
        command = ["sh", "-c", f'exec "$0" "$@" {closed}', sys.executable, "-c", code, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S)
        assert (done.returncode, "Traceback" in done.stderr) == (status, False)


def test_names_that_are_no_utf_8(tmp_path: Path) -> None:
    file = os.fsencode(tmp_path) + b"/sp\xff.toml"
    Path(os.fsdecode(file)).write_text(GOOD.split("\n", 1)[1])
    spec = write(tmp_path)
    for command in (["run", file], ["run", spec, "--out", os.fsencode(tmp_path) + b"/o\xff"]):
        done = narrows(*command)
        assert done.returncode == 2
        assert "which is not UTF-8; a name in UTF-8 would be right" in done.stderr
    done = narrows("run", b"missing\xff.toml")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def damage(file: Path, moves: random.Random) -> None:
    content = bytearray(file.read_bytes())
    match moves.randrange(4):
        case 0:
            content[moves.randrange(len(content))] ^= 1 << moves.randrange(8)
        case 1:
            del content[moves.randrange(len(content)) :]
        case 2:
            at = moves.randrange(len(content))
            content[at:at] = moves.randbytes(moves.randrange(1, 40))
        case 3:
            content[:] = moves.choice([b"", b"{}", b"[]", b"null", b"PAR1PAR1", b"\xff" * 99])
    file.write_bytes(content)


def test_damaged_results_are_refused(tmp_path: Path, capsys: Capture) -> None:
    out, moves = tmp_path / "out", random.Random(20261122)
    assert run_cli("run", write(tmp_path), "--out", str(out)) == 0
    names = ["manifest.json", "summary.json", "spec.toml", "trial-1/scenario.json"]
    names += [f"trial-1/{name}.parquet" for name in ("flow_samples", "queue_samples", "internals")]
    for _ in range(80):
        file = out / moves.choice(names)
        before = file.read_bytes()
        damage(file, moves)
        changed = file.read_bytes() != before
        capsys.readouterr()
        for command in (
            ["open", "--no-show", "--rebuild", str(out)],
            ["export", str(out), "flow_samples"],
        ):
            status = run_cli(*command)
            said = capsys.readouterr().err
            if changed and file.name != "manifest.json":
                assert status == 2, (file, command, said)
                assert file.name in said
            # A manifest may be damaged in blanks alone.
            assert status in (0, 2), (file, command, said)
        file.write_bytes(before)
    (out / "trial-1" / "internals.parquet").unlink()
    assert run_cli("open", "--no-show", "--rebuild", str(out)) == 2
    assert "internals.parquet" in capsys.readouterr().err


def test_the_manifest_names_what_it_covers(tmp_path: Path) -> None:
    assert run_cli("run", write(tmp_path), "--out", str(tmp_path / "out")) == 0
    files = json.loads((tmp_path / "out" / "manifest.json").read_text())["files"]
    assert {"spec.toml", "summary.json", "trial-1/scenario.json"} < set(files)


def test_files_that_are_read_are_not_overwritten(tmp_path: Path, capsys: Capture) -> None:
    spec, out = write(tmp_path), tmp_path / "out"
    assert run_cli("run", spec, "--out", str(out)) == 0
    assert run_cli("figure", spec, "--out", spec) == 2
    assert "the specification itself" in capsys.readouterr().err
    assert run_cli("export", str(out), "flows", "--out", str(out / "summary.json")) == 2
    assert "a file of the results" in capsys.readouterr().err
