//! The queues of a socket whose packets have any size, and whose program reads when it likes.
//!
//! The simulator's own receivers need none of that: their packets are full ones, and their
//! applications read at once.

use std::collections::VecDeque;

use crate::segment::{Data, Seq};

/// Settings of such a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketConfig {
    /// The payload of a full packet to it, in bytes (`advmss` less the options).
    pub mss: u32,
    /// Whether the program chose the size of its buffer (`SO_RCVBUF`).
    pub is_fixed: bool,
    /// Whether its window may shrink (`tcp_shrink_window`).
    pub may_shrink: bool,
}

/// The place of a segment in the stream: bytes from the first one, a FIN not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: u64,
    /// The byte behind the last one.
    pub end: u64,
    /// Whether a FIN follows.
    pub fin: bool,
}

impl Span {
    /// Behind the FIN, if there is one.
    pub(super) fn last(self) -> u64 {
        self.end + u64::from(self.fin)
    }

    pub(super) fn is_bare_fin(self) -> bool {
        self.fin && self.start == self.end
    }
}

/// Segments that a socket refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    /// Beyond the window (`TcpExtBeyondWindow` in 7.3).
    pub beyond_window: u64,
    /// At a closed window (`TcpExtTCPZeroWindowDrop`).
    pub zero_window: u64,
    /// Without memory for them (`TcpExtTCPRcvQDrop`).
    pub no_memory: u64,
}

/// The queues of a socket.
#[derive(Debug, Default)]
pub(super) struct Socket {
    /// Buffers in order that the program hasn't read, with the bytes that are left in each.
    unread: VecDeque<SocketBuffer>,
    /// Those out of order, with the packet behind each, in the order of these.
    waiting: Vec<(Seq, SocketBuffer)>,
    /// The buffer that is being received, and the byte behind it.
    arriving: SocketBuffer,
    arriving_end: u64,
    pub(super) refusals: Refusals,
}

/// Data with the memory that they take (`struct sk_buff`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SocketBuffer {
    pub(super) bytes: u64,
    pub(super) memory: u64,
}

impl Socket {
    /// The memory of all that waits, in bytes.
    pub(super) fn memory(&self) -> u64 {
        let waiting = self.waiting.iter().map(|(_, buffer)| buffer);
        self.unread.iter().chain(waiting).map(|buffer| buffer.memory).sum()
    }

    pub(super) fn unread_bytes(&self) -> u64 {
        self.unread.iter().map(|buffer| buffer.bytes).sum()
    }

    /// Whether nothing in order waits for the program.
    pub(super) fn is_empty(&self) -> bool {
        self.unread.is_empty()
    }

    /// A buffer with these new packets arrives, which ends at that byte.
    pub(super) fn begin(&mut self, fresh: &[Data], memory: u64, end: u64) {
        self.arriving = SocketBuffer { bytes: text(fresh), memory };
        self.arriving_end = end;
    }

    /// The byte behind the buffer that is being received.
    pub(super) fn arriving_end(&self) -> u64 {
        self.arriving_end
    }

    /// The part of that buffer that some of its packets are.
    pub(super) fn part(&self, unit: &[Data]) -> SocketBuffer {
        let SocketBuffer { bytes: whole, memory } = self.arriving;
        let bytes = text(unit);
        let memory = if bytes == whole { memory } else { memory * bytes / whole };
        SocketBuffer { bytes, memory }
    }

    /// Packets in order wait for the program. A FIN alone joins the buffer before it
    /// (`tcp_try_coalesce`).
    pub(super) fn queue(&mut self, unit: &[Data]) {
        let part = self.part(unit);
        if part.bytes > 0 || self.unread.is_empty() {
            self.unread.push_back(part);
        }
    }

    /// Packets out of order wait for those before them.
    pub(super) fn wait(&mut self, unit: &[Data]) {
        let end = unit[unit.len() - 1].seq + 1;
        let place = self.waiting.partition_point(|known| known.0 < end);
        self.waiting.insert(place, (end, self.part(unit)));
    }

    /// Buffers before that packet are in order now, and wait for the program.
    pub(super) fn release(&mut self, next: Seq) {
        let ready = self.waiting.partition_point(|known| known.0 <= next);
        self.unread.extend(self.waiting.drain(..ready).map(|(_, buffer)| buffer));
    }

    /// Packets before that one came again, as part of others.
    pub(super) fn drop_covered(&mut self, end: Seq) {
        self.waiting.retain(|known| known.0 > end);
    }

    /// The program reads `bytes` bytes.
    pub(super) fn read(&mut self, mut bytes: u64) {
        while let Some(first) = self.unread.front_mut() {
            let part = bytes.min(first.bytes);
            (first.bytes, bytes) = (first.bytes - part, bytes - part);
            if first.bytes > 0 {
                break;
            }
            self.unread.pop_front();
        }
    }
}

/// The bytes of packets that a program reads.
fn text(unit: &[Data]) -> u64 {
    unit.iter().filter(|data| !data.fin).map(|data| u64::from(data.len)).sum()
}
