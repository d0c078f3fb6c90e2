//! A sender's bookkeeping around a control, consistent under arbitrary operations.

use narrows_base::{Duration, Rate, Time};

use super::bookkeeping::Bookkeeping;
use crate::control::CongestionControl;
use crate::events::{AckSample, DeliveredSample, LostPacket};
use crate::samples::{AtSend, Congestion, RateSample, RecoveryState, Unused};

/// An event at a sender.
#[derive(Clone, Debug)]
pub enum Operation {
    /// An ACK arrives, after as much was sent as the window allows.
    Ack {
        /// Packets that it acknowledges, at most.
        acked: u32,
        /// Packets that it shows as lost, at most.
        lost: u32,
        /// The RTT that it measures, in us.
        rtt_us: Option<u64>,
        /// True if the application had too little to send. It also decides whether the ACK carries
        /// marks.
        app_limited: bool,
        /// True if the whole window was used.
        limited: bool,
    },
    /// An episode begins.
    Enter(Congestion),
    /// The episode ends.
    Leave,
    /// The episode was spurious.
    Undo,
    /// The flow sends after nothing was in flight.
    Start {
        /// True if the application had nothing to send.
        app_limited: bool,
    },
    /// The window wasn't used.
    Unused(Unused),
    /// Time passes.
    Wait {
        /// In us.
        micros: u64,
    },
}

/// The scale of the numbers.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Packets represented by each packet of an operation.
    pub packets: u32,
    /// Most packets in flight.
    pub most: u32,
    /// Payload bytes of a full packet.
    pub mss: u32,
}

/// Usual windows of full Ethernet packets.
pub const ORDINARY: Scale = Scale { packets: 1, most: 100_000, mss: 1_448 };
/// Windows of 10^7 packets and beyond, of jumbo frames.
pub const HUGE: Scale = Scale { packets: 100_000, most: 1_000_000_000, mss: 8_948 };

/// A sender's bookkeeping, consistent under arbitrary operations.
pub struct ModelSender {
    /// The control.
    pub control: Box<dyn CongestionControl>,
    scale: Scale,
    books: Bookkeeping,
    /// Packets delivered with marks.
    marked: u64,
    delivered_at: Time,
}

impl ModelSender {
    /// A sender that has sent nothing yet.
    #[must_use]
    pub fn new(control: Box<dyn CongestionControl>, scale: Scale) -> Self {
        Self {
            control,
            scale,
            books: Bookkeeping::new(Time::ZERO, scale.mss),
            marked: 0,
            delivered_at: Time::ZERO,
        }
    }

