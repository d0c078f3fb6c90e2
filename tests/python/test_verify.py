"""`narrows verify`: the same again is the same, and whatever isn't is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from specimens import GOOD

from narrows.cli import main
from narrows.store import intact, open_store
from narrows.verify import kept_runs, lines, repeat
from narrows.verify.programs import differences

SHORT = ["--set", "run.duration=2s", "--set", "run.warmup=0.5s"]


@pytest.fixture
def result(tmp_path: Path) -> Path:
    spec, out = tmp_path / "good.toml", tmp_path / "out"
    spec.write_text(GOOD)
    assert main(["run", str(spec), *SHORT, "--trials", "2", "--out", str(out)]) == 0
    return out


def forge(result: Path, table: str, change: pl.Expr) -> None:
    """Changes a table of the first trial, and seals the result again as a forger would."""
    file = result / "trial-1" / f"{table}.parquet"
    pl.read_parquet(file).with_columns(change).write_parquet(file)
    manifest = json.loads((result / "manifest.json").read_text())
    (result / "manifest.json").write_text(json.dumps(intact.seal(manifest, result)))


def test_files_that_the_run_did_not_write_do_not_matter(result: Path) -> None:
    (result / "trial-1" / "more.parquet").write_text("no Parquet")
    assert main(["verify", str(result)]) == 0


def test_a_result_is_what_its_scenario_gives(result: Path, capsys: Any) -> None:
    assert main(["verify", str(result)]) == 0
    assert "2 runs repeated: every value of every table is the same" in capsys.readouterr().out


def seal(result: Path) -> None:
    """Makes the digests right again, as a forger would."""
    manifest = json.loads((result / "manifest.json").read_text())
    (result / "manifest.json").write_text(json.dumps(intact.seal(manifest, result)))


def edit(file: Path, *keys: Any, value: Any) -> None:
    """Changes a value of a JSON file."""
    document = json.loads(file.read_text())
    place = document
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    file.write_text(json.dumps(document, indent=1) + "\n")


@pytest.mark.parametrize(
    ("name", "keys", "value", "said"),
    [
        ("summary.json", ("runs", 1, "bottleneck", "utilization"), 0.123, "bottleneck.utilization"),
        ("summary.json", ("runs", 0, "flows", 0, "goodput_mbps"), 9.99, "flows[0].goodput_mbps"),
        ("manifest.json", ("trials", 0, "packets"), 5, "packets: 5 kept"),
        ("manifest.json", ("trials", 0, "losses"), {"queue": [7]}, "losses:"),
        ("manifest.json", ("trials", 1, "end_s"), 1.5, "end_s: 1.5 kept"),
        ("manifest.json", ("trials", 1, "seed"), 77, "the manifest's seed isn't the scenario's"),
        ("manifest.json", ("name",), "better", "manifest.json: name"),
        ("manifest.json", ("groups",), ["bbr"], "manifest.json: groups"),
        ("manifest.json", ("hash",), "0" * 32, "manifest.json: a hash that differs"),
    ],
)
def test_forged_summaries_and_manifests_are_found(
    result: Path, capsys: Any, name: str, keys: tuple[Any, ...], value: Any, said: str
) -> None:
    edit(result / name, *keys, value=value)
    seal(result)
    assert main(["verify", str(result)]) == 1
    assert said in capsys.readouterr().out


def test_a_specification_that_did_not_run_is_found(result: Path, capsys: Any) -> None:
    spec = result / "spec.toml"
    spec.write_text(spec.read_text().replace('rtt = "', 'rtt = "1'))
    seal(result)
    assert main(["verify", str(result)]) == 1
    assert "spec.toml: a scenario that differs from that of trial 1" in capsys.readouterr().out


def test_a_table_that_the_run_does_not_give_is_found(result: Path, capsys: Any) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(result / "trial-1" / "extra.parquet")
    seal(result)
    assert main(["verify", str(result)]) == 1
    assert "extra: a table that the run doesn't give" in capsys.readouterr().out


def test_a_summary_table_that_is_not_the_summary_is_found(result: Path, capsys: Any) -> None:
    file = result / "summary.csv"
    file.write_text(file.read_text().replace("1,", "2,", 1))
    assert main(["verify", str(result)]) == 1
    assert "summary.csv: not the table of summary.json" in capsys.readouterr().out


def test_a_manifest_without_a_digest_is_damaged(result: Path, capsys: Any) -> None:
    document = json.loads((result / "manifest.json").read_text())
    del document["digest"]
    (result / "manifest.json").write_text(json.dumps(document))
    assert main(["verify", str(result)]) == 2
    assert "content that the run did not write" in capsys.readouterr().err


def test_things_that_cannot_be_compared_are_named(result: Path, capsys: Any) -> None:
    assert main(["verify", str(result)]) == 0
    said = capsys.readouterr().out
    assert "Not compared: " in said
    assert "report.html" in said
    assert "with which command it ran" in said


@pytest.fixture
def store(tmp_path: Path) -> Path:
    spec, out = tmp_path / "good.toml", tmp_path / "store"
    spec.write_text(GOOD)
    axis = ["--set", 'path.buffer=["1bdp", "4bdp"]']
    assert main(["run", str(spec), *SHORT, *axis, "--out", str(out)]) == 0
    return out


def test_a_store_is_what_its_scenarios_give(store: Path, capsys: Any) -> None:
    assert main(["verify", str(store)]) == 0
    assert "2 runs repeated: every value of every table is the same" in capsys.readouterr().out


def rewrite(file: Path, frame: pl.DataFrame) -> None:
    frame.write_parquet(file)


def test_a_forged_derived_table_is_found(store: Path, capsys: Any) -> None:
    file = next(store.glob("parts/part-*/summary.parquet"))
    frame = pl.read_parquet(file)
    rewrite(file, frame.with_columns(utilization=pl.lit(0.123)))
    assert main(["verify", str(store)]) == 1
    assert "utilization: 0.123 kept" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("table", "column", "said"),
    [
        ("runs", "packets", "packets: 1 kept"),
        ("runs", "digest", "digest 1"),
        ("flows", "goodput_mbps", "goodput_mbps: 1.0 kept"),
        ("queue_samples", "backlog_bytes", "backlog_bytes: 1 kept"),
    ],
)
def test_a_forged_part_is_found(
    store: Path, capsys: Any, table: str, column: str, said: str
) -> None:
    file = next(store.glob(f"parts/part-*/{table}.parquet"))
    frame = pl.read_parquet(file)
    rewrite(file, frame.with_columns(pl.lit(1).cast(frame[column].dtype).alias(column)))
    assert main(["verify", str(store)]) == 1
    assert said in capsys.readouterr().out


def test_runs_swapped_between_combinations_are_found(store: Path, capsys: Any) -> None:
    file = next((store / "studies").glob("*.parquet"))
    frame = pl.read_parquet(file)
    rewrite(file, frame.with_columns(pl.col("run").reverse()))
    assert main(["verify", str(store)]) == 1
    assert "runs that its specification does not have" in capsys.readouterr().out


def test_runs_under_each_others_hashes_are_found(store: Path, capsys: Any) -> None:
    file = next(store.glob("parts/part-*/runs.parquet"))
    rewrite(file, pl.read_parquet(file).with_columns(pl.col("run").reverse()))
    assert main(["verify", str(store)]) == 1
    assert "its name isn't the hash of its scenario" in capsys.readouterr().out


def test_a_missing_run_is_named(store: Path, capsys: Any) -> None:
    there = open_store(store)
    there.discard(min(there.keys()))
    assert main(["verify", str(store)]) == 0
    assert "1 of 2 runs, which aren't there" in capsys.readouterr().out


def test_a_forged_value_is_found(result: Path, capsys: Any) -> None:
    row = pl.int_range(pl.len())
    forge(result, "flow_samples", (pl.col("sent") + (row == 3).cast(pl.UInt64)).alias("sent"))
    assert main(["verify", str(result)]) == 1
    said = capsys.readouterr().out
    assert "trial 1 differs (the same engine; digest" in said
    assert "flow_samples: row 4, sent:" in said
    assert "2 runs repeated: 1 the same, 1 not." in said


def test_a_forged_scenario_is_found(result: Path) -> None:
    file = result / "trial-2" / "scenario.json"
    scenario = json.loads(file.read_text())
    scenario["path"]["rtt_ns"] += 1_000_000
    file.write_text(json.dumps(scenario))
    manifest = json.loads((result / "manifest.json").read_text())
    (result / "manifest.json").write_text(json.dumps(intact.seal(manifest, result)))
    first, second = repeat(kept_runs(str(result)))
    assert first.is_identical
    assert not second.is_identical
    assert second.digest != second.kept.digest


def test_a_damaged_result_is_refused(result: Path, capsys: Any) -> None:
    (result / "trial-1" / "flow_samples.parquet").write_bytes(b"nothing")
    assert main(["verify", str(result)]) == 2
    assert "content that the run did not write" in capsys.readouterr().err


def test_another_engine_is_named(result: Path) -> None:
    found = list(repeat(kept_runs(str(result), sample=1)))
    kept = found[0].kept
    older = type(kept)(**{**vars(kept), "engine": "0.0.1+old", "digest": "0" * 32})
    (line, *_) = lines(repeat([older]))
    assert "engine 0.0.1+old then, " in line


def test_a_sweep_is_verified_in_part(tmp_path: Path, capsys: Any) -> None:
    spec, out = tmp_path / "good.toml", tmp_path / "store"
    spec.write_text(GOOD)
    axis = ["--set", 'path.buffer=["1bdp", "2bdp", "4bdp"]']
    assert main(["run", str(spec), *SHORT, *axis, "--out", str(out)]) == 0
    capsys.readouterr()
    assert main(["verify", str(out), "--sample", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["same"] for one in found["runs"]] == [True, True]


def test_runs_in_real_time_cannot_be_repeated(result: Path, capsys: Any) -> None:
    manifest = json.loads((result / "manifest.json").read_text())
    for backend in ("kernel", "capture", "iperf3"):
        sealed = intact.seal({**manifest, "backend": backend}, result)
        (result / "manifest.json").write_text(json.dumps(sealed))
        assert main(["verify", str(result)]) == 2
        assert "a run of sim or uml would be right" in capsys.readouterr().err


def test_code_of_others_runs_only_if_it_is_allowed(tmp_path: Path, capsys: Any) -> None:
    module, mark = tmp_path / "mine.py", tmp_path / "mark"
    module.write_text(
        f"import pathlib\npathlib.Path({str(mark)!r}).write_text('x')\n"
        "class Mine:\n"
        "    def on_ack(self, sample): pass\n"
        "    def on_congestion(self, event): pass\n"
        "    def control(self): return 20.0\n"
    )
    spec, out = tmp_path / "spec.toml", tmp_path / "out"
    spec.write_text(GOOD.replace('"cubic"', '"mine:Mine"'))
    assert main(["run", str(spec), *SHORT, "--allow-code", str(module), "--out", str(out)]) == 0
    mark.unlink()
    capsys.readouterr()
    assert main(["verify", str(out)]) == 2
    assert "code that nobody has allowed to run" in capsys.readouterr().err
    assert not mark.exists()
    assert main(["verify", str(out), "--allow-code", str(out)]) == 0
    assert mark.exists()


def test_nothing_to_repeat_is_said(tmp_path: Path, capsys: Any) -> None:
    assert main(["verify", str(tmp_path / "none")]) == 2
    assert "no such directory" in capsys.readouterr().err


def test_the_first_packet_of_programs_that_differs_is_named(tmp_path: Path) -> None:
    head = "time_ns,flow,from,size,content\n"
    rows = ["1000,1,receiver,40,aa\n", "2000,0,sender,1500,bb\n", "3500,1,receiver,40,cc\n"]
    (tmp_path / "programs" / "mine").mkdir(parents=True)
    (tmp_path / "programs" / "packets.csv").write_text(head + "".join(rows))
    (tmp_path / "programs" / "mine" / "log").write_text("a b")
    flows = ["one", "mine"]

    def find(*packets: str, **files: bytes) -> list[str]:
        written = {f"programs/mine/{name}": content for name, content in files.items()}
        table = (head + "".join(packets)).encode()
        return list(differences(tmp_path, {"programs/packets.csv": table, **written}, flows))

    assert find(*rows, log=b"a b") == []
    kept = '40 bytes from the receiver of "mine" at 0.000003500 s kept'
    (told,) = find(*rows[:2], "3750,1,receiver,41,cc\n", "4000,1,sender,9,dd\n", log=b"a b")
    now = '41 bytes from the receiver of "mine" at 0.000003750 s now'
    assert told == f"packet 3 of programs: {kept}, {now}"
    assert find(*rows[:2], log=b"a b") == [f"packet 3 of programs: {kept}, none now"]
    other = rows[2].replace("cc", "c0")
    assert find(*rows[:2], other, log=b"a b") == [f"packet 3 of programs: {kept}, other bytes now"]
    assert find(*rows, log=b"a c", more=b"") == [
        "programs/mine/log: other content from byte 3 on",
        "programs/mine/more: not kept",
    ]
    assert find(*rows) == ["programs/mine/log: not written now"]
