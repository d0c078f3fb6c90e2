"""The runs of environments, side by side in the native module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from narrows import _native
from narrows.backends.sim import translate_errors
from narrows.errors import InputError
from narrows.gym.scenarios import Draw, as_json, draw_of
from narrows.gym.view import (
    ACTIONS,
    COLUMNS,
    LEAST_WINDOW,
    MOST_WINDOW,
    Step,
    largest,
    numbers,
    settings,
    step_between,
)

ROUND_TRIPS = 2
"""Round trips from the start of the agent's flow to an episode's start, so that ACKs have
arrived."""


class Runs:
    """The runs of all environments, with the latest observation of each."""

    def __init__(
        self, scenario: str | Mapping[str, Any] | Draw, count: int, step_ms: float, threads: int
    ) -> None:
        if not 0.1 <= step_ms <= 10_000:
            raise InputError.at("step_ms", f"{step_ms}", "0.1 to 10000 ms")
        self._draw = draw_of(scenario)
        self._span_ns = round(step_ms * 1e6)
        self._native = _native.Environments(count, threads)
        self._random = [np.random.default_rng() for _ in range(count)]
        self._seen = np.zeros((count, len(COLUMNS)))
        self._windows = np.zeros(count)
        self._begun = np.zeros(count, bool)
        self._rows = step_between(self._seen, self._seen).observation()

    def reset(self, place: int, seed: int | None) -> None:
        """Begins the next run of an environment; a seed restarts its series of runs."""
        if seed is not None:
            self._random[place] = np.random.default_rng(seed)
        scenario = self._draw(self._random[place])
        self._begun[place] = True
        own = scenario["flows"][0]
        rtt_ns = own["rtt_ns"] or scenario["path"]["rtt_ns"]
        start_ns = own["start_ns"] + ROUND_TRIPS * rtt_ns
        with translate_errors(_native):
            raw = self._native.reset(place, as_json(scenario), start_ns)
        seen = numbers(raw)
        self._seen[place] = seen[0]
        self._windows[place] = seen[0, COLUMNS.index("window")]
        self._rows[place] = step_between(seen, seen).observation()[0]

    def step(self, actions: NDArray[np.float64]) -> Step:
        """Changes each window by its action, and advances all runs by one step.

        Raises InputError for an action that isn't a number, and before the first episode.
        """
        if not self._begun.all():
            raise InputError.at("step", "an environment without an episode", "reset() before it")
        if np.isnan(actions).any():
            raise InputError.at("action", "NaN", "numbers from -1 to 1")
        factors = np.exp2(np.clip(actions, -1.0, 1.0))
        self._windows = np.clip(self._windows * factors, LEAST_WINDOW, MOST_WINDOW)
        seen = numbers(self._native.step(settings(self._windows), self._span_ns))
        step = step_between(self._seen, seen)
        self._seen, self._rows = seen.copy(), step.observation()
        return step

    def observation(self) -> NDArray[np.float32]:
        """The current observations, a row for each run."""
        return self._rows.copy()

    def scenario(self, place: int) -> str:
        """Returns an environment's scenario as JSON, with every window that was set so far."""
        return self._native.scenario(place)


def spaces() -> tuple[Box, Box]:
    """Returns the spaces of an observation and of an action."""
    most = largest().astype(np.float32)
    return Box(np.zeros_like(most), most), Box(-1.0, 1.0, (len(ACTIONS),))
