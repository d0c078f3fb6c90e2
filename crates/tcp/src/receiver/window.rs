//! The receive window and its autotuning (tcp_input.c, kernel 6.12).

use narrows_base::Time;

use crate::profile::ReceiveWindow;
use crate::segment::{Data, MSS};
use crate::timer::timestamp_ms;

/// Packets in the first window that autotuning assumes (`TCP_INIT_CWND`).
const INITIAL_PACKETS: u64 = 10;

/// The receive buffer and the window it allows. Sizes are in bytes.
#[derive(Debug)]
pub(super) struct ReceiveBuffer {
    size: u64,
    max_size: u64,
    /// Share of the buffer that is window, in 256ths (`scaling_ratio`).
    ratio: u64,
    measured_ratio: u64,
    /// Memory of a full packet.
    truesize: u64,
    /// The window that is never exceeded.
    most: u64,
    /// `window_clamp` and `rcv_ssthresh`.
    clamp: u64,
    ssthresh: u64,
    /// The scale, to which the window is rounded up.
    scale: u8,
    /// Packets held out of order.
    held: u64,
    received: u64,
    /// Right edge of the advertised window, in bytes of payload.
    edge: u64,
    window: u64,
    space: Space,
    rtt: ReceiverRtt,
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
    pub(super) fn new(profile: &ReceiveWindow, max_size: u32, most: Option<u64>) -> Self {
        let most = most.unwrap_or(u64::MAX);
        let size = u64::from(profile.initial_buffer);
        let ratio = u64::from(profile.initial_ratio);
        let clamp = (size * ratio / 256).max(u64::from(profile.initial_window));
        let max_size = u64::from(max_size);
        let ssthresh = u64::from(profile.initial_window).min(most);
        Self {
            size,
            max_size,
            ratio,
            measured_ratio: u64::from(profile.measured_ratio),
            truesize: u64::from(MSS) * 256 / u64::from(profile.measured_ratio),
            most,
            clamp,
            ssthresh,
            scale: window_scale(max_size.min(most)),
            held: 0,
            received: 0,
            edge: ssthresh,
            window: ssthresh,
            space: Space {
                bytes: ssthresh.min(INITIAL_PACKETS * u64::from(MSS)),
                copied: 0,
                since_us: 0,
            },
            rtt: ReceiverRtt::default(),
        }
    }

    /// The window of the SYN-ACK.
    pub(super) fn first_window(&self) -> u32 {
        u32::try_from(self.ssthresh).unwrap_or(u32::MAX)
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

    /// A packet waits for a hole to be filled.
    pub(super) fn hold(&mut self) {
        self.held += 1;
    }

    /// `packets` no longer wait.
    pub(super) fn release(&mut self, packets: u32) {
        self.held -= u64::from(packets);
    }

    fn win_from_space(&self, space: u64) -> u64 {
        space * self.ratio / 256
    }

    /// Window that free memory allows (`tcp_space`).
    fn free(&self) -> u64 {
        self.win_from_space(self.size.saturating_sub(self.held * self.truesize))
    }

    /// Whether less than half of the window is free, which ends quick ACKs (`__tcp_select_window`).
    pub(super) fn is_short(&self) -> bool {
        self.held > 0 && self.free() < self.clamp.min(self.win_from_space(self.size)) / 2
    }

    /// Whether a packet may raise the window, or show its memory use.
    #[inline]
    pub(super) fn may_grow(&self) -> bool {
        self.clamp.min(self.most) > self.ssthresh || self.ratio != self.measured_ratio
    }

    /// Raises the window for a packet (`tcp_grow_window`); returns whether it grew.
    pub(super) fn grow(&mut self, data: &Data) -> bool {
        if data.len < 128 {
            return false;
        }
        if u32::from(data.len) == MSS && self.ratio != self.measured_ratio {
            // The first full packet shows how much memory a byte takes.
            self.ratio = self.measured_ratio;
            self.clamp = self.win_from_space(self.size);
            self.space.bytes = self.space.bytes.min(self.clamp);
        }
        let room = self.clamp.min(self.most).min(self.free()).saturating_sub(self.ssthresh);
        if room == 0 {
            return false;
        }
        self.ssthresh += room.min(2 * u64::from(MSS));
        true
    }

    /// In-order bytes arrived; measures the round trip by a window's worth of data
    /// (`tcp_rcv_rtt_measure`).
    pub(super) fn received(&mut self, bytes: u64, now: Time) {
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

    /// The application read `bytes` (`tcp_rcv_space_adjust`).
    #[inline(always)] // every packet in order comes by
    pub(super) fn read(&mut self, bytes: u64, now: Time) {
        self.space.copied += bytes;
        let elapsed_us = now.as_micros().saturating_sub(self.space.since_us);
        if self.rtt.rtt8 == 0 || elapsed_us < self.rtt.rtt8 >> 3 {
            return;
        }
        if self.space.copied > self.space.bytes {
            self.enlarge();
            self.space.bytes = self.space.copied;
        }
        self.space.copied = 0;
        self.space.since_us = now.as_micros();
    }

    #[inline(never)] // once in a round trip at most
    fn enlarge(&mut self) {
        let copied = self.space.copied;
        let mut window = 2 * copied + 16 * u64::from(MSS);
        let growth = window * (copied - self.space.bytes) / self.space.bytes;
        window += 2 * growth;
        let size = (window * 256 / self.ratio).min(self.max_size);
        if size > self.size {
            self.size = size;
            self.clamp = self.win_from_space(size);
        }
    }

    /// The window for an ACK; its right edge never moves back (`tcp_select_window`).
    pub(super) fn advertise(&mut self) -> u32 {
        let below = (1u64 << self.scale) - 1;
        let offered = (self.free().min(self.ssthresh) + below) & !below;
        self.edge = self.edge.max(self.received + offered);
        self.window = self.edge - self.received;
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
