"""Prints a verification for people."""

from __future__ import annotations

from collections.abc import Iterable

from narrows.verify.derived import Findings
from narrows.verify.repeat import Repetition


def lines(found: Iterable[Repetition], beside: Findings | None = None) -> list[str]:
    """Returns a line for each run that differs, with its reasons, and one for the whole.

    Differences `beside` the runs come first, and parts that weren't compared last.
    """
    checked = beside or Findings(left_out=[])
    rest = ["Not compared: " + "; ".join(checked.left_out) + "."] if checked.left_out else []
    return [*checked.differs, *_of_runs(list(found)), *rest]


def _of_runs(listed: list[Repetition]) -> list[str]:
    wrong = [line for one in listed if not one.is_identical for line in _differing(one)]
    same = sum(one.is_identical for one in listed)
    runs = "run" if len(listed) == 1 else "runs"
    if same == len(listed):
        every = "every value of every table"
        if any("server" in flow for one in listed for flow in one.kept.scenario["flows"]):
            every = f"every packet and file of programs, and {every},"
        return [f"{same} {runs} repeated: {every} is the same."]
    return [*wrong, f"{len(listed)} {runs} repeated: {same} the same, {len(listed) - same} not."]


def _differing(one: Repetition) -> list[str]:
    kept = one.kept
    engines = f"engine {kept.engine} then, {one.engine} now"
    engine = "the same engine" if kept.engine == one.engine else engines
    digest = f"digest {kept.digest[:12]} kept, {one.digest[:12]} now"
    return [f"{kept.name} differs ({engine}; {digest})", *(f"  {line}" for line in one.differs)]


def document(found: Iterable[Repetition], beside: Findings) -> dict[str, object]:
    """Returns the findings as JSON: a table for each run in `runs`, and the others beside."""
    runs = [
        {
            "run": one.kept.name,
            "same": one.is_identical,
            "engine": {"kept": one.kept.engine, "now": one.engine},
            "digest": {"kept": one.kept.digest, "now": one.digest},
            "differs": list(one.differs),
        }
        for one in found
    ]
    return {"runs": runs, "differs": beside.differs, "not_compared": beside.left_out}
