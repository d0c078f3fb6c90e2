//! The packets of media on the wire: RTP with a descriptor of the frame, and feedback.

use narrows_base::{Duration, Ecn, Time};

/// Bytes of the RTP header and the descriptor.
pub(crate) const HEADER: usize = 32;
/// The payload type, one of the dynamic ones (RFC 3551 section 6).
const PAYLOAD_TYPE: u8 = 96;
/// RTCP packet types: transport and payload feedback (RFC 4585 section 6.1).
const TRANSPORT_FEEDBACK: u8 = 205;
const PAYLOAD_FEEDBACK: u8 = 206;
/// Kinds of feedback: congestion control (RFC 8888 section 3.1), picture loss (RFC 4585 6.3.1).
const CONGESTION_CONTROL: u8 = 11;
const PICTURE_LOSS: u8 = 1;
const VERSION: u8 = 2 << 6;
const SSRC: u32 = 1;
/// An offset of the arrival beyond what the field holds (RFC 8888 section 3.1).
const LONG_AGO: u16 = 0x1FFE;

/// A packet of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    /// The number of the packet modulo 2^16.
    pub(crate) seq: u16,
    pub(crate) frame: u32,
    /// Its number among those of the frame, and how many these are.
    pub(crate) index: u16,
    pub(crate) count: u16,
    pub(crate) key: bool,
    pub(crate) captured: Time,
}

impl Packet {
    /// The packet with `len` bytes in all.
    pub(crate) fn write(&self, len: usize) -> Box<[u8]> {
        let mut bytes = Vec::with_capacity(len);
        let last = u8::from(self.index + 1 == self.count) << 7;
        bytes.extend([VERSION, last | PAYLOAD_TYPE]);
        bytes.extend(self.seq.to_be_bytes());
        let ticks = u128::from(self.captured.as_nanos()) * 90_000 / 1_000_000_000;
        bytes.extend(&ticks.to_be_bytes()[12..]);
        bytes.extend(SSRC.to_be_bytes());
        bytes.extend(self.frame.to_be_bytes());
        bytes.extend(self.index.to_be_bytes());
        bytes.extend(self.count.to_be_bytes());
        bytes.extend([u8::from(self.key), 0, 0, 0]);
        bytes.extend(self.captured.as_nanos().to_be_bytes());
        bytes.resize(len.max(HEADER), 0);
        bytes.into()
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        Some(Self {
            seq: word(2)?,
            frame: u32::from_be_bytes(bytes.get(12..16)?.try_into().ok()?),
            index: word(16)?,
            count: word(18)?,
            key: *bytes.get(20)? == 1,
            captured: Time::from_nanos(u64::from_be_bytes(bytes.get(24..32)?.try_into().ok()?)),
        })
    }
}

/// The arrival of a packet and its ECN bits; None if it hasn't arrived.
pub(crate) type Arrival = Option<(Time, Ecn)>;

/// A report of RFC 8888, and whether a key frame is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Feedback {
    /// The number of the first packet modulo 2^16.
    pub(crate) begin: u16,
    pub(crate) arrivals: Vec<Arrival>,
    /// When it left, in 1/65536 s.
    pub(crate) at: Time,
    pub(crate) wants_key: bool,
}

impl Feedback {
    pub(crate) fn write(&self) -> Box<[u8]> {
        let count = self.arrivals.len();
        let words = u16::try_from(4 + count.div_ceil(2)).expect("a report has few packets");
        let mut bytes = vec![VERSION | CONGESTION_CONTROL, TRANSPORT_FEEDBACK];
        bytes.extend(words.to_be_bytes());
        bytes.extend(SSRC.to_be_bytes());
        bytes.extend(SSRC.to_be_bytes());
        bytes.extend(self.begin.to_be_bytes());
        bytes.extend(u16::try_from(count).expect("a report has few packets").to_be_bytes());
        for arrival in &self.arrivals {
            bytes.extend(self.metric(*arrival).to_be_bytes());
        }
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend(short_time(self.at).to_be_bytes());
        if self.wants_key {
            bytes.extend([VERSION | PICTURE_LOSS, PAYLOAD_FEEDBACK, 0, 2]);
            bytes.extend(SSRC.to_be_bytes());
            bytes.extend(SSRC.to_be_bytes());
        }
        bytes.into()
    }

    /// The 16 bits of a packet: whether it arrived, its ECN bits, and how long ago in 1/1024 s.
    fn metric(&self, arrival: Arrival) -> u16 {
        let Some((at, ecn)) = arrival else { return 0 };
        let ago = u128::from(self.at.saturating_since(at).as_nanos()) * 1024 / 1_000_000_000;
        let ago = u16::try_from(ago).unwrap_or(LONG_AGO).min(LONG_AGO);
        1 << 15 | u16::from(ecn.bits()) << 13 | ago
    }

