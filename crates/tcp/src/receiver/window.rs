//! The receive window and its autotuning (tcp_input.c, kernel 6.12).

mod socket;

use narrows_base::Time;

use super::memory::Memory;
use super::socket::SocketConfig;
use crate::profile::{Autotuning, ReceiveWindow};
use crate::segment::{Data, MSS, Seq};
use crate::timer::timestamp_ms;

/// Round trips below this, in us, let the buffer grow less (`tcp_rcvbuf_low_rtt`).
const LOW_RTT_US: u64 = 1_000;
/// The least payload that raises the window, in bytes.
pub(super) const LEAST_TO_GROW: u16 = 128;
/// Packets in the first window that autotuning assumes (`TCP_INIT_CWND`).
const INITIAL_PACKETS: u64 = 10;

/// The receive buffer and the window it allows. Sizes are in bytes.
#[derive(Debug)]
pub(super) struct ReceiveBuffer {
    size: u64,
    max_size: u64,
    /// Payload of a full packet.
    mss: u64,
    /// Share of the buffer that is window, in 256ths (`scaling_ratio`).
    ratio: u64,
    measured_ratio: u64,
    /// The window that is never exceeded.
    most: u64,
    /// `window_clamp`, the largest window that the buffer now has, and `rcv_ssthresh`.
    clamp: u64,
    ssthresh: u64,
    /// The scale, to which the window is rounded up.
    scale: u8,
    pub(super) memory: Memory,
    /// Memory in use from which on a packet no longer raises the window, nor shows its memory use.
    full_from: u64,
    /// Memory in use from which on less than half of the window is free; more than a packet.
    short_from: u64,
    /// The window that an ACK offers while memory is empty, and while a full packet is alone in it, as
    /// it usually is.
    at_rest: u64,
    usual: u64,
    received: u64,
    /// Right edge of the advertised window, in bytes of payload.
    edge: u64,
    window: u64,
    space: Space,
    autotuning: Autotuning,
    /// True if a program holds the socket; until then data out of order don't enlarge the buffer.
    is_accepted: bool,
    /// Bytes from the next packet in order to the end of what waits out of order.
    beyond: u64,
    rtt: ReceiverRtt,
    /// The state beside the buffer, if packets have any size and the program reads when it likes.
    socket: Option<Box<SocketWindow>>,
}

/// Beside the buffer: state of a window whose packets have any size, and whose program reads when it
/// likes.
#[derive(Debug)]
struct SocketWindow {
    may_shrink: bool,
    is_fixed: bool,
    measures_ratio: bool,
    /// `tcp_rmem[2]`, also of a buffer whose size is fixed.
    max_size: u64,
    /// The peer's usual payload (`icsk_ack.rcv_mss`).
    packet: u64,
    /// The furthest right edge that was ever advertised (`rcv_mwnd_seq`).
    furthest: u64,
    /// A packet was dropped because memory was short (`ICSK_ACK_NOMEM`).
    is_out_of_memory: bool,
}

/// Dynamic right-sizing (`rcvq_space`).
#[derive(Debug)]
struct Space {
    bytes: u64,
    copied: u64,
    since_us: u64,
}

/// The receiver's estimate of the round trip (`rcv_rtt_est`).
#[derive(Debug, Default)]
struct ReceiverRtt {
    /// In us, times 8; 0 before the first sample.
    rtt8: u64,
    last_echo: u32,
    window_seq: u64,
    window_us: u64,
}

impl ReceiveBuffer {
    /// `most` is the largest window that may be advertised.
    pub(super) fn new(
        profile: &ReceiveWindow,
        max_size: u32,
        most: Option<u64>,
        socket: Option<SocketConfig>,
    ) -> Self {
        let mss = socket.map_or(MSS, |socket| socket.mss);
        let first = u64::from(profile.first(mss, most));
        let (mss, most) = (u64::from(mss), most.unwrap_or(u64::MAX));
        let max_size = u64::from(max_size);
        let mut buffer = Self {
            size: u64::from(profile.initial_buffer),
            max_size,
            mss,
            ratio: u64::from(profile.initial_ratio),
            measured_ratio: u64::from(profile.measured_ratio()),
            most,
            clamp: 0,
            ssthresh: first,
            scale: window_scale(max_size.min(most)),
            memory: Memory::new(profile.packet_overhead),
            full_from: 0,
            short_from: 0,
            at_rest: 0,
            usual: 0,
            received: 0,
            edge: first,
            window: first,
            space: Space { bytes: first.min(INITIAL_PACKETS * mss), copied: 0, since_us: 0 },
            autotuning: profile.autotuning,
            is_accepted: true,
            beyond: 0,
            rtt: ReceiverRtt::default(),
            socket: None,
        };
        if let Some(config) = socket {
            buffer.serve(config, profile.measures_ratio);
        }
        buffer.keep_room_for_a_packet();
        buffer
    }

