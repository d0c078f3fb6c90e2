//! The receiver of a socket whose program reads when it likes.

use narrows_base::Time;

use super::socket::{Refusals, Socket, SocketBuffer, Span};
use super::window::LEAST_TO_GROW;
use super::{Receiver, payload};
use crate::segment::{Data, Seq};

impl Receiver {
    /// Returns whether a segment's place is within the window; one that isn't needs an answer
    /// (`tcp_validate_incoming`, `tcp_sequence`).
    pub fn is_acceptable(&mut self, span: Span) -> bool {
        let is_within = if self.config.profile.checks_ends_of_segments {
            let edge = self.buffer.furthest_edge();
            let is_queue_empty = self.socket().is_empty();
            span.end <= edge || (span.start <= edge && is_queue_empty)
        } else {
            span.start <= self.buffer.next_byte() + self.buffer.window_left()
        };
        if !is_within {
            self.socket().refusals.beyond_window += 1;
        }
        is_within
    }

    /// Returns whether to queue the data of an acceptable segment; the sender is notified if not
    /// (`tcp_data_queue`). `known` is the number of its first packet if that arrived before.
    pub fn admit(&mut self, span: Span, known: Option<Seq>, now: Time) -> bool {
        let (next, left) = (self.buffer.next_byte(), self.buffer.window_left());
        if span.last() <= next {
            return true; // old data, which are reported to the sender
        }
        if span.start > next && span.start >= next + left {
            self.socket().refusals.beyond_window += 1;
            self.refuse(now);
            return false;
        }
        if span.start > next {
            return self.buffer.find_memory();
        }
        self.sacks.clear_duplicate();
        if let Some(known) = known.filter(|&known| known < self.next) {
            self.sacks.set_duplicate(known, self.next);
        }
        if left == 0 && !span.is_bare_fin() {
            self.socket().refusals.zero_window += 1;
            self.refuse(now);
            return false;
        }
        self.buffer.find_memory() || self.force(span, now)
    }

    /// A segment that is in order comes when memory is short: with an empty queue it is taken
    /// nevertheless, as is a FIN alone.
    fn force(&mut self, span: Span, now: Time) -> bool {
        self.policy.leave_quick();
        self.policy.schedule();
        self.policy.ack_now();
        self.buffer.close();
        if span.is_bare_fin() || self.socket().is_empty() {
            return true;
        }
        self.socket().refusals.no_memory += 1;
        self.decide(true, false, now);
        false
    }

    fn refuse(&mut self, now: Time) {
        self.policy.enter_quick(self.buffer.window());
        self.policy.schedule();
        self.decide(true, true, now);
    }

    /// Processes packets that were admitted. They are one socket buffer that takes `memory` bytes, as if a
    /// device had merged them.
    pub fn receive_buffer(&mut self, unit: &[Data], span: Span, memory: u64, now: Time) {
        let Some(first) = unit.first() else { return };
        self.complete_handshake(first.ts_echo, now);
        let known = self.next.saturating_sub(first.seq) as usize;
        if (1..unit.len()).contains(&known) {
            self.socket().begin(&unit[known..], memory, span.end);
            self.take_partly_known(unit, known, now);
        } else {
            self.socket().begin(unit, memory, span.end);
            self.receive_unit(unit, now);
        }
    }

    /// Packets in order behind some that arrived before.
    fn take_partly_known(&mut self, unit: &[Data], known: usize, now: Time) {
        self.stats.packets += unit.len() as u64;
        self.stats.duplicates += known as u64;
        let fresh = &unit[known..];
        let bytes = payload(fresh);
        self.stats.bytes += bytes;
        self.take_in_order::<true>(fresh, bytes, now);
    }

    /// Packets in order wait for the program.
    pub(super) fn queue_for_program(&mut self, unit: &[Data]) {
        self.socket().queue(unit);
        self.count_memory();
    }

    /// Packets out of order wait for those before them.
    pub(super) fn hold_for_program(&mut self, unit: &[Data]) {
        self.socket().wait(unit);
        let end = self.socket().arriving_end();
        self.buffer.wait_beyond_bytes(end.saturating_sub(self.buffer.next_byte()));
        self.count_memory();
    }

    pub(super) fn drop_covered(&mut self, end: Seq) {
        if let Some(socket) = &mut self.socket {
            socket.drop_covered(end);
            self.count_memory();
        }
    }

    pub(super) fn release_for_program(&mut self) {
        let next = self.next;
        self.socket().release(next);
        self.count_memory();
    }

    fn count_memory(&mut self) {
        let memory = self.socket().memory();
        self.buffer.memory.set(memory);
    }

    /// A packet that stands for several that came as one: the first one's size, and the flags of the last
    /// one with data.
    pub(super) fn typical_packet(unit: &[Data]) -> Data {
        let last = unit.iter().rfind(|data| !data.fin).unwrap_or(&unit[0]);
        Data { len: unit[0].len, ..*last }
    }

    /// A FIN in order: no duplicate is reported any more (`tcp_fin`).
    pub(super) fn note_fin(&mut self, unit: &[Data]) {
        if unit[unit.len() - 1].fin {
            self.sacks.clear_duplicate();
        }
    }

    /// Learns from the size of a buffer, and raises the window for it.
    pub(super) fn measure_and_grow(&mut self, unit: &[Data]) {
        let SocketBuffer { bytes, memory } = self.socket().part(unit);
        if bytes == 0 {
            return;
        }
        self.buffer.measure_socket(unit[0].len.into(), bytes, memory);
        if bytes >= u64::from(LEAST_TO_GROW) && self.buffer.grow_socket(bytes, memory) {
            self.policy.window_grew();
        }
    }

    /// Sends the ACK that is owed, if one is.
    pub fn acknowledge_now(&mut self, now: Time) {
        if self.policy.is_scheduled() {
            self.send_ack(now);
        }
    }

    /// The program reads `bytes` (`tcp_recvmsg`, `__tcp_cleanup_rbuf`).
    pub fn read_by_program(&mut self, bytes: u64, now: Time) {
        self.socket().read(bytes);
        self.count_memory();
        let unread = self.socket().unread_bytes();
        self.buffer.adjust_space(bytes, unread, now);
        if self.policy.ack_after_read(self.buffer.memory.in_use() == 0) || self.buffer.has_doubled()
        {
            self.send_ack(now);
        }
    }

    /// The program fixes the size of its buffer (`SO_RCVBUF`, already doubled).
    pub fn fix_buffer(&mut self, bytes: u64) {
        self.buffer.fix_size(bytes);
    }

    /// The peer's usual payload (`icsk_ack.rcv_mss`).
    #[must_use]
    pub fn packet_size(&self) -> u32 {
        self.policy.packet_size()
    }

    /// Segments that were refused.
    #[must_use]
    pub fn refusals(&self) -> Refusals {
        self.socket.as_ref().map_or_else(Refusals::default, |socket| socket.refusals)
    }

    fn socket(&mut self) -> &mut Socket {
        self.socket.as_mut().expect("a socket that a program reads")
    }
}
