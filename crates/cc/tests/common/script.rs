//! A sender driven by chance: plausible ACKs, losses, timeouts, undos and pauses
//! over paths that change. The same seed gives the same script.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "small numbers"
)]

use narrows_base::{Duration, Rate, Stream, Time};
use narrows_cc::contract::Bookkeeping;
use narrows_cc::{
    AckSample, AtSend, Congestion, CongestionControl, DeliveredSample, LostPacket, RateSample,
    RecoveryState,
};

use super::MSS;

/// The kinds of what a sender reports to its control.
pub enum Step {
    Delivered,
    Ack,
    Lost,
    Congestion,
    Undo,
    Start,
}

/// The path of the moment.
struct Path {
    packets_per_s: f64,
    rtt_us: u64,
    loss: f64,
    paced: bool,
    pacing_bytes: u64,
}

/// The sender and its chance.
pub struct Script {
    pub control: Box<dyn CongestionControl>,
    /// True if marked packets come and end in CWR.
    pub ecn: bool,
    random: Stream,
    marks: Stream,
    packets: Stream,
    noise: Stream,
    receiver_ahead_ms: u32,
    delivered_ce: u64,
    path: Path,
    books: Bookkeeping,
    delivered_at: Time,
    high: u64,
    srtt_us: u64,
}

impl Script {
    pub fn new(control: Box<dyn CongestionControl>, seed: u64, srtt: Option<Duration>) -> Self {
        let mut random = Stream::new(seed, "script");
        let path = Path::draw(&mut random);
        Self {
            control,
            ecn: false,
            random,
            marks: Stream::new(seed, "marks"),
            packets: Stream::new(seed, "packets"),
            noise: Stream::new(seed, "noise"),
            receiver_ahead_ms: (seed as u32 % 2) * 600_000_000,
            delivered_ce: 0,
            path,
            books: Bookkeeping::new(super::at_ms(5_000), MSS),
            delivered_at: super::at_ms(5_000),
            high: 0,
            srtt_us: srtt.map_or(0, Duration::as_micros),
        }
    }

    /// Plays `turns`; `record` sees each step after the control took it.
    pub fn play(&mut self, turns: u32, mut record: impl FnMut(&Step, &dyn CongestionControl)) {
        self.start(false, &mut record);
        for turn in 1..=turns {
            if turn % 700 == 0 {
                self.path = Path::draw(&mut self.random);
            }
            match self.random.below(1_000) {
                0 => self.time_out(&mut record),
                1..3 if self.books.state >= RecoveryState::Recovery => self.undo(&mut record),
                3 => self.pause(&mut record),
                _ => self.ack(&mut record),
            }
        }
    }

    fn ack(&mut self, record: &mut impl FnMut(&Step, &dyn CongestionControl)) {
        let acked = match self.random.below(100) {
            0..3 => 0,
            3..10 => self.random.below(40),
            n => 1 + n % 2,
        };
        let gap_us = (acked.max(1) as f64 / self.path.packets_per_s * 1e6) as u64;
        self.books.now +=
            Duration::from_nanos(gap_us.min(400_000) * (500 + self.random.below(1_000)));
        if self.random.chance(0.9) {
            self.books.in_flight = self.control.control().cwnd;
        }
        let prior_in_flight = self.books.in_flight;
        let acked = u32::try_from(acked).unwrap().min(prior_in_flight);
        let lost = self.losses(prior_in_flight - acked);
        self.books.in_flight -= acked + lost;
        self.books.delivered += u64::from(acked);
        for _ in 0..lost {
            self.books.lost += 1;
            self.lose(prior_in_flight, record);
        }
        if acked > 0 {
            self.delivered_at = self.books.now;
        }
        let marked = self.ecn && self.marks.chance(0.1);
        self.delivered_ce += if marked { u64::from(acked) } else { 0 };
        let rtt = self.rtt();
        let sample = self.ack_sample(acked, lost, prior_in_flight, rtt);
        let mut seen = self.delivered_sample(acked, sample.rtt);
        // Loss-based controls see no RTT of an episode: PRR's window isn't theirs.
        if !self.control.needs().own_recovery && self.books.state.is_reducing() {
            seen.rtt = None;
        }
        self.control.on_delivered(&seen);
        record(&Step::Delivered, self.control.as_ref());
        if self.books.state >= RecoveryState::Cwr && self.books.delivered >= self.high {
            self.books.state = RecoveryState::Open;
        }
        if lost > 0 && self.books.state < RecoveryState::Cwr && self.random.chance(0.8) {
            self.congestion(Congestion::Loss, record);
        }
        if marked && self.books.state < RecoveryState::Cwr {
            self.congestion(Congestion::Ecn, record);
        }
        let may_grow = !self.books.state.is_reducing();
        let sample = AckSample { state: self.books.state, may_grow, ..sample };
        if self.control.needs().packets
            && self.books.state < RecoveryState::Cwr
            && self.packets.chance(0.005)
        {
            self.congestion(Congestion::TailLoss, record);
        }
        self.control.on_ack(&sample);
        self.books.last_sent = Some(self.books.now);
        record(&Step::Ack, self.control.as_ref());
        if self.control.requests_cwr() && self.books.state < RecoveryState::Cwr {
            self.congestion(Congestion::Ecn, record);
        }
    }

