//! A sender, a bottleneck and a receiver that acknowledges every packet: just
//! enough to walk a control through its states. Lost packets aren't retransmitted;
//! the flow sends new ones instead.

use std::collections::VecDeque;

use narrows_base::{Duration, Rate, Time};
use narrows_cc::{
    AckSample, AtSend, Congestion, CongestionControl, CongestionEvent, DeliveredSample, LostPacket,
    Progress, RateSample, RecoveryState, StartEvent,
};

use super::MSS;

/// A bottleneck.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// The transmission time of a packet.
    pub service: Duration,
    /// Two-way delay without queueing.
    pub rtt: Duration,
    /// The size of the queue in packets.
    pub buffer: u64,
    /// A token bucket before the queue: a token's time, and the bucket's depth.
    pub policer: Option<(Duration, u64)>,
}

impl Path {
    /// A path for full packets of 1500 bytes.
    pub fn new(mbit: u64, rtt_ms: u64, buffer: u64) -> Self {
        let service = Duration::from_nanos(1500 * 8 * 1_000 / mbit);
        Self { service, rtt: Duration::from_millis(rtt_ms), buffer, policer: None }
    }
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    seq: u64,
    sent: Time,
    first_sent: Time,
    delivered: u64,
    delivered_at: Time,
    app_limited: bool,
    at_send: AtSend,
}

/// One flow over a path.
pub struct Flow {
    pub control: Box<dyn CongestionControl>,
    pub now: Time,
    pub state: RecoveryState,
    pub delivered: u64,
    pub lost: u64,
    path: Path,
    outstanding: VecDeque<Packet>,
    acks: VecDeque<(Time, Packet)>,
    next_seq: u64,
    next_send: Time,
    delivered_at: Time,
    first_sent: Time,
    app_limited: u64,
    min_rtt: Duration,
    srtt: Duration,
    high_seq: u64,
    free: Time,
    tokens: Time,
    last_sent: Option<Time>,
}

impl Flow {
    /// A flow that starts at `start`, right after its handshake.
    pub fn new(control: Box<dyn CongestionControl>, path: Path, start: Time) -> Self {
        Self {
            control,
            now: start,
            state: RecoveryState::Open,
            delivered: 0,
            lost: 0,
            path,
            outstanding: VecDeque::new(),
            acks: VecDeque::new(),
            next_seq: 0,
            next_send: start,
            delivered_at: start,
            first_sent: start,
            app_limited: 0,
            min_rtt: path.rtt,
            srtt: path.rtt,
            high_seq: 0,
            free: start,
            tokens: Time::ZERO,
            last_sent: None,
        }
    }

    /// Runs to `until`; `watch` sees the flow after each ACK and timeout.
    pub fn run(&mut self, until: Time, mut watch: impl FnMut(&Self)) {
        loop {
            self.send();
            let ack = self.acks.front().map(|(time, _)| *time);
            let send = self.may_send().then_some(self.next_send);
            let Some(next) = [ack, send].into_iter().flatten().min() else {
                self.time_out();
                watch(self);
                continue;
            };
            if next > until {
                self.now = until;
                return;
            }
            self.now = self.now.max(next);
            if ack == Some(next) {
                let (_, packet) = self.acks.pop_front().expect("looked at above");
                self.take_ack(packet);
                watch(self);
            }
        }
    }

    /// Replaces the path from now on.
    pub fn reroute(&mut self, path: Path) {
        self.path = path;
    }

    /// The length of the queue in packets.
    pub fn queue(&self) -> u64 {
        self.free.saturating_since(self.now).as_nanos() / self.path.service.as_nanos()
    }

    pub fn in_flight(&self) -> u32 {
        u32::try_from(self.outstanding.len()).unwrap()
    }

    fn may_send(&self) -> bool {
        self.in_flight() < self.control.control().cwnd
    }

    fn send(&mut self) {
        while self.may_send() && self.next_send <= self.now {
            if self.outstanding.is_empty() {
                self.begin_sending();
            }
            let packet = Packet {
                seq: self.next_seq,
                sent: self.now,
                first_sent: self.first_sent,
                delivered: self.delivered,
                delivered_at: self.delivered_at,
                app_limited: self.app_limited > 0,
                at_send: AtSend {
                    in_flight: self.in_flight() + 1,
                    lost: u32::try_from(self.lost).unwrap(),
                },
            };
            self.next_seq += 1;
            self.last_sent = Some(self.now);
            self.outstanding.push_back(packet);
            self.forward(packet);
            if let Some(rate) = self.control.control().pacing_rate {
                let gap = Duration::from_nanos(u64::from(MSS) * 8_000_000_000 / rate.as_bps());
                self.next_send = self.now + gap;
            }
        }
    }

    fn begin_sending(&mut self) {
        self.first_sent = self.now;
        self.delivered_at = self.now;
        let event = StartEvent {
            now: self.now,
            last_sent: self.last_sent,
            app_limited: self.app_limited > 0,
            mss: MSS,
            delivered: self.delivered,
        };
        self.control.on_start(&event);
    }

