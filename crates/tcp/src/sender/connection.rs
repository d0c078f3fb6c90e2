//! The state of an established sender, and its interface.

use narrows_base::{Duration, Ecn, Jiffies, Packet, Rate, Time};
use narrows_cc::{CongestionControl, RecoveryState, Setting};

use super::config::{SenderConfig, SenderStats, SenderView};
use super::control::Controller;
use super::counters::{Counters, LatestSamples};
use super::cwnd_use::CwndUse;
use super::ecn::SenderEcn;
use super::episode::Episode;
use super::host_queue::HostQueue;
use super::output::Output;
use super::prr::Prr;
use super::rack::Rack;
use super::send_buffer::SendBuffer;
use super::send_window::SendWindow;
use super::tail_probe::TailProbe;
use super::timers::Timers;
use super::undo::Undo;
use super::unsent::UnsentData;
use super::user_timeout::UserTimeout;
use crate::accecn::{AccEcnOption, AccurateEnd, Ace};
use crate::metrics::{Ending, Metrics};
use crate::outbox::Envelope;
use crate::pacer::Pacer;
use crate::profile::TcpProfile;
use crate::rate::RateSampler;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::segment::{Kind, SackBlocks, Segment, Seq};
use crate::sysctls::Sysctls;

/// An established sender: Linux's `struct tcp_sock`, divided into parts. Each part guards its own
/// state; the files beside this one contain Linux's functions that use several of them.
pub(super) struct Connection {
    pub(super) profile: &'static TcpProfile,
    pub(super) sysctls: Sysctls,
    pub(super) mss: u32,
    pub(super) initial_cwnd: u32,
    pub(super) control: Controller,
    /// The window in force (`tp->snd_cwnd`): the control's, or PRR's.
    pub(super) cwnd: u32,
    pub(super) episode: Episode,
    pub(super) undo: Undo,
    pub(super) prr: Prr,
    pub(super) probe: TailProbe,
    pub(super) board: Scoreboard,
    /// The SACK blocks of the last ACK that had any (`recv_sack_cache`).
    pub(super) last_sack_blocks: SackBlocks,
    pub(super) rack: Rack,
    pub(super) rtt: RttEstimator,
    pub(super) rate: RateSampler,
    pub(super) pacer: Pacer,
    pub(super) timers: Timers,
    pub(super) user_timeout: UserTimeout,
    pub(super) unsent: UnsentData,
    pub(super) window: SendWindow,
    pub(super) send_buffer: SendBuffer,
    pub(super) usage: CwndUse,
    pub(super) output: Output,
    pub(super) counters: Counters,
    pub(super) latest: LatestSamples,
    completed_at: Option<Time>,
}

/// The result of the handshake.
pub(super) struct HandshakeResult {
    pub(super) envelope: Envelope,
    pub(super) control: Box<dyn CongestionControl>,
    pub(super) rtt: Duration,
    /// The receive window in the answer, in bytes.
    pub(super) window: u32,
    /// Its timestamp in ms.
    pub(super) ts: u32,
    pub(super) accurate: Option<Box<AccurateEnd>>,
}

