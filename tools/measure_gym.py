"""Measures how many steps of 40 ms the environments of `narrows.gym` take in a second.

    .venv/bin/python tools/measure_gym.py [--runs 3] [--environments 256] [--threads 2]

The policy is that of experiments/agent, with the numbers it was trained to: it keeps the link
busy, so that a step has as many packets as it will have in training. Each line has the steps in a
second of the clock and in a second of processor time, the time of a reset, and the load before.
"""

from __future__ import annotations

import argparse
import os
import runpy
import time
from pathlib import Path

import gymnasium
import numpy as np

import narrows.gym

AGENT = Path(__file__).parents[1] / "experiments" / "agent" / "agent.py"
STEPS = 250
"""Half an episode, so that none ends in the measurement."""


def measure(name: str, count: int, threads: int) -> str:
    """The line of one run."""
    agent, load = runpy.run_path(str(AGENT))["Agent"](), os.getloadavg()[0]
    envs = gymnasium.make_vec(f"narrows/{name}-v0", num_envs=count, threads=threads)
    begun = time.perf_counter()
    row, _ = envs.reset(seed=1)
    reset_ms = (time.perf_counter() - begun) / count * 1e3
    before, clock, processor = row[:, 3], time.perf_counter(), time.process_time()
    for _ in range(STEPS):
        loss, rtt, least = row[:, 2], row[:, 3], np.maximum(row[:, 4], 1e-3)
        seen = np.minimum(rtt / least - 1, 3), np.clip((rtt - before) / least, -1, 1), loss
        drive = agent.bias + sum(w * f for w, f in zip(agent.weights, seen, strict=True))
        before = rtt
        row, *_ = envs.step(np.tanh(drive)[:, None].astype(np.float32))
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    steps = STEPS * count
    return (
        f"{name:>10} {steps / clock:8.0f} steps/s {steps / processor:8.0f} per CPU second "
        f"reset {reset_ms:5.2f} ms load {load:5.2f}"
    )


def main() -> None:
    """Every environment, several times."""
    parser = argparse.ArgumentParser(description="How many steps do environments take?")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--environments", type=int, default=256)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    for name in narrows.gym.SCENARIOS:
        for _ in range(given.runs):
            print(measure(name, given.environments, given.threads), flush=True)


if __name__ == "__main__":
    main()
