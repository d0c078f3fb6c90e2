//! Monitor intervals: the fate of packets sent at one rate.
//!
//! A control sees no sequence numbers, but it can count: the packets sent so far are
//! those delivered, found lost and in flight. It assumes that packets are delivered or
//! found lost in the order in which they were sent, so the results of an interval are
//! complete when as many packets were resolved as had been sent at its end. A loss is
//! found three packets late; those few may count for the next interval.

use std::collections::VecDeque;

use narrows_base::Time;

use crate::events::AckSample;

/// The results of an interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// Rate at which packets were sent, in Mbit/s.
    pub(super) sent_mbps: f64,
    /// Rate at which they arrived, in Mbit/s: at most that at which they were sent, or less if a
    /// queue fills.
    pub(super) received_mbps: f64,
    /// Part of the packets that was lost.
    pub(super) loss: f64,
    /// How fast the RTT rose, in seconds per second: the slope of a regression.
    pub(super) rtt_slope: f64,
}

/// Packets sent at one rate.
#[derive(Clone, Debug)]
struct Interval {
    began: Time,
    ended: Time,
    /// Packets sent before it began, and before it ended.
    sent: (u64, u64),
    /// True if the results of the interval are wanted.
    wanted: bool,
    delivered: u64,
    lost: u64,
    /// The first and the latest ACK, and the packets delivered by the first.
    acks: Option<(Time, Time, u64)>,
    line: Regression,
}

/// The intervals whose results aren't complete, and the current one.
#[derive(Clone, Debug, Default)]
pub(super) struct Monitor {
    under_way: Option<Interval>,
    waiting: VecDeque<Interval>,
    /// Packets found lost at the last ACK.
    lost_total: u64,
}

impl Monitor {
    /// Ends the current interval and begins another.
    pub(super) fn begin(&mut self, sample: &AckSample, wanted: bool) {
        let sent = packets_sent(sample);
        if let Some(mut interval) = self.under_way.take() {
            interval.sent.1 = sent;
            interval.ended = sample.now;
            self.waiting.push_back(interval);
        }
        self.under_way = Some(Interval {
            began: sample.now,
            ended: sample.now,
            sent: (sent, u64::MAX),
            wanted,
            delivered: 0,
            lost: 0,
            acks: None,
            line: Regression::default(),
        });
    }

    /// Returns `true` if there is no current interval, or its results aren't wanted.
    pub(super) fn is_idle(&self) -> bool {
        self.under_way.as_ref().is_none_or(|interval| !interval.wanted)
    }

    /// When the current interval began, and how many packets were sent since.
    pub(super) fn progress(&self, sample: &AckSample) -> Option<(Time, u64)> {
        let interval = self.under_way.as_ref()?;
        Some((interval.began, packets_sent(sample).saturating_sub(interval.sent.0)))
    }

    /// Takes an ACK; returns the results of an interval that it completes.
    pub(super) fn on_ack(&mut self, sample: &AckSample) -> Option<Outcome> {
        let resolved = sample.delivered + sample.lost_total;
        let lost = sample.lost_total.saturating_sub(self.lost_total);
        self.lost_total = sample.lost_total;
        self.drop_unwanted(resolved);
        let interval = self.waiting.front_mut().or(self.under_way.as_mut())?;
        if resolved <= interval.sent.0 {
            return None;
        }
        interval.take(sample, lost);
        if resolved < interval.sent.1 {
            return None;
        }
        let complete = self.waiting.pop_front()?;
        complete.wanted.then(|| complete.outcome(f64::from(sample.mss)))
    }

    fn drop_unwanted(&mut self, resolved: u64) {
        while self.waiting.front().is_some_and(|i| !i.wanted && resolved >= i.sent.1) {
            self.waiting.pop_front();
        }
    }
}

impl Interval {
    fn take(&mut self, sample: &AckSample, lost: u64) {
        let acked = u64::from(sample.acked);
        self.delivered += acked;
        self.lost += lost;
        self.acks = match self.acks {
            None => Some((sample.now, sample.now, acked)),
            Some((first, _, brought)) => Some((first, sample.now, brought)),
        };
        if let Some(rtt) = sample.rtt {
            let since = sample.now.saturating_since(self.began);
            self.line.add(since.as_secs_f64(), rtt.as_secs_f64());
        }
    }

    /// Packets per second from the first ACK to the last, where both are known.
    #[expect(clippy::cast_precision_loss, reason = "delays and counts are far below 2^53")]
    fn arrival_rate(&self) -> Option<f64> {
        let (first, last, brought) = self.acks?;
        let span = last.saturating_since(first).as_secs_f64();
        (span > 0.0).then(|| (self.delivered - brought) as f64 / span)
    }

    #[expect(clippy::cast_precision_loss, reason = "delays and counts are far below 2^53")]
    fn outcome(&self, mss: f64) -> Outcome {
        let packets = (self.sent.1 - self.sent.0) as f64;
        let seconds = self.ended.saturating_since(self.began).as_secs_f64().max(1e-9);
        let resolved = (self.delivered + self.lost).max(1) as f64;
        let loss = self.lost as f64 / resolved;
        let sent = packets / seconds;
        let kept = sent * (1.0 - loss);
        let received = self.arrival_rate().map_or(kept, |rate| rate.min(kept));
        Outcome {
            sent_mbps: sent * mss * 8e-6,
            received_mbps: received * mss * 8e-6,
            loss,
            rtt_slope: self.line.slope(),
        }
    }
}

/// Packets sent so far, including retransmissions.
fn packets_sent(sample: &AckSample) -> u64 {
    sample.delivered + sample.lost_total + u64::from(sample.in_flight)
}

/// A straight line through points, by least squares.
#[derive(Clone, Copy, Debug, Default)]
struct Regression {
    count: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
}

impl Regression {
    fn add(&mut self, x: f64, y: f64) {
        self.count += 1.0;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
    }

    /// Zero if there is no line.
    fn slope(&self) -> f64 {
        let spread = self.count * self.xx - self.x * self.x;
        if spread > 1e-15 { (self.count * self.xy - self.x * self.y) / spread } else { 0.0 }
    }
}
