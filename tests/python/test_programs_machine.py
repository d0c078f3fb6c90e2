"""The machine as programs on guests see it: its processor, its date, the cost of a call."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from required import needs
from specimens import GOOD, scenario_of

from narrows.backends.kernel.backend import _check_groups
from narrows.backends.linux.tools import traffic_tool
from narrows.backends.uml import Uml, get_kernel
from narrows.cli import main
from narrows.errors import SpecError
from narrows.plan import plan
from narrows.spec import load
from narrows.spec.permission import allowing

LOOKS = """\
#include <arpa/inet.h>
#include <cpuid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static long long ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

int main(int count, char **words)
{
	unsigned a, b, c, d, aux;
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(atoi(words[1])) };
	int link = socket(AF_INET, SOCK_DGRAM, 0);
	if (count == 2) {
		bind(link, (struct sockaddr *)&to, sizeof(to));
		pause();
	}
	__cpuid(1, a, b, c, d);
	printf("%u %u ", c >> 30 & 1, b >> 24);
	__cpuid_count(7, 0, a, b, c, d);
	printf("%u\\n", b >> 18 & 1);
	unsigned long long first = __rdtsc();
	long long before = ns(CLOCK_MONOTONIC);
	for (int i = 0; i < 20; i++)
		syscall(SYS_getppid);
	long long took = ns(CLOCK_MONOTONIC) - before;
	printf("%llu %lld\\n", __rdtscp(&aux) - first, took);
	printf("%lld %llu\\n", ns(CLOCK_REALTIME) / 1000000000, first);
	to.sin_addr.s_addr = inet_addr(words[2]);
	char text[300] = "text";
	sendto(link, text, sizeof(text), 0, (struct sockaddr *)&to, sizeof(to));
}
"""
FLOW = """
[[flows]]
name = "mine"
cca = "none"
server = ["{here}/look", "{port}"]
client = ["{here}/look", "{port}", "{address}"]
sender = "client"
"""
SHORT = ("run.duration=500ms", "run.warmup=0s")


def build(place: Path, more: str = "") -> Path:
    """A specification with the program beside it."""
    (place / "look.c").write_text(LOOKS, encoding="utf-8")
    subprocess.run(["gcc", "-O1", "-o", place / "look", place / "look.c"], check=True)
    (place / "spec.toml").write_text(GOOD + FLOW + more, encoding="utf-8")
    return place / "spec.toml"


def without_processor(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files without the processor that `cpuid` names, where it can't be hidden."""
    found = dict(files)
    if "cpuid_fault" not in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        said = found["programs/mine/client/stdout.txt"]
        found["programs/mine/client/stdout.txt"] = said.split(b"\n", 1)[1]
    return found


@needs("uml")
def test_the_processor_and_the_date_are_made_up_and_calls_take_their_time(tmp_path: Path) -> None:
    file = build(tmp_path, 'syscall_time = "1ms"\ndate = "2027-03-01"\n')
    with allowing([tmp_path]):
        scenario = plan(load(file, SHORT).spec, "test").trials[0].scenario
    uml = Uml(get_kernel().name)
    result = uml.run(scenario)
    said = result.files["programs/mine/client/stdout.txt"].decode().split()
    hidden, core, seeds, cycles, took, now, counter = (int(word) for word in said)
    assert took == pytest.approx(21e6, abs=1e6), "20 calls, and one that reads the clock"
    assert cycles == pytest.approx(took, abs=3e6), "the counter is the clock"
    booted = 1_803_859_200
    assert booted <= now < booted + 60
    assert counter < 60 * 10**9
    if "cpuid_fault" in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        assert (hidden, core, seeds) == (0, 0, 0)
    last = result.tables["flow_samples"].filter(flow=1).row(-1, named=True)
    assert (last["sent"], last["delivered"], last["received_bytes"]) == (1, 1, 300)
    delays = result.tables["distributions"].filter(kind="one_way_ms", id=1)
    (delay,) = delays["value"].to_list()
    # The datagram of 328 bytes takes 0.328 ms at 8 Mbit/s, and may wait for the other flow.
    assert 10.328 <= delay <= 10 + 0.328 + 20 + 1.5
    assert delays["weight"].to_list() == [1.0]
    of_others = result.tables["distributions"].filter(kind="one_way_ms", id=0)
    assert of_others["value"].min() == pytest.approx(11.5, abs=0.001)
    again = uml.run(scenario)
    assert without_processor(again.files) == without_processor(result.files)
    assert again.info.digest == result.info.digest


@needs("uml")
@needs("tshark")
def test_captures_have_the_packets_of_programs(tmp_path: Path) -> None:
    out = tmp_path / "out"
    file = build(tmp_path)
    changes = [word for change in SHORT for word in ("--set", change)]
    command = ["run", str(file), "--backend", "uml", "--pcap", "--out", str(out), *changes]
    assert main([*command, "--allow-code", str(tmp_path)]) == 0
    sent = []
    for point in ("sender", "before-queue", "after-queue", "receiver"):
        capture = next(out.glob(f"trial-1/*/{point}.pcapng"))
        fields = ["-e", "ip.src", "-e", "udp.length", "-e", "frame.time_epoch"]
        shown = ["tshark", "-n", "-r", capture, "-Y", "udp", "-T", "fields", *fields]
        done = subprocess.run(shown, capture_output=True, text=True, check=True)
        (row,) = done.stdout.splitlines()
        source, length, at = row.split()
        assert (source, length) == ("10.77.1.1", "308")
        sent.append(float(at))
    assert sent == sorted(sent)
    assert sent[-1] - sent[0] > 0.0103


@needs("uml")
def test_a_charged_program_ends_as_it_would() -> None:
    def code(*words: str) -> int:
        charged = [traffic_tool(), "charge", "1000", *words]
        return subprocess.run(charged, capture_output=True, check=False, timeout=60).returncode

    assert code("true") == 0
    assert code("sh", "-c", "(exit 3) & wait $!; exit $(($? + 4))") == 7
    assert code("sh", "-c", "kill -USR1 $$") == 128 + 10
    assert code("sh", "-c", "trap 'exit 5' USR1; kill -USR1 $$; sleep 9") == 5
    assert code("no-such-program") == 1


def test_both_keys_are_for_programs_in_virtual_time() -> None:
    here = '[[flows]]\ncca = "none"\nserver = ["true"]\nclient = ["true"]\n'
    for key in ('date = "2030-13-01"', 'syscall_time = "2s"', 'syscall_time = "fast"'):
        with pytest.raises(SpecError, match=rf"flows\[1\]\.{key.split(' ', maxsplit=1)[0]}"):
            scenario_of(GOOD + here + key)
    with pytest.raises(SpecError, match="both programs"):
        scenario_of(GOOD, ['flows.0.date="2030-01-01"'])
    for key in ('date = "2030-01-01"', 'syscall_time = "1us"'):
        with pytest.raises(SpecError, match="--backend uml"):
            _check_groups(scenario_of(GOOD + here + key))
