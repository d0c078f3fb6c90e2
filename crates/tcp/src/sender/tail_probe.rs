//! The current tail loss probe (RFC 8985 section 7).

use crate::segment::Seq;

/// A tail loss probe, if one is in progress.
#[derive(Debug, Default)]
pub(super) struct TailProbe {
    probe: Option<Probe>,
}

#[derive(Clone, Copy, Debug)]
struct Probe {
    /// `snd_nxt` when the probe was sent (`tlp_high_seq`).
    high_seq: Seq,
    /// True if the probe was a retransmission.
    retransmission: bool,
}

/// The verdict of an ACK on the probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeEnd {
    /// The probe is still in progress.
    Open,
    /// The probe is over, and nothing was lost.
    NoLoss,
    /// The probe repaired a loss that would have gone unnoticed.
    Repaired,
}

impl TailProbe {
    pub(super) fn is_out(&self) -> bool {
        self.probe.is_some()
    }

    pub(super) fn is_retransmission(&self) -> bool {
        self.probe.is_some_and(|probe| probe.retransmission)
    }

    /// Notes that a probe was sent; `next` is the next new packet.
    pub(super) fn send(&mut self, next: Seq, retransmission: bool) {
        self.probe = Some(Probe { high_seq: next, retransmission });
    }

    /// True if the probe is the packet before `end`.
    pub(super) fn ends_at(&self, end: Seq) -> bool {
        self.probe.is_some_and(|probe| probe.high_seq == end)
    }

    pub(super) fn forget(&mut self) {
        self.probe = None;
    }

    /// Judges an ACK up to `ack`; `duplicate` says whether the ACK is a pure duplicate
    /// (`tcp_process_tlp_ack`).
    pub(super) fn judge(&self, ack: Seq, dsack_of_probe: bool, duplicate: bool) -> ProbeEnd {
        let Some(probe) = self.probe.filter(|probe| ack >= probe.high_seq) else {
            return ProbeEnd::Open;
        };
        if !probe.retransmission || dsack_of_probe {
            ProbeEnd::NoLoss
        } else if ack > probe.high_seq {
            ProbeEnd::Repaired
        } else if duplicate {
            ProbeEnd::NoLoss
        } else {
            ProbeEnd::Open
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_tells_whether_the_tail_was_lost() {
        let mut probe = TailProbe::default();
        assert_eq!(probe.judge(20, false, false), ProbeEnd::Open, "there is none");
        probe.send(10, false);
        assert_eq!(probe.judge(9, false, false), ProbeEnd::Open);
        assert_eq!(probe.judge(10, false, false), ProbeEnd::NoLoss, "new data arrived");
        probe.send(10, true);
        assert_eq!(probe.judge(10, false, false), ProbeEnd::Open, "its answer may follow");
        assert_eq!(probe.judge(10, false, true), ProbeEnd::NoLoss, "a duplicate without a report");
        assert_eq!(probe.judge(10, true, false), ProbeEnd::NoLoss, "a report of a duplicate");
        assert_eq!(probe.judge(11, false, false), ProbeEnd::Repaired);
    }
}
