//! How long data may remain without an answer (`TCP_USER_TIMEOUT`, RFC 5482).

use narrows_base::Time;

use crate::timer::timestamp_ms;

/// The limit, and whether it was exceeded.
#[derive(Debug, Default)]
pub(super) struct UserTimeout {
    /// In ms; none if data may wait for ever.
    limit_ms: Option<u32>,
    /// When the first probe of a closed window was due, by its timestamp in ms.
    probing_since: Option<u32>,
    expired: bool,
}

impl UserTimeout {
    pub(super) fn limit(&mut self, limit_ms: Option<u32>) {
        self.limit_ms = limit_ms;
    }

    /// Returns `true` if the limit, counted from a timestamp in ms, has passed
    /// (`retransmits_timed_out`).
    pub(super) fn is_over(&self, since: Option<u32>, now: Time) -> bool {
        let elapsed = since.map(|since| timestamp_ms(now).saturating_sub(since));
        elapsed.zip(self.limit_ms).is_some_and(|(elapsed, limit)| elapsed >= limit)
    }

    /// A timer's time, which ends with the limit (`tcp_clamp_rto_to_user_timeout`).
    pub(super) fn clamp_us(&self, wait_us: u64, since: Option<u32>, now: Time) -> u64 {
        let Some((limit, since)) = self.limit_ms.zip(since) else { return wait_us };
        let left_ms = limit.saturating_sub(timestamp_ms(now).saturating_sub(since));
        wait_us.min(u64::from(left_ms.max(1)) * 1_000)
    }

    /// When the first probe of the window was due; it is due now if there was none
    /// (`icsk_probes_tstamp`).
    pub(super) fn probing_since(&mut self, now: Time) -> Option<u32> {
        Some(*self.probing_since.get_or_insert(timestamp_ms(now)))
    }

    /// No window needs a probe.
    pub(super) fn stop_probing(&mut self) {
        self.probing_since = None;
    }

    pub(super) fn expire(&mut self) {
        self.expired = true;
    }

    /// Returns `true` if the limit was exceeded.
    pub(super) fn has_expired(&self) -> bool {
        self.expired
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::Duration;

    use super::*;

    #[test]
    fn timers_end_with_the_limit() {
        let mut timeout = UserTimeout::default();
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        assert_eq!(
            (timeout.clamp_us(5_000, Some(1), at(9)), timeout.is_over(Some(1), at(9))),
            (5_000, false)
        );
        timeout.limit(Some(10));
        assert_eq!(timeout.clamp_us(5_000, Some(1), at(7)), 3_000);
        assert_eq!([9, 10].map(|ms| timeout.is_over(Some(1), at(ms))), [false, true]);
        assert!(!timeout.is_over(None, at(99)), "nothing was sent again");
    }
}
