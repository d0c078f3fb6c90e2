"""Many environments that take their steps together in the native module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from narrows.gym.rewards import Reward, reward_of
from narrows.gym.runs import Runs, spaces
from narrows.gym.scenarios import Draw


class VectorEnvironment(VectorEnv[Any, Any, Any]):
    """Environments side by side; the arguments are those of `Environment`.

    They take their steps on `threads` threads, which changes no result. An environment whose
    episode has ended begins the next one in the following step, whose reward is 0 (Gymnasium's
    `AutoresetMode.NEXT_STEP`).
    """

    def __init__(
        self,
        scenario: str | Mapping[str, Any] | Draw = "Bottleneck",
        num_envs: int = 1,
        *,
        reward: str | Reward = "power",
        step_ms: float = 40.0,
        threads: int = 2,
        render_mode: str | None = None,
    ) -> None:
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}
        self.render_mode = render_mode
        self.num_envs = num_envs
        self.spec: gymnasium.envs.registration.EnvSpec | None = None
        self._runs = Runs(scenario, num_envs, step_ms, threads)
        self._reward = reward_of(reward)
        self.single_observation_space, self.single_action_space = spaces()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._ended = np.zeros(num_envs, bool)

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode in every environment; with one seed, environment n gets seed + n."""
        super().reset(seed=None, options=options)
        if isinstance(seed, int):
            seed = [seed + place for place in range(self.num_envs)]
        for place in range(self.num_envs):
            self._runs.reset(place, seed[place] if seed else None)
        self._ended[:] = False
        return self._runs.observation(), {}

    def step(
        self, actions: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], Any, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Applies a row with one action to each environment, and advances all by a step."""
        step = self._runs.step(np.asarray(actions, np.float64)[:, 0])
        rewards = np.where(self._ended, 0.0, self._reward(step))
        for place in np.flatnonzero(self._ended):
            self._runs.reset(int(place), None)
        truncated = step.over & ~self._ended
        self._ended = truncated.copy()
        never = np.zeros(self.num_envs, bool)
        return self._runs.observation(), rewards, never, truncated, {}