    /// Until the buffer's share is measured or grows, a packet of it isn't offered
    /// (`tcp_init_buffer_space`).
    fn keep_room_for_a_packet(&mut self) {
        let (share, packet) = (self.win_from_space(self.size), self.mss);
        self.limit((2 * packet).max(share.saturating_sub(packet)));
        self.ssthresh = self.ssthresh.min(self.clamp);
        self.space.bytes = self.space.bytes.min(self.ssthresh);
        self.note_growth();
    }

    /// The window may grow to `clamp`, as far as there is memory.
    fn limit(&mut self, clamp: u64) {
        self.clamp = clamp.min(self.most);
        self.short_from = if self.socket.is_some() {
            self.socket_is_short_from()
        } else {
            self.short_of(self.clamp / 2).max(self.memory.of_a_packet() + 1)
        };
        self.note_growth();
    }

    /// Computes the limits that every packet is compared with.
    fn note_growth(&mut self) {
        self.full_from = if self.ratio != self.measured_ratio {
            u64::MAX // any packet may show its memory use
        } else if self.ssthresh < self.clamp {
            self.short_of(self.ssthresh + 1)
        } else {
            0
        };
        let beside = |used| self.round_up(self.free_beside(used).min(self.ssthresh));
        (self.at_rest, self.usual) = (beside(0), beside(self.memory.of_a_packet()));
    }

    /// The window of the SYN-ACK.
    pub(super) fn first_window(&self) -> u32 {
        u32::try_from(self.window).unwrap_or(u32::MAX)
    }

    /// Bits by which windows are shifted on the wire.
    pub(super) fn scale(&self) -> u8 {
        self.scale
    }

    /// The connection is established (`tcp_init_buffer_space`).
    pub(super) fn open(&mut self, now: Time) {
        self.space.since_us = now.as_micros();
    }

    /// The window last advertised.
    pub(super) fn window(&self) -> u64 {
        self.window
    }

    pub(super) fn rtt_us(&self) -> Option<u64> {
        (self.rtt.rtt8 > 0).then_some(self.rtt.rtt8 >> 3)
    }

    fn win_from_space(&self, space: u64) -> u64 {
        space * self.ratio / 256
    }

    /// Window that free memory allows (`tcp_space`).
    fn free(&self) -> u64 {
        self.free_beside(self.memory.in_use())
    }

    fn free_beside(&self, used: u64) -> u64 {
        self.win_from_space(self.size.saturating_sub(used))
    }

    /// Memory in use from which on less than this window is free.
    fn short_of(&self, window: u64) -> u64 {
        if window == 0 {
            return u64::MAX;
        }
        (self.size + 1).saturating_sub((window * 256).div_ceil(self.ratio))
    }

    /// Returns `true` if less than half of the window is free, which ends quick ACKs
    /// (`__tcp_select_window`). A single packet never takes that much.
    #[inline]
    pub(super) fn is_short(&self) -> bool {
        self.memory.in_use() >= self.short_from
    }

    /// Returns `true` if the packet may raise the window, or show its memory use.
    #[inline]
    pub(super) fn may_grow(&self) -> bool {
        self.memory.in_use() < self.full_from
    }

    /// Raises the window for a packet (`tcp_grow_window`); returns whether it grew.
    pub(super) fn grow(&mut self, data: &Data) -> bool {
        if data.len < LEAST_TO_GROW {
            return false;
        }
        if u32::from(data.len) == MSS && self.ratio != self.measured_ratio {
            self.measure();
        }
        let room = self.clamp.min(self.free()).saturating_sub(self.ssthresh);
        if room == 0 {
            return false;
        }
        self.ssthresh += room.min(2 * u64::from(MSS));
        self.note_growth();
        true
    }

