//! A rate that changes at given times.

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role, Unit};
use narrows_base::{Bytes, Rate, Time};

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "steps",
    title: "Rate in steps",
    family: "rate",
    summary: "a rate that changes at given times, even within a packet",
    source: "crates/net/src/service/steps.rs",
    role: Role::Service,
    parameters: &[Parameter::new(
        "rates",
        Unit::Rates,
        ParameterDefault::Required,
        "times with the rate from then on; before, it is the link's; 0bit is an outage",
    )],
};

/// Bits per second times ns in a byte.
const NANOS_PER_BYTE_AT_1_BPS: u128 = 8_000_000_000;

/// A serialiser whose rate changes at given times, even during a transmission: the rest of the
/// packet continues at the new rate. A rate of zero is an outage.
///
/// It rounds as [`ConstantRate`](crate::ConstantRate) does: a busy period takes
/// its exact time, truncated to the nanosecond.
#[derive(Clone, Debug)]
pub struct SteppedRate {
    /// Before the first change.
    initial: u64,
    /// At the end of the last transmission.
    rate: u64,
    /// The future and past changes, in order.
    steps: Vec<(Time, Rate)>,
    /// The index of the next change after the last transmission.
    next: usize,
    /// When the last transmission ended, truncated.
    end: Time,
    /// The remainder of the truncation, in units of 1/rate ns.
    fraction: u64,
}

impl SteppedRate {
    /// `initial` until the first of `steps`; each sets the rate from its time on.
    ///
    /// # Panics
    /// If the times don't ascend or the last rate is zero: packets would stay
    /// for ever.
    #[must_use]
    pub fn new(initial: Rate, steps: Vec<(Time, Rate)>) -> Self {
        assert!(steps.windows(2).all(|w| w[0].0 < w[1].0), "the times of the steps must ascend");
        let last = steps.last().map_or(initial, |step| step.1);
        assert!(last.as_bps() > 0, "the last rate must be above zero");
        let rate = initial.as_bps();
        Self { initial: rate, rate, steps, next: 0, end: Time::ZERO, fraction: 0 }
    }

    /// A rate without steps, after a transmission that ended at `end` and `fraction` / `rate` ns.
    pub(super) const fn constant_after(rate: u64, end: Time, fraction: u64) -> Self {
        Self { initial: rate, rate, steps: Vec::new(), next: 0, end, fraction }
    }

    /// Adds a change at `at`, before which every transmission so far has begun. If one lasts longer,
    /// its rest continues at the new rate.
    ///
    /// Returns when the last transmission so far ends.
    ///
    /// # Panics
    /// If `rate` is zero.
    pub fn change(&mut self, at: Time, rate: Rate) -> Time {
        assert!(rate.as_bps() > 0, "a link's rate changes to a rate above zero");
        let left = self.remaining_work(at);
        let place = self.steps.partition_point(|step| step.0 < at);
        let same = self.steps.get(place).is_some_and(|step| step.0 == at);
        self.steps.splice(place..place + usize::from(same), [(at, rate)]);
        self.next = self.next.min(place);
        if left > 0 {
            return self.serve(at, left);
        }
        self.end
    }

    /// The work left at `at` of a transmission that began earlier, in 1e-9 bit.
    fn remaining_work(&self, at: Time) -> u128 {
        if self.end < at {
            return 0;
        }
        let begun = self.steps.partition_point(|step| step.0 <= at);
        let mut rate =
            begun.checked_sub(1).map_or(self.initial, |last| self.steps[last].1.as_bps());
        let (mut left, mut now) = (u128::from(self.fraction), at);
        for &(until, next) in self.steps[begun..].iter().take_while(|step| step.0 < self.end) {
            left += u128::from((until - now).as_nanos()) * u128::from(rate);
            (now, rate) = (until, next.as_bps());
        }
        left + u128::from((self.end - now).as_nanos()) * u128::from(rate)
    }

    /// When a transmission of `size` that begins at `start` ends.
    ///
    /// # Panics
    /// If the end is beyond the range of [`Time`].
    pub fn transmit(&mut self, start: Time, size: Bytes) -> Time {
        let carried = if start == self.end { self.fraction } else { 0 };
        self.serve(start, u128::from(size.get()) * NANOS_PER_BYTE_AT_1_BPS + u128::from(carried))
    }

    /// When the rest of a transmission ends, of which `left` remains at `now`.
    fn serve(&mut self, mut now: Time, mut left: u128) -> Time {
        loop {
            let until = self.steps.get(self.next).map(|step| step.0);
            if until.is_some_and(|until| until <= now) {
                self.rate = self.steps[self.next].1.as_bps();
                self.next += 1;
                continue;
            }
            let nanos = until.map(|until| u128::from((until - now).as_nanos()));
            let Some(possible) = nanos.map(|nanos| nanos * u128::from(self.rate)) else { break };
            // A packet that ends as the rate changes ends at the old rate.
            if left <= possible && self.rate > 0 {
                break;
            }
            left -= possible;
            now = self.steps[self.next].0;
        }
        self.finish(now, left)
    }

