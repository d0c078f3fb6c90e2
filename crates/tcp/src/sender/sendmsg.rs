//! How the application fills the send buffer (`tcp_sendmsg_locked`), and when it resumes.

use narrows_base::Time;

use super::connection::Connection;
use super::host_queue::HostQueue;
use super::send_buffer::BufferUse;
use super::transmit::Push;

impl Connection {
    /// The application writes until the send buffer is full or it has no more; what the windows
    /// allow leaves on the way.
    #[inline(never)] // most calls of `write` don't come here
    pub(super) fn fill(&mut self, now: Time) {
        self.check_app_limited();
        let goal = self.window.buffer_goal();
        while self.unsent.has_more() {
            if self.unsent.needs_buffer(goal) && !self.send_buffer.has_room(self.in_use()) {
                self.send_buffer.wait();
                break;
            }
            if self.unsent.write(goal) {
                self.push_full_buffer(now);
            }
        }
        self.unsent.push();
        if !self.write_some(Push::All, now) {
            self.check_space(now);
        }
    }

    /// The last buffer became full: it is marked if much was written since the last that was
    /// (`forced_push`).
    fn push_full_buffer(&mut self, now: Time) {
        if self.unsent.unpushed_bytes() > u64::from(self.window.half_of_largest()) {
            self.unsent.push();
            self.write_some(Push::All, now);
        } else if self.unsent.is_tail() {
            self.write_some(Push::One, now);
        }
    }

    /// Returns `true` if the application has data, and room to write them.
    pub(super) fn may_fill(&self) -> bool {
        !self.send_buffer.waits() && self.unsent.has_more()
    }

    /// Grows the send buffer and wakes the application, if it waits (`tcp_check_space`).
    #[inline]
    pub(super) fn check_space(&mut self, now: Time) {
        if self.send_buffer.waits() {
            self.make_space(now);
        }
    }

    /// `tcp_new_space`.
    #[inline(always)] // runs for every burst
    fn make_space(&mut self, now: Time) {
        // A full window isn't limited by the buffer.
        if self.board.pipe() < self.cwnd {
            self.send_buffer.expand(self.cwnd, self.rack.reordering());
            self.usage.stamp(now);
        }
        self.send_buffer.wake(self.in_use());
    }

    fn in_use(&self) -> BufferUse {
        let unsent = self.unsent.queued_bytes();
        BufferUse {
            payload: self.window.in_flight() + unsent,
            unsent,
            buffers: u64::from(self.board.bursts()) + self.unsent.buffers() as u64,
        }
    }

    /// The pipe ran dry before the application wrote more, so packets sent now don't measure the
    /// path (`tcp_rate_check_app_limited`).
    fn check_app_limited(&mut self) {
        let pipe = self.board.pipe();
        let repaired = self.board.lost_out() <= self.board.retrans_out();
        let is_gone = self.output.host_queue().is_none_or(HostQueue::is_empty);
        if self.unsent.is_short() && is_gone && pipe < self.cwnd && repaired {
            self.rate.set_app_limited(pipe);
        }
    }
}
