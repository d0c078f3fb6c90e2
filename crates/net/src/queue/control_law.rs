//! CoDel's control law, shared by the single queue and the flow queues.

use narrows_base::{Duration, Ecn, Packet, Time};

use super::verdicts::Verdicts;
use crate::element::DropReason;

/// How CoDel computes the square root of its count of drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SquareRoot {
    /// One Newton step for each change of the count, in 16 bits, as Linux does
    /// (`codel_Newton_step`). Its second and third gaps are 50.0 and 56.2 ms
    /// instead of 70.7 and 57.7 ms at an interval of 100 ms; later ones agree.
    #[default]
    Newton,
    /// The exact square root, as in RFC 8289 section 5.3.
    Exact,
}

/// CoDel's constants; times are in units of 1,024 ns, as in Linux (`codel_get_time`).
#[derive(Clone, Debug)]
pub(super) struct Law {
    target: u64,
    interval: u64,
    ce_threshold: Option<u64>,
    ecn: bool,
    mtu: u64,
    square_root: SquareRoot,
}

/// A packet from the head of a queue.
pub(super) struct Head<B> {
    pub(super) since: Time,
    pub(super) packet: Packet<B>,
    /// Frame bytes that still wait behind it.
    pub(super) backlog: u64,
}

const fn ticks(nanos: u64) -> u64 {
    nanos >> 10
}

impl Law {
    pub(super) fn new(target: Duration, interval: Duration, ecn: bool, mtu: u32) -> Self {
        Self {
            target: ticks(target.as_nanos()),
            interval: ticks(interval.as_nanos()),
            ce_threshold: None,
            ecn,
            mtu: u64::from(mtu),
            square_root: SquareRoot::Newton,
        }
    }

    pub(super) fn with_ce_threshold(mut self, threshold: Option<Duration>) -> Self {
        self.ce_threshold = threshold.map(|span| ticks(span.as_nanos()));
        self
    }

    pub(super) const fn with_square_root(mut self, square_root: SquareRoot) -> Self {
        self.square_root = square_root;
        self
    }

    /// Marks a packet that waited longer than the threshold, independently of the control law.
    fn mark_late<B>(&self, head: &mut Head<B>, now: Time, verdicts: &mut Verdicts<B>) {
        let waited = ticks(now.as_nanos()) - ticks(head.since.as_nanos());
        let late = self.ce_threshold.is_some_and(|threshold| waited > threshold);
        if late && head.packet.ecn != Ecn::Ce {
            let _ = verdicts.mark(&mut head.packet);
        }
    }
}

/// CoDel's state for the queue, or for one flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    /// When a delay that stays above the target will have lasted an interval.
    first_above: Option<u64>,
    drop_next: u64,
    /// Drops since the dropping state began; it wraps, as in Linux.
    pub(super) count: u32,
    last_count: u32,
    /// 1/sqrt(count) in 16 bits.
    inverse_root: u16,
    dropping: bool,
}

impl Control {
    /// Returns the next packet that isn't dropped (Linux `codel_dequeue`; RFC 8289 section
    /// 5.5). `pop` takes the head of the queue.
    pub(super) fn dequeue<B>(
        &mut self,
        law: &Law,
        now: Time,
        verdicts: &mut Verdicts<B>,
        mut pop: impl FnMut() -> Option<Head<B>>,
    ) -> Option<Packet<B>> {
        let mut head = pop();
        let above = self.stays_above(law, head.as_ref(), now);
        if !above {
            self.dropping = false;
        } else if self.dropping {
            head = self.drop_what_is_due(law, now, head, verdicts, pop);
        } else {
            head = self.start_dropping(law, now, head, verdicts, pop);
        }
        let mut head = head?;
        law.mark_late(&mut head, now, verdicts);
        Some(head.packet)
    }

    /// Returns whether the delay has been above the target for an interval
    /// (`codel_should_drop`).
    fn stays_above<B>(&mut self, law: &Law, head: Option<&Head<B>>, now: Time) -> bool {
        let now = ticks(now.as_nanos());
        let above = head.is_some_and(|head| {
            now - ticks(head.since.as_nanos()) >= law.target && head.backlog > law.mtu
        });
        if !above {
            self.first_above = None;
            return false;
        }
        let since = *self.first_above.get_or_insert(now + law.interval);
        now > since
    }

    fn drop_what_is_due<B>(
        &mut self,
        law: &Law,
        now: Time,
        mut head: Option<Head<B>>,
        verdicts: &mut Verdicts<B>,
        mut pop: impl FnMut() -> Option<Head<B>>,
    ) -> Option<Head<B>> {
        while self.dropping && ticks(now.as_nanos()) >= self.drop_next {
            let mut victim = head?;
            self.count = self.count.wrapping_add(1);
            self.newton_step();
            if law.ecn && verdicts.mark(&mut victim.packet) {
                self.drop_next = self.control_law(law, self.drop_next);
                return Some(victim);
            }
            verdicts.drop(victim.packet, now, DropReason::Early);
            head = pop();
            self.dropping = self.stays_above(law, head.as_ref(), now);
            if self.dropping {
                self.drop_next = self.control_law(law, self.drop_next);
            }
        }
        head
    }

