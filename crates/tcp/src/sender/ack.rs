//! Taking in an acknowledgement, in the order of Linux's `tcp_ack`.

use narrows_base::{Duration, Time};
use narrows_cc::{AckSample, DeliveredSample, RateSample, RecoveryState};

use super::Connection;
use super::recovery::Resend;
use crate::Seq;
use crate::rate::Draft;
use crate::scoreboard::Marks;
use crate::segment::Ack;
use crate::timer::timestamp_ms;

/// What one ACK turned out to mean (Linux's `FLAG_*` and `tcp_sacktag_state`).
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Findings {
    pub(super) now: Time,
    pub(super) now_us: u64,
    pub(super) prior_una: Seq,
    pub(super) prior_highest_sacked: Seq,
    prior_pipe: u32,
    prior_delivered: u64,
    prior_lost: u64,
    prior_sacked: u32,
    /// The receiver's echo of our timestamp, in ms.
    pub(super) echo: u32,
    pub(super) una_advanced: bool,
    pub(super) window_update: bool,
    pub(super) data_acked: bool,
    pub(super) data_sacked: bool,
    pub(super) ece: bool,
    pub(super) dsack: bool,
    pub(super) dsack_of_probe: bool,
    /// A packet sent only once, from before the episode, arrived.
    pub(super) original_arrived: bool,
    pub(super) retransmission_acked: bool,
    pub(super) retransmission_lost: bool,
    set_timer: bool,
    ack_delayed: bool,
    draft: Draft,
    sack_delivered: u32,
    reordered: Option<Seq>,
    first_sacked_us: Option<u64>,
    last_sacked_us: Option<u64>,
    acked: u32,
    /// The control's RTT sample (`rs.rtt_us`).
    rtt: Option<Duration>,
}

impl Findings {
    /// Data, a window update or progress: not a duplicate (`FLAG_NOT_DUP`).
    pub(super) fn is_not_dup(&self) -> bool {
        self.window_update || self.data_acked
    }

    /// Anything acknowledged or SACKed (`FLAG_FORWARD_PROGRESS`).
    fn is_progress(&self) -> bool {
        self.data_acked || self.data_sacked
    }

    fn alerts(&self) -> bool {
        self.data_sacked || self.ece || self.dsack
    }

    /// RACK set its own timer.
    pub(super) fn keep_timer(&mut self) {
        self.set_timer = false;
    }
}

impl Connection {
    pub(super) fn on_ack(&mut self, ack: &Ack, now: Time) {
        if ack.ack > self.board.next {
            return;
        }
        self.ts_recent = ack.ts;
        let mut found = self.start_findings(ack, now);
        if ack.ack < self.board.una {
            self.on_old_ack(ack, &mut found);
            self.write(now);
            return;
        }
        found.una_advanced = ack.ack > self.board.una;
        if found.una_advanced {
            self.episode.retransmits = 0;
        }
        found.window_update = self.window.update(ack, found.una_advanced);
        if !ack.sack.is_empty() {
            self.tag_sacks(ack, &mut found);
        }
        found.ece = self.ecn.is_echo(ack.ece);
        if self.board.packets_out() == 0 {
            self.on_ack_of_nothing(ack, &mut found);
        } else {
            self.on_ack_of_data(ack, &mut found);
        }
        self.write(now);
        self.note_completion(now);
    }

    fn start_findings(&self, ack: &Ack, now: Time) -> Findings {
        Findings {
            now,
            now_us: now.as_micros(),
            prior_una: self.board.una,
            prior_highest_sacked: self.board.highest_sacked(),
            prior_pipe: self.board.pipe(),
            prior_delivered: self.rate.delivered,
            prior_lost: self.board.lost_total,
            prior_sacked: self.board.sacked_out,
            echo: ack.ts_echo,
            ..Findings::default()
        }
    }

    /// An ACK that was overtaken still tells what was SACKed.
    fn on_old_ack(&mut self, ack: &Ack, found: &mut Findings) {
        if ack.sack.is_empty() {
            return;
        }
        self.tag_sacks(ack, found);
        let resend = self.alert(found, false);
        self.resend(resend, found.now);
    }

