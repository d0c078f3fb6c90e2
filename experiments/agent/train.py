"""Trains the policy of agent.py with an evolution strategy, and compares it with Reno.

    pip install 'narrows[gym]' cmaes
    python train.py                     # minutes on two cores
    python train.py --generations 2     # a look
    python train.py --environment Cellular

CMA-ES (Hansen; the library cmaes) draws policies of four numbers; the mean reward of its episodes in
an environment is what a policy is worth. What it found is then held against Reno as a
control like any other, in conditions that training never saw: power, which is goodput times lowest
RTT over mean RTT.
"""

import argparse
import json
import time

import cmaes
import gymnasium
import numpy as np

import narrows as nw
from narrows.gym.scenarios import SCENARIOS

NAMES = ("bias", "queue", "growth", "loss")
STEPS = 500
"""An episode of 20 s in steps of 40 ms."""


def rewards(environment, policies, episodes, seed, threads):
    """The mean reward of each policy in the same episodes, and the steps that were taken."""
    count = len(policies) * episodes
    envs = gymnasium.make_vec(f"narrows/{environment}-v0", num_envs=count, threads=threads)
    seeds = [seed + n % episodes for n in range(count)]
    row, _ = envs.reset(seed=seeds)
    weights = np.repeat(np.array(policies), episodes, axis=0)
    total, before = np.zeros(count), row[:, 3]
    for _ in range(STEPS):
        loss, rtt, least = row[:, 2], row[:, 3], np.maximum(row[:, 4], 1e-3)
        queue = np.minimum(rtt / least - 1, 3)
        growth = np.clip((rtt - before) / least, -1, 1)
        seen = np.stack([np.ones(count), queue, growth, loss], axis=1)
        actions = np.tanh((weights * seen).sum(axis=1, keepdims=True))
        before = rtt
        row, reward, _, _, _ = envs.step(actions.astype(np.float32))
        total += reward
    return total.reshape(len(policies), episodes).mean(axis=1) / STEPS, count * STEPS


def train(environment, generations, population, episodes, threads):
    """The best policy that an evolution strategy finds."""
    start = np.array([0.1, -0.5, -0.5, -1.0])
    strategy = cmaes.CMA(mean=start, sigma=0.5, population_size=population, seed=1)
    steps, begun = 0, time.perf_counter()
    for generation in range(generations):
        asked = [strategy.ask() for _ in range(population)]
        worth, taken = rewards(environment, asked, episodes, 1_000 * generation, threads)
        strategy.tell([(policy, -value) for policy, value in zip(asked, worth, strict=True)])
        steps += taken
        print(f"generation {generation}: mean reward {worth.mean():.3f}, best {worth.max():.3f}")
    took = time.perf_counter() - begun
    print(f"{steps} steps in {took:.1f} s: {steps / took:.0f} a second")
    return dict(zip(NAMES, map(float, strategy.mean), strict=True))


def describe(drawn, subject):
    """The conditions of an episode as a specification, with another flow in the agent's place."""
    path = drawn["path"]
    service = dict(path["service"])
    if "min_rate_bps" in service:
        least = service.pop("min_rate_bps")
        service = {"kind": service["kind"], "min_rate": f"{least}bit"}
    others = [nw.Flow(cca=flow["cca"], name=flow["name"], start="1s") for flow in drawn["flows"][1:]]
    return nw.Scenario(
        name="test",
        path=nw.Path(
            rate=f"{path['rate_bps']}bit",
            rtt=f"{path['rtt_ns']}ns",
            buffer=f"{path['buffer']['bytes']}b",
            service=service,
        ),
        flows=[subject, *others],
        run=nw.Run(duration="20s", warmup="2s", seed=drawn["seed"]),
    )


def power(cca, options, conditions):
    """Power in Mbit/s in each of some conditions, from a run like any other."""
    found = []
    for drawn in conditions:
        path, subject = drawn["path"], nw.Flow(cca=cca, name="flow", options=options)
        row = nw.run(describe(drawn, subject)).summary_table.row(0, named=True)
        goodput, rtt = row["flow.goodput_mbps"], row["flow.rtt_mean_ms"]
        found.append(goodput * path["rtt_ns"] / 1e6 / rtt)
    return np.array(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--environment", choices=list(SCENARIOS), default="Bottleneck")
    parser.add_argument("--generations", type=int, default=40)
    parser.add_argument("--population", type=int, default=12)
    parser.add_argument("--episodes", type=int, default=16)
    parser.add_argument("--tests", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    numbers = (given.generations, given.population, given.episodes, given.threads)
    policy = train(given.environment, *numbers)
    print(f"policy: {json.dumps({name: round(value, 3) for name, value in policy.items()})}")
    random = np.random.default_rng(10**6)
    conditions = [SCENARIOS[given.environment](random) for _ in range(given.tests)]
    agent = power("agent:Agent", policy, conditions)
    reno = power("reno", {}, conditions)
    print(f"power: agent {agent.mean():.2f} Mbit/s, reno {reno.mean():.2f} Mbit/s")
    print(f"the agent has more in {(agent > reno).sum()} of {len(conditions)} conditions")


if __name__ == "__main__":
    main()
