//! BBR's fixed-point numbers: bandwidths in packets per us, gains in 1/256.

use narrows_base::Duration;

use crate::profile::PacingUnits;

/// Fraction bits of a bandwidth (`BW_SCALE`).
pub(super) const BW_SCALE: u32 = 24;
/// Fraction bits of a gain (`BBR_SCALE`).
pub(super) const GAIN_SCALE: u32 = 8;
/// A gain of 1.
pub(super) const UNIT: u32 = 1 << GAIN_SCALE;
/// 2/ln 2: doubles the rate each round (`bbr_high_gain`).
pub(super) const HIGH_GAIN: u32 = UNIT * 2885 / 1000 + 1;
/// Drains in a round what STARTUP queued (`bbr_drain_gain`).
pub(super) const DRAIN_GAIN: u32 = UNIT * 1000 / 2885;
/// The gains of PROBE_BW's phases (`bbr_pacing_gain`).
pub(super) const CYCLE: [u32; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// The minimum window, in packets.
pub(super) const CWND_FLOOR: u32 = 4;
/// The window before the first RTT sample, in packets (`TCP_INIT_CWND`).
pub(super) const INITIAL_CWND: u32 = 10;
/// Bursts are single packets below this rate in bytes/s (`bbr_min_tso_rate`).
const SINGLE_PACKET_RATE: u64 = 1_200_000 / 8;
/// The largest super-packet with its headers (`GSO_LEGACY_MAX_SIZE`).
const MAX_LEGACY_BYTES: u64 = 65_536;
/// The most payload in a burst: [`MAX_LEGACY_BYTES`] less headers.
const MAX_BURST_BYTES: u64 = MAX_LEGACY_BYTES - 1 - 320;

/// `packets` over `micros` as a bandwidth; saturates at 256 packets/us.
pub(super) fn bandwidth(packets: u64, micros: u64) -> u32 {
    narrow((packets << BW_SCALE) / micros.max(1))
}

/// `packets` over `micros` as a bandwidth, rounded up (`bbr_calculate_bw_sample` of version 3).
pub(super) fn bandwidth_rounded_up(packets: u64, micros: u64) -> u32 {
    narrow((packets << BW_SCALE).div_ceil(micros.max(1)))
}

/// The packets that a bandwidth delivers in `micros`.
pub(super) fn packets_in(bw: u32, micros: u64) -> u64 {
    u64::from(bw).saturating_mul(micros) >> BW_SCALE
}

/// A bandwidth in Mbit/s of payload.
pub(super) fn mbps(bw: u32, mss: u32) -> f64 {
    f64::from(bw) / f64::from(1 << BW_SCALE) * f64::from(mss) * 8.0
}

/// `bw * min_rtt * gain` in packets, rounded up (`bbr_bdp`).
pub(super) fn bdp(bw: u32, min_rtt_us: u32, gain: u32) -> u32 {
    let volume = u64::from(bw) * u64::from(min_rtt_us);
    narrow((volume.saturating_mul(u64::from(gain)) >> GAIN_SCALE).div_ceil(1 << BW_SCALE))
}

/// A bandwidth in bytes/s, times a gain, less the margin
/// (`bbr_rate_bytes_per_sec`).
pub(super) fn rate_bytes(bw: u32, gain: u32, mss: u32, units: PacingUnits) -> u64 {
    let per_us = u64::from(bw) * u64::from(mss + units.rate_header);
    let scaled = per_us.saturating_mul(u64::from(gain)) >> GAIN_SCALE;
    scaled.saturating_mul(10_000 * u64::from(100 - units.margin_percent)) >> BW_SCALE
}

/// Fewest packets in a burst at a rate in bytes/s (`bbr_min_tso_segs`).
pub(super) const fn min_tso_segs(rate: u64) -> u32 {
    if rate < SINGLE_PACKET_RATE { 1 } else { 2 }
}

/// Packets in a burst at a rate in bytes/s: about a millisecond's worth
/// (`bbr_tso_segs_goal`).
pub(super) fn tso_segs_goal(rate: u64, mss: u32) -> u32 {
    let bytes = (rate >> 10).min(MAX_BURST_BYTES);
    narrow(bytes / u64::from(mss)).max(min_tso_segs(rate)).min(127)
}

/// The burst at a rate in versions 2 and 3, without their minimum: more packets on a path of a few
/// milliseconds or less (`bbr_tso_segs_generic`).
pub(super) fn tso_segs_near(rate: u64, mss: u32, min_rtt_us: u32) -> u32 {
    let near = MAX_LEGACY_BYTES.checked_shr(min_rtt_us >> 9).unwrap_or(0);
    let bytes = (rate >> 10).saturating_add(near).min(MAX_BURST_BYTES);
    narrow(bytes / u64::from(mss))
}

/// A time in us that fits Linux's 32 bits; `u32::MAX` stands for none.
pub(super) fn micros(time: Duration) -> u32 {
    narrow(time.as_micros())
}

fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAYLOAD: PacingUnits = PacingUnits { rate_header: 0, margin_percent: 1 };

    #[test]
    fn gains_are_the_kernels() {
        assert_eq!((HIGH_GAIN, DRAIN_GAIN), (739, 88));
        assert_eq!(CYCLE[..3], [320, 192, 256]);
    }

    #[test]
    fn burst_sizes_grow_with_the_rate() {
        let goal = |mbit: u64| tso_segs_goal(mbit * 1_000_000 / 8, 1448);
        let goals = [1, 10, 35, 36, 50, 75, 100, 150, 200, 300, 500, 1000].map(goal);
        assert_eq!(goals, [1, 2, 2, 3, 4, 6, 8, 12, 16, 25, 42, 45]);
        assert_eq!(tso_segs_goal(150_000, 1448), 2, "1.2 Mbit/s");
        assert_eq!(tso_segs_goal(u64::MAX, 100), 127);
    }

    #[test]
    fn pacing_rate_is_one_percent_below_the_bandwidth() {
        // 10 packets a ms of 1448 bytes: 14.48 MB/s.
        let bw = bandwidth(10, 1_000);
        let rate = rate_bytes(bw, UNIT, 1448, PAYLOAD);
        assert_eq!(rate, 14_335_186);
        assert!((mbps(bw, 1448) - 115.84).abs() < 1e-3);
    }

    #[test]
    fn extreme_values_saturate() {
        assert_eq!(bandwidth(1 << 30, 1), u32::MAX);
        assert!(rate_bytes(u32::MAX, HIGH_GAIN, 8948, PAYLOAD) > 1_000_000_000_000);
        assert_eq!(bdp(u32::MAX, u32::MAX - 1, HIGH_GAIN), u32::MAX);
    }
}
