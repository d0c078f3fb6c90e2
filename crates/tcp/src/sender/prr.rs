//! Proportional rate reduction: how the window falls to the control's
//! (`tcp_cwnd_reduction`, RFC 6937, RFC 9937).

/// PRR's counters during a reduction, in packets.
#[derive(Debug, Default)]
pub(super) struct Prr {
    /// The window when it began.
    prior_cwnd: u32,
    delivered: u64,
    out: u64,
}

/// PRR's input from an ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reduction {
    /// The target of the window.
    pub(super) ssthresh: u32,
    pub(super) pipe: u32,
    /// Packets that the ACK delivered.
    pub(super) delivered: u32,
    /// True if the window may grow by one packet more than `delivered`.
    pub(super) slow_start: bool,
    /// True if the window may catch up on packets not sent before (since 5.11).
    pub(super) makes_up: bool,
}

impl Prr {
    /// A reduction begins at this window.
    pub(super) fn begin(&mut self, cwnd: u32) {
        *self = Self { prior_cwnd: cwnd, delivered: 0, out: 0 };
    }

    /// A timeout begins a reduction without resetting the counters (`tcp_enter_loss`).
    pub(super) fn note_timeout(&mut self, cwnd: u32) {
        self.prior_cwnd = cwnd;
    }

    /// Packets were sent during the reduction.
    pub(super) fn on_sent(&mut self, packets: u32) {
        self.out += u64::from(packets);
    }

    /// The window after an ACK.
    pub(super) fn reduce(&mut self, ack: Reduction) -> u32 {
        let (ssthresh, pipe) = (i64::from(ack.ssthresh), i64::from(ack.pipe));
        let (delivered, slow_start) = (i64::from(ack.delivered), i64::from(ack.slow_start));
        self.delivered += u64::from(ack.delivered);
        let (sent, arrived) = (self.out.cast_signed(), self.delivered.cast_signed());
        let delta = ssthresh - pipe;
        let send = if delta < 0 {
            let prior = i64::from(self.prior_cwnd.max(1));
            (ssthresh * arrived + prior - 1) / prior - sent
        } else if ack.makes_up || ack.slow_start {
            delta.min((arrived - sent).max(delivered) + slow_start)
        } else {
            delta.min(delivered)
        };
        // The retransmission that begins it leaves at once.
        let send = send.max(i64::from(sent == 0));
        u32::try_from(pipe + send).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(pipe: u32, delivered: u32) -> Reduction {
        Reduction { ssthresh: 70, pipe, delivered, slow_start: false, makes_up: true }
    }

    /// A reduction from 100 packets to 70.
    fn reduction() -> Prr {
        let mut prr = Prr::default();
        prr.begin(100);
        prr
    }

    #[test]
    fn it_sends_in_proportion_to_what_arrives() {
        let mut prr = reduction();
        assert_eq!(prr.reduce(ack(90, 10)), 97, "7 of 10");
        prr.on_sent(7);
        assert_eq!(prr.reduce(ack(87, 10)), 94);
        prr.on_sent(7);
        assert_eq!(prr.reduce(ack(84, 1)), 85, "15 of 21, and 14 were sent");
    }

    #[test]
    fn the_first_retransmission_leaves_at_once() {
        assert_eq!(reduction().reduce(ack(99, 0)), 100);
    }

    #[test]
    fn below_its_goal_it_makes_up_for_what_was_not_sent() {
        let mut prr = reduction();
        prr.on_sent(2);
        assert_eq!(prr.reduce(ack(50, 10)), 60, "as delivered: 10 came, 2 had left");
        prr.on_sent(2);
        assert_eq!(prr.reduce(ack(50, 4)), 60, "14 came, 4 had left");
        let grows = Reduction { slow_start: true, ..ack(50, 1) };
        assert_eq!(prr.reduce(grows), 62, "15 came, and one more");
        assert_eq!(prr.reduce(Reduction { slow_start: true, ..ack(69, 9) }), 70, "not beyond");
    }

    #[test]
    fn before_5_11_it_sends_what_was_delivered() {
        let mut prr = reduction();
        prr.on_sent(1);
        assert_eq!(prr.reduce(Reduction { makes_up: false, ..ack(50, 10) }), 60);
        assert_eq!(prr.reduce(Reduction { makes_up: false, ..ack(50, 2) }), 52);
    }
}