    /// The first full packet shows how much memory a byte takes (`tcp_measure_rcv_mss`).
    fn measure(&mut self) {
        self.ratio = self.measured_ratio;
        self.limit(self.win_from_space(self.size));
        self.space.bytes = self.space.bytes.min(self.clamp);
    }

    /// In-order bytes arrived; measures the round trip by a window's worth of data
    /// (`tcp_rcv_rtt_measure`).
    pub(super) fn on_received(&mut self, bytes: u64, now: Time) {
        self.received += bytes;
        if self.rtt.window_seq == 0 || self.received >= self.rtt.window_seq {
            let now_us = now.as_micros();
            if self.rtt.window_seq > 0 {
                self.rtt.update((now_us - self.rtt.window_us).max(1), true);
            }
            self.rtt.window_seq = self.received + self.window;
            self.rtt.window_us = now_us;
        }
    }

    /// Measures the round trip by the echoed timestamp (`tcp_rcv_rtt_measure_ts`).
    pub(super) fn measure_rtt(&mut self, data: &Data, now: Time) {
        if data.ts_echo == self.rtt.last_echo {
            return;
        }
        self.rtt.last_echo = data.ts_echo;
        let elapsed_ms = timestamp_ms(now).saturating_sub(data.ts_echo);
        if elapsed_ms > 0 && data.ts_echo > 0 && u32::from(data.len) == MSS {
            self.rtt.update(u64::from(elapsed_ms) * 1000, false);
        }
    }

    /// The application reads `bytes`, of which `behind` waited behind the packet that it reads first
    /// (`tcp_rcv_space_adjust`).
    #[inline] // runs for every packet in order
    pub(super) fn read(&mut self, bytes: u64, behind: u64, now: Time) {
        self.adjust_space(bytes - behind, behind, now);
        self.space.copied += behind;
    }

    /// The application has read `bytes`, and `unread` more wait for it.
    #[inline]
    pub(super) fn adjust_space(&mut self, bytes: u64, unread: u64, now: Time) {
        self.space.copied += bytes;
        let elapsed_us = now.as_micros().saturating_sub(self.space.since_us);
        if self.rtt.rtt8 == 0 || elapsed_us < self.rtt.rtt8 >> 3 {
            return;
        }
        let copied = self.space.copied.saturating_sub(unread);
        if copied > self.space.bytes {
            self.enlarge(copied);
            self.space.bytes = copied;
        }
        self.space.copied = 0;
        self.space.since_us = now.as_micros();
    }

    /// A program holds the socket, or none does yet (`sk->sk_socket`).
    pub(super) fn accept(&mut self, is_accepted: bool) {
        self.is_accepted = is_accepted;
    }

    /// The size of the buffer (`sk_rcvbuf`).
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Data out of order extends `packets` beyond data in order.
    pub(super) fn wait_beyond(&mut self, packets: Seq) {
        self.beyond = u64::from(packets) * u64::from(MSS);
    }

    /// Packets arrived out of order (the end of `tcp_data_queue_ofo`).
    pub(super) fn out_of_order(&mut self) {
        if self.autotuning == Autotuning::OutOfOrderToo && self.is_accepted {
            self.enlarge(self.space.bytes);
        }
    }

    #[inline(never)] // once in a round trip at most
    fn enlarge(&mut self, copied: u64) {
        let window = self.window_for(copied);
        let size = (window * 256 / self.ratio).min(self.max_size);
        if size > self.size {
            self.size = size;
            self.limit(self.win_from_space(size));
        }
    }

    /// The window that suits an application which reads `copied` bytes in a round trip.
    fn window_for(&self, copied: u64) -> u64 {
        let more = |window: u64| window * (copied - self.space.bytes) / self.space.bytes;
        match self.autotuning {
            Autotuning::Cushioned => {
                let window = 2 * copied + 16 * u64::from(MSS);
                window + 2 * more(window)
            }
            Autotuning::OutOfOrderToo => {
                let (window, rtt_us) = (2 * copied, self.rtt.rtt8 >> 3);
                let growth = if rtt_us < LOW_RTT_US {
                    window * rtt_us / LOW_RTT_US
                } else {
                    more(2 * window)
                };
                window + growth + self.beyond
            }
        }
    }

