"""The senders of the back end `kernel`: iperf3, or the traffic program."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from narrows.backends.linux.groups import Group
from narrows.errors import InputError, SpecError
from narrows.spec.scenario import Flow, Scenario
from narrows.spec.suggest import one_of

SENDERS = ("iperf3", "own")
MAX_IPERF3_FLOWS = 100
"""Each is two processes."""
_LONGEST_NS = 86_400 * 10**9
"""The longest run that iperf3 can do."""
_OWN = "narrows-traffic"


@dataclass(frozen=True)
class Senders:
    """`iperf3`, if given, sends the flows without a size; our own program sends the others."""

    wanted: str
    iperf3: Path | None
    version: str

    def program(self, flow: Flow) -> str | None:
        """The iperf3 program for a flow, or none."""
        return str(self.iperf3) if self._is_iperf3(flow) else None

    def describe(self, flows: Sequence[Flow]) -> str:
        """The senders of `flows`."""
        names = {self.version if self._is_iperf3(flow) else _OWN for flow in flows}
        return ", ".join(sorted(names))

    def check(self, flows: Sequence[Flow]) -> None:
        """Raises InputError if iperf3 is to send some of `flows` and can't."""
        theirs = [i for i, flow in enumerate(flows) if self._is_iperf3(flow)]
        if theirs and self.iperf3 is None:
            found = '"kernel", whose flows without a size are sent by iperf3, and there is none'
            raise InputError.at("--backend", found, '`apt install iperf3`, or "kernel:own",')
        if len(theirs) > MAX_IPERF3_FLOWS:
            remedy = f"at most {MAX_IPERF3_FLOWS} of iperf3, or --backend kernel:own,"
            raise SpecError.at("flows", f"{len(theirs)}", remedy)

        for i in theirs:
            for key in ("receive_window", "notsent_lowat"):
                if (limit := flows[i].get(f"{key}_bytes")) is not None:
                    remedy = "none for what iperf3 sends, or --backend kernel:own,"
                    raise SpecError.at(f"flows[{i}].{key}", f"{limit} bytes", remedy)
        if len({flows[i]["ecn"] for i in theirs}) > 1:
            remedy = "the same for all that iperf3 sends, or --backend kernel:own,"
            raise SpecError.at("flows", "different settings of ecn", remedy)

    def tcp_ecn(self, flows: Sequence[Flow]) -> str:
        """The sysctl while iperf3's flows connect; our own program sets it itself."""
        classic = any(self._is_iperf3(flow) and flow["ecn"] == "classic" for flow in flows)
        return "1" if classic else "2"

    def check_duration(self, scenario: Scenario) -> None:
        """Raises SpecError for a run that is longer than iperf3 can send."""
        duration_ns = scenario["run"]["duration_ns"]
        if duration_ns > _LONGEST_NS and any(map(self._is_iperf3, scenario["flows"])):
            remedy = "at most a day for iperf3, or --backend kernel:own,"
            raise SpecError.at("run.duration", f"{duration_ns / 1e9:g} s", remedy)

    def _is_iperf3(self, flow: Flow) -> bool:
        """Whether iperf3 sends the flow: it sets its control too late for one that requests ECN."""
        endless = flow["size_bytes"] is None and flow["workload"] is None
        bulk = endless and flow["ecn"] != "dctcp" and "server" not in flow
        return self.wanted == "iperf3" and bulk


def iperf3_reports(places: Sequence[Path], members: Sequence[Group]) -> dict[str, bytes]:
    """iperf3's reports from the directories of all groups, by the flows' numbers."""
    found: dict[str, bytes] = {}
    for place, group in zip(places, members, strict=True):
        for own, number in enumerate(group.flows):
            file = place / f"iperf3-{own}.json"
            if file.exists():
                found[f"iperf3-{number}.json"] = file.read_bytes()
    return found


def find_senders(wanted: str) -> Senders:
    """The senders of the back end "kernel:WANTED"; raises InputError for an unknown one."""
    if wanted not in SENDERS:
        remedy = one_of(wanted, [f"kernel:{name}" for name in SENDERS])
        raise InputError.at("--backend", f'"kernel:{wanted}", which is no sender', remedy)
    found = shutil.which("iperf3") if wanted == "iperf3" else None
    return Senders(wanted, Path(found) if found else None, _version(found))


def _version(program: str | None) -> str:
    if program is None:
        return ""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    words = said.stdout.split()[:2]
    return f"iperf3 {words[1]}" if len(words) == 2 else "iperf3"
