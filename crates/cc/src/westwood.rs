//! Westwood+ as in Linux (`tcp_westwood.c`): after a loss, it sets the window to the measured
//! bandwidth times the lowest RTT.

use crate::progress::Progress;
use narrows_base::Jiffies;
use narrows_base::Time;
use narrows_base::registry::{Info, Role};

use crate::config::{CcConfig, Entry};
use crate::control::{CongestionControl, Control};
use crate::events::{AckSample, CongestionEvent, DeliveredSample, StartEvent, UndoEvent};
use crate::samples::{Congestion, Unused};
use crate::window::LossWindow;

/// The registry's entry.
pub(crate) static WESTWOOD: Entry = Entry {
    info: Info {
        name: "westwood",
        title: "Westwood+",
        family: "loss",
        summary: "Reno that returns to its measured bandwidth times the lowest RTT after a loss",
        source: "Mascolo et al., MobiCom 2001 (Westwood+); Linux tcp_westwood.c",
        role: Role::Control { ecn: None, paces: false },
        parameters: &[],
    },
    build: |config| Box::new(Westwood::new(&config)),
};

/// The shortest bandwidth sample is a second over this, 50 ms (`TCP_WESTWOOD_RTT_MIN`).
const SHORTEST_PART: u64 = 20;
/// The RTT before the first sample in s (`TCP_WESTWOOD_INIT_RTT`).
const INITIAL_RTT_S: u64 = 20;

/// The bandwidth filter; times in jiffies.
#[derive(Clone, Debug)]
struct Bandwidth {
    /// Bytes per jiffy, filtered once and twice (`bw_ns_est`, `bw_est`).
    once: u64,
    twice: u64,
    /// When the sample began, and its bytes (`rtt_win_sx`, `bk`).
    began: u64,
    bytes: u64,
    /// Bytes counted for duplicates that a cumulative ACK will cover.
    accounted: u64,
    /// The flow's progress at the last ACK; data covered by the first one don't count.
    progress: Option<Progress>,
    /// True if there was a gap at the last ACK.
    missing: bool,
    rtt: u64,
    rtt_min: u64,
    resets_rtt_min: bool,
}

impl Bandwidth {
    /// `westwood_update_window`.
    fn end_sample(&mut self, now: u64, shortest: u64) {
        let span = now - self.began;
        if span <= self.rtt.max(shortest) {
            return;
        }
        let rate = self.bytes / span;
        if self.once == 0 && self.twice == 0 {
            (self.once, self.twice) = (rate, rate);
        } else {
            self.once = (7 * self.once + rate) >> 3;
            self.twice = (7 * self.twice + self.once) >> 3;
        }
        (self.bytes, self.began) = (0, now);
    }

    /// Bytes that an ACK on the slow path stands for (`westwood_acked_count`).
    fn count_slowly(&mut self, advance: u64, mss: u64) -> u64 {
        if advance == 0 {
            self.accounted += mss;
            mss
        } else if advance <= mss {
            advance
        } else if self.accounted >= advance {
            self.accounted -= advance;
            mss
        } else {
            advance - std::mem::take(&mut self.accounted)
        }
    }

    /// `update_rtt_min`.
    fn update_rtt_min(&mut self) {
        self.rtt_min = if self.resets_rtt_min { self.rtt } else { self.rtt.min(self.rtt_min) };
        self.resets_rtt_min = false;
    }
}

/// Westwood+.
#[derive(Clone, Debug)]
struct Westwood {
    window: LossWindow,
    bandwidth: Bandwidth,
    jiffies: Jiffies,
    mss: u64,
    /// True if the current episode will end with the measured window.
    reducing: bool,
    started: bool,
}

impl Westwood {
    fn new(config: &CcConfig) -> Self {
        let jiffies = Jiffies::new(config.profile.hz);
        let rtt = INITIAL_RTT_S * jiffies.per_second();
        Self {
            window: LossWindow::new(config.initial_cwnd),
            bandwidth: Bandwidth {
                once: 0,
                twice: 0,
                began: 0,
                bytes: 0,
                accounted: 0,
                progress: None,
                missing: false,
                rtt,
                rtt_min: rtt,
                resets_rtt_min: true,
            },
            jiffies,
            mss: u64::from(config.mss),
            reducing: false,
            started: false,
        }
    }

