"""The published statements, as data: what each says and where it stands."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DATA = Path(__file__).parent / "data"

DOCUMENTS = {
    "panaderia": "Sharing but not Caring: Performance of TCP BBR and TCP CUBIC at the Network "
    "Bottleneck (Claypool, Claypool, Chung, Li; AICT 2019)",
    "mixed": "Impact of TCP BBR on CUBIC Traffic: A Mixed Workload Evaluation (Haile et al., 2018)",
    "ietf98": "BBR Congestion Control: An Update (Cardwell et al.; ICCRG, IETF 98, March 2017)",
    "cs244": "CS 244 '17: Congestion-Based Congestion Control with BBR (Girardeau, Steele)",
}
"""The four documents by the first part of an id."""


KINDS = {
    "number": "published numbers",
    "shape": "published shapes",
    "proposal": "proposals, evaluated here",
    "reported": "left open by the document, reported here",
    "deployment": "numbers of a deployment, which no laboratory can test",
}
"""What a statement is: the document gives a number, shows a pattern, suggests something that it
doesn't evaluate, asks for an experiment, or tells what was measured in the field."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement: `where` in its document, under which `setup`, what it makes one `expect`.

    `kind` is one of `KINDS`.
    """

    identifier: str
    kind: str
    where: str
    setup: str
    expect: str

    @property
    def document(self) -> str:
        """The key of its document in `DOCUMENTS`."""
        return self.identifier.partition("/")[0]


@cache
def claims() -> dict[str, Claim]:
    """All statements by id, in the order of the documents."""
    entries = tomllib.loads((DATA / "claims.toml").read_text(encoding="utf-8"))["claim"]
    found = [Claim(e["id"], e["kind"], e["where"], e["setup"], e["expect"]) for e in entries]
    return {claim.identifier: claim for claim in found}
