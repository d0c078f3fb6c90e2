//! The end of a connection: FIN and RST.

use narrows_base::{Ecn, Time};
use narrows_packetdrill::{Tcp, TcpFlags};

use crate::connection::Connection;
use crate::state::TcpState;

impl Connection {
    /// Ends the program's writing: a FIN follows the data, as a byte that the simulator's sender
    /// numbers like the others.
    pub(crate) fn shut_down(&mut self, now: Time) {
        self.state = match self.state {
            TcpState::Established => TcpState::FinWait1,
            TcpState::CloseWait => TcpState::LastAck,
            _ => return,
        };
        self.own_fin = Some(self.written);
        self.sender.write(Some(1), now);
        self.flush(now);
    }

    /// Closes the program's socket; unread data are a reason for a reset (`tcp_close`).
    pub(crate) fn close(&mut self, now: Time) {
        self.orphaned = true;
        match self.state {
            TcpState::SynSent => self.state = TcpState::Closed,
            _ if self.state.is_synchronized() && self.unread() > 0 => self.abort(now),
            _ => self.shut_down(now),
        }
    }

    /// Resets the connection (`tcp_send_active_reset`).
    fn abort(&mut self, now: Time) {
        let ack = self.receiver.acknowledge_with_data(now);
        let ts = ack.ts;
        let composed = self.compose(&ack, now);
        let header = self.acknowledging(&ack, ts, composed);
        let seq = Self::first_byte().wrapping_add(self.departures.next_byte());
        let flags = TcpFlags::RST.with(TcpFlags::ACK).with(self.ecn_flags(&ack));
        let ecn = self.codepoint(Ecn::NotEct);
        self.send(Tcp { flags, seq, ..header }, ecn, now);
        self.state = TcpState::Closed;
    }

    /// Bytes that the program may read.
    pub(crate) fn unread(&self) -> u64 {
        self.received_bytes() - self.read
    }

    /// Bytes that arrived in order, without a FIN.
    pub(crate) fn received_bytes(&self) -> u64 {
        let next = u64::from(self.in_order());
        next - u64::from(self.peer_fin.is_some_and(|fin| u64::from(fin) < next))
    }

    /// Changes the state if the peer's FIN is in order.
    pub(crate) fn note_peer_fin(&mut self, now: Time) {
        let arrived = self.peer_fin.is_some_and(|fin| fin < self.in_order());
        if !arrived {
            return;
        }
        self.state = match self.state {
            TcpState::Established => TcpState::CloseWait,
            TcpState::FinWait1 => TcpState::Closing,
            TcpState::FinWait2 => TcpState::TimeWait,
            _ => return,
        };
        if self.state != TcpState::CloseWait {
            self.receiver.acknowledge_now(now);
            self.flush(now);
        }
    }

    /// Changes the state if the FIN of this end is acknowledged.
    pub(crate) fn note_own_fin(&mut self) {
        let acked = self.own_fin.is_some_and(|fin| self.sender.acked_bytes() > u64::from(fin));
        if !acked {
            return;
        }
        self.state = match self.state {
            TcpState::FinWait1 => TcpState::FinWait2,
            TcpState::Closing => TcpState::TimeWait,
            TcpState::LastAck => TcpState::Closed,
            _ => return,
        };
    }
}