    fn on_ack_of_nothing(&mut self, ack: &Ack, found: &mut Findings) {
        if found.dsack {
            self.alert(found, false);
        }
        self.finish_probe(ack.ack, found);
    }

    fn on_ack_of_data(&mut self, ack: &Ack, found: &mut Findings) {
        self.clean_queue(ack, found);
        self.rack.adapt(found.draft.prior_delivered(), self.rate.delivered);
        self.finish_probe(ack.ack, found);
        let mut resend = Resend::Nothing;
        if !found.is_not_dup() || found.alerts() || self.state != RecoveryState::Open {
            let duplicate = !(found.una_advanced || found.is_not_dup() || found.dsack);
            resend = self.alert(found, duplicate);
        }
        if found.set_timer {
            self.set_timer(found.now);
        }
        self.control_congestion(found);
        self.resend(resend, found.now);
    }

    /// Marks what the SACK blocks say (`tcp_sacktag_write_queue`).
    fn tag_sacks(&mut self, ack: &Ack, found: &mut Findings) {
        let mut blocks = [(0, 0); 3];
        let mut count = 0;
        for (at, &(start, end)) in ack.sack.as_slice().iter().enumerate() {
            if at == 0 && ack.sack.dsack {
                self.tag_duplicate(start, end, found);
            } else {
                blocks[count] = (start, end);
                count += 1;
            }
        }
        // Ascending, so that a block never looks reordered against its own ACK.
        blocks[..count].sort_unstable();
        for &(start, end) in &blocks[..count] {
            self.tag_block(start, end, found);
        }
        self.rate.delivered += u64::from(found.sack_delivered);
        if let Some(low) = found.reordered
            && (self.state != RecoveryState::Loss || self.episode.undo_marker.is_some())
        {
            self.rack.note_reordering(low, self.board.highest_sacked());
        }
    }

    fn tag_block(&mut self, start: Seq, end: Seq, found: &mut Findings) {
        let Self { board, rack, rate, rtt, episode, .. } = self;
        let min_rtt_us = rtt.min_us();
        board.sack(start, end, |board, seq| {
            let sent = *board.get(seq);
            rack.advance(seq, &sent, found.now_us, min_rtt_us);
            if !sent.marks.has(Marks::RETRANS) && !sent.marks.has(Marks::EVER_RETRANS) {
                if seq < found.prior_highest_sacked {
                    found.reordered = Some(found.reordered.map_or(seq, |low| low.min(seq)));
                }
                if seq < episode.high_seq {
                    found.original_arrived = true;
                }
                found.first_sacked_us.get_or_insert(sent.sent_us);
                found.last_sacked_us = Some(sent.sent_us);
            }
            rate.delivered(&mut found.draft, seq, &sent);
            board.get_mut(seq).delivered_us = 0;
            board.mark_sacked(seq);
            found.data_sacked = true;
            found.sack_delivered += 1;
        });
    }

    /// The receiver got `start..end` twice (`tcp_check_dsack`, `tcp_dsack_seen`).
    fn tag_duplicate(&mut self, start: Seq, end: Seq, found: &mut Findings) {
        let duplicates = end - start;
        if duplicates == 1 && self.episode.probe.is_some_and(|probe| probe.high_seq == end) {
            found.dsack_of_probe = true;
        }
        self.counters.dsack_dups += u64::from(duplicates);
        if self.counters.dsack_dups > self.counters.retransmitted {
            return; // not of our making: the network duplicates
        }
        if self.rack.reordering_seen && !found.dsack_of_probe {
            self.rack.dsack_seen = true;
        }
        found.dsack = true;
        found.sack_delivered += duplicates;
        if end <= found.prior_una {
            self.episode.count_duplicates(end, duplicates);
        }
        for seq in start.max(self.board.una)..end.min(self.board.next) {
            self.tag_duplicate_packet(seq, found);
        }
    }

