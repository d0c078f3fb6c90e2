"""Runs one scenario on several back ends until the means are known well enough."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from narrows.backends import Backend, get_backend
from narrows.compare.judge import Comparison
from narrows.compare.trials import Engine, Trials
from narrows.compare.vary import chanceless
from narrows.compare.write import write
from narrows.errors import InputError
from narrows.execute import Watcher
from narrows.figures import frames
from narrows.plan import content_hash, plan
from narrows.spec import Override, load
from narrows.spec.registry import also_known
from narrows.store.slug import slug
from narrows.store.write import RESULTS

TRIALS, MAX_TRIALS = 4, 12
"""The default minimum and maximum number of runs of each back end."""
UNTIL_DECIDED = 200
"""The ceiling of `--until-decided`."""


def compare(
    spec: str | Path,
    overrides: Iterable[str | Override] = (),
    *,
    backends: Sequence[str] = ("sim", "uml"),
    trials: int = TRIALS,
    max_trials: int | None = None,
    out: str | Path | None = None,
    watcher: Watcher | None = None,
) -> Comparison:
    """Compares the back ends on the specification in the file `spec`.

    Each runs `trials` times (or as often as the specification says, if that is more), with
    consecutive seeds and slightly different buffers and delays. (An observation has one path; the
    runs it is held against keep theirs, unless the seed makes no difference.) More runs follow
    until every quantity is decided, `max_trials` is reached, or no feasible number of trials would
    decide the rest. Runs, figure and page go into the directory `out`; existing runs aren't
    repeated. Invalid runs are named and left out, and the next call repeats them. Raises
    InputError for bad input or a back end that can't run here.
    """
    most = max(MAX_TRIALS, trials) if max_trials is None else max_trials
    _check(backends, trials, most)
    changes, found = list(overrides), [_backend(label) for label in backends]
    trials = max(trials, _own_trials(spec, changes, found[0]))
    most = max(most, trials)
    engines = [_engine(*pair, spec, changes, most) for pair in zip(backends, found, strict=True)]
    first = engines[0].plan
    directory = Path(out) if out is not None else _default(engines)
    scenario = first.trials[0].scenario
    made = Trials(engines, directory, watcher)
    comparison = Comparison(
        name=first.name,
        conditions=frames.conditions(scenario, first.groups),
        scenario=scenario,
        groups=first.groups,
        engines={engine.label: engine.backend.engine for engine in engines},
        measured=made.measured,
        left_out=made.left_out,
        cpu_s=made.cpu_s,
    )
    made.more(2, most)
    comparison.seeded = not chanceless(comparison.chance)
    if not (comparison.seeded and comparison.observed):
        comparison.varied = True
        made.vary()
    made.more(trials - comparison.trials, most)
    while comparison.trials < most and (more := comparison.more_trials):
        # The prediction from the spread of a few trials is rough, so the number at most doubles.
        made.more(min(more, comparison.trials, most - comparison.trials), most)
    return write(comparison, directory, made.drawn())


def _check(backends: Sequence[str], trials: int, max_trials: int) -> None:
    if len(set(backends)) != len(backends) or not 2 <= len(backends) <= 3:
        found = f'"{",".join(backends)}"'
        raise InputError.at("--backends", found, 'two or three, such as "sim,uml",')
    if trials < 2:
        raise InputError.at("--trials", str(trials), "2 or more, for a spread,")
    if max_trials < trials:
        raise InputError.at("--max-trials", str(max_trials), f"{trials} (--trials) or more")


def _backend(label: str) -> Backend:
    try:
        return get_backend(label)
    except InputError as error:
        raise InputError.at("--backends", error.found, error.remedy) from None


def _own_trials(spec: str | Path, overrides: Sequence[str | Override], backend: Backend) -> int:
    """How many trials the specification itself asks for: some vary more than others."""
    with also_known(backend.capabilities().ccas):
        return load(spec, overrides).spec.trials


def _engine(
    label: str,
    backend: Backend,
    spec: str | Path,
    overrides: Sequence[str | Override],
    trials: int,
) -> Engine:
    changes = [*overrides, Override(f"run.trials={trials}", "--max-trials")]
    with also_known(backend.capabilities().ccas):
        loaded = load(spec, changes)
    if loaded.spec.scenario["run"]["record"] == "summary":
        remedy = '"samples", which the smoothed RTT is taken from,'
        raise InputError.at("run.record", '"summary"', remedy, str(spec))
    return Engine(label, backend, plan(loaded.spec, backend.engine_of, backend.name))


def _default(engines: Sequence[Engine]) -> Path:
    key = content_hash(engine.plan.hash for engine in engines)
    return Path(RESULTS) / f"compare-{slug(engines[0].plan.name, 40, 'run')}-{key[:8]}"
