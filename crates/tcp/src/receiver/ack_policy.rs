//! When to acknowledge: quick ACKs, every second packet, the delayed-ACK timer and
//! compressed SACKs (tcp_input.c `__tcp_ack_snd_check`, tcp_timer.c).

use narrows_base::{Duration, Jiffies, Time};

use super::socket::SocketConfig;
use crate::profile::SackCompression;
use crate::segment::{Data, MSS, Seq};
use crate::timer::fires_at;

/// `TCP_MAX_QUICKACKS`.
const MAX_QUICK: u64 = 16;
/// Quick ACKs after a mark.
const QUICK_AFTER_MARK: u64 = 2;
/// `TCP_ATO_MIN` and `TCP_DELACK_MIN`, in us.
const ATO_MIN_US: u64 = 40_000;
/// `TCP_DELACK_MAX`, in us.
const ATO_MAX_US: u64 = 200_000;
/// `TCP_RTO_MIN`, in us.
const RTO_MIN_US: u64 = 200_000;
/// `TCP_MSS_DEFAULT`: the receiver's assumption before it has seen a packet.
const FIRST_MSS: u32 = 536;
/// Duplicate ACKs that leave at once before compression begins.
const IMMEDIATE_DUPLICATES: u32 = 3;
/// `tcp_comp_sack_nr`.
const MAX_COMPRESSED: u32 = 44;
/// `tcp_comp_sack_delay_ns`, in us.
const COMPRESSION_US: u64 = 1_000;

/// The decision whether to send an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckDecision {
    Now,
    Wait,
}

#[derive(Debug)]
pub(super) struct AckPolicy {
    jiffies: Jiffies,
    compression: Option<SackCompression>,
    ack_on_psh: bool,
    /// Immediate ACKs left (`icsk_ack.quick`).
    quick: u64,
    /// Delayed-ACK time-out in us; 0 before the first data.
    ato_us: u64,
    last_data: Time,
    rcv_mss: u32,
    /// Payload of a full packet (`advmss`).
    full: u32,
    /// True if the application may leave data unread.
    reads_later: bool,
    /// In-order bytes since the last ACK (`rcv_nxt - rcv_wup`).
    unacked: u64,
    scheduled: bool,
    pushed: bool,
    now: bool,
    /// The delayed-ACK timer, or [`Time::MAX`].
    timer: Time,
    handshake_rtt_us: u64,
    /// Duplicates seen at `duplicate_next`.
    duplicates: u32,
    duplicate_next: Seq,
    compressed: u32,
    /// The timer of compressed SACKs, or [`Time::MAX`].
    compression_timer: Time,
}

impl AckPolicy {
    pub(super) fn new(
        jiffies: Jiffies,
        compression: Option<SackCompression>,
        ack_on_psh: bool,
        socket: Option<SocketConfig>,
    ) -> Self {
        let full = socket.map_or(MSS, |socket| socket.mss);
        Self {
            jiffies,
            compression,
            ack_on_psh,
            quick: 0,
            ato_us: 0,
            last_data: Time::ZERO,
            rcv_mss: FIRST_MSS.min(full),
            full,
            reads_later: socket.is_some(),
            unacked: 0,
            scheduled: false,
            pushed: false,
            now: false,
            timer: Time::MAX,
            handshake_rtt_us: 0,
            duplicates: 0,
            duplicate_next: 0,
            compressed: 0,
            compression_timer: Time::MAX,
        }
    }

    /// The round trip of the handshake.
    pub(super) fn known_rtt(&self) -> Duration {
        Duration::from_micros(self.handshake_rtt_us)
    }

    pub(super) fn handshake_rtt(&mut self, rtt: Duration) {
        self.handshake_rtt_us = rtt.as_micros();
    }