    /// Puts the packet through policer and queue.
    fn forward(&mut self, packet: Packet) {
        if let Some((token, depth)) = self.path.policer {
            let filled = self.tokens.max(before(self.now, token * depth));
            if filled + token > self.now {
                return;
            }
            self.tokens = filled + token;
        }
        let waiting =
            self.free.saturating_since(self.now).as_nanos() / self.path.service.as_nanos();
        if waiting > self.path.buffer {
            return;
        }
        self.free = self.free.max(self.now) + self.path.service;
        self.acks.push_back((self.free + self.path.rtt, packet));
    }

    fn take_ack(&mut self, packet: Packet) {
        let prior_in_flight = self.in_flight();
        self.delivered += 1;
        let lost = self.outstanding.iter().take_while(|other| other.seq < packet.seq).count();
        let gone: Vec<Packet> = self.outstanding.drain(..=lost).take(lost).collect();
        let lost = u32::try_from(lost).unwrap();
        gone.iter().for_each(|packet| self.lose(packet));
        if self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let rtt = self.now - packet.sent;
        self.srtt = (self.srtt * 7 + rtt) / 8;
        self.min_rtt = self.min_rtt.min(rtt);
        let rate = self.rate_sample(packet);
        self.delivered_at = self.now;
        self.first_sent = packet.sent;
        self.control.on_delivered(&self.delivered_sample(packet, rtt));
        self.update_state(packet, lost);
        let sample = AckSample {
            now: self.now,
            mss: MSS,
            acked: 1,
            lost,
            in_flight: self.in_flight(),
            prior_in_flight,
            delivered: self.delivered,
            delivered_at: self.now,
            lost_total: self.lost,
            rate,
            rtt: Some(rtt),
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            state: self.state,
            may_grow: !self.state.is_reducing(),
            cwnd_limited: true,
            departure: self.next_send,
            ..AckSample::default()
        };
        self.control.on_ack(&sample);
        if self.control.control().app_limited {
            self.app_limited = (self.delivered + u64::from(self.in_flight())).max(1);
        }
    }

    fn lose(&mut self, packet: &Packet) {
        self.lost += 1;
        self.control.on_lost(&LostPacket {
            now: self.now,
            at_send: packet.at_send,
            app_limited: packet.app_limited,
            lost_total: self.lost,
            delivered: self.delivered,
        });
    }

    fn rate_sample(&self, packet: Packet) -> Option<RateSample> {
        let sending = packet.sent - packet.first_sent;
        let interval = sending.max(self.now - packet.delivered_at);
        (interval >= self.min_rtt).then_some(RateSample {
            delivered: self.delivered - packet.delivered,
            interval,
            prior_delivered: packet.delivered,
            app_limited: packet.app_limited,
            at_send: Some(packet.at_send),
        })
    }

    fn delivered_sample(&self, packet: Packet, rtt: Duration) -> DeliveredSample {
        let pacing_rate = self.control.control().pacing_rate;
        DeliveredSample {
            now: self.now,
            acked: 1,
            rtt: Some(rtt),
            in_flight: self.in_flight(),
            progress: Progress::new(packet.seq + 1, self.next_seq),
            paced: pacing_rate.is_some(),
            pacing_rate: pacing_rate.unwrap_or(Rate::from_bps(1_000_000_000)),
            cwnd_limited: true,
            delivered: self.delivered,
            ..DeliveredSample::default()
        }
    }

    fn update_state(&mut self, packet: Packet, lost: u32) {
        if self.state >= RecoveryState::Recovery && packet.seq >= self.high_seq {
            self.state = RecoveryState::Open;
        }
        if lost > 0 && self.state < RecoveryState::Recovery {
            self.report(Congestion::Loss);
            self.state = RecoveryState::Recovery;
        }
    }

    fn time_out(&mut self) {
        self.now += Duration::from_millis(300);
        self.next_send = self.next_send.max(self.now);
        let gone = std::mem::take(&mut self.outstanding);
        gone.iter().for_each(|packet| self.lose(packet));
        self.report(Congestion::Timeout { reduce: self.state < RecoveryState::Recovery });
        self.state = RecoveryState::Loss;
    }

    fn report(&mut self, kind: Congestion) {
        self.high_seq = self.next_seq;
        let event = CongestionEvent {
            now: self.now,
            kind,
            state: self.state,
            cwnd: self.control.control().cwnd,
            in_flight: self.in_flight(),
            mss: MSS,
            delivered: self.delivered,
            lost_total: self.lost,
            progress: Progress::new(self.next_seq - self.outstanding.len() as u64, self.next_seq),
        };
        self.control.on_congestion(&event);
    }
}

fn before(now: Time, span: Duration) -> Time {
    Time::ZERO + now.saturating_since(Time::ZERO + span)
}
