//! Infers from its answers after timeouts that a sender had nothing new to send.
//!
//! With F-RTO (RFC 5682) a sender answers the first acknowledgement after a timeout with new data,
//! and retransmits if it has none, if the window has no room for them, or if all that had been sent
//! before the timeout has arrived. A flow that usually answers so had nothing new to send since its
//! last new data when it retransmits without the other two reasons. PSH marks the end of what was
//! written, so those data have it.

use super::timing::RESPONSE_NS;

/// Answers to acknowledgements after timeouts.
#[derive(Clone, Copy, Debug, Default)]
struct Answers {
    /// How many had new data, and how many retransmitted ones.
    fresh: u32,
    again: u32,
    /// The time for which nothing new was there to send, as the latter show.
    drained: u64,
}

/// A timeout whose answer isn't seen yet.
#[derive(Clone, Copy, Debug)]
struct Timeout {
    begin: u64,
    /// One past the highest number before it, or before an earlier one that isn't over.
    recover: u64,
    /// Packets in flight had been retransmitted before, so a sender may do without F-RTO.
    repeated: bool,
    /// The first data after it, and whether they were new: captured before what they answer.
    data: Option<(u64, bool)>,
    acked: Option<u64>,
}

/// The answers of a sender after its timeouts.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimeoutAnswers {
    pending: Option<Timeout>,
    /// Without and with earlier retransmissions in flight.
    answers: [Answers; 2],
    /// Since when no new data were sent, and whether the last ones had PSH.
    last: Option<(u64, bool)>,
    /// One past the highest number before the last timeout.
    recover: u64,
}

impl TimeoutAnswers {
    /// Notes a retransmission by the timer of the first of the numbers from `una` to `high`.
    pub(super) fn on_timeout(&mut self, begin: u64, repeated: bool, una: u64, high: u64) {
        let recover = if una < self.recover { self.recover } else { high };
        self.recover = high;
        self.pending = Some(Timeout { begin, recover, repeated, data: None, acked: None });
    }

    pub(super) fn on_data(&mut self, time: u64, fresh: bool, push: bool) {
        match &mut self.pending {
            Some(timeout) if time > timeout.begin => match timeout.acked {
                Some(acked) if time <= acked + RESPONSE_NS => self.conclude(acked, fresh),
                Some(_) => self.pending = None,
                None => _ = timeout.data.get_or_insert((time, fresh)),
            },
            _ => {}
        }
        if fresh {
            self.last = Some((time, push));
        }
    }

    /// Notes an acknowledgement, with its number if that advances; `open` says that data remain in
    /// flight and the window has room.
    pub(super) fn on_acknowledgement(&mut self, time: u64, advanced: Option<u64>, open: bool) {
        let Some(timeout) = self.pending.as_mut().filter(|timeout| timeout.acked.is_none()) else {
            return;
        };
        let Some(una) = advanced else { return };
        match timeout.data {
            _ if una >= timeout.recover => self.pending = None,
            Some((sent, fresh)) if open && time <= sent + RESPONSE_NS => self.conclude(time, fresh),
            None if open => timeout.acked = Some(time),
            _ => self.pending = None,
        }
    }

    fn conclude(&mut self, acked: u64, fresh: bool) {
        let Some(timeout) = self.pending.take() else { return };
        let answers = &mut self.answers[usize::from(timeout.repeated)];
        if fresh {
            answers.fresh += 1;
            return;
        }
        answers.again += 1;
        if let Some((last, true)) = self.last {
            answers.drained += acked.saturating_sub(last);
            self.last = Some((acked.max(last), true));
        }
    }

    /// The time for which the sender had nothing new to send around timeouts, in ns, at least.
    pub(crate) fn drained_time(&self) -> u64 {
        let usual = self.answers.iter().filter(|answers| answers.fresh > answers.again);
        usual.map(|answers| answers.drained).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A timeout at `begin` ms, acknowledged 100 ms later; new data or a retransmission follows.
    fn timeout(answers: &mut TimeoutAnswers, begin: u64, fresh: bool, push: bool) {
        answers.on_timeout(begin * MS, false, begin, begin + 10);
        answers.on_data(begin * MS, false, false);
        answers.on_acknowledgement((begin + 100) * MS, Some(begin + 1), true);
        answers.on_data((begin + 100) * MS + 1000, fresh, push);
    }

    #[test]
    fn a_retransmission_in_place_of_new_data_shows_that_there_were_none() {
        let mut answers = TimeoutAnswers::default();
        timeout(&mut answers, 1000, true, true);
        timeout(&mut answers, 2000, true, true);
        timeout(&mut answers, 3000, false, false);
        assert_eq!(answers.drained_time(), 1000 * MS - 1000, "from 2100 to 3100 ms");
    }

    #[test]
    fn nothing_is_inferred_from_a_sender_that_always_retransmits() {
        let mut answers = TimeoutAnswers::default();
        timeout(&mut answers, 1000, true, true);
        timeout(&mut answers, 2000, false, false);
        timeout(&mut answers, 3000, false, false);
        assert_eq!(answers.drained_time(), 0);
    }

    #[test]
    fn data_without_push_are_followed_by_more() {
        let mut answers = TimeoutAnswers::default();
        timeout(&mut answers, 1000, true, false);
        timeout(&mut answers, 2000, true, false);
        timeout(&mut answers, 3000, false, false);
        assert_eq!(answers.drained_time(), 0);
    }

    #[test]
    fn an_answer_may_be_captured_before_what_it_answers() {
        let mut answers = TimeoutAnswers::default();
        for (begin, fresh) in [(1000, true), (2000, true), (3000, false)] {
            answers.on_timeout(begin * MS, false, begin, begin + 10);
            answers.on_data(begin * MS, false, false);
            answers.on_data((begin + 100) * MS - 1000, fresh, true);
            answers.on_acknowledgement((begin + 100) * MS, Some(begin + 1), true);
        }
        assert_eq!(answers.drained_time(), 1000 * MS + 1000);
    }

    #[test]
    fn a_retransmission_after_all_that_was_sent_before_arrived_shows_nothing() {
        let mut answers = TimeoutAnswers::default();
        timeout(&mut answers, 1000, true, true);
        timeout(&mut answers, 2000, true, true);
        answers.on_timeout(3000 * MS, false, 3000, 3002);
        answers.on_data(3000 * MS, false, false);
        answers.on_acknowledgement(3100 * MS, Some(3002), true);
        answers.on_data(3100 * MS + 1000, false, false);
        assert_eq!(answers.drained_time(), 0);
    }
}
