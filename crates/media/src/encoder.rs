//! A synthetic video encoder (RFC 8593 section 5).

use narrows_base::{Duration, Stream, Time};
use narrows_spec::law::{Draw, Draws};
use narrows_spec::scenario::Media;

use crate::number::real;

/// Frames of a burst that begins with a key frame: together they have the mean rate (`K_d`, RFC 8593
/// section 5.2).
const BURST: u64 = 8;
/// The smallest frame as a part of the mean; the Laplacian distribution has no least value.
const LEAST_PART: f64 = 0.1;
/// A change of the rate by this part counts as one.
const NOTED: f64 = 0.1;

/// A frame: its bytes, and whether it can be decoded by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) bytes: u64,
    pub(crate) key: bool,
}

/// Encodes frames of equal intervals; their sizes vary around the mean.
pub(crate) struct Encoder {
    fps: f64,
    bounds: (f64, f64),
    reaction: Duration,
    key_frame: f64,
    deviation: Draw,
    sides: Stream,
    /// The rate that it has, in bit/s, and since when.
    rate: Option<(f64, Time)>,
    /// Frames since the last key frame.
    since_key: u64,
    /// The rate at the last change that counted, and the number of these.
    noted: f64,
    changes: u64,
    bytes: u64,
}

impl Encoder {
    pub(crate) fn new(media: &Media, draws: Draws) -> Self {
        Self {
            fps: real(media.fps),
            bounds: (real(media.min_bps), real(media.max_bps)),
            reaction: Duration::from_nanos(media.reaction_ns),
            key_frame: real(media.key_frame),
            deviation: draws.of(&media.deviation_ppm, "frame"),
            sides: Stream::new(draws.seed, &format!("workload/{}/side", draws.flow)),
            rate: None,
            since_key: BURST,
            noted: 0.0,
            changes: 0,
            bytes: 0,
        }
    }

    /// The next frame, if the control wants this rate.
    pub(crate) fn frame(&mut self, target_bps: f64, key: bool, now: Time) -> Frame {
        let rate = self.adapt(target_bps, now);
        let mean = rate / 8.0 / self.fps;
        let key = key || self.bytes == 0;
        self.since_key = if key { 0 } else { self.since_key.saturating_add(1) };
        let part = match self.since_key {
            0 => self.key_frame,
            1..BURST => (real(BURST) - self.key_frame) / real(BURST - 1) * self.around_one(),
            _ => self.around_one(),
        };
        let bytes = whole(mean * part);
        self.bytes += bytes;
        Frame { bytes, key }
    }

    /// Takes a new rate, if the last one has been kept long enough (RFC 8593 section 5.1).
    fn adapt(&mut self, target_bps: f64, now: Time) -> f64 {
        let wanted = target_bps.clamp(self.bounds.0, self.bounds.1);
        match self.rate {
            Some((rate, since)) if now < since + self.reaction => return rate,
            #[expect(clippy::float_cmp, reason = "the same rate is no change")]
            Some((rate, _)) if rate == wanted => return rate,
            _ => self.rate = Some((wanted, now)),
        }
        if (wanted - self.noted).abs() > NOTED * self.noted {
            self.changes += u64::from(self.noted > 0.0);
            self.noted = wanted;
        }
        wanted
    }

    /// A draw of the Laplacian distribution around one (RFC 8593 section 5.3).
    fn around_one(&mut self) -> f64 {
        let away = real(self.deviation.next()) / 1e6;
        let side = if self.sides.next_u64() & 1 == 0 { 1.0 } else { -1.0 };
        (1.0 + side * away).max(LEAST_PART)
    }

    pub(crate) fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("encoder_mbps", self.rate.map_or(0.0, |(rate, _)| rate / 1e6));
        visit("encoded_bytes", real(self.bytes));
        visit("rate_changes", real(self.changes));
    }
}

/// A number of bytes, at least one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a frame is small")]
fn whole(bytes: f64) -> u64 {
    bytes.max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use narrows_spec::law::Law;
    use narrows_spec::scenario::MediaControl;

    use super::*;
    use crate::bench::media;

    fn encoder(media: &Media) -> Encoder {
        Encoder::new(media, Draws { seed: 1, flow: "call" })
    }

    fn sizes(encoder: &mut Encoder, count: u64, target: f64) -> Vec<u64> {
        let frame = |number: u64| {
            let now = Time::from_nanos(number * 1_000_000_000 / 30);
            encoder.frame(target, false, now).bytes
        };
        (0..count).map(frame).collect()
    }

    #[test]
    fn a_key_frame_and_the_seven_after_it_have_the_mean_rate() {
        // 1.2 Mbit/s in 30 frames: 5000 bytes each; the key frame has 15000.
        let found = sizes(&mut encoder(&media(MediaControl::None)), 10, 1.2e6);
        assert_eq!(found[0], 15_000);
        assert!(found[1..8].iter().all(|&size| size == 3_571), "(8 - 3) / 7 of 5000");
        assert_eq!(found[8..], [5_000, 5_000]);
    }

    #[test]
    fn a_rate_is_kept_for_the_reaction_time_and_within_the_bounds() {
        let mut encoder = encoder(&media(MediaControl::None));
        let mut at = |ms: u64, target: f64| {
            encoder.frame(target, false, Time::from_nanos(ms * 1_000_000));
            encoder.rate.map_or(0.0, |(rate, _)| rate)
        };
        assert!((at(0, 1e6) - 1e6).abs() < 1.0);
        assert!((at(199, 2e6) - 1e6).abs() < 1.0, "too early");
        assert!((at(200, 9e6) - 2.4e6).abs() < 1.0, "the maximum");
        assert!((at(400, 0.0) - 96e3).abs() < 1.0, "the minimum");
        assert_eq!(encoder.changes, 2);
    }

    #[test]
    fn sizes_vary_around_the_mean() {
        let varied = Media { deviation_ppm: Law::Constant(200_000), ..media(MediaControl::None) };
        let found = sizes(&mut encoder(&varied), 1_000, 1.2e6);
        let (more, less) = (6_000, 4_000);
        assert!(found[8..].iter().all(|&size| size == more || size == less));
        let large = found[8..].iter().filter(|&&size| size == more).count();
        assert!((400..600).contains(&large), "{large}");
    }
}
