//! The windows in bytes: the receiver's, and the send buffer's.

use crate::segment::Ack;

/// Bytes of memory per 256 bytes of payload in the send buffer (skb overhead).
const TRUESIZE_PER_256: u64 = 266;

/// The limits by receive window and send buffer.
#[derive(Debug)]
pub(super) struct SendWindow {
    mss: u64,
    /// Payload acknowledged, and payload sent, in bytes.
    acked: u64,
    sent: u64,
    /// First byte beyond the receive window.
    end: u64,
    receive_window: u32,
    send_buffer: u64,
}

impl SendWindow {
    pub(super) fn new(mss: u32, receive_window: u32, send_buffer: u32) -> Self {
        Self {
            mss: u64::from(mss),
            acked: 0,
            sent: 0,
            end: u64::from(receive_window),
            receive_window,
            send_buffer: u64::from(send_buffer),
        }
    }

    /// The receive window as last advertised, in bytes.
    pub(super) fn told(&self) -> u32 {
        self.receive_window
    }

    /// Payload acknowledged, in bytes.
    pub(super) fn acked(&self) -> u64 {
        self.acked
    }

    /// Takes the window of an ACK; returns whether it counts as an update
    /// (`tcp_may_update_window`).
    pub(super) fn update(&mut self, ack: &Ack, una_advanced: bool) -> bool {
        let update = una_advanced || ack.window > self.receive_window || ack.window == 0;
        if update {
            self.receive_window = ack.window;
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

    /// Full packets that the receive window still takes, at most `most`.
    pub(super) fn room_for(&self, most: u32) -> u32 {
        let room = self.end.saturating_sub(self.sent);
        if room >= u64::from(most) * self.mss {
            return most; // it hardly ever is short: no division
        }
        u32::try_from(room / self.mss).expect("less than `most`")
    }

    /// Whether the send buffer has room for another packet.
    pub(super) fn buffer_has_room(&self) -> bool {
        let queued = self.sent - self.acked + self.mss;
        queued * TRUESIZE_PER_256 / 256 <= self.send_buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_packets_up_to_the_receive_window_and_the_send_buffer() {
        let mut window = SendWindow::new(1_000, 5_500, 8_000);
        assert_eq!([3, 5, 9].map(|most| window.room_for(most)), [3, 5, 5]);
        window.send(5_000);
        assert_eq!(window.room_for(9), 0);
        assert!(window.buffer_has_room());
        let ack = Ack { window: 9_000, ..Ack::default() };
        assert!(window.update(&ack, false), "a larger window counts");
        assert!(!window.update(&ack, false), "the same one doesn't");
        assert_eq!(window.room_for(9), 4);
        window.send(2_000);
        assert!(!window.buffer_has_room(), "8 packets of 1039 bytes");
        window.acknowledge(1_000);
        assert!(window.buffer_has_room());
    }

    #[test]
    fn a_window_that_shrinks_takes_nothing_back() {
        let mut window = SendWindow::new(1_000, 5_000, u32::MAX);
        window.update(&Ack { window: 2_000, ..Ack::default() }, true);
        assert_eq!((window.told(), window.room_for(9)), (2_000, 5));
    }
}
