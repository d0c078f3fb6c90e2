//! Removal of acknowledged packets from the retransmission queue, with their RTT samples
//! (`tcp_clean_rtx_queue`).

use narrows_base::{Duration, Time};
use narrows_cc::DeliveredSample;

use super::connection::Connection;
use super::findings::Findings;
use crate::accecn::Delivery;
use crate::scoreboard::{Marks, Run};
use crate::segment::{Ack, Seq};
use crate::timer::timestamp_ms;

/// The packets acknowledged cumulatively.
#[derive(Debug, Default)]
struct AckedPackets {
    bytes: u64,
    /// When the first and the last packet left that were sent only once, in us.
    first_us: Option<u64>,
    last_us: Option<u64>,
    /// The first of them.
    lowest_original: Option<Seq>,
}

impl Connection {
    /// Removes acknowledged packets from the queue, and calls the control.
    pub(super) fn clean_queue(&mut self, ack: &Ack, found: &mut Findings) {
        let mut cleaned = AckedPackets::default();
        if self.board.una() < ack.ack {
            // Most ACKs cover one run and nothing else, and others mostly what was SACKed.
            match self.board.pop_run(ack.ack) {
                Some(run) => self.clean_run(&run, found, &mut cleaned),
                None => self.clean_packet(found, &mut cleaned),
            }
            while self.board.una() < ack.ack {
                self.clean_sacked(ack.ack, found, &mut cleaned);
                if self.board.una() < ack.ack {
                    self.clean_packet(found, &mut cleaned);
                }
            }
        }
        self.window.acknowledge(cleaned.bytes);
        self.board.prune();
        found.data_acked = found.acked > 0;
        if found.retransmission_acked {
            (cleaned.first_us, cleaned.last_us) = (None, None);
        }
        let updated = self.take_samples(&cleaned, found);
        self.settle_timer(updated, cleaned.lowest_original, found);
        self.count_marks(ack, cleaned.bytes, found);
        self.tell_delivered(found);
    }

    /// Does the same as for each packet of the run. Only the last one matters to RACK and to the rate
    /// sample: both look for the packet that left last, and among equal times for the highest.
    #[inline] // it has one caller, and runs for every ACK
    fn clean_run(&mut self, run: &Run, found: &mut Findings, cleaned: &mut AckedPackets) {
        cleaned.bytes += run.bytes;
        found.acked += run.packets;
        cleaned.last_us = Some(run.last.sent_us);
        cleaned.first_us.get_or_insert(run.first_us);
        cleaned.lowest_original.get_or_insert(run.first);
        found.original_arrived |= self.episode.covers(run.first);
        self.rate.count(run.packets);
        let last = run.first + (run.packets - 1);
        self.rack.advance(last, &run.last, found.now_us, self.rtt.min_us());
        self.rate.delivered_packet(&mut found.draft, last, &run.last);
    }

    /// The same as for each SACKed packet next in the queue: their delivery is known already.
    fn clean_sacked(&mut self, end: Seq, found: &mut Findings, cleaned: &mut AckedPackets) {
        let (packets, bytes) = self.board.pop_sacked(end);
        cleaned.bytes += bytes;
        found.acked += packets;
    }

    fn clean_packet(&mut self, found: &mut Findings, cleaned: &mut AckedPackets) {
        let seq = self.board.una();
        let sent = self.board.pop();
        cleaned.bytes += u64::from(sent.len);
        found.acked += 1;
        let retransmitted = sent.marks.has(Marks::EVER_RETRANS);
        let sacked = sent.marks.has(Marks::SACKED);
        if retransmitted {
            found.retransmission_acked = true;
        } else if !sacked {
            cleaned.last_us = Some(sent.sent_us);
            cleaned.first_us.get_or_insert(sent.sent_us);
            cleaned.lowest_original.get_or_insert(seq);
            found.original_arrived |= self.episode.covers(seq);
        }
        if !sacked {
            self.rate.count(1);
            let sent_ms = || timestamp_ms(Time::ZERO + Duration::from_micros(sent.sent_us));
            // Without timestamps nothing says which of them arrived (`tcp_skb_spurious_retrans`).
            if !retransmitted || found.echo == 0 || found.echo >= sent_ms() {
                self.rack.advance(seq, &sent, found.now_us, self.rtt.min_us());
            }
        }
        self.rate.delivered_packet(&mut found.draft, seq, &sent);
    }