    /// Ends after the rest, `left`, at the current rate.
    fn finish(&mut self, now: Time, left: u128) -> Time {
        let rate = u128::from(self.rate);
        let whole = u64::try_from(left / rate).expect("a transmission ends beyond all time");
        #[expect(clippy::cast_possible_truncation, reason = "less than a rate of 64 bits")]
        let fraction = (left % rate) as u64;
        self.fraction = fraction;
        self.end = Time::from_nanos(now.as_nanos() + whole);
        self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ConstantRate;

    const MEGABIT: u64 = 1_000_000;

    fn stepped_rate(initial: u64, steps: &[(u64, u64)]) -> SteppedRate {
        let step = |s: &(u64, u64)| (Time::from_nanos(s.0), Rate::from_bps(s.1));
        SteppedRate::new(Rate::from_bps(initial), steps.iter().map(step).collect())
    }

    #[test]
    fn without_steps_it_is_the_constant_rate() {
        for rate in [1_000_003, 7_777_777, 999_999_937] {
            let (mut a, mut b) = (stepped_rate(rate, &[]), ConstantRate::new(Rate::from_bps(rate)));
            let mut start = Time::from_nanos(17);
            for n in 0..10_000u64 {
                let size = Bytes::new(40 + n * 7_919 % 1_461);
                let end = a.transmit(start, size);
                assert_eq!(end, b.transmit(start, size), "packet {n} at {rate} bit/s");
                start = end;
            }
        }
    }

    /// 1,000 bytes: 8 ms at 1 Mbit/s, half of it at double the rate, 6 ms.
    #[test]
    fn a_packet_in_transmission_goes_on_at_the_new_rate() {
        let mut rate = stepped_rate(MEGABIT, &[(4_000_000, 2 * MEGABIT)]);
        assert_eq!(rate.transmit(Time::ZERO, Bytes::new(1_000)), Time::from_nanos(6_000_000));
        let next = rate.transmit(Time::from_nanos(6_000_000), Bytes::new(1_000));
        assert_eq!(next, Time::from_nanos(10_000_000));
    }

    #[test]
    fn an_outage_holds_a_packet_up() {
        let mut rate = stepped_rate(MEGABIT, &[(4_000_000, 0), (50_000_000, MEGABIT)]);
        assert_eq!(rate.transmit(Time::ZERO, Bytes::new(1_000)), Time::from_nanos(54_000_000));
        let mut rate = stepped_rate(MEGABIT, &[(8_000_000, 0), (50_000_000, MEGABIT)]);
        assert_eq!(rate.transmit(Time::ZERO, Bytes::new(1_000)), Time::from_nanos(8_000_000));
        let next = rate.transmit(Time::from_nanos(8_000_000), Bytes::new(1_000));
        assert_eq!(next, Time::from_nanos(58_000_000));
    }

    #[test]
    fn several_steps_within_one_packet_add_up() {
        let steps: Vec<_> = (1..=7).map(|n| (n * 1_000_000, (1 + n % 2) * MEGABIT)).collect();
        let mut rate = stepped_rate(MEGABIT, &steps);
        // ms by ms: 1 + 2 + 1 + 2 + 1 + 2 kbit.
        assert_eq!(rate.transmit(Time::ZERO, Bytes::new(1_125)), Time::from_nanos(6_000_000));
    }

    #[test]
    #[should_panic(expected = "last rate must be above zero")]
    fn an_endless_outage_panics() {
        let _ = stepped_rate(MEGABIT, &[(1, 0)]);
    }

    /// A rate that is changed while packets are being sent sends as one whose changes were known.
    #[test]
    fn a_change_on_the_way_is_a_step_that_was_not_known() {
        let changes = [(40_000_u64, 3_000_017_u64), (40_500, 7), (9_000_000_000, 999_999_937)];
        let mut known = stepped_rate(1_000_003, &changes);
        let mut stepped = SteppedRate::constant_after(1_000_003, Time::ZERO, 0);
        let (mut start, mut changes) = (Time::from_nanos(17), changes.iter().peekable());
        for n in 0..2_000u64 {
            let size = Bytes::new(40 + n * 7_919 % 1_461);
            let mut end = stepped.transmit(start, size);
            while let Some((at, rate)) = changes.next_if(|change| change.0 <= end.as_nanos()) {
                end = stepped.change(Time::from_nanos(*at), Rate::from_bps(*rate));
            }
            assert_eq!(known.transmit(start, size), end, "packet {n}");
            start = end;
        }
        assert!(changes.next().is_none(), "every change was made");
    }

    #[test]
    fn a_change_between_two_transmissions_and_twice_at_one_instant() {
        let mut rate = stepped_rate(MEGABIT, &[(5_000_000, MEGABIT)]);
        assert_eq!(rate.transmit(Time::ZERO, Bytes::new(125)).as_nanos(), 1_000_000);
        let at = Time::from_nanos(2_000_000);
        for mbps in [4, 2] {
            assert_eq!(rate.change(at, Rate::from_bps(mbps * MEGABIT)).as_nanos(), 1_000_000);
        }
        // 2 ms at 2 Mbit/s, then the step that was known: 2.5 ms + 1 ms.
        let start = Time::from_nanos(2_500_000);
        assert_eq!(rate.transmit(start, Bytes::new(750)).as_nanos(), 6_000_000);
    }
}
