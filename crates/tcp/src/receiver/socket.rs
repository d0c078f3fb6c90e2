//! The queues of a socket whose packets have any size and whose program reads at any time.
//!
//! The simulator's own receivers don't need them: their packets are full-sized, and their
//! applications read at once.

use std::collections::VecDeque;

use crate::segment::{Data, Seq};

/// The settings of a socket with these queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketConfig {
    /// The payload of a full packet to the socket, in bytes (`advmss` less the options).
    pub mss: u32,
    /// True if the program chose the size of its buffer (`SO_RCVBUF`).
    pub is_fixed: bool,
    /// True if its window may shrink (`tcp_shrink_window`).
    pub may_shrink: bool,
}

/// The place of a segment in the stream, in bytes from its beginning; a FIN has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: u64,
    /// The byte after the last one.
    pub end: u64,
    /// True if a FIN follows.
    pub fin: bool,
}

impl Span {
    /// The place after the segment, in which a FIN counts as a byte.
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
    /// In-order buffers that the program hasn't read, with the bytes that are left in each.
    unread: VecDeque<SocketBuffer>,
    /// Out-of-order buffers, each with the number of the packet after it, sorted by that number.
    waiting: Vec<(Seq, SocketBuffer)>,
    /// The buffer that is being received, and the byte after it.
    arriving: SocketBuffer,
    arriving_end: u64,
    pub(super) refusals: Refusals,
}

/// An amount of data and the memory that it takes (`struct sk_buff`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SocketBuffer {
    pub(super) bytes: u64,
    pub(super) memory: u64,
}

impl Socket {
    /// The memory of all queued buffers, in bytes.
    pub(super) fn memory(&self) -> u64 {
        let waiting = self.waiting.iter().map(|(_, buffer)| buffer);
        self.unread.iter().chain(waiting).map(|buffer| buffer.memory).sum()
    }

    pub(super) fn unread_bytes(&self) -> u64 {
        self.unread.iter().map(|buffer| buffer.bytes).sum()
    }

    /// True if no in-order data wait for the program.
    pub(super) fn is_empty(&self) -> bool {
        self.unread.is_empty()
    }

    /// Begins to receive a buffer that brings these new packets and ends at byte `end`.
    pub(super) fn begin(&mut self, fresh: &[Data], memory: u64, end: u64) {
        self.arriving = SocketBuffer { bytes: payload_bytes(fresh), memory };
        self.arriving_end = end;
    }

    /// The byte after the buffer that is being received.
    pub(super) fn arriving_end(&self) -> u64 {
        self.arriving_end
    }

    /// The part of the arriving buffer that belongs to some of its packets.
    pub(super) fn part(&self, unit: &[Data]) -> SocketBuffer {
        let SocketBuffer { bytes: whole, memory } = self.arriving;
        let bytes = payload_bytes(unit);
        let memory = if bytes == whole { memory } else { memory * bytes / whole };
        SocketBuffer { bytes, memory }
    }

    /// Queues in-order packets for the program. A bare FIN joins the buffer before it
    /// (`tcp_try_coalesce`).
    pub(super) fn queue(&mut self, unit: &[Data]) {
        let part = self.part(unit);
        if part.bytes > 0 || self.unread.is_empty() {
            self.unread.push_back(part);
        }
    }

    /// Queues out-of-order packets until the packets before them arrive.
    pub(super) fn wait(&mut self, unit: &[Data]) {
        let end = unit[unit.len() - 1].seq + 1;
        let place = self.waiting.partition_point(|known| known.0 < end);
        self.waiting.insert(place, (end, self.part(unit)));
    }

    /// Queues the waiting buffers before packet `next` for the program, as they are in order now.
    pub(super) fn release(&mut self, next: Seq) {
        let ready = self.waiting.partition_point(|known| known.0 <= next);
        self.unread.extend(self.waiting.drain(..ready).map(|(_, buffer)| buffer));
    }

    /// Drops waiting buffers up to packet `end`, which has arrived again as part of larger ones.
    pub(super) fn drop_covered(&mut self, end: Seq) {
        self.waiting.retain(|known| known.0 > end);
    }

    /// Removes the `bytes` bytes that the program reads.
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

/// The bytes of packets that a program can read.
fn payload_bytes(unit: &[Data]) -> u64 {
    unit.iter().filter(|data| !data.fin).map(|data| u64::from(data.len)).sum()
}
