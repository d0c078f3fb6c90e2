//! The largest values of a specification; larger ones are mistakes, usually of a unit.

/// Rates, in bit/s.
pub const MAX_RATE_BPS: u64 = 1_000_000_000_000;
/// Durations, in ns.
pub const MAX_DURATION_NS: u64 = 1_000_000_000_000_000;
/// Sizes and buffers, in bytes.
pub const MAX_BYTES: u64 = 1_000_000_000_000;
/// Buffers, in packets.
pub const MAX_PACKETS: u64 = 1_000_000_000;
/// Flows of a run.
pub const MAX_FLOWS: u64 = 10_000;
/// Trials of a combination.
pub const MAX_TRIALS: u64 = 10_000;
/// Combinations of a study.
pub const MAX_CELLS: u64 = 1_000_000;
/// Values of a range.
pub const MAX_VALUES: u64 = 100_000;
/// Characters of a name.
pub const MAX_NAME: usize = 80;
/// Bytes of a program's argument.
pub const MAX_ARGUMENT: usize = 4_096;
/// Keys of a table.
pub const MAX_KEYS: usize = 1_000;
/// Instants of sampling in a run.
pub const MAX_ROWS: u64 = 10_000_000;
/// IP bytes of a full packet, for conversions between packets and bytes.
pub const PACKET_BYTES: u64 = 1_500;
/// Values of a parameter or a distribution, whose sums still fit 64 bits.
pub const MAX_VALUE: u64 = 1_000_000_000_000_000;
/// Pairs of an empirical distribution.
pub const MAX_POINTS: usize = 10_000;
