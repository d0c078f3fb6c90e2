"""The runs of every control in every situation."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from narrows.backends import Backend
from narrows.errors import InputError, SpecError
from narrows.evaluate.suite import Situation, Suite
from narrows.execute import Job
from narrows.metrics.checks import Combination, applicable
from narrows.plan import Cell, Plan, plan
from narrows.spec import Override, ResultCheck, load
from narrows.spec.host import MODELLED
from narrows.spec.located import with_lines
from narrows.spec.python_control import is_own
from narrows.spec.registry import title
from narrows.spec.values import values_in


@dataclass(frozen=True, slots=True)
class Contestant:
    """A control: its full name with options, and whether it is under test."""

    name: str
    """`cca`, or with options of the control `cca:option=value:...`."""
    title: str
    tested: bool
    """True if it is under test rather than run for comparison."""
    stack: str | None = None
    """The transport stack of another project that it belongs to."""

    @property
    def key(self) -> str:
        """The name with its stack, which is unique among the contestants."""
        return self.name if self.stack is None else f"{self.stack}-{self.name}"

    @property
    def cca(self) -> str:
        """The control's name in a specification; an own control's has a colon."""
        return cca_of(self.name)

    @property
    def options(self) -> tuple[str, ...]:
        """The control's options, as `option=value`."""
        return _split(self.name)[1]


@dataclass(frozen=True, slots=True)
class Attempt:
    """A control in a situation: its runs, or the reason why there are none."""

    situation: Situation
    contestant: Contestant
    checks: tuple[ResultCheck, ...] = ()
    cell: Cell | None = None
    refused: str = ""

    def jobs(self, backend: Backend) -> Iterator[Job]:
        """Yields every run."""
        if self.cell is not None:
            for trial in self.cell.plan.trials:
                yield Job(self.cell, trial, backend)


def contestants(
    tested: Sequence[str], beside: Sequence[str], stack: str | None = None
) -> tuple[Contestant, ...]:
    """Returns the controls under test first, then those for comparison, each once.

    With a `stack`, the controls under test are the stack's own, and those for comparison Linux's.
    """
    if not tested:
        raise InputError.at("CONTROL", "none", "one or more controls (`narrows list ccas`)")
    if stack is not None:
        own = [Contestant(n, f"{stack} {_title(n)}", True, stack) for n in dict.fromkeys(tested)]
        others = [Contestant(name, _title(name), False) for name in dict.fromkeys(beside)]
        return (*own, *others)
    names = dict.fromkeys([*tested, *beside])
    return tuple(Contestant(name, _title(name), name in tested) for name in names)


def cca_of(name: str) -> str:
    """Returns the control without its options."""
    return _split(name)[0]


def _split(name: str) -> tuple[str, tuple[str, ...]]:
    parts = name.split(":")
    plain = [part for part in parts if "=" not in part]
    return ":".join(plain), tuple(part for part in parts if "=" in part)


def _title(name: str) -> str:
    """Returns the class of an own control, or the usual spelling of the name; then the options."""
    cca, options = _split(name)
    plain = cca.partition(":")[2] if is_own(cca) else title(cca)
    return f"{plain} ({', '.join(options)})" if options else plain


def attempts(
    suite: Suite, entrants: Sequence[Contestant], backend: Backend, trials: int | None
) -> tuple[Attempt, ...]:
    """Returns every control in every situation, row by row.

    Own controls are also searched in the working directory. Raises SpecError for a control that no
    situation accepts.
    """
    pairs = [(one, other) for one in suite.situations for other in entrants]
    with modules_here():
        made = [
            _attempt(number, *pair, backend, trials) for number, pair in enumerate(pairs, start=1)
        ]
        for contestant in entrants:
            if all(one.refused for one in made if one.contestant == contestant):
                _runs(suite.situations[0], contestant, backend, trials)
    return tuple(made)


@contextmanager
def modules_here() -> Iterator[None]:
    """Searches own controls in the working directory, too (modules as `python -m` does)."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)


def _attempt(
    number: int, situation: Situation, contestant: Contestant, backend: Backend, trials: int | None
) -> Attempt:
    try:
        checks, runs = _runs(situation, contestant, backend, trials)
    except SpecError as error:
        problem = error.problems[0]
        return Attempt(situation, contestant, refused=f"{problem.place}: {problem.found}")
    values = {"situation": situation.name, "control": contestant.key}
    return Attempt(situation, contestant, checks, Cell(number, values, runs))


def _runs(
    situation: Situation, contestant: Contestant, backend: Backend, trials: int | None
) -> tuple[tuple[ResultCheck, ...], Plan]:
    """Returns the checks and the runs; raises SpecError if the back end can't run them."""
    changes = [
        Override(f"flows.{at}.{change}", "CONTROL")
        for at in situation.subjects
        for change in (f"cca={contestant.cca}", *(f"options.{one}" for one in contestant.options))
    ]
    if contestant.stack is not None:
        changes += [
            Override(f"flows.{at}.stack={contestant.stack}", "--stack") for at in situation.subjects
        ]
    if backend.name != "sim":
        changes += [Override(f"host.{key}=0s") for key in MODELLED]
    if trials is not None:
        changes.append(Override(f"run.trials={trials}", "--trials"))
    loaded = load(situation.path, changes, backend.capabilities().ccas, [Path.cwd()])
    runs = plan(loaded.spec, backend.engine_of, backend.name)
    backend.check(runs.trials[0].scenario)
    case = Combination.of(runs, situation.name, values_in(loaded.text))
    with with_lines(situation.path):
        return applicable(loaded.spec.checks, [case]), runs