    fn losses(&mut self, at_most: u32) -> u32 {
        let lost = if self.random.chance(self.path.loss) { 1 + self.random.below(5) } else { 0 };
        u32::try_from(lost).unwrap().min(at_most)
    }

    /// Tells a control that watches packets which one was lost.
    fn lose(&mut self, in_flight: u32, record: &mut impl FnMut(&Step, &dyn CongestionControl)) {
        if let Some(at_send) = self.at_send(in_flight, 1) {
            let packet = LostPacket {
                now: self.books.now,
                at_send,
                app_limited: self.packets.chance(0.05),
                lost_total: self.books.lost,
                delivered: self.books.delivered,
            };
            self.control.on_lost(&packet);
            record(&Step::Lost, self.control.as_ref());
        }
    }

    /// About `in_flight` packets in flight with this one, and at least `since` lost since then.
    fn at_send(&mut self, in_flight: u32, since: u64) -> Option<AtSend> {
        self.control.needs().packets.then(|| {
            let more = u32::try_from(self.packets.below(20)).unwrap();
            let lost = since + self.packets.below(8) * self.packets.below(2);
            AtSend {
                in_flight: in_flight + more,
                lost: self.books.lost.saturating_sub(lost) as u32,
            }
        })
    }

    fn rtt(&mut self) -> Option<u64> {
        if self.random.chance(0.05) {
            return None;
        }
        let mut rtt = self.path.rtt_us + self.random.below(self.path.rtt_us / 8 + 1);
        if self.random.chance(0.3) {
            rtt += self.random.below(self.path.rtt_us);
        }
        self.srtt_us = if self.srtt_us == 0 { rtt } else { (self.srtt_us * 7 + rtt) / 8 };
        Some(rtt)
    }

    #[expect(clippy::needless_update, reason = "a field that is added later")]
    fn ack_sample(&mut self, acked: u32, lost: u32, prior: u32, rtt: Option<u64>) -> AckSample {
        let window = u64::from(prior).min(self.books.delivered);
        let bottleneck_us = (window as f64 / self.path.packets_per_s * 1e6) as u64;
        let app_limited = self.random.chance(0.05);
        let at_send = self.at_send(prior, 0);
        let rate = rtt.filter(|_| acked > 0).map(|rtt| RateSample {
            delivered: window,
            interval: Duration::from_micros(rtt.max(bottleneck_us)),
            prior_delivered: self.books.delivered - window,
            app_limited,
            at_send,
        });
        let wait = self.random.below(3_000_000) * self.random.below(2);
        AckSample {
            now: self.books.now,
            mss: MSS,
            acked,
            lost,
            in_flight: self.books.in_flight,
            prior_in_flight: prior,
            delivered: self.books.delivered,
            delivered_at: self.delivered_at,
            lost_total: self.books.lost,
            rate,
            rtt: rtt.map(Duration::from_micros),
            srtt: Duration::from_micros(self.srtt_us),
            min_rtt: Duration::MAX,
            ack_delayed: self.random.chance(0.05),
            state: self.books.state,
            may_grow: true,
            cwnd_limited: self.random.chance(0.95),
            departure: self.books.now + Duration::from_nanos(wait),
            ..AckSample::default()
        }
    }

