//! The window of a socket whose packets have any size, and whose program reads when it likes.

use super::super::socket::SocketConfig;
use super::{ReceiveBuffer, SocketWindow, window_scale};

/// The least buffer that a program can ask for (`SOCK_MIN_RCVBUF`).
const LEAST_BUFFER: u64 = 2_304;
/// The packets that are expected before the first one (`TCP_MSS_DEFAULT`).
const FIRST_PACKET: u64 = 536;

impl ReceiveBuffer {
    /// The buffer is that of such a socket.
    pub(super) fn serve(&mut self, config: SocketConfig, measures_ratio: bool) {
        self.socket = Some(Box::new(SocketWindow {
            may_shrink: config.may_shrink,
            is_fixed: config.is_fixed,
            measures_ratio,
            max_size: self.max_size,
            packet: FIRST_PACKET.min(self.mss),
            furthest: self.edge,
            is_out_of_memory: false,
        }));
        if config.is_fixed {
            self.max_size = self.size;
            self.scale = window_scale(self.win_from_space(self.size).min(self.most));
        }
    }

    fn own(&self) -> &SocketWindow {
        self.socket.as_ref().expect("the window of a socket")
    }

    fn own_mut(&mut self) -> &mut SocketWindow {
        self.socket.as_mut().expect("the window of a socket")
    }

    fn shrinks(&self) -> bool {
        self.own().may_shrink && self.scale > 0
    }

    fn round_down(&self, window: u64) -> u64 {
        window >> self.scale << self.scale
    }

    /// The largest window: what the whole buffer allows, at most the clamp.
    fn full_window(&self) -> u64 {
        self.clamp.min(self.win_from_space(self.size))
    }

    /// Memory in use from which on less than half of the window is free.
    pub(super) fn socket_is_short_from(&self) -> u64 {
        let half = self.full_window() / 2;
        self.short_of(if self.shrinks() { self.round_up(half) } else { half })
    }

    /// A program fixes the size of the buffer (`SO_RCVBUF`, already doubled).
    pub(crate) fn fix_size(&mut self, size: u64) {
        self.own_mut().is_fixed = true;
        self.size = size.max(LEAST_BUFFER);
        self.max_size = self.size;
        self.limit(self.clamp);
    }

    /// A socket buffer with packets of `packet` bytes arrived: another size shows again how much of
    /// the memory is payload (`tcp_measure_rcv_mss`).
    pub(crate) fn measure_socket(&mut self, packet: u64, bytes: u64, memory: u64) {
        if packet <= self.own().packet {
            return;
        }
        let most = self.mss;
        let own = self.own_mut();
        own.packet = packet.min(most);
        if !own.measures_ratio {
            return;
        }
        let ratio = (bytes * 256 / memory).clamp(1, 255);
        if ratio != self.ratio {
            self.ratio = ratio;
            self.limit(self.win_from_space(self.size));
            self.space.bytes = self.space.bytes.min(self.clamp);
        }
    }

    /// Raises the window for a socket buffer (`tcp_grow_window`); returns whether it grew.
    pub(crate) fn grow_socket(&mut self, bytes: u64, memory: u64) -> bool {
        let room = self.clamp.min(self.free()).saturating_sub(self.ssthresh);
        let step = if self.win_from_space(memory) <= bytes {
            2 * self.mss
        } else {
            self.step_beside_overhead(bytes, memory)
        };
        if room == 0 || step == 0 {
            return false;
        }
        self.ssthresh += room.min(step.max(2 * bytes));
        true
    }

    /// The step for a buffer with more overhead than usual (`__tcp_grow_window`).
    fn step_beside_overhead(&self, bytes: u64, memory: u64) -> u64 {
        let mut memory = self.win_from_space(memory) / 2;
        let mut window = self.win_from_space(self.own().max_size) / 2;
        while self.ssthresh <= window {
            if memory <= bytes {
                return 2 * self.own().packet;
            }
            (memory, window) = (memory / 2, window / 2);
        }
        0
    }

    /// The window that an ACK may offer (`__tcp_select_window`).
    #[cold]
    pub(super) fn offer_socket(&self) -> u64 {
        let (share, full) = (self.win_from_space(self.size), self.full_window());
        let packet = self.own().packet.min(full);
        let mut free = self.free();
        if self.is_short() {
            free = self.round_down(free);
            if free < (share / 16).max(packet) || free == 0 {
                return 0;
            }
        }
        if self.shrinks() {
            let free = self.round_down(free);
            return if free > self.ssthresh { self.round_up(self.ssthresh) } else { free };
        }
        let free = free.min(self.ssthresh);
        if self.scale > 0 { self.round_up(free) } else { self.whole_packets(free, packet, full) }
    }

    /// A window without a scale is kept while it is within a packet of what is free, and whole packets
    /// otherwise.
    fn whole_packets(&self, free: u64, packet: u64, full: u64) -> u64 {
        if packet == 0 {
            return 0;
        }
        if self.window + packet <= free || self.window > free {
            free / packet * packet
        } else if packet == full && free > self.window + full / 2 {
            free
        } else {
            self.window
        }
    }

    /// The window for an ACK (`tcp_select_window`).
    #[cold]
    pub(super) fn advertise_socket(&mut self) -> u32 {
        let (offer, left) = (self.offer_socket(), self.rest());
        let may_shrink = self.shrinks();
        self.window = if std::mem::take(&mut self.own_mut().is_out_of_memory) {
            0
        } else if offer < left && !may_shrink {
            self.round_up(left)
        } else {
            offer
        };
        self.edge = self.received + self.window;
        let edge = self.edge;
        let own = self.own_mut();
        own.furthest = own.furthest.max(edge);
        u32::try_from(self.window).unwrap_or(u32::MAX)
    }

    /// The next byte in order.
    pub(crate) fn next_byte(&self) -> u64 {
        self.received
    }

    /// The part of the advertised window that is left.
    pub(crate) fn window_left(&self) -> u64 {
        self.rest()
    }

    /// Where the largest window ends that was ever advertised.
    pub(crate) fn furthest_edge(&self) -> u64 {
        self.own().furthest.max(self.received)
    }

    /// Data out of order end `bytes` behind the next byte in order.
    pub(crate) fn wait_beyond_bytes(&mut self, bytes: u64) {
        self.beyond = bytes;
    }

    /// Finds memory for a packet (`tcp_try_rmem_schedule`); returns whether there is some. A queue
    /// isn't collapsed, and nothing that waits out of order is dropped.
    pub(crate) fn find_memory(&mut self) -> bool {
        let used = self.memory.in_use();
        if used > self.size {
            self.clamp_to_memory(used);
        }
        used <= self.size
    }

    /// The buffer was too small (`tcp_clamp_window`).
    fn clamp_to_memory(&mut self, used: u64) {
        if self.size < self.max_size && !self.own().is_fixed {
            self.size = used.min(self.max_size);
            self.limit(self.clamp);
        }
        if used > self.size {
            self.ssthresh = self.clamp.min(2 * self.mss);
        }
    }

    /// A packet was dropped because memory is short: the next ACK closes the window.
    pub(crate) fn close(&mut self) {
        self.own_mut().is_out_of_memory = true;
    }
}