    /// In-order data arrived (`tcp_event_data_recv`): `fresh` bytes became readable.
    #[inline(always)] // runs for every packet
    pub(super) fn data_received(&mut self, data: &Data, fresh: u64, window: u64, now: Time) {
        self.scheduled = true;
        self.unacked += fresh;
        self.measure(data);
        let gap_us = now.saturating_since(self.last_data).as_micros();
        if self.ato_us == 0 {
            self.grant_quick(window, MAX_QUICK);
            self.ato_us = ATO_MIN_US;
        } else if gap_us <= ATO_MIN_US / 2 {
            self.ato_us = self.ato_us / 2 + ATO_MIN_US / 2;
        } else if gap_us < self.ato_us {
            self.ato_us = (self.ato_us / 2 + gap_us).min(ATO_MAX_US);
        } else if gap_us > self.rto_us() {
            // The sender restarts.
            self.grant_quick(window, MAX_QUICK);
        }
        self.last_data = now;
    }

    /// The timeout, for which the handshake is all that the receiving end has measured
    /// (`tcp_rtt_estimator`, `__tcp_set_rto`).
    fn rto_us(&self) -> u64 {
        self.handshake_rtt_us + (2 * self.handshake_rtt_us).max(RTO_MIN_US)
    }

    /// Learns the packet size and notes PSH (`tcp_measure_rcv_mss`).
    fn measure(&mut self, data: &Data) {
        let len = u32::from(data.len);
        if len >= self.rcv_mss {
            self.rcv_mss = len.min(self.full);
            self.pushed |= data.psh && self.ack_on_psh;
        } else {
            self.pushed = true;
        }
    }

    /// A FIN without data arrived in order (`tcp_fin`).
    pub(super) fn fin_received(&mut self) {
        self.scheduled = true;
        self.unacked += 1;
    }

    /// The peer's usual payload, as far as it is known (`icsk_ack.rcv_mss`).
    pub(super) fn packet_size(&self) -> u32 {
        self.rcv_mss
    }

    /// Out-of-order data arrived.
    pub(super) fn out_of_order(&mut self, data: &Data) {
        self.measure(data);
        self.scheduled = true;
    }

    pub(super) fn schedule(&mut self) {
        self.scheduled = true;
    }

    /// Returns `true` if an ACK is owed.
    pub(super) fn is_scheduled(&self) -> bool {
        self.scheduled
    }

    /// `tcp_incr_quickack`.
    fn grant_quick(&mut self, window: u64, most: u64) {
        let quick = (window / u64::from(2 * self.rcv_mss)).max(2).min(most);
        self.quick = self.quick.max(quick);
    }

    /// Old data arrived: the sender needs to know (`tcp_enter_quickack_mode`).
    pub(super) fn enter_quick(&mut self, window: u64) {
        self.grant_quick(window, MAX_QUICK);
        self.ato_us = ATO_MIN_US;
    }

    /// A mark arrived: the sender's window may become very small.
    pub(super) fn enter_quick_after_mark(&mut self, window: u64) {
        self.grant_quick(window, QUICK_AFTER_MARK);
        self.ato_us = ATO_MIN_US;
    }

    /// Returns `true` if an ACK waits for its timer (`ICSK_ACK_TIMER`).
    pub(super) fn is_delayed(&self) -> bool {
        self.timer < Time::MAX
    }

    /// An ACK for older data left; one for newer data is still owed (`tcp_event_ack_sent`
    /// with another number than `rcv_nxt`).
    pub(super) fn earlier_ack_sent(&mut self) {
        self.compressed = 0;
        self.compression_timer = Time::MAX;
        self.unacked = 0;
    }

    /// Buffer space is short (`__tcp_select_window`).
    pub(super) fn leave_quick(&mut self) {
        self.quick = 0;
    }

    /// The window was raised: tell the sender (`tcp_grow_window` sets `quick |= 1`).
    pub(super) fn window_grew(&mut self) {
        self.quick |= 1;
    }

    /// A gap was filled, or marking changed: acknowledge at once (`ICSK_ACK_NOW`).
    pub(super) fn ack_now(&mut self) {
        self.now = true;
    }

    pub(super) fn has_compressed(&self) -> bool {
        self.compressed > 0
    }

    /// Returns `true` if more than one packet waits for an ACK.
    #[inline]
    pub(super) fn exceeds_a_packet(&self) -> bool {
        self.unacked > u64::from(self.rcv_mss)
    }

