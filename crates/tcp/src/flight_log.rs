//! The state of the flow when each packet left, for a control that watches packets; nothing is kept
//! for others.

use narrows_cc::AtSend;

use crate::segment::Seq;

/// A packet marked lost that hasn't been reported to the control yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    pub(crate) at_send: AtSend,
    pub(crate) app_limited: bool,
    pub(crate) lost_total: u64,
}

/// The flow's state at the last transmission of each packet that is out.
#[derive(Debug, Default)]
pub(crate) struct FlightLog {
    /// Its length is a power of two, and at least the largest window so far.
    ring: Vec<AtSend>,
    losses: Vec<Loss>,
}

impl FlightLog {
    fn slot(&self, seq: Seq) -> usize {
        seq as usize & (self.ring.len() - 1)
    }

    /// A packet leaves; those from `una` on are out.
    pub(crate) fn on_sent(&mut self, seq: Seq, una: Seq, at_send: AtSend) {
        if (seq - una) as usize >= self.ring.len() {
            self.grow(una..seq);
        }
        let slot = self.slot(seq);
        self.ring[slot] = at_send;
    }

    fn grow(&mut self, out: std::ops::Range<Seq>) {
        let kept: Vec<AtSend> = out.clone().map(|seq| self.at_send(seq)).collect();
        self.ring = vec![AtSend::default(); (kept.len() + 1).next_power_of_two().max(64)];
        for (seq, at_send) in out.zip(kept) {
            let slot = self.slot(seq);
            self.ring[slot] = at_send;
        }
    }

    /// The flow's state when this packet left, or the one acknowledged last in its place.
    pub(crate) fn at_send(&self, seq: Seq) -> AtSend {
        self.ring.get(self.slot(seq)).copied().unwrap_or_default()
    }

    /// A packet was marked lost, the `lost_total`th.
    pub(crate) fn on_lost(&mut self, seq: Seq, app_limited: bool, lost_total: u64) {
        self.losses.push(Loss { at_send: self.at_send(seq), app_limited, lost_total });
    }

    /// The losses since the last call, in order.
    pub(crate) fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.losses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_survive_the_growth_of_the_ring() {
        let mut log = FlightLog::default();
        let note = |seq| AtSend { in_flight: seq + 1, lost: 7 };
        (0..1_000).for_each(|seq| log.on_sent(seq, seq / 3, note(seq)));
        assert!((333..1_000).all(|seq| log.at_send(seq) == note(seq)));
        log.on_lost(500, true, 8);
        let losses = log.take_losses();
        assert_eq!((losses.len(), losses[0].at_send, losses[0].lost_total), (1, note(500), 8));
        assert!(log.take_losses().is_empty());
    }
}
