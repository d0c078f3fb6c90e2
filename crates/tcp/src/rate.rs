//! Delivery-rate samples (Linux tcp_rate.c, draft-ietf-ccwg-bbr section on
//! delivery rate samples).

use narrows_base::Duration;
use narrows_cc::RateSample;

use crate::scoreboard::{Marks, SentPacket};
use crate::segment::Seq;

/// The flow's delivery accounts.
#[derive(Debug)]
pub(crate) struct RateSampler {
    /// Packets delivered, each counted once (`tp->delivered`); the SYN is the first.
    delivered: u64,
    /// Packets delivered with marks (`tp->delivered_ce`).
    delivered_ce: u64,
    /// When `delivered` last grew, in us.
    delivered_us: u64,
    first_sent_us: u64,
    /// Samples are application-limited until `delivered` passes this.
    app_limited_until: u64,
}

/// A draft of a sample while one ACK is processed.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    prior_delivered: u64,
    prior_us: u64,
    send_interval_us: u64,
    last_seq: Seq,
    app_limited: bool,
}

impl Draft {
    /// `delivered` when the sampled packet was sent; 0 if none was sampled.
    pub(crate) fn prior_delivered(&self) -> u64 {
        self.prior_delivered
    }

    /// The sampled packet, if one was.
    pub(crate) fn sampled_packet(&self) -> Seq {
        self.last_seq
    }
}

impl RateSampler {
    /// Accounts of a flow whose handshake ended at `now_us`. As in Linux the first
    /// window counts as application-limited.
    pub(crate) fn new(now_us: u64) -> Self {
        Self {
            delivered: 1,
            delivered_ce: 0,
            delivered_us: now_us,
            first_sent_us: now_us,
            app_limited_until: 1,
        }
    }

    /// Packets delivered, each counted once; the SYN is the first (`tp->delivered`).
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Packets delivered with marks (`tp->delivered_ce`).
    pub(crate) fn delivered_ce(&self) -> u64 {
        self.delivered_ce
    }

    /// When `delivered` last grew, in us.
    pub(crate) fn delivered_us(&self) -> u64 {
        self.delivered_us
    }

    /// Packets were delivered.
    pub(crate) fn count(&mut self, packets: u32) {
        self.delivered += u64::from(packets);
    }

    /// Packets were delivered with marks.
    pub(crate) fn count_marked(&mut self, packets: u64) {
        self.delivered_ce += packets;
    }

    pub(crate) fn is_app_limited(&self) -> bool {
        self.app_limited_until != 0
    }

    /// Marks packets sent from now on as application-limited
    /// (`tp->app_limited = delivered + in_flight`).
    pub(crate) fn set_app_limited(&mut self, pipe: u32) {
        self.app_limited_until = (self.delivered + u64::from(pipe)).max(1);
    }

    /// Takes the snapshot for a packet that leaves (`tcp_rate_skb_sent`).
    pub(crate) fn on_sent(&mut self, sent: &mut SentPacket, sent_us: u64, packets_out: u32) {
        if packets_out == 0 {
            self.first_sent_us = sent_us;
            self.delivered_us = sent_us;
        }
        sent.sent_us = sent_us;
        sent.first_sent_us = self.first_sent_us;
        sent.delivered_us = self.delivered_us;
        sent.delivered = self.delivered;
        if self.is_app_limited() {
            sent.marks.set(Marks::APP_LIMITED);
        } else {
            sent.marks.clear(Marks::APP_LIMITED);
        }
    }

    /// Takes a delivered packet into the draft: the one sent last counts
    /// (`tcp_rate_skb_delivered`). `sent.delivered_us == 0` means it was used before.
    pub(crate) fn delivered_packet(&mut self, draft: &mut Draft, seq: Seq, sent: &SentPacket) {
        if sent.delivered_us == 0 {
            return;
        }
        let later = (sent.sent_us, seq) > (self.first_sent_us, draft.last_seq);
        if draft.prior_delivered == 0 || later {
            draft.prior_delivered = sent.delivered;
            draft.prior_us = sent.delivered_us;
            draft.app_limited = sent.marks.has(Marks::APP_LIMITED);
            draft.last_seq = seq;
            self.first_sent_us = sent.sent_us;
            draft.send_interval_us = sent.sent_us.saturating_sub(sent.first_sent_us);
        }
    }

    /// Ends the ACK on which `acked` packets were delivered (`tcp_rate_gen`).
    pub(crate) fn finish(
        &mut self,
        draft: &Draft,
        acked: u32,
        now_us: u64,
        min_rtt_us: u64,
    ) -> Option<RateSample> {
        if self.is_app_limited() && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        if acked > 0 {
            self.delivered_us = now_us;
        }
        if draft.prior_delivered == 0 {
            return None;
        }
        let ack_interval_us = now_us.saturating_sub(draft.prior_us);
        let interval_us = draft.send_interval_us.max(ack_interval_us);
        if interval_us == 0 || interval_us < min_rtt_us {
            return None;
        }
        Some(RateSample {
            delivered: self.delivered - draft.prior_delivered,
            interval: Duration::from_micros(interval_us),
            prior_delivered: draft.prior_delivered,
            app_limited: draft.app_limited,
            at_send: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoreboard::Scoreboard;

    /// A packet sent at 1 s and delivered `after_us` later; the lowest RTT is 10 ms.
    fn sample(after_us: u64) -> Option<RateSample> {
        let mut board = Scoreboard::new(false, false);
        let mut sampler = RateSampler::new(990_000);
        let seq = board.next();
        board.push(SentPacket::new(1448), 1, 1448);
        sampler.on_sent(board.get_mut(seq), 1_000_000, 0);
        let mut draft = Draft::default();
        sampler.count(1);
        sampler.delivered_packet(&mut draft, seq, board.get(seq));
        sampler.finish(&draft, 1, 1_000_000 + after_us, 10_000)
    }

    #[test]
    fn an_interval_below_the_lowest_rtt_is_no_sample() {
        assert!(sample(9_999).is_none());
        let sample = sample(10_000).expect("a valid sample");
        assert_eq!((sample.delivered, sample.interval), (1, Duration::from_millis(10)));
    }
}