    /// Decides after a segment (`__tcp_ack_snd_check`); `due` if more than one packet waits and the
    /// window's edge can advance.
    #[inline] // runs for every packet
    pub(super) fn decide(
        &mut self,
        due: bool,
        holes: bool,
        next: Seq,
        rtt_us: Option<u64>,
        now: Time,
    ) -> AckDecision {
        if !self.scheduled {
            return AckDecision::Wait;
        }
        if due || self.quick > 0 || self.now {
            return AckDecision::Now;
        }
        if !holes {
            // More than one packet is acknowledged as soon as it is read.
            let is_read_now = self.exceeds_a_packet() && !self.reads_later;
            return if is_read_now { AckDecision::Wait } else { self.delay(now) };
        }
        let Some(compression) = self.compression else { return AckDecision::Now };
        if self.compressed >= MAX_COMPRESSED {
            return AckDecision::Now;
        }
        if self.duplicate_next != next {
            self.duplicate_next = next;
            self.duplicates = 0;
        }
        if self.duplicates < IMMEDIATE_DUPLICATES {
            self.duplicates += 1;
            return AckDecision::Now;
        }
        self.compress(compression, rtt_us, now);
        AckDecision::Wait
    }

    /// Holds a SACK back. The timer may fire later by up to the slack, and does so if nothing else
    /// wakes the host.
    fn compress(&mut self, by: SackCompression, rtt_us: Option<u64>, now: Time) {
        self.compressed += 1;
        if self.compression_timer < Time::MAX {
            return;
        }
        let known = rtt_us.unwrap_or(0);
        let shortest = if self.handshake_rtt_us > 0 && self.handshake_rtt_us < known {
            self.handshake_rtt_us
        } else {
            known
        };
        let delay_us = COMPRESSION_US.min(shortest * by.rtt_percent / 100) + by.slack_us;
        self.compression_timer = now + Duration::from_micros(delay_us);
    }

    /// Starts the delayed-ACK timer (`tcp_send_delayed_ack`).
    #[inline(never)] // so that the decision stays small
    fn delay(&mut self, now: Time) -> AckDecision {
        let mut ato_us = self.ato_us; // zero before any data: the next tick
        if ato_us > ATO_MIN_US {
            let mut most = if self.pushed { ATO_MAX_US } else { 500_000 };
            if self.handshake_rtt_us > 0 {
                most = most.min(self.handshake_rtt_us.max(ATO_MIN_US));
            }
            ato_us = ato_us.min(most);
        }
        let ticks = self.jiffies.ceil_micros(ato_us.min(ATO_MAX_US));
        if self.is_delayed() && self.timer <= fires_at(self.jiffies, now, ticks / 4) {
            return AckDecision::Now;
        }
        self.timer = self.timer.min(fires_at(self.jiffies, now, ticks));
        AckDecision::Wait
    }

    /// Returns `true` if reading the data sends an ACK that is still owed. `all` says that no data
    /// are left, not even out of order (`__tcp_cleanup_rbuf`).
    pub(super) fn ack_after_read(&self, all: bool) -> bool {
        self.scheduled && (self.exceeds_a_packet() || (self.pushed && all))
    }

    /// An ACK leaves (`tcp_event_ack_sent`).
    pub(super) fn ack_sent(&mut self) {
        if self.scheduled && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.ato_us = ATO_MIN_US;
            }
        }
        self.scheduled = false;
        self.pushed = false;
        self.now = false;
        self.unacked = 0;
        self.timer = Time::MAX;
        self.compressed = 0;
        self.compression_timer = Time::MAX;
    }

    /// When the first timer fires, or [`Time::MAX`].
    #[inline]
    pub(super) fn next_timer(&self) -> Time {
        self.timer.min(self.compression_timer)
    }

    /// Handles due timers; returns whether an ACK must leave.
    pub(super) fn fire_timers(&mut self, now: Time) -> bool {
        if self.compression_timer <= now {
            self.compression_timer = Time::MAX;
            return self.compressed > 0;
        }
        if self.timer <= now {
            self.timer = Time::MAX;
            // The timer expired: the sender's pace was overestimated.
            self.ato_us = (self.ato_us * 2).min(ATO_MAX_US);
            return self.scheduled;
        }
        false
    }
}