    /// Counts packets delivered with marks: all packets covered by an ACK with ECE
    /// (`tcp_count_delivered`), or as accurate ECN tells.
    fn count_marks(&mut self, ack: &Ack, bytes: u64, found: &mut Findings) {
        if found.ece {
            self.rate.count_marked(self.rate.delivered() - found.before.delivered);
        }
        if self.output.ecn.accurate().is_some() {
            self.count_accurately(ack, bytes, found);
        }
    }

    /// Takes the count of an ACK that acknowledges `bytes` bytes cumulatively
    /// (`tcp_accecn_process`).
    #[cold]
    pub(super) fn count_accurately(&mut self, ack: &Ack, bytes: u64, found: &mut Findings) {
        let packets = self.rate.delivered() - found.before.delivered;
        // Of an ACK that does both, Linux counts the bytes of the cumulative part.
        let sacked = u64::from(found.sack_delivered) * u64::from(self.mss);
        let bytes = if found.acked > 0 { bytes } else { sacked };
        let delivery = Delivery {
            ace: ack.ace,
            option: ack.sack.option(),
            stamp: ack.ts,
            is_progress: found.is_progress(),
            is_answer: false,
            packets: u32::try_from(packets).unwrap_or(u32::MAX),
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            marked: low_bits(self.rate.delivered_ce()),
            mss: self.mss,
            sent_bytes: self.counters.sent * u64::from(self.mss),
        };
        let Some(accurate) = self.output.ecn.accurate() else { return };
        let marked = accurate.take_ack(&delivery);
        if marked > 0 {
            self.rate.count_marked(u64::from(marked));
            found.ece = true;
        }
    }

    /// RTT samples (`tcp_ack_update_rtt`); returns whether the estimate was updated.
    fn take_samples(&mut self, cleaned: &AckedPackets, found: &mut Findings) -> bool {
        let since = |us: u64| found.now_us.saturating_sub(us);
        let small =
            found.acked == 1 && cleaned.bytes < u64::from(self.mss) && found.before.sacked_out == 0;
        found.ack_delayed = cleaned.first_us.is_some()
            && small
            && found.draft.prior_delivered() + 1 == self.rate.delivered()
            && !found.alerts();
        let mut estimate = cleaned.first_us.or(found.first_sacked_us).map(since);
        let mut control = found.last_sacked_us.or(cleaned.last_us).map(since);
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
        self.rtt.update(estimate, self.board.una(), self.board.next());
        self.latest.note_rtt(Duration::from_micros(control_us));
        true
    }

    /// Decides whether the retransmission timer restarts.
    fn settle_timer(&mut self, updated: bool, lowest: Option<Seq>, found: &mut Findings) {
        if found.data_acked {
            found.sets_timer = true;
            if let Some(low) = lowest.filter(|&low| low < found.before.highest_sacked) {
                // `low` is below `una` now, so the distance counts from the SACKed packets, or from
                // `una`.
                self.rack.note_reordering(low, self.board.highest_sacked());
            }
        } else if updated
            && self.board.packets_out() > 0
            && let Some(first_sacked_us) = found.first_sacked_us
        {
            found.sets_timer = first_sacked_us < self.board.get(self.board.una()).sent_us;
        }
    }

    /// Linux's `pkts_acked` hook.
    fn tell_delivered(&mut self, found: &Findings) {
        if !self.control.needs().deliveries {
            return;
        }
        let sample = DeliveredSample {
            now: found.now,
            acked: found.acked,
            rtt: found.rtt,
            in_flight: self.board.pipe(),
            sacked: self.board.sacked_out(),
            stamp_ms: found.stamp,
            echo_ms: found.echo,
            progress: self.board.progress(),
            paced: self.pacer.is_enforced(),
            pacing_rate: self.pacer.rate().unwrap_or_default(),
            cwnd_limited: self.is_cwnd_limited(),
            ece: found.ece,
            delivered_ce: self.rate.delivered_ce(),
            delivered: self.rate.delivered(),
            prior_delivered: found.draft.prior_delivered(),
            prr_cwnd: self.is_reducing().then_some(self.cwnd),
        };
        self.control.on_delivered(&sample);
        if !self.is_reducing() {
            self.cwnd = self.control.cwnd();
        }
    }
}

/// The lowest bits of a counter.
#[expect(clippy::cast_possible_truncation, reason = "the counters of accurate ECN wrap")]
fn low_bits(count: u64) -> u32 {
    count as u32
}