    /// Applies an operation, and calls the control as Linux would.
    pub fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Ack { acked, lost, rtt_us, app_limited, limited } => {
                self.send();
                self.ack(*acked, *lost, *rtt_us, [*app_limited, *limited]);
            }
            Operation::Enter(kind) => self.enter(*kind),
            Operation::Leave => self.books.state = RecoveryState::Open,
            Operation::Undo => self.undo(),
            Operation::Start { app_limited } => self.start(*app_limited),
            Operation::Unused(unused) => self.control.on_unused(*unused),
            Operation::Wait { micros } => self.books.now += Duration::from_micros(*micros),
        }
    }

    fn send(&mut self) {
        self.books.in_flight =
            self.books.in_flight.max(self.control.control().cwnd.min(self.scale.most));
        self.books.sent = self.books.sent_total();
        self.books.last_sent = Some(self.books.now);
    }

    fn ack(&mut self, acked: u32, lost: u32, rtt_us: Option<u64>, flags: [bool; 2]) {
        let prior_in_flight = self.books.in_flight;
        let acked = (acked * self.scale.packets).min(self.books.in_flight);
        let lost = (lost * self.scale.packets).min(self.books.in_flight - acked);
        self.books.in_flight -= acked + lost;
        let prior_delivered = self.books.delivered.saturating_sub(u64::from(prior_in_flight));
        self.books.delivered += u64::from(acked);
        self.marked += if flags[0] { u64::from(acked) } else { 0 };
        let at_send = self.at_send(prior_in_flight, lost / 2);
        let packets = self.scale.packets;
        (0..lost / packets).for_each(|_| self.lose(packets, at_send, flags[0]));
        self.books.lost += u64::from(lost % packets);
        if acked > 0 {
            self.delivered_at = self.books.now;
        }
        let rtt = rtt_us.map(Duration::from_micros);
        let pacing_rate = self.control.control().pacing_rate;
        self.control.on_delivered(&DeliveredSample {
            now: self.books.now,
            acked,
            rtt,
            in_flight: self.books.in_flight,
            sacked: lost,
            stamp_ms: millis(self.books.now.saturating_since(Time::ZERO)),
            echo_ms: millis(self.books.now.saturating_since(Time::ZERO + rtt.unwrap_or_default())),
            progress: self.books.progress(),
            paced: pacing_rate.is_some(),
            pacing_rate: pacing_rate.unwrap_or(Rate::from_bps(0)),
            cwnd_limited: flags[1],
            ece: flags[0] && acked > 0,
            delivered_ce: self.marked,
            delivered: self.books.delivered,
            prior_delivered,
            ..DeliveredSample::default()
        });
        let interval = rtt.filter(|_| acked > 0);
        let rate = interval.map(|interval| RateSample {
            delivered: self.books.delivered - prior_delivered,
            interval,
            prior_delivered,
            app_limited: flags[0],
            at_send: flags[1].then_some(at_send),
        });
        let srtt = rtt.unwrap_or(Duration::ZERO);
        #[expect(clippy::needless_update, reason = "a field that is added later")]
        let sample = AckSample {
            now: self.books.now,
            mss: self.scale.mss,
            acked,
            lost,
            in_flight: self.books.in_flight,
            prior_in_flight,
            delivered: self.books.delivered,
            delivered_at: self.delivered_at,
            lost_total: self.books.lost,
            rate,
            rtt,
            srtt,
            min_rtt: rtt.unwrap_or(Duration::MAX),
            ack_delayed: flags[0] && acked == 1,
            state: self.books.state,
            may_grow: !self.books.state.is_reducing(),
            cwnd_limited: flags[1],
            departure: self.books.now + srtt,
            ..AckSample::default()
        };
        self.control.on_ack(&sample);
        if self.control.requests_cwr() {
            self.enter(Congestion::Ecn);
        }
    }

    /// The state at the time when a packet left, since which `since` were lost.
    fn at_send(&self, in_flight: u32, since: u32) -> AtSend {
        let lost = u32::try_from(self.books.lost % (1 << 32)).expect("a remainder");
        AtSend { in_flight, lost: lost.wrapping_sub(since) }
    }

    /// Loses packets; the control is notified of the last one.
    fn lose(&mut self, packets: u32, at_send: AtSend, app_limited: bool) {
        self.books.lost += u64::from(packets);
        self.control.on_lost(&LostPacket {
            now: self.books.now,
            at_send,
            app_limited,
            lost_total: self.books.lost,
            delivered: self.books.delivered,
        });
    }

    fn enter(&mut self, kind: Congestion) {
        let next = match kind {
            Congestion::Loss => RecoveryState::Recovery,
            Congestion::Ecn => RecoveryState::Cwr,
            Congestion::TailLoss => RecoveryState::Open,
            Congestion::Timeout { .. } => RecoveryState::Loss,
        };
        if next < RecoveryState::Loss && self.books.state >= RecoveryState::Cwr {
            return;
        }
        let event = self.books.congestion(kind, self.control.control().cwnd);
        self.control.on_congestion(&event);
        self.books.state = next;
    }

    fn undo(&mut self) {
        if self.books.state >= RecoveryState::Recovery {
            let event = self.books.undo(self.control.control().cwnd);
            self.control.on_undo(&event);
            self.books.state = RecoveryState::Open;
        }
    }

    fn start(&mut self, app_limited: bool) {
        self.books.in_flight = 0;
        let event = self.books.start(app_limited);
        self.control.on_start(&event);
        self.books.last_sent = Some(self.books.now);
    }

    /// Checks the control's output.
    ///
    /// # Panics
    /// If it is out of its bounds.
    pub fn check(&self) {
        let control = self.control.control();
        assert!(control.cwnd >= 1, "{control:?}");
        assert!(control.ssthresh >= 1, "{control:?}");
        assert!(control.pacing_rate.is_none_or(|rate| rate > Rate::from_bps(0)), "{control:?}");
        self.control.inspect(&mut |name, value| assert!(value.is_finite(), "{name} is {value}"));
        let segs = self.control.min_tso_segs(control.pacing_rate.unwrap_or_default());
        assert!((1..=2).contains(&segs));
    }
}

/// Whole milliseconds, as a timestamp.
fn millis(span: Duration) -> u32 {
    u32::try_from(span.as_micros() / 1_000 % (1 << 32)).expect("a remainder")
}