    /// Drops one packet and chooses the rate of the next drops: that of the last dropping state, if
    /// that was recent.
    fn start_dropping<B>(
        &mut self,
        law: &Law,
        now: Time,
        head: Option<Head<B>>,
        verdicts: &mut Verdicts<B>,
        mut pop: impl FnMut() -> Option<Head<B>>,
    ) -> Option<Head<B>> {
        let mut head = head?;
        let marked = law.ecn && verdicts.mark(&mut head.packet);
        let next = if marked {
            Some(head)
        } else {
            verdicts.drop(head.packet, now, DropReason::Early);
            let next = pop();
            self.stays_above(law, next.as_ref(), now);
            next
        };
        self.dropping = true;
        self.resume_or_reset(law, ticks(now.as_nanos()));
        next
    }

    fn resume_or_reset(&mut self, law: &Law, now: u64) {
        let delta = self.count.wrapping_sub(self.last_count);
        // Linux compares as signed, so a future drop counts as recent.
        if delta > 1 && delta <= u32::MAX / 2 && now < self.drop_next + 16 * law.interval {
            self.count = delta;
            self.newton_step();
        } else {
            self.count = 1;
            self.inverse_root = u16::MAX;
        }
        self.last_count = self.count;
        self.drop_next = self.control_law(law, now);
    }

    /// The control law: `from` + interval / sqrt(count) (`codel_control_law`).
    fn control_law(&self, law: &Law, from: u64) -> u64 {
        match law.square_root {
            SquareRoot::Newton => from + ((law.interval * u64::from(self.inverse_root)) >> 16),
            SquareRoot::Exact => from + exact_gap(law.interval, self.count),
        }
    }

    /// Brings the inverse root closer to 1/sqrt(count). After a jump of the count it wraps as in
    /// Linux.
    fn newton_step(&mut self) {
        let root = u64::from(self.inverse_root) << 16;
        let square = (root * root) >> 32;
        let slope = (3u64 << 32).wrapping_sub(u64::from(self.count) * square) >> 2;
        self.inverse_root = (slope.wrapping_mul(root) >> 31 >> 16) as u16;
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a gap is far below 2^53 ns"
)]
fn exact_gap(interval: u64, count: u32) -> u64 {
    (interval as f64 / f64::from(count.max(1)).sqrt()) as u64
}

#[cfg(test)]
mod tests {
    use narrows_base::FlowId;

    use super::*;

    const MTU: u32 = 1_514;

    fn law() -> Law {
        Law::new(Duration::from_millis(5), Duration::from_millis(100), false, MTU)
    }

    fn head(backlog: u32) -> Head<()> {
        let packet = Packet { flow: FlowId(0), size: 1_500, ecn: Ecn::NotEct, body: () };
        Head { since: Time::ZERO, packet, backlog: u64::from(backlog) }
    }

    /// The count of a dropping state that begins `after` ticks after the last one's next drop.
    fn count_after(after: i64, drops: u32) -> u32 {
        let drop_next = 1 << 30;
        let mut control =
            Control { drop_next, count: 4 + drops, last_count: 4, ..Control::default() };
        control.resume_or_reset(&law(), drop_next.checked_add_signed(after).expect("a time"));
        assert_eq!(control.last_count, control.count);
        control.count
    }

    /// `codel_dequeue`: `delta > 1` and less than 16 intervals since.
    #[test]
    fn dropping_resumes_where_it_was_if_that_was_not_long_ago() {
        let long = 16 * i64::try_from(law().interval).expect("a span");
        let counts = [-1, 0, long / 2, long - 1, long].map(|after| count_after(after, 6));
        assert_eq!(counts, [6, 6, 6, 6, 1]);
        assert_eq!([0, 1, 2].map(|drops| count_after(0, drops)), [1, 1, 2]);
    }

    /// `codel_should_drop`: at the target and above a packet, for longer than an interval.
    #[test]
    fn a_delay_must_stay_above_the_target_for_more_than_an_interval() {
        let (target, interval) = (5 * 1_000_000, 100 * 1_000_000);
        let at = |control: &mut Control, nanos: u64, backlog: u32| {
            control.stays_above(&law(), Some(&head(backlog)), Time::from_nanos(nanos))
        };
        let mut control = Control::default();
        let begun = at(&mut control, target, MTU + 1);
        // A tick is 1,024 ns: the interval is over at the first tick after its end.
        let end = (target / 1_024 + interval / 1_024) * 1_024;
        let found = [end, end + 1_024].map(|nanos| at(&mut control, nanos, MTU + 1));
        assert_eq!((begun, found), (false, [false, true]));
        for (nanos, backlog) in [(end + 1_024, MTU), (target - 1_024, MTU + 1)] {
            assert!(!at(&mut control, nanos, backlog));
            assert_eq!(control.first_above, None, "{nanos} {backlog}");
        }
    }
}
