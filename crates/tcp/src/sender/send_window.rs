//! The send window: what the receiver's window still allows, in bytes.

use crate::pacer::GSO_MAX_BYTES;
use crate::segment::Ack;

/// The most payload in a socket buffer: 64 KiB less `MAX_TCP_HEADER` (192 bytes in a kernel without
/// tunnels and wireless devices) and less 1 byte (`sk_setup_caps`).
const MAX_BUFFER: u64 = GSO_MAX_BYTES - 192 - 1;

/// The limits that the receive window sets.
#[derive(Debug)]
pub(super) struct SendWindow {
    mss: u64,
    /// Payload acknowledged, and payload sent, in bytes.
    acked: u64,
    sent: u64,
    receive_window: u32,
    /// The largest receive window so far (`max_window`).
    largest: u32,
}

impl SendWindow {
    pub(super) fn new(mss: u32, receive_window: u32) -> Self {
        Self { mss: u64::from(mss), acked: 0, sent: 0, receive_window, largest: receive_window }
    }

    /// New packets have at most that much payload.
    pub(super) fn set_mss(&mut self, mss: u32) {
        self.mss = u64::from(mss);
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
        }
        update
    }

    /// Notes acknowledged bytes, which move the window on.
    pub(super) fn acknowledge(&mut self, bytes: u64) {
        self.acked += bytes;
    }

    /// Notes new bytes sent.
    pub(super) fn send(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// Returns whether the receive window allows any payload.
    pub(super) fn is_open(&self) -> bool {
        self.available() > 0
    }

    /// Payload that the receive window still allows, in bytes.
    pub(super) fn available(&self) -> u64 {
        (self.acked + u64::from(self.receive_window)).saturating_sub(self.sent)
    }

    /// Full packets that the receive window still allows, at most `most`.
    pub(super) fn available_packets(&self, most: u32) -> u32 {
        let available = self.available();
        if available >= u64::from(most) * self.mss {
            return most; // the common case, without a division
        }
        u32::try_from(available / self.mss).expect("less than `most`")
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
        assert_eq!([3, 5, 9].map(|most| window.available_packets(most)), [3, 5, 5]);
        window.send(5_000);
        assert_eq!((window.available_packets(9), window.in_flight()), (0, 5_000));
        let ack = Ack { window: 9_000, ..Ack::default() };
        assert!(window.update(&ack, false), "a larger window counts");
        assert!(!window.update(&ack, false), "the same one doesn't");
        assert_eq!(window.available_packets(9), 4);
        window.acknowledge(1_000);
        assert_eq!((window.available_packets(9), window.in_flight()), (5, 4_000));
    }

    #[test]
    fn a_window_may_shrink_and_close() {
        let mut window = SendWindow::new(1_000, 5_000);
        window.send(1_000);
        window.update(&Ack { window: 3_000, ..Ack::default() }, true);
        assert_eq!((window.advertised_window(), window.available_packets(9)), (3_000, 2));
        window.update(&Ack::default(), true);
        assert_eq!((window.is_open(), window.available()), (false, 0), "more was sent");
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
