//! The kernel's coarse timers, and TCP's timestamp clock.

use narrows_base::{Duration, Jiffies, Time};

/// Up to this many ticks the wheel has single-tick resolution (`LVL_START(1)`).
const FINE_TICKS: u64 = 63;
/// Each level of the wheel is eight times as coarse (`LVL_CLK_SHIFT`).
const LEVEL_SHIFT: u32 = 3;
/// The first timeout of a SYN, and of its answer, in us (RFC 6298 section 2.1, `TCP_TIMEOUT_INIT`).
const HANDSHAKE_TIMEOUT_US: u64 = 1_000_000;

/// When a timer set at `now` for `ticks` ticks fires (`mod_timer(jiffies + ticks)`).
///
/// The timer wheel never fires early: it adds a tick, and up to an eighth to longer timers, because
/// they wait in coarser slots (`calc_index` and `calc_wheel_index` of kernel/time/timer.c, since
/// 4.8).
pub(crate) fn fires_at(clock: Jiffies, now: Time, ticks: u64) -> Time {
    let mut shift = 0;
    while ticks >= FINE_TICKS << shift {
        shift += LEVEL_SHIFT;
    }
    let expires = clock.at(now) + ticks;
    let slot = ((expires >> shift) + 1) << shift;
    clock.instant(slot)
}

/// When the timer of a handshake that is set at `now` fires after `doublings` doublings.
pub(crate) fn handshake_timeout(clock: Jiffies, now: Time, doublings: u32) -> Time {
    fires_at(clock, now, clock.ceil_micros(HANDSHAKE_TIMEOUT_US) << doublings)
}

/// The round trip since the timestamp that is echoed, at least a millisecond (`tcp_rtt_tsopt_us`).
pub(crate) fn echoed_rtt(ts_echo: u32, now: Time) -> Duration {
    Duration::from_millis(u64::from(timestamp_ms(now).saturating_sub(ts_echo).max(1)))
}

/// TCP's timestamp clock: milliseconds (RFC 7323, `TCP_TS_HZ`), never zero.
pub(crate) fn timestamp_ms(now: Time) -> u32 {
    u32::try_from(now.as_nanos() / 1_000_000 + 1).expect("a run shorter than 49 days")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_fire_on_ticks() {
        let jiffies = Jiffies::new(250);
        let now = Time::from_nanos(5_900_000);
        let at_tick = |tick: u64| Time::from_nanos(tick * 4_000_000);
        assert_eq!(fires_at(jiffies, now, 3), at_tick(5), "not before three whole ticks");
        assert_eq!(fires_at(jiffies, now, 62), at_tick(64));
        assert_eq!(fires_at(jiffies, now, 69), at_tick(72), "slots of eight ticks");
        assert_eq!(fires_at(jiffies, now, 504), at_tick(512), "slots of 64 ticks");
    }
}