    /// The window that an ACK may offer (`__tcp_select_window`).
    #[inline]
    fn offer(&self) -> u64 {
        if self.socket.is_some() {
            return self.offer_socket();
        }
        match self.memory.in_use() {
            0 => self.at_rest,
            used if used == self.memory.of_a_packet() => self.usual,
            _ => self.select(),
        }
    }

    #[inline(never)]
    fn select(&self) -> u64 {
        if self.is_short() {
            return self.scarce();
        }
        self.round_up(self.free().min(self.ssthresh))
    }

    /// The window to offer with little memory: none if it would be too small to be of use.
    #[cold]
    fn scarce(&self) -> u64 {
        let free = self.free() >> self.scale << self.scale;
        let least = (self.win_from_space(self.size) / 16).max(u64::from(MSS));
        if free < least { 0 } else { self.round_up(free.min(self.ssthresh)) }
    }

    /// To what the header can express.
    fn round_up(&self, window: u64) -> u64 {
        let below = (1u64 << self.scale) - 1;
        (window + below) & !below
    }

    /// Returns `true` if an ACK would offer no less than the last one, so that the window's right
    /// edge advances by all that it acknowledges (`__tcp_ack_snd_check`).
    #[inline]
    pub(super) fn edge_advances(&self) -> bool {
        self.offer() >= self.window
    }

    /// Returns `true` if an ACK would at least double the rest of a small window
    /// (`__tcp_cleanup_rbuf`).
    #[inline]
    pub(super) fn has_doubled(&self) -> bool {
        let twice = 2 * self.rest();
        twice <= self.clamp && self.offer() >= twice.max(1)
    }

    /// The part of the advertised window that is left; a peer may have sent more (`tcp_receive_window`).
    fn rest(&self) -> u64 {
        self.edge.saturating_sub(self.received)
    }

    /// The window for an ACK; its right edge never moves back (`tcp_select_window`).
    #[inline]
    pub(super) fn advertise(&mut self) -> u32 {
        if self.socket.is_some() {
            return self.advertise_socket();
        }
        let (offer, left) = (self.offer(), self.rest());
        self.window = if offer < left { self.round_up(left) } else { offer };
        self.edge = self.received + self.window;
        u32::try_from(self.window).unwrap_or(u32::MAX)
    }
}

impl ReceiverRtt {
    /// `tcp_rcv_rtt_update`: falls at once, rises slowly.
    fn update(&mut self, sample_us: u64, by_window: bool) {
        if self.rtt8 == 0 || sample_us << 3 < self.rtt8 {
            self.rtt8 = sample_us << 3;
        } else if !by_window {
            self.rtt8 = self.rtt8 - (self.rtt8 >> 3) + sample_us;
        }
    }
}

/// Bits by which the window is scaled (RFC 7323 section 2, `tcp_select_initial_window`).
pub(crate) fn window_scale(max_size: u64) -> u8 {
    let mut scale = 0;
    while scale < 14 && max_size >> scale > 0xffff {
        scale += 1;
    }
    scale
}

#[cfg(test)]
mod tests {
    use narrows_base::{Duration, Ecn};

    use super::*;
    use crate::accecn::Ace;
    use crate::profile::PROFILES;

    const DATA: Data = Data {
        seq: 0,
        count: 1,
        len: 1448,
        psh: false,
        fin: false,
        retransmission: false,
        ts: 1,
        ts_echo: 1,
        cwr: false,
        ace: Ace::NONE,
        ecn: Ecn::NotEct,
    };

    fn buffer(profile: &str) -> ReceiveBuffer {
        let profile = PROFILES.iter().find(|known| known.name == profile).expect("a profile");
        ReceiveBuffer::new(&profile.receive, 6 << 20, None, None)
    }

    #[test]
    fn at_first_a_packet_of_room_is_kept_back() {
        let buffer = buffer("linux-6.12");
        assert_eq!((buffer.first_window(), buffer.clamp), (65_160, 65_536 - 1_448));
        assert_eq!(buffer.ssthresh, 65_536 - 1_448);
    }

