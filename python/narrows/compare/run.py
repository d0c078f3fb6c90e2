"""Runs one scenario on several back ends until the means are known well enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from narrows._native import MAX_TRIALS as LIMIT
from narrows.backends import Backend, get_backend
from narrows.compare.judge import Comparison
from narrows.compare.trials import Engine, Trials
from narrows.compare.vary import chanceless
from narrows.compare.write import write
from narrows.errors import InputError
from narrows.execute import Watcher
from narrows.figures import frames
from narrows.plan import content_hash, plan
from narrows.spec import Spec
from narrows.store.slug import slug
from narrows.store.write import RESULTS

TRIALS, MAX_TRIALS = 4, 12
"""The default minimum and maximum number of runs of each back end."""
UNTIL_DECIDED = 200
"""The maximum of `--until-decided`."""


@dataclass(frozen=True)
class Participant:
    """A back end and the specification as it reads it."""

    label: str
    backend: Backend
    spec: Spec


@dataclass(frozen=True)
class ComparisonOptions:
    """The back ends of a comparison, and how often each runs."""

    backends: Sequence[str] = ("sim", "uml")
    trials: int | None = None
    """By default 4, or as many as the specification asks for, but no more than `max_trials`."""
    max_trials: int | None = None
    """By default 12, or `trials` if that is more."""
    headings: Mapping[str, str] = field(default_factory=dict)
    """The heading of a back end, if it isn't its name; it begins with the same kind."""

    def trials_of(self, asked: int) -> tuple[int, int]:
        """Returns the fewest and the most trials of a specification that asks for so many."""
        least = max(TRIALS, asked) if self.trials is None else self.trials
        most = max(MAX_TRIALS, least) if self.max_trials is None else self.max_trials
        return min(least, most), most

    def find(self) -> Mapping[str, Backend]:
        """Returns the back ends by heading; raises InputError for an option out of range."""
        names = self.backends
        repeated = next((name for name in names if names.count(name) > 1), None)
        if repeated is not None or not 2 <= len(names) <= 3:
            found = f'"{",".join(names)}"'
            if repeated is not None:
                found += f", which has {repeated} more than once"
            raise InputError.at("--backends", found, 'two or three, such as "sim,uml",')
        if self.trials is not None and self.trials < 2:
            raise InputError.at("--trials", str(self.trials), "2 or more, for a spread,")
        least, most = self.trials or 2, self.trials_of(2)[1]
        if not least <= most <= LIMIT:
            given = "" if self.trials is None else " (--trials)"
            remedy = f"{least}{given} or more, and at most {LIMIT:,},"
            raise InputError.at("--max-trials", str(most), remedy)
        return {self.headings.get(name, name): _backend(name) for name in names}


def compare_participants(
    participants: Sequence[Participant],
    options: ComparisonOptions,
    name: str | None = None,
    out: Path | None = None,
    watcher: Watcher | None = None,
) -> Comparison:
    """Compares back ends on one scenario, which is called `name`.

    Each runs `trials` times, with consecutive seeds and slightly different buffers and delays. (An
    observation has one path; the runs compared with it keep theirs, unless the seed makes no
    difference.) More runs follow until every quantity is decided, `max_trials` is reached, or no
    feasible number of trials would decide the rest. Runs, figure and page go into the directory
    `out`; existing runs aren't repeated. Invalid runs are named and left out, and the next call
    repeats them.
    """
    trials, most = options.trials_of(participants[0].spec.trials)
    engines = [_engine(one, most) for one in participants]
    first = engines[0].plan
    directory = out or _default(engines)
    scenario = first.trials[0].scenario
    made = Trials(engines, directory, watcher)
    comparison = Comparison(
        name=name or first.name,
        conditions=frames.conditions(scenario, first.groups),
        scenario=scenario,
        groups=first.groups,
        engines={engine.label: engine.backend.engine for engine in engines},
        measured=made.measured,
        left_out=made.left_out,
        cpu_s=made.cpu_s,
        notes=[f"{e.label}: {said}" for e in engines for said in e.gaps.values()],
    )
    made.more(2, most)
    comparison.seeded = not chanceless(comparison.chance)
    if not (comparison.seeded and comparison.is_single_observation):
        comparison.varied = True
        made.vary()
    made.more(trials - comparison.trials, most)
    while comparison.trials < most and (more := comparison.more_trials):
        # The prediction from the spread of a few trials is rough, so the number at most doubles.
        made.more(min(more, comparison.trials, most - comparison.trials), most)
    return write(comparison, directory, made.tables_to_draw())


def _backend(label: str) -> Backend:
    try:
        return get_backend(label)
    except InputError as error:
        raise InputError.at("--backends", error.problems[0].found, error.remedy) from None


def _engine(one: Participant, trials: int) -> Engine:
    spec, backend = one.spec, one.backend
    if spec.scenario["run"]["record"] == "summary":
        remedy = '"samples", which the smoothed RTT is taken from,'
        raise InputError.at("run.record", '"summary"', remedy)
    if (seed := spec.scenario["seed"]) > 2**64 - trials:
        remedy = f"a seed with room for {trials} trials after it"
        raise InputError.at("run.seed", str(seed), remedy)
    planned = plan(spec, backend.engine_of, backend.name, trials)
    backend.check(planned.trials[0].scenario)  # before any back end has begun
    return Engine(one.label, backend, planned)


def _default(engines: Sequence[Engine]) -> Path:
    key = content_hash(engine.plan.hash for engine in engines)
    return Path(RESULTS) / f"compare-{slug(engines[0].plan.name, 40, 'run')}-{key[:8]}"