impl Connection {
    pub(super) fn new(config: &SenderConfig, established: HandshakeResult, now: Time) -> Self {
        let HandshakeResult { envelope, control, rtt, window, ts, accurate } = established;
        let (profile, mss) = (config.profile, config.mss);
        let timers = Timers::new(Jiffies::new(profile.cc.hz));
        let clock = timers.clock();
        let known = config.metrics.unwrap_or_default();
        let control = Controller::new(control, known.ssthresh);
        let paces_itself = profile.pacing.internal && control.pacing_rate().is_some();
        let enforced = config.fq || paces_itself;
        let ecn = SenderEcn::new(config.ecn, accurate);
        let pacer = Pacer::new(profile, config.fq, enforced, config.timer_lateness);
        let gso = config.gso && config.line_rate.is_none();
        let has_queue = pacer.queues() || config.line_rate.is_some();
        let host_queue = has_queue.then(|| HostQueue::new(config.line_rate));
        let mut connection = Self {
            profile,
            sysctls: config.sysctls,
            mss,
            initial_cwnd: config.initial_cwnd,
            cwnd: control.cwnd(),
            episode: Episode::default(),
            undo: Undo::default(),
            prr: Prr::default(),
            probe: TailProbe::default(),
            board: Scoreboard::new(config.note_lost, control.needs().packets),
            last_sack_blocks: SackBlocks::default(),
            send_buffer: SendBuffer::new(
                (config.sysctls.first_send_buffer, config.limits.send(profile)),
                config.notsent_lowat,
                control.needs().send_buffer_windows,
            ),
            control,
            rack: Rack::default(),
            rtt: RttEstimator::new(clock),
            rate: RateSampler::new(now.as_micros()),
            output: Output::new(envelope, ecn, mss, gso, host_queue),
            pacer,
            timers,
            user_timeout: UserTimeout::default(),
            unsent: UnsentData::new(config.size, mss, config.closes),
            window: SendWindow::new(mss, window),
            usage: CwndUse::new(now),
            counters: Counters::default(),
            latest: LatestSamples::default(),
            completed_at: None,
        };
        connection.output.answer(ts, now);
        connection.rtt.update_min(rtt.as_micros(), now);
        connection.rtt.update(rtt.as_micros(), 0, 0);
        connection.rtt.recall(known.srtt8);
        connection.rack.recall(known.reordering, profile);
        connection.update_pacing_rate();
        connection.send_buffer.expand(connection.cwnd, connection.rack.reordering());
        connection.write(now);
        connection
    }

    /// Answers a repeated SYN-ACK; the ACK of the first one hasn't arrived.
    #[cold]
    pub(super) fn on_repeated_answer(&mut self, option: Option<AccEcnOption>, ecn: Ecn, now: Time) {
        let accurate = self.output.ecn.accurate();
        let ace = accurate.map_or(Ace::NONE, |end| end.take_repeated_answer(ecn, option));
        self.output.challenge(self.board.next(), ace, now);
    }

    /// Acts on the findings of the checks of accurate ECN.
    #[cold]
    pub(super) fn heed_checks(&mut self) {
        self.output.ecn.heed_checks();
        let accurate = self.output.ecn.accurate();
        if accurate.is_some_and(|end| end.was_answer_marked()) && self.rate.delivered_ce() == 0 {
            self.rate.count_marked(1);
        }
    }

    /// Sets the rate that sizes bursts and, where enforced, spaces them
    /// (`tcp_update_pacing_rate`, or the control's rate).
    pub(super) fn update_pacing_rate(&mut self) {
        if let Some(rate) = self.control.pacing_rate() {
            self.pacer.set_rate(rate);
            return;
        }
        let percent = if self.cwnd < self.control.ssthresh() / 2 { 200 } else { 120 };
        let packets = u64::from(self.cwnd.max(self.board.packets_out()));
        // A control may ask for any window; a rate that doesn't fit is the largest possible.
        let scaled = (u64::from(self.mss) * 80_000 * percent).saturating_mul(packets);
        let bytes_per_sec = scaled / self.rtt.srtt8().max(1);
        self.pacer.set_rate(Rate::from_bps(bytes_per_sec.saturating_mul(8)));
    }

    /// Handles due timers and moves everything to send into `out`; returns an instant before which
    /// nothing happens by itself.
    #[inline(always)]
    pub(super) fn advance(&mut self, now: Time, out: &mut Vec<Packet<Segment>>) -> Time {
        loop {
            if self.output.is_empty() {
                // Most ACKs leave nothing more to do.
                if let Some(rest) = self.timers.rest(now) {
                    return rest;
                }
                if self.timers.are_due(now) {
                    self.fire_timers(now);
                }
                if self.output.is_empty() {
                    return self.timers.next().unwrap_or(Time::MAX);
                }
            }
            self.output.move_to(out);
        }
    }

    /// Begins to load what nearly every packet touches beside this, for the next segment from the
    /// receiver, or a timer.
    pub(super) fn prefetch_further(&self, next: Option<&Kind>) {
        self.board.prefetch();
        if let Some(Kind::Ack(ack)) = next {
            self.board.prefetch_acked(ack);
        }
        self.control.prefetch();
        self.output.prefetch();
    }