    /// The feedback in a packet that arrives at `now`.
    pub(crate) fn read(bytes: &[u8], now: Time) -> Option<Self> {
        let word = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        let (begin, count) = (word(12)?, usize::from(word(14)?));
        let end = (16 + 2 * count).next_multiple_of(4);
        let short = u32::from_be_bytes(bytes.get(end..end + 4)?.try_into().ok()?);
        let at = long_time(short, now);
        let metrics = (0..count).map(|number| word(16 + 2 * number));
        let arrivals = metrics.map(|metric| Some(arrival(metric?, at))).collect::<Option<_>>()?;
        let wants_key = bytes.get(end + 5) == Some(&PAYLOAD_FEEDBACK);
        Some(Self { begin, arrivals, at, wants_key })
    }
}

fn arrival(metric: u16, reported: Time) -> Arrival {
    let [high, _] = metric.to_be_bytes();
    let ecn = Ecn::from_bits(high >> 5);
    let ago = Duration::from_nanos(u64::from(metric & 0x1FFF) * 1_000_000_000 / 1024);
    let at = Time::ZERO + reported.saturating_since(Time::ZERO).saturating_sub(ago);
    (metric >> 15 == 1).then_some((at, ecn))
}

/// A time in 1/65536 s modulo 2^32, the middle of an NTP timestamp.
fn short_time(at: Time) -> u32 {
    let ticks = u128::from(at.as_nanos()) * 65_536 / 1_000_000_000;
    u32::try_from(ticks % (1 << 32)).expect("it is below 2^32")
}

/// The latest such time up to `now`.
fn long_time(short: u32, now: Time) -> Time {
    let ticks = u128::from(now.as_nanos()) * 65_536 / 1_000_000_000;
    let behind = (ticks + (1 << 32) - u128::from(short)) % (1 << 32);
    let nanos = (ticks.saturating_sub(behind) * 1_000_000_000).div_ceil(65_536);
    Time::from_nanos(u64::try_from(nanos).expect("it is at most now")).min(now)
}

/// The number that has these lowest 16 bits and is nearest to `near`.
pub(crate) fn whole(short: u16, near: u64) -> u64 {
    let ahead =
        short.wrapping_sub(near.to_be_bytes()[6..].try_into().map_or(0, u16::from_be_bytes));
    if ahead < 1 << 15 {
        near + u64::from(ahead)
    } else {
        near.saturating_sub((1 << 16) - u64::from(ahead))
    }
}

/// The lowest 16 bits of a number.
pub(crate) fn short(number: u64) -> u16 {
    u16::try_from(number % (1 << 16)).expect("it is below 2^16")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_read_as_it_was_written() {
        let captured = Time::from_nanos(1_234_567_890);
        let packet = Packet { seq: 65_535, frame: 7, index: 1, count: 3, key: true, captured };
        let bytes = packet.write(100);
        assert_eq!((bytes.len(), &bytes[..2]), (100, &[0x80, 96][..]));
        assert_eq!(bytes[4..8], 111_111_u32.to_be_bytes(), "1.234567 s at 90 kHz");
        assert_eq!(Packet::read(&bytes), Some(packet));
        assert_eq!(Packet::read(&bytes[..31]), None);
    }

    #[test]
    fn feedback_is_read_as_it_was_written_to_a_1024th_of_a_second() {
        // 250 ms are 256 / 1024 s; the report leaves at 10.5 s, which is exact in 1/65536 s.
        let at = Time::from_nanos(10_500_000_000);
        let earlier = Time::from_nanos(10_250_000_000);
        let arrivals = vec![Some((earlier, Ecn::Ce)), None, Some((at, Ecn::Ect1))];
        for wants_key in [false, true] {
            let report = Feedback { begin: 65_534, arrivals: arrivals.clone(), at, wants_key };
            let bytes = report.write();
            // Header and source 8, block 8, three packets and padding 8, time 4; then 12.
            assert_eq!(bytes.len(), if wants_key { 40 } else { 28 });
            assert_eq!(bytes[16..18], (0xE000_u16 | 256).to_be_bytes());
            assert_eq!(usize::from(bytes[3]), 28 / 4 - 1, "RTCP counts words, less one");
            let now = Time::from_nanos(10_540_000_000);
            assert_eq!(Feedback::read(&bytes, now), Some(report));
            assert_eq!(Feedback::read(&bytes[..27], now), None);
        }
    }

    #[test]
    fn short_numbers_are_nearest_to_the_last() {
        assert_eq!(whole(1, 65_535), 65_537);
        assert_eq!(whole(65_535, 65_537), 65_535);
        assert_eq!(whole(5, 3), 5);
        let later = Time::from_nanos(70_000_000_000_000);
        let back = long_time(short_time(later), later + Duration::from_millis(3));
        assert!(later.saturating_since(back) < Duration::from_micros(16));
        assert!(back.saturating_since(later) < Duration::from_micros(16));
    }
}
