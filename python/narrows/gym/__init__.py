"""Environments of Gymnasium in which an agent is a flow's congestion control.

    import gymnasium
    import narrows.gym                             # registers narrows/Bottleneck-v0 and others

    env = gymnasium.make("narrows/Bottleneck-v0", reward="vivace")
    envs = gymnasium.make_vec("narrows/Mixed-v0", num_envs=64, threads=2)

It needs `pip install narrows[gym]`. docs/how-to/gym.md describes observations, actions and rewards.
"""

from __future__ import annotations

try:
    import gymnasium
except ImportError as error:  # pragma: no cover
    raise ImportError("narrows.gym needs gymnasium: pip install 'narrows[gym]'") from error

from narrows.gym.environment import Environment
from narrows.gym.rewards import REWARDS
from narrows.gym.scenarios import SCENARIOS
from narrows.gym.vector import VectorEnvironment
from narrows.gym.view import ACTIONS, OBSERVATIONS

__all__ = [
    "ACTIONS",
    "OBSERVATIONS",
    "REWARDS",
    "SCENARIOS",
    "Environment",
    "VectorEnvironment",
]

for _name in SCENARIOS:
    _id = f"narrows/{_name}-v0"
    if _id not in gymnasium.registry:
        gymnasium.register(
            id=_id,
            entry_point="narrows.gym.environment:Environment",
            vector_entry_point="narrows.gym.vector:VectorEnvironment",
            kwargs={"scenario": _name},
        )