    #[inline]
    pub(super) fn lower_bound(&self) -> Time {
        if self.output.is_empty() { self.timers.lower_bound() } else { Time::ZERO }
    }

    #[inline]
    pub(super) fn next_deadline(&self) -> Option<Time> {
        if self.output.is_empty() { self.timers.next() } else { Some(Time::ZERO) }
    }

    /// New packets have at most that much payload. Those that wait were cut before.
    pub(super) fn set_mss(&mut self, mss: u32) {
        if mss != self.mss && self.unsent.is_empty() {
            self.mss = mss;
            self.unsent.set_mss(mss);
            self.window.set_mss(mss);
            self.output.set_mss(mss);
        }
    }

    /// The control takes a window or a rate from outside.
    pub(super) fn set(&mut self, setting: Setting, now: Time) {
        self.control.set(setting);
        if self.control.needs().own_recovery {
            self.cwnd = self.control.cwnd();
        }
        self.update_pacing_rate();
        self.write(now);
    }

    /// The application writes no more.
    pub(super) fn stop(&mut self, now: Time) {
        self.unsent.stop();
        self.note_completion(now);
    }

    /// The application writes more (`tcp_sendmsg`).
    pub(super) fn append(&mut self, bytes: Option<u64>, now: Time) {
        self.completed_at = None;
        self.unsent.add(bytes);
        self.write(now);
    }

    /// Notes when the last written byte is acknowledged.
    pub(super) fn note_completion(&mut self, now: Time) {
        if self.unsent.is_finished() && self.board.packets_out() == 0 && self.completed_at.is_none()
        {
            self.completed_at = Some(now);
            self.timers.clear();
            // A spurious retransmission, which nobody waits for.
            self.output.release(Time::MAX);
        }
    }

    /// Data remained without an answer for too long (`tcp_write_err`).
    #[cold]
    pub(super) fn give_up(&mut self) {
        self.user_timeout.expire();
        self.unsent.stop();
        self.timers.clear();
    }

    /// Saves the metrics with which the next connection to the same destination starts.
    pub(super) fn remember(&self, metrics: &mut Metrics) {
        let ending = Ending {
            cwnd: self.cwnd,
            ssthresh: self.control.ssthresh(),
            open: self.episode.state() == RecoveryState::Open,
            reordering: self.rack.unusual_reordering(),
            keeps_ssthresh: self.profile.keeps_ssthresh,
        };
        metrics.update(&self.rtt, ending);
    }

    pub(super) fn acked_bytes(&self) -> u64 {
        self.window.acked_bytes()
    }

    pub(super) fn completed_at(&self) -> Option<Time> {
        self.completed_at
    }

    pub(super) fn take_rtt(&mut self) -> Option<Duration> {
        self.latest.take_rtt()
    }

    pub(super) fn take_lost(&mut self) -> impl Iterator<Item = Seq> + '_ {
        self.board.take_lost()
    }

    pub(super) fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.control.inspect(visit);
    }

    pub(super) fn stats(&self) -> SenderStats {
        SenderStats {
            sent: self.counters.sent,
            delivered: self.rate.delivered() - 1,
            delivered_ce: self.rate.delivered_ce(),
            lost: self.board.lost_total(),
            retransmitted: self.counters.retransmitted,
            timeouts: self.counters.timeouts,
        }
    }

    pub(super) fn view(&self) -> SenderView {
        let micros = |us: u64| (us > 0 && us < u64::MAX).then(|| Duration::from_micros(us));
        SenderView {
            cwnd: self.cwnd,
            ssthresh: self.control.ssthresh(),
            in_flight: self.board.pipe(),
            rtt: self.latest.rtt(),
            srtt: micros(self.rtt.srtt_us()),
            min_rtt: micros(self.rtt.min_us()),
            pacing_rate: self.pacer.rate(),
            delivery_rate: self.latest.delivery_rate(self.mss),
            state: self.episode.state(),
            cca_state: self.control.state(),
        }
    }
}
