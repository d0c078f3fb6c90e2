//! COBALT: CoDel for flows that respond to signals, and BLUE for those that don't.

use narrows_base::{Duration, Stream, Time};

use super::pace::Pace;
use crate::queue::waiting::FRAME;

/// The step by which an overflow raises BLUE's probability: 1/256, in units of 2^-32.
const UP: u32 = 1 << 24;
/// The step by which an empty queue lowers BLUE's probability: 1/4096, in units of 2^-32.
const DOWN: u32 = 1 << 20;

/// The kernel's values of 2^32 / sqrt(count) for small counts; Newton steps give the others.
const ROOTS: [u32; 16] = [
    u32::MAX,
    u32::MAX,
    3_037_000_500,
    2_479_700_525,
    2_147_483_647,
    1_920_767_767,
    1_753_413_056,
    1_623_345_051,
    1_518_500_250,
    1_431_655_765,
    1_358_187_914,
    1_294_981_364,
    1_239_850_263,
    1_191_209_601,
    1_147_878_294,
    1_108_955_788,
];

/// The parameters of COBALT, in ns (`struct cobalt_params`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Params {
    interval: u64,
    target: u64,
    /// The transmission time of a full frame at the shaper's rate.
    frame: u64,
}

impl Params {
    /// The target is 5 % of the `rtt`, as `tc` sets it, but at least the time of 1.5 frames.
    pub(super) fn new(rtt: Duration, pace: Option<Pace>) -> Self {
        let frame = pace.map_or(0, |pace| pace.time(FRAME.into()).as_nanos());
        let default_target = (rtt.as_nanos() / 1_000 / 20).max(1) * 1_000;
        let target = default_target.max(frame * 3 / 2);
        let interval = (rtt.as_nanos() + target - default_target).max(2 * target);
        Self { interval, target, frame }
    }
}

/// A packet that leaves the head of a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// When it was enqueued.
    pub(super) since: Time,
    pub(super) now: Time,
    /// The number of bulk flows in ingress mode; 0 in other modes.
    pub(super) bulk: u64,
}

/// COBALT's state for one flow (`struct cobalt_vars`).
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    count: u32,
    /// 2^32 / sqrt(count); zero until the count changes for the first time.
    root: u32,
    /// When the next signal is due; while the count is 0, until when the flow counts as active.
    next: i64,
    blue_changed: i64,
    /// BLUE's drop probability, in units of 2^-32.
    blue: u32,
    dropping: bool,
}

impl Control {
    /// Notes that the flow lost a packet because the queue was full (`cobalt_queue_full`).
    pub(super) fn on_overflow(&mut self, params: &Params, now: Time) {
        let now = nanos(now);
        if now - self.blue_changed > params.target.cast_signed() {
            self.blue = self.blue.saturating_add(UP);
            self.blue_changed = now;
        }
        self.dropping = true;
        self.next = now;
        self.count = self.count.max(1);
    }

