//! Unsent data that an application keeps in its socket (`TCP_NOTSENT_LOWAT`), in the simulator and on
//! real kernels alike.

/// What an application keeps that pauses, and should then be silent soon, in bytes.
pub const OF_APPLICATIONS: u64 = 32 * 1024;

/// What a flow keeps at least that sends all it can, in bytes.
const OF_BULK: u64 = 256 * 1024;
/// It lasts for at least this many milliseconds at the path's rate, which is longer than a sender
/// waits for a processor of a busy machine.
const BULK_MS: u64 = 10;

/// What a flow keeps that sends all it can over a path of this rate, in bytes: enough that TCP is
/// never short of data, little enough that a flow that stops doesn't go on for long.
#[must_use]
pub fn of_bulk(rate_bps: u64) -> u64 {
    (rate_bps / 8_000).saturating_mul(BULK_MS).max(OF_BULK)
}

#[cfg(test)]
mod tests {
    use super::of_bulk;

    #[test]
    fn unsent_data_last_for_ten_milliseconds() {
        assert_eq!(of_bulk(100_000_000), 262_144);
        assert_eq!(of_bulk(2_000_000_000), 2_500_000);
    }
}
