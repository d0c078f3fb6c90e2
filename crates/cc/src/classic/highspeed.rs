//! HighSpeed TCP as in Linux (`tcp_highspeed.c`): Reno at small windows, steeper at large ones.

use narrows_base::registry::{Info, Role};

use super::{Classic, Hooks, SenderState};
use crate::config::Entry;
use crate::events::AckSample;
use crate::window::LossWindow;

/// The registry's entry.
pub(crate) static HIGHSPEED: Entry = Entry {
    info: Info {
        name: "highspeed",
        title: "HighSpeed TCP",
        family: "loss",
        summary: "above 38 packets, grows faster and gives up less the larger the window",
        source: "RFC 3649; Linux tcp_highspeed.c",
        role: Role::Control { ecn: None, paces: false },
        parameters: &[],
    },
    build: |config| Box::new(Classic::new(config.initial_cwnd, HighSpeed { step: 0 })),
};

/// The largest window of each step of the response function, and its decrease on loss, in 1/256; in
/// step `i` the window grows by `i + 1` packets a round trip (RFC 3649, appendix B).
#[rustfmt::skip]
const STEPS: [(u32, u32); 72] = [
    (38, 128), (118, 112), (221, 104), (347, 98), (495, 93), (663, 89), (851, 86), (1058, 83),
    (1284, 81), (1529, 78), (1793, 76), (2076, 74), (2378, 72), (2699, 71), (3039, 69),
    (3399, 68), (3778, 66), (4177, 65), (4596, 64), (5036, 62), (5497, 61), (5979, 60),
    (6483, 59), (7009, 58), (7558, 57), (8130, 56), (8726, 55), (9346, 54), (9991, 53),
    (10661, 52), (11358, 52), (12082, 51), (12834, 50), (13614, 49), (14424, 48), (15265, 48),
    (16137, 47), (17042, 46), (17981, 45), (18955, 45), (19965, 44), (21013, 43), (22101, 43),
    (23230, 42), (24402, 41), (25618, 41), (26881, 40), (28193, 39), (29557, 39), (30975, 38),
    (32450, 38), (33986, 37), (35586, 36), (37253, 36), (38992, 35), (40808, 35), (42707, 34),
    (44694, 33), (46776, 33), (48961, 32), (51258, 32), (53677, 31), (56230, 30), (58932, 30),
    (61799, 29), (64851, 28), (68113, 28), (71617, 27), (75401, 26), (79517, 26), (84035, 25),
    (89053, 24),
];

#[derive(Clone, Debug)]
struct HighSpeed {
    /// The step that the window is in (`ai`).
    step: usize,
}

impl HighSpeed {
    /// Finds the window's step: the first whose limit isn't below it, or the last.
    fn follow(&mut self, cwnd: u32) {
        self.step = STEPS.partition_point(|&(most, _)| most < cwnd).min(STEPS.len() - 1);
    }
}

impl Hooks for HighSpeed {
    /// `hstcp_cong_avoid`: it counts ACKs, not acknowledged packets.
    fn grow(&mut self, window: &mut LossWindow, sample: &AckSample, _: &SenderState) {
        if !window.is_past_slow_start(sample) {
            return;
        }
        self.follow(window.cwnd);
        window.credit += u32::try_from(self.step).expect("there are 72 steps") + 1;
        if window.credit >= window.cwnd {
            window.credit -= window.cwnd;
            window.cwnd += 1;
        }
    }

    /// `hstcp_ssthresh`.
    fn ssthresh(&mut self, cwnd: u32, _: &SenderState) -> u32 {
        let cut = (u64::from(cwnd) * u64::from(STEPS[self.step].1)) >> 8;
        (cwnd - u32::try_from(cut).expect("at most half the window")).max(2)
    }
}
