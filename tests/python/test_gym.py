"""The environments of Gymnasium."""

import json
import warnings
from typing import Any

import numpy as np
import pytest
from required import module

gymnasium = module("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

import narrows.gym  # noqa: E402
from narrows import _native  # noqa: E402
from narrows.errors import InputError  # noqa: E402
from narrows.gym.rewards import REWARDS  # noqa: E402
from narrows.gym.view import OBSERVATIONS, Step  # noqa: E402

NAMES = list(narrows.gym.SCENARIOS)
SHORT = {
    "path": {"rate": "10mbit", "rtt": "40ms", "buffer": "1bdp"},
    "flows": [{"cca": "fixed"}],
    "run": {"duration": "2s", "record": "summary"},
    "name": "short",
}


@pytest.mark.parametrize("name", NAMES)
def test_an_environment_passes_gymnasiums_own_checker(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(f"narrows/{name}-v0")
        check_env(env.unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", NAMES)
def test_vector_environments_equal_single_ones_for_any_number_of_threads(name: str) -> None:
    many = [
        gymnasium.make_vec(f"narrows/{name}-v0", num_envs=3, threads=threads) for threads in (1, 2)
    ]
    alone = [gymnasium.make(f"narrows/{name}-v0") for _ in range(3)]
    rows = [envs.reset(seed=5)[0] for envs in many]
    rows.append(np.stack([env.reset(seed=5 + n)[0] for n, env in enumerate(alone)]))
    random = np.random.default_rng(1)
    for _ in range(40):
        actions = random.uniform(-1, 1, (3, 1)).astype(np.float32)
        steps = [envs.step(actions) for envs in many]
        found = [env.step(action) for env, action in zip(alone, actions, strict=True)]
        rows = [step[0] for step in steps] + [np.stack([step[0] for step in found])]
        rewards = [step[1] for step in steps] + [[step[1] for step in found]]
        for other in (1, 2):
            np.testing.assert_array_equal(rows[0], rows[other])
            np.testing.assert_allclose(rewards[0], rewards[other])


def test_an_episode_ends_with_the_run_and_the_next_begins() -> None:
    envs = gymnasium.make_vec("narrows/Bottleneck-v0", num_envs=2, scenario=SHORT)
    envs.reset(seed=1)
    ends: list[int] = []
    for steps in range(101):
        row, rewards, terminated, truncated, _ = envs.step(np.zeros((2, 1), np.float32))
        assert not terminated.any()
        if ends and ends[-1] == steps - 1:
            assert (rewards == 0).all(), "this step only begins the next episode"
            assert row[0, 0] == 0
        if truncated.all():
            ends.append(steps)
    # 2 s without the first two round trips, in steps of 40 ms: 48; then one to begin again.
    assert ends == [47, 96]


def test_observations_have_the_documented_units() -> None:
    env = gymnasium.make("narrows/Bottleneck-v0", scenario=SHORT, reward="power").unwrapped
    env.reset(seed=1)
    up = np.array([0.5], np.float32)
    for _ in range(5):
        env.step(up)
    rows: list[dict[str, Any]] = []
    for _ in range(20):
        row, reward, _, _, _ = env.step(np.zeros(1, np.float32))
        rows.append(dict(zip(OBSERVATIONS, row, strict=True)) | {"reward": reward})
    last = rows[-1]
    # 10 * 2^2.5 packets of 12000 bits at 10 Mbit/s: the queue holds what exceeds the pipe.
    assert last["window"] == last["in_flight"] == 57
    assert last["rtt_ms"] == pytest.approx(57 * 1.2, rel=0.02)
    assert last["throughput_mbps"] == pytest.approx(10 * 1448 / 1500, rel=0.04)
    assert last["min_rtt_ms"] == pytest.approx(40.05, abs=0.02)
    assert last["loss"] == 0
    assert last["reward"] == pytest.approx(
        last["throughput_mbps"] * last["min_rtt_ms"] / last["rtt_ms"], rel=1e-5
    )


def test_an_episode_is_recorded_and_can_be_repeated() -> None:
    env = gymnasium.make("narrows/Mixed-v0").unwrapped
    env.reset(seed=3)
    for action in (1.0, 0.5, -1.0, 0.2):
        env.step(np.array([action], np.float32))
    made = env.episode_scenario
    assert [change["flow"] for change in made["changes"]] == ["agent"] * 4
    run = _native.Simulation(json.dumps(made))
    run.run_until(made["changes"][-1]["at_ns"] + 40_000_000)
    assert run.flow(0)["cwnd"] == made["changes"][-1]["window_packets"]


@pytest.mark.parametrize("name", NAMES)
def test_a_step_needs_an_episode_and_a_number(name: str) -> None:
    for env, action in (
        (gymnasium.make(f"narrows/{name}-v0").unwrapped, np.zeros(1)),
        (gymnasium.make_vec(f"narrows/{name}-v0", num_envs=2).unwrapped, np.zeros((2, 1))),
    ):
        with pytest.raises(InputError, match="without an episode"):
            env.step(action)
        env.reset(seed=1)
        with pytest.raises(InputError, match="found NaN; numbers from -1 to 1"):
            env.step(action + np.nan)
        env.step(action)


def test_rewards_are_those_of_the_literature() -> None:
    one = np.ones(1)
    step = Step(
        span_s=0.04 * one,
        throughput_mbps=11.584 * one,
        sent_mbps=10.0 * one,
        loss=0.1 * one,
        rtt_ms=50.0 * one,
        min_rtt_ms=40.0 * one,
        rtt_before_ms=48.0 * one,
        window=one,
        in_flight=one,
        over=one > 2,
    )
    found = {name: float(reward(step)[0]) for name, reward in REWARDS.items()}
    assert found["aurora"] == pytest.approx(10 * 1000 - 1000 * 0.05 - 2000 * 0.1)
    assert found["vivace"] == pytest.approx(10**0.9 - 900 * 10 * 0.05 - 11.35 * 10 * 0.1)
    assert found["remy"] == pytest.approx(np.log(11.584 / 50))
    assert found["power"] == pytest.approx(11.584 * 0.8)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"reward": "fame"}, "power or remy"),
        ({"scenario": "Sea"}, "Bottleneck or Mixed"),
        ({"scenario": {**SHORT, "flows": [{"cca": "cubic"}]}}, '"fixed" for the agent'),
        ({"scenario": {**SHORT, "path": {}}}, "path.rate"),
        ({"step_ms": 0}, "10000 ms"),
    ],
)
def test_an_environment_that_cannot_run_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        narrows.gym.Environment(**given)