    fn start(&mut self, now: Time) {
        if !self.started {
            self.started = true;
            self.bandwidth.began = self.jiffies.at(now);
        }
    }

    /// The window that fills the path (`tcp_westwood_bw_rttmin`).
    fn bdp_window(&self) -> u32 {
        let packets = self.bandwidth.twice * self.bandwidth.rtt_min / self.mss;
        u32::try_from(packets).unwrap_or(u32::MAX).max(2)
    }

    /// A reduction is over (`CA_EVENT_COMPLETE_CWR`).
    fn complete(&mut self) {
        self.reducing = false;
        self.window.ssthresh = self.bdp_window();
        self.window.cwnd = self.window.ssthresh;
    }
}

impl CongestionControl for Westwood {
    /// `tcp_westwood_pkts_acked`, then `tcp_westwood_ack`.
    fn on_delivered(&mut self, sample: &DeliveredSample) {
        self.start(sample.now);
        let shortest = self.jiffies.per_second() / SHORTEST_PART;
        let now = self.jiffies.at(sample.now);
        if let Some(rtt) = sample.rtt.filter(|rtt| !rtt.is_zero()) {
            self.bandwidth.rtt = self.jiffies.ceil_micros(rtt.as_micros());
        }
        let bandwidth = &mut self.bandwidth;
        bandwidth.end_sample(now, shortest);
        let progress = sample.progress;
        let before = bandwidth.progress.replace(progress);
        let advance = progress.acked_since(before.unwrap_or(progress)) * self.mss;
        // Linux's fast path takes ACKs without SACK blocks, hence without gaps, and with an
        // unchanged window. The ACK that ends a gap has another window, since the receiver's
        // application hasn't yet read the data behind the gap.
        let missing = u64::from(sample.in_flight) < progress.outstanding();
        let ends_gap = std::mem::replace(&mut bandwidth.missing, missing);
        let slow = (advance == 0 && before.is_some()) || missing || ends_gap;
        bandwidth.bytes += if slow { bandwidth.count_slowly(advance, self.mss) } else { advance };
        bandwidth.update_rtt_min();
    }

    /// `tcp_reno_cong_avoid`, after the end of an episode.
    fn on_ack(&mut self, sample: &AckSample) {
        if self.reducing && !sample.state.is_reducing() {
            self.complete();
        }
        if sample.may_grow {
            self.window.grow_as_reno(sample, |acked| acked);
        }
    }

    /// Reduces like Reno; the final window is measured at the end (`tcp_westwood_event`).
    fn on_congestion(&mut self, event: &CongestionEvent) {
        let mut event = *event;
        let timeout = matches!(event.kind, Congestion::Timeout { .. });
        if self.reducing && !event.state.is_reducing() {
            // One episode ended and the next began with the same ACK.
            self.complete();
            event.cwnd = self.window.cwnd;
        }
        self.reducing = false;
        let measured = self.bdp_window();
        self.window.on_congestion(
            &event,
            |cwnd| {
                if timeout { measured } else { (cwnd >> 1).max(2) }
            },
        );
        match event.kind {
            Congestion::Timeout { reduce } => self.bandwidth.resets_rtt_min |= reduce,
            Congestion::TailLoss => self.complete(),
            Congestion::Loss | Congestion::Ecn => self.reducing = true,
        }
    }

    fn on_undo(&mut self, event: &UndoEvent) {
        self.reducing = false;
        self.window.on_undo(event);
    }

    fn on_start(&mut self, event: &StartEvent) {
        self.start(event.now);
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
        let bytes_per_s = self.bandwidth.twice * self.jiffies.per_second();
        visit("bw_mbps", bytes_per_s as f64 * 8e-6);
        visit("measured_cwnd", f64::from(self.bdp_window()));
    }

    fn state(&self) -> &'static str {
        self.window.phase()
    }
}
