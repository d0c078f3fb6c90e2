"""One environment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from narrows.gym.rewards import Reward, reward_of
from narrows.gym.runs import Runs, spaces
from narrows.gym.scenarios import Draw


class Environment(gymnasium.Env[Any, Any]):
    """An episode is a run of the simulator in which the agent sets the window of the first flow.

    `scenario` is "Bottleneck", "Mixed" or "Cellular", a specification as a mapping, or a function
    that makes a specification from a generator of random numbers; the first flow's control must be
    `fixed`. `reward` is a name of REWARDS or a function of a `Step`. A step lasts `step_ms`. The
    episode ends with the run, as truncated. Raises InputError for a scenario that can't be run.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as the base class has it

    def __init__(
        self,
        scenario: str | Mapping[str, Any] | Draw = "Bottleneck",
        *,
        reward: str | Reward = "power",
        step_ms: float = 40.0,
        render_mode: str | None = None,
    ) -> None:
        self.render_mode = render_mode
        self._runs = Runs(scenario, 1, step_ms, threads=1)
        self._reward = reward_of(reward)
        self.observation_space, self.action_space = spaces()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode."""
        super().reset(seed=seed, options=options)
        self._runs.reset(0, seed)
        return self._runs.observation()[0], {}

    def step(
        self, action: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Takes an action, and lets the run continue for a step."""
        step = self._runs.step(np.asarray(action, np.float64).reshape(1))
        reward = float(self._reward(step)[0])
        return self._runs.observation()[0], reward, False, bool(step.over[0]), {}

    @property
    def episode_scenario(self) -> dict[str, Any]:
        """The scenario of this episode with every window that was set."""
        found: dict[str, Any] = json.loads(self._runs.scenario(0))
        return found
