//! CAKE's shaper: a deadline for the next packet instead of a bucket of tokens.

use narrows_base::{Duration, Rate, Time};

/// The time that bytes take at a rate, in the kernel's fixed-point arithmetic (`cake_set_rate`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// ns for a byte, times two to the power of `shift`.
    per_byte: u64,
    shift: u32,
}

impl Pace {
    pub(super) fn new(rate: Rate) -> Self {
        let bytes_per_second = rate.as_bytes_per_sec().max(64);
        let (mut per_byte, mut shift) = ((1_000_000_000 << 34) / bytes_per_second, 34);
        while per_byte >> 34 > 0 {
            per_byte >>= 1;
            shift -= 1;
        }
        Self { per_byte, shift }
    }

    pub(super) fn time(self, bytes: u64) -> Duration {
        Duration::from_nanos((bytes * self.per_byte) >> self.shift)
    }
}

/// The bytes that a packet occupies on the link behind the shaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// Its own length.
    None,
    /// Cells of 53 bytes that carry 48 each.
    Atm,
    /// One more for each 64 bytes, or part of them.
    Ptm,
}

/// The overhead that the shaper counts for a packet (`cake_calc_overhead`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// Bytes beyond the IP packet; none stands for the Ethernet header that Linux counts.
    pub overhead: Option<u64>,
    /// The least that is counted.
    pub mpu: u64,
    /// The cells of the link.
    pub cells: Cells,
}

impl Framing {
    pub(super) fn bytes(&self, ip_bytes: u64, frame_bytes: u64) -> u64 {
        let plain = self.overhead.map_or(frame_bytes, |overhead| ip_bytes + overhead);
        let plain = plain.max(self.mpu);
        match self.cells {
            Cells::None => plain,
            Cells::Atm => plain.div_ceil(48) * 53,
            Cells::Ptm => plain + plain.div_ceil(64),
        }
    }
}

/// The shaper; without a pace it never holds a packet.
#[derive(Clone, Debug)]
pub(super) struct Shaper {
    pace: Option<Pace>,
    next: Time,
    /// Lets packets pass although drops, which count in ingress mode, used the rate up.
    failsafe: Time,
}

impl Shaper {
    pub(super) const fn new(pace: Option<Pace>) -> Self {
        Self { pace, next: Time::ZERO, failsafe: Time::ZERO }
    }

    /// Forgets the time that passed while nothing waited: it gives no credit for a burst.
    pub(super) fn begin(&mut self, now: Time) {
        if self.next < now {
            self.next = now;
            self.failsafe = now;
        }
    }

    /// The time before which no packet may leave.
    pub(super) fn held_until(&self, now: Time) -> Option<Time> {
        let until = self.next.min(self.failsafe);
        (until > now).then_some(until)
    }

    /// Counts a packet that leaves, or that is dropped in ingress mode (`cake_advance_shaper`).
    pub(super) fn count(&mut self, bytes: u64, dropped: bool) {
        let Some(pace) = self.pace else { return };
        let time = pace.time(bytes);
        self.next += time;
        if !dropped {
            self.failsafe += time + time / 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 1,514 bytes at 20 Mbit/s take 605.6 us, less what the fixed point cuts off.
    #[test]
    fn a_frame_takes_its_bytes_at_the_rate() {
        let pace = Pace::new(Rate::from_bps(20_000_000));
        assert_eq!(pace.time(1_514).as_nanos(), 605_600);
        // The slowest rate is 64 bytes a second.
        assert_eq!(Pace::new(Rate::from_bps(8)).time(64).as_nanos(), 1_000_000_000);
    }

    #[test]
    fn cells_and_the_least_packet_count() {
        let count = |overhead, mpu, cells| Framing { overhead, mpu, cells }.bytes(1_500, 1_514);
        assert_eq!(count(None, 0, Cells::None), 1_514);
        assert_eq!(count(Some(0), 0, Cells::None), 1_500);
        assert_eq!(count(Some(18), 1_600, Cells::None), 1_600);
        // 1,540 bytes are 33 cells; 25 pieces of 64 bytes.
        assert_eq!(count(Some(40), 0, Cells::Atm), 33 * 53);
        assert_eq!(count(Some(40), 0, Cells::Ptm), 1_540 + 25);
    }

    #[test]
    fn drops_hold_packets_for_half_as_long_again_at_most() {
        let mut shaper = Shaper::new(Some(Pace::new(Rate::from_bps(8_000_000))));
        shaper.begin(Time::ZERO);
        shaper.count(1_000, false);
        let close = |at: Time, us: u64| at.as_nanos().abs_diff(us * 1_000) <= 2;
        assert!(close(shaper.held_until(Time::ZERO).unwrap(), 1_000));
        for _ in 0..9 {
            shaper.count(1_000, true);
        }
        assert!(close(shaper.held_until(Time::ZERO).unwrap(), 1_500), "{shaper:?}");
        assert_eq!(shaper.held_until(Time::from_nanos(1_500_000)), None);
    }
}
