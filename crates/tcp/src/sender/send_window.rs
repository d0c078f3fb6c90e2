//! The receiver's window, in bytes.

use crate::pacer::GSO_MAX_BYTES;
use crate::segment::Ack;

/// Payload of a full socket buffer at most: a super-packet of 64 KiB without `MAX_TCP_HEADER`, as
/// of a kernel without tunnels and wireless devices, and a byte (`sk_setup_caps`).
const MAX_BUFFER: u64 = GSO_MAX_BYTES - 192 - 1;

/// The limits by the receive window.
#[derive(Debug)]
pub(super) struct SendWindow {
    mss: u64,
    /// Payload acknowledged, and payload sent, in bytes.
    acked: u64,
    sent: u64,
    /// First byte beyond the receive window.
    end: u64,
    receive_window: u32,
    /// The largest receive window so far (`max_window`).
    largest: u32,
}

impl SendWindow {
    pub(super) fn new(mss: u32, receive_window: u32) -> Self {
        Self {
            mss: u64::from(mss),
            acked: 0,
            sent: 0,
            end: u64::from(receive_window),
            receive_window,
            largest: receive_window,
        }
    }

    /// The receive window as last advertised, in bytes.
    pub(super) fn advertised_window(&self) -> u32 {
        self.receive_window
    }

    /// Payload acknowledged, in bytes.
    pub(super) fn acked_bytes(&self) -> u64 {
        self.acked
    }

    /// Takes the window of an ACK; returns whether it counts as an update
    /// (`tcp_may_update_window`).
    pub(super) fn update(&mut self, ack: &Ack, una_advanced: bool) -> bool {
        let update = una_advanced || ack.window > self.receive_window || ack.window == 0;
        if update {
            self.receive_window = ack.window;
            self.largest = self.largest.max(ack.window);
            self.acknowledge(0);
        }
        update
    }

    /// Bytes were acknowledged: the window moves on.
    pub(super) fn acknowledge(&mut self, bytes: u64) {
        self.acked += bytes;
        self.end = self.end.max(self.acked + u64::from(self.receive_window));
    }

    /// New bytes were sent.
    pub(super) fn send(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// Payload that the receive window still takes, in bytes.
    pub(super) fn room(&self) -> u64 {
        self.end.saturating_sub(self.sent)
    }

    /// Full packets that the receive window still takes, at most `most`.
    pub(super) fn room_for(&self, most: u32) -> u32 {
        let room = self.room();
        if room >= u64::from(most) * self.mss {
            return most; // it hardly ever is short: no division
        }
        u32::try_from(room / self.mss).expect("less than `most`")
    }

    /// Payload sent and not acknowledged, in bytes.
    pub(super) fn in_flight(&self) -> u64 {
        self.sent - self.acked
    }

    /// Bytes in a full socket buffer: whole packets, and at most half of the largest window
    /// (`tcp_xmit_size_goal`).
    pub(super) fn buffer_goal(&self) -> u32 {
        let most = u64::from(self.half_of_largest()).min(MAX_BUFFER);
        let whole = (most / self.mss * self.mss).max(self.mss);
        u32::try_from(whole).expect("no more than a super-packet")
    }

    /// Half of the largest receive window so far, in bytes.
    pub(super) fn half_of_largest(&self) -> u32 {
        self.largest / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_packets_up_to_the_receive_window() {
        let mut window = SendWindow::new(1_000, 5_500);
        assert_eq!([3, 5, 9].map(|most| window.room_for(most)), [3, 5, 5]);
        window.send(5_000);
        assert_eq!((window.room_for(9), window.in_flight()), (0, 5_000));
        let ack = Ack { window: 9_000, ..Ack::default() };
        assert!(window.update(&ack, false), "a larger window counts");
        assert!(!window.update(&ack, false), "the same one doesn't");
        assert_eq!(window.room_for(9), 4);
        window.acknowledge(1_000);
        assert_eq!((window.room_for(9), window.in_flight()), (5, 4_000));
    }

    #[test]
    fn a_window_that_shrinks_takes_nothing_back() {
        let mut window = SendWindow::new(1_000, 5_000);
        window.update(&Ack { window: 2_000, ..Ack::default() }, true);
        assert_eq!((window.advertised_window(), window.room_for(9)), (2_000, 5));
    }

    #[test]
    fn a_socket_buffer_holds_whole_packets_of_half_the_largest_window() {
        let mut window = SendWindow::new(1_448, 64_240);
        assert_eq!(window.buffer_goal(), 22 * 1_448);
        window.update(&Ack { window: 1 << 20, ..Ack::default() }, true);
        assert_eq!(window.buffer_goal(), 45 * 1_448, "no more than a super-packet");
        window.update(&Ack { window: 2_000, ..Ack::default() }, true);
        assert_eq!(window.buffer_goal(), 45 * 1_448, "the largest counts");
        assert_eq!(SendWindow::new(1_448, 2_000).buffer_goal(), 1_448);
    }
}