    fn tag_duplicate_packet(&mut self, seq: Seq, found: &mut Findings) {
        let marks = self.board.get(seq).marks;
        if marks.has(Marks::EVER_RETRANS) {
            self.episode.count_duplicates(seq + 1, 1);
            if marks.has(Marks::SACKED) {
                found.reordered = Some(found.reordered.map_or(seq, |low| low.min(seq)));
            }
        }
        self.board.clear_retrans(seq);
    }

    /// Takes what is acknowledged off the queue (`tcp_clean_rtx_queue`).
    fn clean_queue(&mut self, ack: &Ack, found: &mut Findings) {
        let mut first_acked_us = None;
        let mut last_acked_us = None;
        let mut lowest_original = None;
        let mut bytes = 0u64;
        while self.board.una < ack.ack {
            let seq = self.board.una;
            let sent = self.board.pop();
            bytes += u64::from(sent.len);
            found.acked += 1;
            let retransmitted = sent.marks.has(Marks::EVER_RETRANS);
            let sacked = sent.marks.has(Marks::SACKED);
            if retransmitted {
                found.retransmission_acked = true;
            } else if !sacked {
                last_acked_us = Some(sent.sent_us);
                first_acked_us.get_or_insert(sent.sent_us);
                lowest_original.get_or_insert(seq);
                found.original_arrived |= seq < self.episode.high_seq;
            }
            if !sacked {
                self.rate.delivered += 1;
                let sent_ms = timestamp_ms(Time::from_nanos(sent.sent_us * 1000));
                if !(retransmitted && found.echo < sent_ms) {
                    self.rack.advance(seq, &sent, found.now_us, self.rtt.min_us());
                }
            }
            self.rate.delivered(&mut found.draft, seq, &sent);
        }
        self.window.acknowledge(bytes);
        self.board.prune();
        found.data_acked = found.acked > 0;
        if found.retransmission_acked {
            (first_acked_us, last_acked_us) = (None, None);
        }
        let updated = self.take_samples(first_acked_us, last_acked_us, bytes, found);
        self.settle_timer(updated, lowest_original, found);
        self.count_marks(ack, found);
        self.tell_delivered(found);
    }

    /// Counts what was delivered with marks: everything that an ACK with ECE covers
    /// (`tcp_count_delivered`), or what accurate feedback says (`tcp_accecn_process`).
    fn count_marks(&mut self, ack: &Ack, found: &mut Findings) {
        if found.ece {
            self.rate.delivered_ce += self.rate.delivered - found.prior_delivered;
        }
        let marked = self.ecn.newly_marked(ack.marked);
        if marked > 0 {
            self.rate.delivered_ce += u64::from(marked);
            found.ece = true;
        }
    }

    /// RTT samples (`tcp_ack_update_rtt`); returns whether the estimate was updated.
    fn take_samples(
        &mut self,
        first_acked_us: Option<u64>,
        last_acked_us: Option<u64>,
        bytes: u64,
        found: &mut Findings,
    ) -> bool {
        let since = |us: u64| found.now_us.saturating_sub(us);
        let small = found.acked == 1 && bytes < u64::from(self.mss) && found.prior_sacked == 0;
        found.ack_delayed = first_acked_us.is_some()
            && small
            && found.draft.prior_delivered() + 1 == self.rate.delivered
            && !found.alerts();
        let mut estimate = first_acked_us.or(found.first_sacked_us).map(since);
        let mut control = found.last_sacked_us.or(last_acked_us).map(since);
        if estimate.is_none() && found.data_acked && found.echo > 0 {
            let elapsed_ms = u64::from(timestamp_ms(found.now).saturating_sub(found.echo));
            estimate = Some(elapsed_ms.max(1) * 1000);
            control = estimate;
        }
        found.rtt = control.map(Duration::from_micros);
        let Some(estimate) = estimate else { return false };
        let control_us = control.unwrap_or(estimate);
        if !(found.ack_delayed && control_us > self.rtt.min_us()) {
            self.rtt.update_min(control_us, found.now);
        }
        self.rtt.update(estimate, self.board.una, self.board.next);
        self.note_rtt(Duration::from_micros(control_us));
        true
    }

