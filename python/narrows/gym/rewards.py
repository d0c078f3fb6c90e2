"""Rewards from the literature, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from narrows.columns import Floats
from narrows.errors import InputError
from narrows.gym.view import Step
from narrows.packets import PAYLOAD_BITS

Reward: TypeAlias = "Callable[[Step], Floats]"


def aurora(step: Step) -> Floats:
    """Jay et al., ICML 2019: 10 * throughput - 1000 * RTT - 2000 * loss, in packets/s and s."""
    packets_per_s = step.throughput_mbps * 1e6 / PAYLOAD_BITS
    return 10 * packets_per_s - 1000 * step.rtt_ms / 1e3 - 2000 * step.loss


def vivace(step: Step) -> Floats:
    """Dong et al., NSDI 2018: x^0.9 - 900 * x * max(0, dRTT/dt) - 11.35 * x * loss.

    x is the rate sent in Mbit/s.
    """
    span_ms = np.where(step.span_s > 0, step.span_s * 1e3, np.inf)
    slope = (step.rtt_ms - step.rtt_before_ms) / span_ms
    sent = step.sent_mbps
    return sent**0.9 - 900 * sent * np.maximum(0.0, slope) - 11.35 * sent * step.loss


def remy(step: Step) -> Floats:
    """Winstein and Balakrishnan, SIGCOMM 2013: ln throughput - ln RTT, in Mbit/s and ms.

    A throughput below 0.01 Mbit/s counts as 0.01, so that a silent step has a finite reward.
    """
    return np.log(np.maximum(step.throughput_mbps, 0.01)) - np.log(np.maximum(step.rtt_ms, 0.01))


def power(step: Step) -> Floats:
    """Kleinrock's power with the RTT's lowest value as the unit: Mbit/s times lowest RTT / RTT."""
    return step.throughput_mbps * step.min_rtt_ms / np.maximum(step.rtt_ms, 0.01)


REWARDS: Mapping[str, Reward] = {"power": power, "remy": remy, "vivace": vivace, "aurora": aurora}
"""The rewards by name."""


def reward_of(reward: str | Reward) -> Reward:
    """Returns a reward from the literature by its name, or the user's own function.

    Raises InputError for an unknown name.
    """
    if not isinstance(reward, str):
        return reward
    if reward not in REWARDS:
        raise InputError.at("reward", f'"{reward}"', " or ".join(REWARDS))
    return REWARDS[reward]
