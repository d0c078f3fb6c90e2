"""The simulator behind the protocol of back ends, and what it makes of the engine's errors."""

from __future__ import annotations

import json
import shutil
from types import SimpleNamespace

import pytest
from required import kernel_missing, uml_missing
from specimens import GOOD, scenario_of

from narrows.backends import NAMES, features, get_backend
from narrows.backends.features import table
from narrows.backends.sim import Simulator
from narrows.cli import main
from narrows.errors import EngineError, InputError, SpecError


class PanicException(BaseException):
    """Stands for the exception of a broken invariant in Rust."""


def simulator(error: BaseException) -> Simulator:
    """A simulator whose engine always fails."""

    def run(*_: object) -> None:
        raise error

    backend = Simulator()
    errors = {
        "ScenarioError": type("ScenarioError", (ValueError,), {}),
        "ControlError": type("ControlError", (ValueError,), {}),
    }
    backend._native = SimpleNamespace(run=run, **errors)
    return backend


def test_every_back_end_can_say_what_it_can() -> None:
    for name in NAMES:
        if name == "uml" and uml_missing():
            continue
        if name == "kernel" and kernel_missing():
            continue
        backend = get_backend(name)
        assert backend.name == name
        assert backend.engine
        assert get_backend(backend.selector).engine == backend.engine
        able = backend.capabilities()
        assert {"reno", "cubic", "bbr"} <= set(able.ccas)
        assert able.queues
        assert able.profiles
        assert able.parallel != able.real_time


def test_a_run_has_tables_and_what_it_cost() -> None:
    result = get_backend("sim").run(scenario_of(GOOD))
    assert {"flow_samples", "queue_samples", "completions", "distributions"} <= set(result.tables)
    assert result.info.end_s == 2.0
    # The bottleneck also forwards the handshake, which isn't data.
    assert 1000 < result.info.packets < result.tables["queue_samples"]["forwarded_packets"].max()
    assert result.info.wall_s > 0
    assert len(bytes.fromhex(result.info.digest)) >= 8


def test_progress_can_stop_a_run() -> None:
    heard: list[float] = []

    def progress(sim_s: float, packets: int) -> None:
        heard.append(sim_s + packets)
        raise KeyError("enough")

    long = scenario_of(GOOD, ["run.duration=100000s", "run.record=summary"])
    with pytest.raises(KeyError, match="enough"):
        get_backend("sim").run(long, progress)
    assert len(heard) == 1


def test_a_refusal_has_its_parts() -> None:
    scenario = scenario_of(GOOD)
    scenario["path"]["rate_bps"] = 0
    scenario["flows"][0]["cca"] = "quic: found x; y"
    with pytest.raises(SpecError) as caught:
        get_backend("sim").run(scenario)
    parts = {problem.place: problem for problem in caught.value.problems}
    assert parts["path.rate_bps"].found == "0"
    assert parts["flows[0].cca"].found.startswith('"quic: found x; y" (no ')
    assert "would be right" not in parts["flows[0].cca"].remedy


def test_a_text_that_is_no_scenario_is_refused_whole() -> None:
    with pytest.raises(SpecError) as caught:
        get_backend("sim").run({"controls": {}})
    assert caught.value.place == "scenario"
    assert caught.value.remedy == "a scenario that the engine takes"


def test_a_broken_invariant_is_an_ordinary_exception() -> None:
    with pytest.raises(EngineError, match="packets vanished"):
        simulator(PanicException("packets vanished")).run({})


def test_ctrl_c_passes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        simulator(KeyboardInterrupt()).run({})


@pytest.mark.parametrize("name", ["ns3", "mininet"])
def test_back_ends_that_are_not_there(name: str) -> None:
    with pytest.raises(InputError) as caught:
        get_backend(name)
    assert caught.value.place == "--backend"
    assert name in caught.value.problems[0].found
    assert "sim" in caught.value.remedy


def test_features_of_back_ends_are_one_table_with_a_reason_for_each_refusal() -> None:
    found = table()
    assert set(found["backends"]) == set(NAMES)
    rows = {row["feature"]: row for row in found["features"]}
    assert len(rows) == len(found["features"])
    refused = {name for name, row in rows.items() if row["sim"] is not True}
    own = {"own kernel", "own sysctls"}
    assert refused == {"ebpf control", "module control", "programs", *own}
    for name in set(NAMES) - set(found["missing"]):
        for row in found["features"]:
            assert row[name] is True or len(row[name]) > 10, row
    if "uml" not in found["missing"]:
        assert rows["queue fq_codel"]["uml"] is True
        assert rows["queue dualpi2"]["uml"] is True
        assert rows["reverse link"]["uml"] is True
        assert rows["host gro"]["uml"].startswith("host.gro: found")
    if "kernel" not in found["missing"]:
        assert rows["host gro"]["kernel"].startswith("host.gro: found")
        links = rows["links"]["kernel"]
        assert links is True if shutil.which("iperf3") else "apt install iperf3" in links


def test_a_back_end_that_is_missing_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def find(name: str) -> object:
        if name == "sim":
            return get_backend("sim")
        raise InputError.at("--backend", f'"{name}"', "another machine")

    monkeypatch.setattr(features, "get_backend", find)
    assert main(["list", "backends", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["backends"]["kernel"] is None
    assert found["missing"]["kernel"].endswith("another machine would be right")
    assert main(["list", "backends"]) == 0
    said = capsys.readouterr().out
    assert "kernel" in said
    assert "not here: --backend: found" in said
    assert main(["list", "queues", "--json"]) == 0
    assert "droptail" in {row["name"] for row in json.loads(capsys.readouterr().out)}