    /// Decides whether the retransmission timer starts anew.
    fn settle_timer(&mut self, updated: bool, lowest: Option<Seq>, found: &mut Findings) {
        if found.data_acked {
            found.set_timer = true;
            if let Some(low) = lowest.filter(|&low| low < found.prior_highest_sacked) {
                // `low` is below `una` now: the distance counts from what is SACKed, or from `una`.
                self.rack.note_reordering(low, self.board.highest_sacked());
            }
        } else if updated
            && self.board.packets_out() > 0
            && let Some(first_sacked_us) = found.first_sacked_us
        {
            found.set_timer = first_sacked_us < self.board.get(self.board.una).sent_us;
        }
    }

    /// Linux's `pkts_acked` hook.
    fn tell_delivered(&mut self, found: &Findings) {
        let sample = DeliveredSample {
            now: found.now,
            acked: found.acked,
            rtt: found.rtt,
            in_flight: self.board.pipe(),
            progress: self.board.progress(),
            paced: self.pacer.enforced,
            pacing_rate: self.pacer.rate.unwrap_or_default(),
            cwnd_limited: self.is_cwnd_limited(),
            ece: found.ece,
            delivered_ce: self.rate.delivered_ce,
            delivered: self.rate.delivered,
            prr_cwnd: self.is_reducing().then_some(self.cwnd),
        };
        self.cc.on_delivered(&sample);
        self.refresh_control();
    }

    /// Samples for the control, then its window or PRR's (`tcp_cong_control`).
    fn control_congestion(&mut self, found: &Findings) {
        let acked = u32::try_from(self.rate.delivered - found.prior_delivered).unwrap_or(u32::MAX);
        let lost = u32::try_from(self.board.lost_total - found.prior_lost).unwrap_or(u32::MAX);
        let mut rate = self.rate.finish(&found.draft, acked, found.now_us, self.rtt.min_us());
        if self.cc_watches_packets {
            self.tell_losses(found.now);
            let at_send =
                self.board.watch.as_ref().map(|watch| watch.at_send(found.draft.sampled()));
            rate = rate.map(|rate| RateSample { at_send, ..rate });
        }
        if let Some(sample) = rate {
            self.note_rate(sample);
        }
        let reducing = self.is_reducing();
        if reducing {
            let slow_start = self.prr_may_grow(lost > 0, found);
            self.reduce_cwnd(acked, slow_start);
        }
        let sample = self.ack_sample(acked, lost, rate, found);
        self.cc.on_ack(&sample);
        self.refresh_control();
        if !reducing {
            self.cwnd = self.control.cwnd;
        }
        if self.control.app_limited {
            self.rate.set_app_limited(self.board.pipe());
        }
        self.update_pacing_rate();
    }

    fn ack_sample(
        &self,
        acked: u32,
        lost: u32,
        rate: Option<RateSample>,
        found: &Findings,
    ) -> AckSample {
        // With much reordering any progress may grow the window (`tcp_may_raise_cwnd`).
        let progress = if self.rack.reordering > super::rack::DUPTHRESH {
            found.is_progress()
        } else {
            found.data_acked
        };
        AckSample {
            now: found.now,
            mss: self.mss,
            acked,
            lost,
            in_flight: self.board.pipe(),
            prior_in_flight: found.prior_pipe,
            delivered: self.rate.delivered,
            delivered_at: Time::from_nanos(self.rate.delivered_us * 1000),
            lost_total: self.board.lost_total,
            rate,
            rtt: found.rtt,
            srtt: Duration::from_micros(self.rtt.srtt_us()),
            min_rtt: match self.rtt.min_us() {
                u64::MAX => Duration::MAX,
                us => Duration::from_micros(us),
            },
            ack_delayed: found.ack_delayed,
            state: self.state,
            may_grow: progress && !self.state.is_reducing(),
            cwnd_limited: self.is_cwnd_limited(),
            departure: self.pacer.clock(),
        }
    }
}
