"""Flows whose packets two programs make: what is refused, and runs on real kernels."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from required import needs
from specimens import GOOD, scenario_of

from narrows.backends import get_backend
from narrows.backends.kernel import Kernel
from narrows.backends.linux.groups import groups
from narrows.backends.linux.programs import check_programs, digests, engine_suffix, host_settings
from narrows.backends.uml import Uml, get_kernel
from narrows.cli import main
from narrows.errors import NarrowsError, SpecError
from narrows.metrics import summarise
from narrows.plan import plan
from narrows.spec import load
from narrows.spec.permission import allowing
from narrows.store import RunRecord

SENDS = """\
import os, random, socket, sys, time

role, address, port, *rest = sys.argv[1:]
link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
print(role, rest, os.urandom(4).hex(), hash("a word"), id(link) % 4096, flush=True)
if role == "serve":
    link.bind((address, int(port)))
    wanted, to = link.recvfrom(2000)
    for number in range(int(wanted)):
        link.sendto(os.urandom(random.randint(100, 1200)), to)
        time.sleep(0.002)
    link.sendto(b"", to)
    time.sleep(60)
else:
    with open("notes.txt", "w") as notes:
        link.sendto(b"300", (address, int(port)))
        total = 0
        while data := link.recv(2000):
            total += len(data)
        notes.write(str(total))
        print(os.environ["QLOGDIR"] == os.getcwd(), time.time() // 86400)
"""
SIZED = """\
import socket, sys, time
from pathlib import Path

link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if len(sys.argv) == 2:
    link.bind(("", int(sys.argv[1])))
    time.sleep(60)
size = int(Path(__file__).with_name("size").read_text())
link.sendto(bytes(size), (sys.argv[1], int(sys.argv[2])))
"""
PYTHON_HERE = Path(sys.executable).resolve()
PYTHON = f'["{PYTHON_HERE}", "-E", "{{here}}/sends.py"'
FLOW = f"""
[[flows]]
name = "mine"
cca = "none"
server = {PYTHON}, "serve", "{{address}}", "{{port}}", "{{seed}}"]
client = {PYTHON}, "ask", "{{address}}", "{{port}}", "{{duration}}"]
"""
HERE = '[[flows]]\ncca = "none"\nserver = ["true"]\nclient = ["true"]\n'


def wrong(text: str, *overrides: str) -> str:
    with pytest.raises(SpecError) as caught:
        scenario_of(GOOD + text, overrides)
    return str(caught.value)


def test_nothing_runs_that_nobody_has_allowed(tmp_path: Path) -> None:
    file = tmp_path / "spec.toml"
    file.write_text(GOOD + FLOW, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load(file)
    assert [problem.place for problem in caught.value.problems] == [
        "flows[1].server",
        "flows[1].client",
    ]
    assert f"--allow-code {file}" in str(caught.value)
    with allowing([tmp_path]):
        flow = load(file).spec.scenario["flows"][1]
    assert f"{tmp_path.resolve()}/sends.py" in flow["server"]
    assert flow["sender"] == "server"


def test_a_flow_of_programs_has_few_keys_and_known_placeholders() -> None:
    assert "no `client` beside" in wrong('[[flows]]\ncca = "none"\nserver = ["true"]\n')
    told = wrong(HERE, 'flows.1.client=["curl", "{adress}"]')
    assert "flows[1].client[1]" in told
    assert '"address"' in told
    for key in ("size=1mb", "reverse=true", 'workload={kind="ping"}', "stack=quinn", "ecn=l4s"):
        assert f"flows[1].{key.split('=')[0]}" in wrong(HERE, f"flows.1.{key}")
    assert "flows[0].sender" not in wrong("", "flows.0.sender=server")  # it asks for programs
    assert "both programs" in wrong("", "flows.0.sender=server")
    assert "short texts" in wrong(HERE, "flows.1.client=[1]")
    assert "no program" in wrong(HERE, "flows.1.client=[]")


def test_the_simulator_says_which_back_ends_run_programs() -> None:
    with pytest.raises(SpecError, match=r"flows\[1\].server: found .*--backend uml or kernel"):
        get_backend("sim").run(scenario_of(GOOD + HERE))


def test_programs_have_hosts_of_their_own_with_their_settings() -> None:
    scenario = scenario_of(GOOD + HERE + HERE, ["flows.2.cca=bbr", "flows.2.ecn=classic"])
    assert [group.flows for group in groups(scenario)] == [(0,), (1,), (2,)]
    assert host_settings(scenario["flows"][1]) == {}
    assert host_settings(scenario["flows"][2]) == {
        "net/ipv4/tcp_congestion_control": "bbr",
        "net/ipv4/tcp_ecn": "1",
    }
    check_programs(scenario)
    for name in ("no-such-program", "./true"):
        other = scenario_of(GOOD + HERE, [f'flows.1.client=["{name}"]'])
        with pytest.raises(SpecError, match=r"flows\[1\].client\[0\]: found .*, no such program"):
            check_programs(other)
    with pytest.raises(SpecError, match=r"programs/packets\.csv"):
        check_programs(scenario_of(GOOD + HERE, ["run.record=packets"]))


def mine(directory: Path, text: str = FLOW) -> dict[str, object]:
    """The scenario of a flow beside CUBIC, with its program in `directory`."""
    (directory / "sends.py").write_text(SENDS, encoding="utf-8")
    (directory / "spec.toml").write_text(GOOD + text, encoding="utf-8")
    changes = ["run.duration=2s", "run.warmup=500ms"]
    with allowing([directory]):
        return plan(load(directory / "spec.toml", changes).spec, "test").trials[0].scenario


def test_a_script_that_changed_makes_another_run(tmp_path: Path) -> None:
    """A program is often an interpreter: what it runs is among its arguments."""
    scenario = mine(tmp_path)
    before, files = engine_suffix(scenario), digests(scenario)
    assert str(tmp_path / "sends.py") in files
    (tmp_path / "sends.py").write_text(SENDS + "# changed\n", encoding="utf-8")
    assert engine_suffix(scenario) != before


def test_a_file_behind_an_equals_sign_counts_too(tmp_path: Path) -> None:
    (tmp_path / "sizes").write_text("1", encoding="utf-8")
    text = FLOW.replace('"ask",', f'"ask", "--sizes={tmp_path / "sizes"}",')
    assert str(tmp_path / "sizes") in digests(mine(tmp_path, text))


def look(result: RunRecord, scenario: dict[str, object], exact: bool) -> None:
    """Checks the tables and files of a run of `mine`."""
    said = result.files["programs/mine/client/stdout.txt"].decode()
    total = int(result.files["programs/mine/client/notes.txt"])
    assert "ask ['2']" in said
    assert "True" in said
    rows = result.tables["flow_samples"].filter(flow=1)
    last = rows.row(-1, named=True)
    # The empty datagram at the end has no payload.
    assert last["received_bytes"] == total
    assert last["sent"] == 300
    assert last["delivered"] + last["dropped"] == 300 or not exact
    ended = result.tables["completions"].row(0, named=True)
    assert (ended["flow"], ended["size_bytes"]) == (1, total)
    assert 0.6 < ended["end_s"] - ended["start_s"] < 1.9
    found = summarise(scenario, result.tables, result.info)["flows"]
    assert found[1]["goodput_mbps"] > 0.5
    assert found[0]["goodput_mbps"] > found[1]["goodput_mbps"]
    packets = result.files["programs/packets.csv"].decode().splitlines()
    assert len(packets) == 1 + 1 + 301
    assert packets[1].split(",")[1:4] == ["1", "receiver", str(28 + 3)]
    assert all(os.sep in file for file in result.info.conditions["programs"])


@needs("uml")
def test_a_program_repeats_itself_in_virtual_time(tmp_path: Path) -> None:
    uml = Uml(get_kernel().name)
    scenario = mine(tmp_path)
    first, again = uml.run(scenario), uml.run(scenario)
    look(first, scenario, exact=True)
    assert first.info.digest == again.info.digest
    assert first.files == again.files
    other = uml.run({**scenario, "seed": 2})
    packets = "programs/packets.csv"
    assert other.files[packets] != first.files[packets], "it draws random numbers"
    assert "with programs" in first.info.engine


@needs("uml")
def test_verify_names_the_input_that_makes_a_program_differ(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "size.py").write_text(SIZED, encoding="utf-8")
    (tmp_path / "size").write_text("300", encoding="utf-8")
    program = f'"{PYTHON_HERE}", "{{here}}/size.py"'
    flow = FLOW.split("server =")[0] + (
        f'server = [{program}, "{{port}}"]\nclient = [{program}, "{{address}}", "{{port}}"]\n'
    )
    spec, out = tmp_path / "spec.toml", tmp_path / "out"
    spec.write_text(GOOD + flow, encoding="utf-8")
    short = ["--set", "run.duration=500ms", "--set", "run.warmup=0s"]
    allowed = ["--allow-code", str(tmp_path)]
    command = ["run", str(spec), "--backend", "uml", *short, *allowed, "--out", str(out)]
    assert main(command) == 0
    (tmp_path / "size").write_text("301", encoding="utf-8")
    capsys.readouterr()
    assert main(["verify", str(out), *allowed]) == 1
    said = capsys.readouterr().out
    assert re.search(
        r'packet 1 of programs: 328 bytes from the receiver of "mine" at 0\.\d+ s kept, '
        r'329 bytes from the receiver of "mine" at 0\.\d+ s now',
        said,
    )


@needs("uml")
def test_a_program_that_fails_is_an_error_with_its_words(tmp_path: Path) -> None:
    uml = Uml(get_kernel().name)
    broken = FLOW.replace('"ask"', '"ask", "nowhere.invalid"')
    with pytest.raises(NarrowsError, match=r'(?s)client of flow "mine".*exit status: 1.*Error'):
        uml.run(mine(tmp_path, broken))
    deaf = HERE.replace('server = ["true"]', 'server = ["sleep", "60"]')
    with pytest.raises(NarrowsError, match=r"server of flow .* doesn't listen on any port"):
        uml.run(mine(tmp_path, deaf))


@needs("kernel")
def test_a_program_runs_on_this_machines_kernel(tmp_path: Path) -> None:
    scenario = mine(tmp_path)
    look(Kernel("own").run(scenario), scenario, exact=False)
