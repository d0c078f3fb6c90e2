//! The state of an established sender.

use narrows_base::{Duration, Jiffies, Packet, Rate, Time};
use narrows_cc::{CongestionControl, Control, RateSample, RecoveryState};

use super::rack::Rack;
use super::recovery::Episode;
use super::supply::Supply;
use super::timers::Timers;
use super::transmit::WindowUse;
use super::{SenderConfig, SenderStats, SenderView};
use crate::Seq;
use crate::ecn::SenderEcn;
use crate::metrics::{Ending, Metrics};
use crate::outbox::{Envelope, Outbox};
use crate::pacer::Pacer;
use crate::profile::TcpProfile;
use crate::rate::RateSampler;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::segment::{Kind, Segment};
use crate::timer::timestamp_ms;
use crate::watch::Watch;

/// An established sender: Linux's `struct tcp_sock`, taken apart.
pub(crate) struct Connection {
    pub(super) profile: &'static TcpProfile,
    pub(super) mss: u32,
    pub(super) initial_cwnd: u32,
    pub(super) jiffies: Jiffies,
    pub(super) cc: Box<dyn CongestionControl>,
    /// What the control asked for last.
    pub(super) control: Control,
    /// Whether the control sets the window while recovering.
    pub(super) cc_owns_recovery: bool,
    /// Whether the control bounds bursts.
    pub(super) cc_bounds_bursts: bool,
    /// Whether it watches packets.
    pub(super) cc_watches_packets: bool,
    /// The window in force (`tp->snd_cwnd`): the control's, or PRR's.
    pub(super) cwnd: u32,
    pub(super) state: RecoveryState,
    pub(super) board: Scoreboard,
    pub(super) rtt: RttEstimator,
    pub(super) rate: RateSampler,
    pub(super) rack: Rack,
    pub(super) episode: Episode,
    pub(super) pacer: Pacer,
    pub(super) timers: Timers,
    pub(super) ecn: SenderEcn,
    /// Whether bursts pass the network as one packet.
    pub(super) gso: bool,
    pub(super) supply: Supply,
    pub(super) window: WindowUse,
    pub(super) counters: Counters,
    /// Echo for the receiver: its newest timestamp.
    pub(super) ts_recent: u32,
    pub(super) out: Outbox,
    latest: Latest,
    completed_at: Option<Time>,
    /// Whether the last packet of the supply ends the connection.
    pub(super) closes: bool,
}

/// What the other end said when it accepted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// Receive window in bytes.
    pub(super) window: u32,
    /// Its timestamp in ms.
    pub(super) ts: u32,
}

/// Totals since the connection began.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) data_packets_sent: u64,
    pub(super) retransmitted: u64,
    pub(super) timeouts: u64,
    pub(super) dsack_dups: u64,
}

/// What the recorder asks for.
#[derive(Debug, Default)]
struct Latest {
    rtt: Option<Duration>,
    rtt_untold: Option<Duration>,
    rate: Option<RateSample>,
}

impl Connection {
    pub(super) fn new(
        config: &SenderConfig,
        envelope: Envelope,
        mut cc: Box<dyn CongestionControl>,
        rtt: Duration,
        answer: Answer,
        now: Time,
    ) -> Self {
        let profile = config.profile;
        let jiffies = Jiffies::new(profile.cc.hz);
        let known = config.metrics.unwrap_or_default();
        if let Some(ssthresh) = known.ssthresh {
            cc.on_threshold(ssthresh);
        }
        let control = cc.control();
        let enforced = config.fq || control.pacing_rate.is_some();
        let mut connection = Self {
            profile,
            mss: config.mss,
            initial_cwnd: config.initial_cwnd,
            jiffies,
            cc_owns_recovery: cc.owns_recovery(),
            cc_bounds_bursts: cc.max_tso_segs().is_some(),
            cc_watches_packets: cc.watches_packets(),
            cc,
            control,
            cwnd: control.cwnd,
            state: RecoveryState::Open,
            board: Scoreboard::new(),
            rtt: RttEstimator::new(jiffies),
            rate: RateSampler::new(now.as_micros()),
            rack: Rack::default(),
            episode: Episode::default(),
            pacer: Pacer::new(profile, config.fq, enforced, config.timer_lateness),
            timers: Timers::default(),
            ecn: SenderEcn::new(config.ecn),
            gso: config.gso,
            supply: Supply::new(config.size, config.mss),
            window: WindowUse::new(answer.window, config.limits.send(profile), jiffies.at(now)),
            counters: Counters::default(),
            ts_recent: answer.ts,
            out: Outbox::new(envelope),
            latest: Latest::default(),
            completed_at: None,
            closes: config.closes && config.size.is_some(),
        };
        if config.note_lost {
            connection.board.note_lost();
        }
        connection.board.watch = connection.cc_watches_packets.then(Watch::default);
        connection.out.push(Kind::HandshakeAck { ts: timestamp_ms(now), ts_echo: answer.ts });
        connection.rtt.update_min(rtt.as_micros(), now);
        connection.rtt.update(rtt.as_micros(), 0, 0);
        connection.rtt.recall(known.srtt8);
        connection.rack.recall(known.reordering, profile);
        connection.update_pacing_rate();
        connection.write(now);
        connection
    }

