//! DCTCP as in Linux (`tcp_dctcp.c`, RFC 8257): reduces by the share of marked packets.

use crate::config::{CcConfig, Entry};
use crate::control::{CongestionControl, Control};
use crate::events::{AckSample, CongestionEvent, DeliveredSample, StartEvent, UndoEvent};
use crate::progress::Mark;
use crate::samples::{Congestion, RecoveryState, Unused};
use crate::window::LossWindow;
use narrows_base::registry::{EcnNeed, Info, Parameter, ParameterDefault, Role};

/// The registry's entry.
pub(crate) static DCTCP: Entry = Entry {
    info: Info {
        name: "dctcp",
        title: "DCTCP",
        family: "ecn",
        summary: "reduces by the share of ECN-marked packets; needs a queue that marks early",
        source: "Alizadeh et al., SIGCOMM 2010; RFC 8257; Linux tcp_dctcp.c",
        role: Role::Control { ecn: Some(EcnNeed::Dctcp), paces: false },
        parameters: &[
            Parameter::whole(
                "shift_g",
                ParameterDefault::Whole(4),
                "weight of a new window's share of marks: 1/2^shift_g",
            )
            .at_most(10),
            Parameter::whole(
                "alpha_on_init",
                ParameterDefault::Whole(1_024),
                "first estimate of the share of marks, in 1/1024",
            )
            .at_most(1_024),
        ],
    },
    build: |config| Box::new(Dctcp::new(&config)),
};

/// A share of 1.
const ALPHA_MAX: u64 = 1024;

/// DCTCP.
#[derive(Clone, Debug)]
struct Dctcp {
    window: LossWindow,
    shift_g: u32,
    /// Share of marked packets in 1/1024 (`dctcp_alpha`).
    alpha: u64,
    /// The window ends when everything sent before this is acknowledged (`next_seq`).
    window_end: Mark,
    /// Packets delivered, and delivered with marks, when it began.
    prior: (u64, u64),
    /// PRR's window at the latest ACK.
    prr_cwnd: Option<u32>,
    state: RecoveryState,
    started: bool,
}

impl Dctcp {
    fn new(config: &CcConfig) -> Self {
        Self {
            window: LossWindow::new(config.initial_cwnd),
            shift_g: config.options.whole("shift_g"),
            alpha: config.options.whole("alpha_on_init"),
            window_end: Mark::START,
            prior: (0, 0),
            prr_cwnd: None,
            state: RecoveryState::Open,
            started: false,
        }
    }

    /// Moves the estimate towards the share of the window that ended
    /// (`dctcp_update_alpha`).
    fn estimate(&mut self, delivered: u64, marked: u64) {
        let decay = match self.alpha >> self.shift_g {
            0 => self.alpha,
            part => part,
        };
        self.alpha -= decay;
        let gain = (marked << (10 - self.shift_g)) / delivered.max(1);
        self.alpha = (self.alpha + gain).min(ALPHA_MAX);
    }

    /// `dctcp_ssthresh`.
    fn reduce(cwnd: u32, alpha: u64) -> u32 {
        let cut = u32::try_from((u64::from(cwnd) * alpha) >> 11).expect("at most half the window");
        (cwnd - cut).max(2)
    }

    /// A loss during CWR halves the window that PRR has left (`dctcp_state`).
    fn follow(&mut self, state: RecoveryState) {
        use RecoveryState::{Cwr, Recovery};
        if state == Recovery && self.state == Cwr {
            let cwnd = self.prr_cwnd.unwrap_or(self.window.cwnd);
            self.window.ssthresh = (cwnd >> 1).max(2);
            self.window.cwnd = self.window.ssthresh;
        }
        self.state = state;
    }
}

impl CongestionControl for Dctcp {
    /// `dctcp_update_alpha`, once a window.
    fn on_delivered(&mut self, sample: &DeliveredSample) {
        self.prr_cwnd = sample.prr_cwnd;
        if !sample.progress.has_reached(self.window_end) {
            return;
        }
        let (delivered, marked) = self.prior;
        self.estimate(sample.delivered - delivered, sample.delivered_ce - marked);
        self.window_end = sample.progress.mark();
        self.prior = (sample.delivered, sample.delivered_ce);
    }

    /// `tcp_reno_cong_avoid`.
    fn on_ack(&mut self, sample: &AckSample) {
        self.follow(sample.state);
        if sample.may_grow {
            self.window.grow_as_reno(sample, |acked| acked);
        }
    }

    /// `dctcp_ssthresh` for marks, `dctcp_react_to_loss` for losses.
    fn on_congestion(&mut self, event: &CongestionEvent) {
        let alpha = self.alpha;
        self.window.on_congestion(event, |cwnd| match event.kind {
            Congestion::Ecn | Congestion::TailLoss => Self::reduce(cwnd, alpha),
            Congestion::Loss | Congestion::Timeout { .. } => (cwnd >> 1).max(2),
        });
        self.state = match event.kind {
            Congestion::Ecn => RecoveryState::Cwr,
            Congestion::Loss => RecoveryState::Recovery,
            Congestion::Timeout { .. } => RecoveryState::Loss,
            Congestion::TailLoss => self.state,
        };
    }

    fn on_undo(&mut self, event: &UndoEvent) {
        self.window.on_undo(event);
    }

    /// The first window counts from the end of the handshake (`dctcp_init`).
    fn on_start(&mut self, event: &StartEvent) {
        if !self.started {
            self.started = true;
            self.prior = (event.delivered, 0);
        }
    }

    fn on_threshold(&mut self, ssthresh: u32) {
        self.window.ssthresh = ssthresh;
    }

    fn on_unused(&mut self, unused: Unused) {
        self.window.on_unused(unused);
    }

    fn control(&self) -> Control {
        self.window.control()
    }

    #[expect(clippy::cast_precision_loss, reason = "for the recorder: 53 bits are enough")]
    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("alpha", self.alpha as f64 / ALPHA_MAX as f64);
    }

    fn state(&self) -> &'static str {
        self.window.phase()
    }
}
