"""Additive increase, multiplicative decrease: Chiu and Jain, 1989."""


class Aimd:
    """A packet more in every round trip; a part of the window less after a loss."""

    def __init__(self, increase=1.0, decrease=0.5):
        self.increase, self.decrease = increase, decrease
        self.cwnd = 10.0

    def on_ack(self, sample):
        if sample.may_grow and sample.cwnd_limited:
            self.cwnd += self.increase * sample.acked / self.cwnd

    def on_congestion(self, event):
        if event.kind == "timeout":
            self.cwnd = 1.0
        else:
            self.cwnd = max(2.0, event.cwnd * (1.0 - self.decrease))

    def control(self):
        return self.cwnd
