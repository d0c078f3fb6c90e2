//! Scalable TCP as in Linux (`tcp_scalable.c`): it grows by a share of its window.

use narrows_base::registry::{Info, Role};

use super::{Classic, Hooks, SenderState};
use crate::config::Entry;
use crate::events::AckSample;
use crate::window::LossWindow;

/// The registry's entry.
pub(crate) static SCALABLE: Entry = Entry {
    info: Info {
        name: "scalable",
        title: "Scalable TCP",
        family: "loss",
        summary: "grows by a packet for every 100 acknowledged, gives up an eighth on loss",
        source: "Kelly, ACM CCR 33(2), 2003; Linux tcp_scalable.c",
        role: Role::Control { ecn: None, paces: false },
        parameters: &[],
    },
    build: |config| Box::new(Classic::new(config.initial_cwnd, Scalable)),
};

/// Acknowledged packets that let a large window grow by one (`TCP_SCALABLE_AI_CNT`).
pub(super) const ACKED_PER_STEP: u32 = 100;
/// A loss costs this power of one half (`TCP_SCALABLE_MD_SCALE`).
const LOSS_SHIFT: u32 = 3;

#[derive(Clone, Debug)]
struct Scalable;

impl Hooks for Scalable {
    /// `tcp_scalable_cong_avoid`.
    fn grow(&mut self, window: &mut LossWindow, sample: &AckSample, _: &SenderState) {
        if let Some(acked) = window.after_slow_start(sample, |acked| acked) {
            window.additive_increase(window.cwnd.min(ACKED_PER_STEP), acked);
        }
    }

    /// `tcp_scalable_ssthresh`.
    fn ssthresh(&mut self, cwnd: u32, _: &SenderState) -> u32 {
        (cwnd - (cwnd >> LOSS_SHIFT)).max(2)
    }
}
