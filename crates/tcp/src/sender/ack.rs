//! Processing of an acknowledgement, in the order of Linux's `tcp_ack`.

use narrows_base::{Duration, Time};
use narrows_cc::{AckSample, RateSample, RecoveryState};

use super::connection::Connection;
use super::findings::{Findings, PriorState, Resend};
use crate::segment::Ack;

impl Connection {
    pub(super) fn on_ack(&mut self, ack: &Ack, now: Time) {
        if ack.ack > self.board.next() {
            return;
        }
        self.output.note_timestamp(ack.ts);
        let mut found = self.start_findings(ack, now);
        if ack.ack < self.board.una() {
            self.on_old_ack(ack, &mut found);
            self.write(now);
            return;
        }
        found.una_advanced = ack.ack > self.board.una();
        if found.una_advanced {
            self.episode.forget_timeouts();
        }
        found.window_update = self.window.update(ack, found.una_advanced);
        if !ack.sack.is_empty() {
            self.tag_sacks(ack, &mut found);
        }
        found.ece = self.output.ecn.is_echo(ack.ece);
        if self.board.packets_out() == 0 {
            self.on_ack_of_nothing(ack, &mut found);
        } else {
            self.on_ack_of_data(ack, &mut found);
        }
        let sent = self.counters.sent;
        self.write(now);
        if found.sets_timer && self.counters.sent == sent {
            self.set_timer(now);
        }
        self.note_completion(now);
    }

    fn start_findings(&self, ack: &Ack, now: Time) -> Findings {
        Findings {
            now,
            now_us: now.as_micros(),
            before: PriorState {
                una: self.board.una(),
                highest_sacked: self.board.highest_sacked(),
                sacked_out: self.board.sacked_out(),
                pipe: self.board.pipe(),
                delivered: self.rate.delivered(),
                lost_total: self.board.lost_total(),
            },
            stamp: ack.ts,
            echo: ack.ts_echo,
            ..Findings::default()
        }
    }

    /// A reordered ACK still has SACK information.
    fn on_old_ack(&mut self, ack: &Ack, found: &mut Findings) {
        if ack.sack.is_empty() {
            return;
        }
        self.tag_sacks(ack, found);
        let resend = self.alert(found, false);
        self.resend(resend, found.now);
    }

    fn on_ack_of_nothing(&mut self, ack: &Ack, found: &mut Findings) {
        if self.output.ecn.accurate().is_some() {
            self.count_accurately(ack, 0, found);
        }
        if found.dsack {
            self.alert(found, false);
        }
        self.finish_probe(ack.ack, found);
        self.take_window_probe_answer(found.now);
    }

    fn on_ack_of_data(&mut self, ack: &Ack, found: &mut Findings) {
        self.clean_queue(ack, found);
        self.rack.adapt(found.draft.prior_delivered(), self.rate.delivered());
        self.finish_probe(ack.ack, found);
        let mut resend = Resend::Nothing;
        let open = self.episode.state() == RecoveryState::Open;
        if !found.is_not_dup() || found.alerts() || !open {
            let duplicate = !(found.una_advanced || found.is_not_dup() || found.dsack);
            resend = self.alert(found, duplicate);
        }
        // Sending restarts the timer, so if it may follow, the timer isn't set here.
        if found.sets_timer && !(resend == Resend::Nothing && self.may_probe()) {
            self.set_timer(found.now);
            found.sets_timer = false;
        }
        self.control_congestion(found);
        self.resend(resend, found.now);
    }

    /// Samples for the control, then its window or PRR's (`tcp_cong_control`).
    fn control_congestion(&mut self, found: &Findings) {
        let since = |total: u64, before: u64| u32::try_from(total - before).unwrap_or(u32::MAX);
        let acked = since(self.rate.delivered(), found.before.delivered);
        let lost = since(self.board.lost_total(), found.before.lost_total);
        let mut rate = self.rate.finish(&found.draft, acked, found.now_us, self.rtt.min_us());
        if self.control.needs().packets {
            self.notify_losses(found.now);
            let at_send = self.board.at_send(found.draft.sampled_packet());
            rate = rate.map(|rate| RateSample { at_send, ..rate });
        }
        if let Some(sample) = rate {
            self.latest.note_rate(sample);
        }
        let reducing = self.is_reducing();
        if reducing {
            let slow_start = self.prr_may_grow(lost > 0, found);
            self.reduce_cwnd(acked, slow_start);
        }
        let sample = self.ack_sample(acked, lost, rate, found);
        self.control.on_ack(&sample);
        if !reducing {
            self.cwnd = self.control.cwnd();
        }
        if self.control.requests_cwr() {
            self.enter_cwr(found.now);
        }
        if self.control.is_app_limited() {
            self.rate.set_app_limited(self.board.pipe());
        }
        self.update_pacing_rate();
    }

    #[inline] // it has one caller, and runs for every ACK
    fn ack_sample(
        &self,
        acked: u32,
        lost: u32,
        rate: Option<RateSample>,
        found: &Findings,
    ) -> AckSample {
        let state = self.episode.state();
        // With much reordering any progress may grow the window (`tcp_may_raise_cwnd`).
        let progress =
            if self.rack.is_reordering_large() { found.is_progress() } else { found.data_acked };
        AckSample {
            now: found.now,
            mss: self.mss,
            acked,
            lost,
            in_flight: self.board.pipe(),
            prior_in_flight: found.before.pipe,
            delivered: self.rate.delivered(),
            delivered_at: Time::ZERO + Duration::from_micros(self.rate.delivered_us()),
            lost_total: self.board.lost_total(),
            rate,
            rtt: found.rtt,
            srtt: Duration::from_micros(self.rtt.srtt_us()),
            min_rtt: match self.rtt.min_us() {
                u64::MAX => Duration::MAX,
                us => Duration::from_micros(us),
            },
            ack_delayed: found.ack_delayed,
            state,
            may_grow: progress && !state.is_reducing(),
            cwnd_limited: self.is_cwnd_limited(),
            departure: self.pacer.clock(),
        }
    }
}
