"""The senders of the back end `kernel`: iperf3, or the traffic program."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from narrows.backends.linux.iperf3 import check_duration, check_flows, may_send, name_version
from narrows.errors import InputError, SpecError
from narrows.spec.scenario import Flow, Scenario
from narrows.spec.suggest import one_of

SENDERS = ("iperf3", "own")
_OWN = "narrows-traffic"
_INSTEAD = "--backend kernel:own"


@dataclass(frozen=True)
class Senders:
    """The senders of a run.

    `iperf3`, if given, sends the flows without a size; our own program sends the others.
    """

    wanted: str
    iperf3: Path | None
    version: str

    def program(self, flow: Flow) -> str | None:
        """Returns the iperf3 program for a flow, or None for our own."""
        return str(self.iperf3) if self._is_iperf3(flow) else None

    def describe(self, flows: Sequence[Flow]) -> str:
        """Describes the senders of `flows`."""
        names = {self.version if self._is_iperf3(flow) else _OWN for flow in flows}
        return ", ".join(sorted(names))

    def check(self, flows: Sequence[Flow]) -> None:
        """Raises InputError or SpecError if iperf3 should send some of `flows` and can't."""
        theirs = [i for i, flow in enumerate(flows) if self._is_iperf3(flow)]
        if theirs and self.iperf3 is None:
            found = '"kernel", whose flows without a size are sent by iperf3, and there is none'
            raise InputError.at("--backend", found, '`apt install iperf3`, or "kernel:own",')
        check_flows(flows, theirs, _INSTEAD)
        if len({flows[i]["ecn"] for i in theirs}) > 1:
            remedy = f"the same for all that iperf3 sends, or {_INSTEAD},"
            raise SpecError.at("flows", "different settings of ecn", remedy)

    def tcp_ecn(self, flows: Sequence[Flow]) -> str:
        """Returns the sysctl for connecting iperf3's flows; our own program sets it itself."""
        classic = any(self._is_iperf3(flow) and flow["ecn"] == "classic" for flow in flows)
        return "1" if classic else "2"

    def check_duration(self, scenario: Scenario) -> None:
        """Raises SpecError for a run that is longer than iperf3 can send."""
        if any(map(self._is_iperf3, scenario["flows"])):
            check_duration(scenario, _INSTEAD)

    def _is_iperf3(self, flow: Flow) -> bool:
        """Returns True if iperf3 sends the flow."""
        return self.wanted == "iperf3" and may_send(flow)


def find_senders(wanted: str) -> Senders:
    """Returns the senders of the back end "kernel:WANTED".

    Raises InputError for an unknown name.
    """
    if wanted not in SENDERS:
        remedy = one_of(wanted, [f"kernel:{name}" for name in SENDERS])
        raise InputError.at("--backend", f'"kernel:{wanted}", which is not a sender', remedy)
    found = shutil.which("iperf3") if wanted == "iperf3" else None
    return Senders(wanted, Path(found) if found else None, _version(found))


def _version(program: str | None) -> str:
    if program is None:
        return ""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return name_version(said.stdout)
