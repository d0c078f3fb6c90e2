"""A congestion control that was trained: one linear layer, evaluated every 40 ms.

The defaults are what `train.py` found; it explains them. The same class is the policy in training
and the control of a flow in a specification (`cca = "agent:Agent"`).
"""

import math

STEP_S = 0.04
LEAST_WINDOW = 2.0


def features(rtt, before, min_rtt, loss):
    """Returns what the policy sees, each about 0 to 1: the queue, its growth, and the loss.

    The RTTs are in the same unit; a queue is measured in lowest RTTs.
    """
    queue = min(rtt / min_rtt - 1.0, 3.0)
    growth = max(-1.0, min((rtt - before) / min_rtt, 1.0))
    return queue, growth, loss


class Agent:
    """Multiplies its window by a power of two from 1/2 to 2, every 40 ms."""

    owns_recovery = True

    def __init__(self, bias=0.174, queue=-1.381, growth=-0.574, loss=-1.627):
        self.weights = (queue, growth, loss)
        self.bias = bias
        self.window, self.srtt, self.mss = 10.0, 0.1, 1448
        self.ends = self.before = None
        self.rtts, self.count, self.delivered, self.lost = 0.0, 0, 0, 0

    def on_connect(self, connection):
        self.window, self.mss = float(connection.initial_cwnd), connection.mss
        self.srtt = connection.rtt_s or self.srtt

    def on_ack(self, sample):
        self.srtt = sample.srtt_s or self.srtt
        if sample.rtt_s:
            self.rtts += sample.rtt_s
            self.count += 1
        if self.ends is None:
            self.ends = sample.now_s + STEP_S
        if sample.now_s >= self.ends:
            self.step(sample)

    def step(self, sample):
        """Ends a step: decides by what was seen in it."""
        rtt = self.rtts / self.count if self.count else self.srtt
        delivered = sample.delivered - self.delivered
        lost = max(0, sample.lost_total - self.lost)
        loss = lost / max(lost + delivered, 1)
        seen = features(rtt, self.before or rtt, sample.min_rtt_s or rtt, loss)
        drive = self.bias + sum(w * f for w, f in zip(self.weights, seen, strict=True))
        self.window = max(LEAST_WINDOW, min(self.window * 2 ** math.tanh(drive), 1e5))
        self.before, self.rtts, self.count = rtt, 0.0, 0
        self.delivered, self.lost = sample.delivered, sample.lost_total
        self.ends = sample.now_s + STEP_S

    def on_congestion(self, event):
        """Loss is only seen in the next step."""

    def control(self):
        window = round(self.window)
        return window, 2 * window * self.mss * 8 / max(self.srtt, 1e-6)