    /// The receiver's clock, which began at another time.
    fn receiver_ms(&mut self, now_ms: u32) -> u32 {
        let queued = self.noise.below(self.path.rtt_us) / 4_000;
        (now_ms + queued as u32).wrapping_add(self.receiver_ahead_ms)
    }

    fn delivered_sample(&mut self, acked: u32, rtt: Option<Duration>) -> DeliveredSample {
        let now_ms = self.books.now.as_micros() as u32 / 1_000;
        let most = self.books.delivered.min(u64::from(self.books.in_flight + acked));
        let window = if acked > 0 { self.noise.below(most + 1) } else { self.books.delivered };
        DeliveredSample {
            now: self.books.now,
            acked,
            rtt,
            in_flight: self.books.in_flight,
            sacked: u32::from(self.noise.chance(0.1)),
            stamp_ms: self.receiver_ms(now_ms),
            echo_ms: now_ms - (rtt.unwrap_or_default().as_micros() / 1_000) as u32,
            progress: self.books.progress(),
            paced: self.path.paced,
            pacing_rate: Rate::from_bytes_per_sec(self.path.pacing_bytes),
            cwnd_limited: true,
            delivered_ce: self.delivered_ce,
            delivered: self.books.delivered,
            prior_delivered: self.books.delivered - window,
            ..DeliveredSample::default()
        }
    }

    fn congestion(
        &mut self,
        kind: Congestion,
        record: &mut impl FnMut(&Step, &dyn CongestionControl),
    ) {
        let event = self.books.congestion(kind, self.control.control().cwnd);
        self.control.on_congestion(&event);
        self.high = self.books.sent_total();
        self.books.state = match kind {
            Congestion::Timeout { .. } => RecoveryState::Loss,
            Congestion::Ecn => RecoveryState::Cwr,
            Congestion::TailLoss => self.books.state,
            _ => RecoveryState::Recovery,
        };
        record(&Step::Congestion, self.control.as_ref());
    }

    fn time_out(&mut self, record: &mut impl FnMut(&Step, &dyn CongestionControl)) {
        self.books.now += Duration::from_millis(200);
        self.books.in_flight = u32::try_from(self.random.below(3)).unwrap();
        let reduce = self.books.state < RecoveryState::Recovery;
        self.congestion(Congestion::Timeout { reduce }, record);
    }

    fn undo(&mut self, record: &mut impl FnMut(&Step, &dyn CongestionControl)) {
        let event = self.books.undo(self.control.control().cwnd);
        self.control.on_undo(&event);
        self.books.state = RecoveryState::Open;
        record(&Step::Undo, self.control.as_ref());
    }

    fn pause(&mut self, record: &mut impl FnMut(&Step, &dyn CongestionControl)) {
        self.books.now += Duration::from_micros(self.random.below(2_000_000));
        let app_limited = self.random.chance(0.5);
        self.start(app_limited, record);
    }

    fn start(&mut self, app_limited: bool, record: &mut impl FnMut(&Step, &dyn CongestionControl)) {
        let event = self.books.start(app_limited);
        self.control.on_start(&event);
        self.books.last_sent = Some(self.books.now);
        record(&Step::Start, self.control.as_ref());
    }
}

impl Path {
    fn draw(random: &mut Stream) -> Self {
        let mut pick = |values: [u64; 4]| values[usize::try_from(random.below(4)).unwrap()];
        let per_second = pick([30, 300, 3_000, 30_000]);
        let longest_us = pick([5_000, 50_000, 50_000, 300_000]);
        let loss_per_thousand = pick([0, 1, 10, 300]);
        let pacing_bytes = pick([0, 1_000_000, 100_000_000, 5_000_000_000]);
        Self {
            packets_per_s: per_second as f64 * (1.0 + random.unit()),
            rtt_us: 500 + random.below(longest_us),
            loss: loss_per_thousand as f64 / 1_000.0,
            paced: random.chance(0.5),
            pacing_bytes,
        }
    }
}