    /// Notes that the flow had its turn without a packet (`cobalt_queue_empty`).
    pub(super) fn on_empty(&mut self, params: &Params, now: Time) {
        let now = nanos(now);
        if self.blue > 0 && now - self.blue_changed > params.target.cast_signed() {
            self.blue = self.blue.saturating_sub(DOWN);
            self.blue_changed = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.next {
            self.change_count(self.count - 1);
            self.next = self.control_law(params, self.next);
        }
    }

    /// Returns whether past signals no longer matter, so that the flow can be forgotten.
    pub(super) fn is_at_rest(&self, now: Time) -> bool {
        self.blue == 0 && self.count == 0 && nanos(now) >= self.next
    }

    /// Returns whether to drop the packet (`cobalt_should_drop`). `mark` marks it, and returns false if
    /// it can't be marked.
    pub(super) fn drops(
        &mut self,
        params: &Params,
        head: Head,
        random: &mut Stream,
        mark: impl FnOnce() -> bool,
    ) -> bool {
        let waited = head.now.saturating_since(head.since).as_nanos();
        let now = nanos(head.now);
        let above = waited > params.target && waited > params.frame * (2 * head.bulk).max(4);
        let due = self.count > 0 && now >= self.next;
        let mut behind = now - self.next;
        if above {
            self.begin_or_prolong(params, now);
        }
        self.dropping = above;
        let mut dropped = false;
        if due && self.dropping {
            dropped = !mark();
            self.change_count(self.count.saturating_add(1));
            self.next = self.control_law(params, self.next);
            behind = now - self.next;
        } else if due {
            behind = self.decay(params, now);
        }
        if self.blue > 0 {
            dropped |= ((random.next_u64() >> 32) as u32) < self.blue;
        }
        if self.count == 0 {
            self.next = now + params.interval.cast_signed();
        } else if behind > 0 && !dropped {
            self.next = now;
        }
        dropped
    }

    /// Begins or prolongs the dropping state, since the delay is above the target.
    fn begin_or_prolong(&mut self, params: &Params, now: i64) {
        if !self.dropping {
            self.next = self.control_law(params, now);
        }
        self.count = self.count.max(1);
    }

    /// Lowers the count once for each interval that has passed; returns how far `now` is past the
    /// next one, in ns.
    fn decay(&mut self, params: &Params, now: i64) -> i64 {
        while self.count > 0 && now >= self.next {
            self.change_count(self.count - 1);
            self.next = self.control_law(params, self.next);
        }
        now - self.next
    }

    fn change_count(&mut self, count: u32) {
        self.count = count;
        let newton = || {
            let root = u64::from(self.root);
            let square = (root * root) >> 32;
            let slope = (3u64 << 32).wrapping_sub(u64::from(count) * square) >> 2;
            (slope.wrapping_mul(root) >> 31) as u32
        };
        self.root = ROOTS.get(count as usize).copied().unwrap_or_else(newton);
    }

    /// The control law: the interval divided by sqrt(count) after `from`. The kernel truncates the
    /// interval to 32 bits.
    fn control_law(&self, params: &Params, from: i64) -> i64 {
        let interval = params.interval & u64::from(u32::MAX);
        from + ((interval * u64::from(self.root)) >> 32).cast_signed()
    }
}

fn nanos(time: Time) -> i64 {
    time.as_nanos().cast_signed()
}

#[cfg(test)]
mod tests {
    use narrows_base::Rate;

    use super::*;

    const MS: u64 = 1_000_000;

    fn params() -> Params {
        Params::new(Duration::from_millis(100), None)
    }

    /// The verdicts on packets that leave one a ms, after `waited` ms in the queue.
    fn verdicts(control: &mut Control, from: u64, count: u64, waited: u64) -> Vec<bool> {
        let mut random = Stream::new(1, "blue");
        (from..from + count)
            .map(|ms| {
                let (now, since) = (ms * MS, (ms - waited) * MS);
                let (now, since) = (Time::from_nanos(now), Time::from_nanos(since));
                control.drops(&params(), Head { since, now, bulk: 0 }, &mut random, || false)
            })
            .collect()
    }

    fn when(verdicts: &[bool]) -> Vec<usize> {
        verdicts.iter().enumerate().filter(|(_, dropped)| **dropped).map(|(at, _)| at).collect()
    }

    /// A flow that never had a signal gets its first at once, since its root is zero, and the
    /// second after 100 ms / sqrt(2).
    #[test]
    fn signals_become_more_frequent() {
        let mut control = Control::default();
        assert_eq!(when(&verdicts(&mut control, 1_000, 250, 6)), [1, 71, 129, 179, 224]);
        // Below the target nothing is dropped, and the count decays as quickly.
        assert_eq!(when(&verdicts(&mut control, 1_250, 400, 5)), []);
        assert_eq!(control.count, 0);
        // From then on the first signal takes an interval.
        assert_eq!(when(&verdicts(&mut control, 1_650, 150, 6)), [100]);
    }

    #[test]
    fn a_slow_link_has_a_longer_target() {
        let pace = Pace::new(Rate::from_bps(1_000_000));
        let params = Params::new(Duration::from_millis(100), Some(pace));
        // 1,514 bytes take 12.1 ms.
        assert_eq!(params.frame / 1_000, 12_112);
        assert_eq!(params.target / 1_000, 18_168);
        assert_eq!(params.interval / 1_000, 113_168);
    }

    #[test]
    fn overflows_raise_the_probability_and_empty_turns_lower_it() {
        let (mut control, params) = (Control::default(), params());
        for ms in [10, 12, 16] {
            control.on_overflow(&params, Time::from_nanos(ms * MS));
        }
        assert_eq!(control.blue, 2 * UP, "once per target");
        for ms in [30, 32, 36] {
            control.on_empty(&params, Time::from_nanos(ms * MS));
        }
        assert_eq!(control.blue, 2 * UP - 2 * DOWN);
        assert!(!control.is_at_rest(Time::from_nanos(40 * MS)));
        // BLUE alone drops at random, even packets that didn't wait.
        control.blue = 1 << 31;
        let dropped = when(&verdicts(&mut control, 1_000, 1_000, 0)).len();
        assert!((440..560).contains(&dropped), "{dropped}");
    }
}
