"""The commands on an evaluation's pages, which repeat the evaluation or a part of it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from narrows.evaluate.runs import Contestant
from narrows.evaluate.suite import Situation
from narrows.report.commands import as_typed


@dataclass(frozen=True, slots=True)
class EvaluateArguments:
    """The arguments of an evaluation, and the command line if there was one."""

    controls: Sequence[str]
    suite: str
    only: Sequence[str] = ()
    beside: Sequence[str] | None = None
    trials: int | None = None
    backend: str = "sim"
    stack: str | None = None
    typed: Sequence[str] = ()

    def command(self) -> str:
        """The command that repeats the evaluation."""
        if self.typed:
            return as_typed(self.typed)
        words = ["narrows", "evaluate", *self.controls, "--suite", self.suite]
        if self.only:
            words += ["--only", ",".join(self.only)]
        if self.beside is not None:
            words += ["--beside", ",".join(self.beside)]
        if self.stack is not None:
            words += ["--stack", self.stack]
        return shlex.join([*words, *self._runs()])

    def cell_command(self, one: Contestant, situation: Situation) -> str:
        """Returns the command that runs a control in one situation again."""
        words = ["narrows", "evaluate", one.name, "--suite", self.suite, "--only", situation.name]
        stack = [] if one.stack is None else ["--stack", one.stack]
        return shlex.join([*words, "--beside", "", *stack, *self._runs()])

    def _runs(self) -> list[str]:
        trials = [] if self.trials is None else ["--trials", str(self.trials)]
        backend = [] if self.backend == "sim" else ["--backend", self.backend]
        return [*trials, *backend]