    #[test]
    fn a_full_packet_shows_which_share_of_the_buffer_is_window() {
        let mut new = buffer("linux-6.12");
        assert!(new.may_grow() && new.grow(&DATA));
        assert_eq!(new.clamp, 131_072 * 162 / 256);
        let old = buffer("linux-5.15");
        assert!(!old.may_grow());
    }

    #[test]
    fn a_packet_that_would_raise_the_window_takes_memory() {
        let mut buffer = buffer("linux-6.12");
        buffer.memory.queue(1);
        while buffer.grow(&DATA) {}
        assert_eq!(buffer.ssthresh, (131_072 - 2_280) * 162 / 256);
        assert!(!buffer.may_grow());
        // Out of order it comes to memory later.
        buffer.memory.read();
        assert!(buffer.grow(&DATA));
    }

    #[test]
    fn thresholds_say_what_the_free_window_says() {
        let mut buffer = buffer("linux-6.12");
        assert!(buffer.grow(&DATA));
        for (size, clamp, ssthresh) in [(131_072, 82_944, 67_000), (9_999, 1, 0), (9_999, 0, 7)] {
            (buffer.size, buffer.ssthresh) = (size, ssthresh);
            buffer.limit(clamp);
            for used in 0..size + 10 {
                let free = buffer.free_beside(used);
                assert_eq!(used < buffer.full_from, clamp.min(free) > ssthresh, "{used}");
                let short = used > buffer.memory.of_a_packet() && free < clamp / 2;
                assert_eq!(used >= buffer.short_from, short, "{used}");
            }
        }
    }

    #[test]
    fn newer_autotuning_adds_what_waits_out_of_order_and_no_cushion() {
        let size = |profile, rtt8, beyond| {
            let mut buffer = buffer(profile);
            assert!(buffer.grow(&DATA));
            (buffer.rtt.rtt8, buffer.space.bytes) = (rtt8, 100_000);
            buffer.wait_beyond(beyond);
            buffer.enlarge(150_000);
            buffer.size
        };
        let of = |window: u64| window * 256 / 162;
        let cushioned = 300_000 + 16 * 1_448;
        assert_eq!(size("linux-6.12", 8 * 20_000, 10), of(2 * cushioned));
        assert_eq!(size("linux-7.3", 8 * 20_000, 0), of(2 * 300_000));
        assert_eq!(size("linux-7.3", 8 * 20_000, 10), of(2 * 300_000 + 14_480));
        assert_eq!(size("linux-7.3", 8 * 500, 0), of(300_000 + 150_000));
    }

    #[test]
    fn packets_out_of_order_enlarge_the_buffer_since_6_16() {
        let grows = |profile| {
            let mut buffer = buffer(profile);
            buffer.rtt.rtt8 = 8 * 20_000;
            buffer.wait_beyond(100);
            buffer.accept(false);
            buffer.out_of_order();
            let before = buffer.size > 131_072;
            buffer.accept(true);
            buffer.out_of_order();
            (before, buffer.size > 131_072)
        };
        assert_eq!(grows("linux-6.12"), (false, false));
        assert_eq!(grows("linux-7.3"), (false, true), "not before a program has the socket");
    }

    #[test]
    fn a_peer_may_send_more_than_was_advertised() {
        let mut buffer = buffer("linux-6.12");
        buffer.on_received(u64::from(buffer.first_window()) + 10, Time::ZERO);
        assert!(buffer.advertise() > 0, "there is memory");
    }

    #[test]
    fn unread_data_reduces_the_growth() {
        let read = |left| {
            let mut buffer = buffer("linux-6.12");
            buffer.rtt.rtt8 = 8_000;
            buffer.open(Time::ZERO);
            buffer.read(100_000, 0, Time::ZERO);
            buffer.read(1_448 + left, left, Time::ZERO + Duration::from_millis(2));
            (buffer.space.bytes, buffer.size > 131_072)
        };
        assert_eq!(read(0), (101_448, true));
        assert_eq!(read(1_448), (100_000, true));
        assert_eq!(read(100_000), (14_480, false));
    }
}