    /// Learns the control's new wishes.
    pub(super) fn refresh_control(&mut self) {
        self.control = self.cc.control();
    }

    /// Sets the rate that sizes bursts and, where enforced, spaces them
    /// (`tcp_update_pacing_rate`, or what the control says).
    pub(super) fn update_pacing_rate(&mut self) {
        if self.control.pacing_rate.is_some() {
            self.pacer.rate = self.control.pacing_rate;
            return;
        }
        let percent = if self.cwnd < self.control.ssthresh / 2 { 200 } else { 120 };
        let packets = u64::from(self.cwnd.max(self.board.packets_out()));
        // A control may ask for any window; what doesn't fit is as fast as can be.
        let scaled = (u64::from(self.mss) * 80_000 * percent).saturating_mul(packets);
        let bytes_per_sec = scaled / self.rtt.srtt8().max(1);
        self.pacer.rate = Some(Rate::from_bps(bytes_per_sec.saturating_mul(8)));
    }

    #[inline]
    pub(super) fn poll(&mut self, now: Time) -> Option<Packet<Segment>> {
        if self.out.is_empty() && self.timers.are_due(now) {
            self.fire_timers(now);
        }
        self.out.pop()
    }

    #[inline]
    pub(super) fn next_deadline(&self) -> Option<Time> {
        if self.out.is_empty() { self.timers.next() } else { Some(Time::ZERO) }
    }

    pub(super) fn stop(&mut self, now: Time) {
        // What was sent last didn't look like the end.
        self.closes &= self.supply.is_empty();
        self.supply.close();
        self.note_completion(now);
    }

    /// The application writes more (`tcp_sendmsg`).
    pub(super) fn append(&mut self, bytes: Option<u64>, now: Time) {
        self.completed_at = None;
        self.check_app_limited();
        self.supply.add(bytes);
        self.write(now);
    }

    /// The pipe ran dry before the application wrote more: what is sent now doesn't
    /// measure the path (`tcp_rate_check_app_limited`).
    fn check_app_limited(&mut self) {
        let pipe = self.board.pipe();
        let repaired = self.board.lost_out <= self.board.retrans_out;
        if self.supply.is_short() && pipe < self.cwnd && repaired {
            self.rate.set_app_limited(pipe);
        }
    }

    pub(super) fn note_rtt(&mut self, rtt: Duration) {
        self.latest.rtt = Some(rtt);
        self.latest.rtt_untold = Some(rtt);
    }

    pub(super) fn note_rate(&mut self, sample: RateSample) {
        let faster = |old: RateSample| {
            sample.delivered * old.interval.as_micros()
                >= old.delivered * sample.interval.as_micros()
        };
        if !sample.app_limited || self.latest.rate.is_none_or(faster) {
            self.latest.rate = Some(sample);
        }
    }

    pub(super) fn note_completion(&mut self, now: Time) {
        if self.supply.is_empty() && self.board.packets_out() == 0 && self.completed_at.is_none() {
            self.completed_at = Some(now);
            self.timers.clear();
        }
    }

    /// Leaves what the next connection to the same destination starts with.
    pub(super) fn remember(&self, metrics: &mut Metrics) {
        let ending = Ending {
            cwnd: self.cwnd,
            ssthresh: self.control.ssthresh,
            open: self.state == RecoveryState::Open,
            reordering: self.rack.unusual_reordering(),
            keeps_ssthresh: self.profile.keeps_ssthresh,
        };
        metrics.update(&self.rtt, ending);
    }

    pub(super) fn completed_at(&self) -> Option<Time> {
        self.completed_at
    }

    pub(super) fn take_rtt(&mut self) -> Option<Duration> {
        self.latest.rtt_untold.take()
    }

    pub(super) fn take_lost(&mut self) -> impl Iterator<Item = Seq> + '_ {
        self.board.take_lost()
    }

    pub(super) fn control_ref(&self) -> &dyn CongestionControl {
        self.cc.as_ref()
    }

    pub(super) fn stats(&self) -> SenderStats {
        SenderStats {
            sent: self.counters.data_packets_sent,
            delivered: self.rate.delivered - 1,
            delivered_ce: self.rate.delivered_ce,
            lost: self.board.lost_total,
            retransmitted: self.counters.retransmitted,
            timeouts: self.counters.timeouts,
        }
    }

    pub(super) fn view(&self) -> SenderView {
        let micros = |us: u64| (us > 0 && us < u64::MAX).then(|| Duration::from_micros(us));
        let mss_bits = u64::from(self.mss) * 8_000_000;
        SenderView {
            cwnd: self.cwnd,
            ssthresh: self.control.ssthresh,
            in_flight: self.board.pipe(),
            rtt: self.latest.rtt,
            srtt: micros(self.rtt.srtt_us()),
            min_rtt: micros(self.rtt.min_us()),
            pacing_rate: self.pacer.rate,
            delivery_rate: self.latest.rate.map(|sample| {
                Rate::from_bps(sample.delivered * mss_bits / sample.interval.as_micros().max(1))
            }),
            state: self.state,
            cca_state: self.cc.state(),
        }
    }
}
