//! Metrics of the applications of flows: completion times, and the playback of videos.

use serde::Serialize;
use serde_json::Value;

use crate::completions::COMPLETION_STATISTICS;
use crate::counters::float;
use crate::distributions::{Statistics, mean};
use crate::internals::Internals;
use crate::lives::Life;
use crate::scenario::number;

/// A picture that doesn't change for this long counts as standing still, as for a freeze.
const LEAST_STILL_S: f64 = 0.15;
/// The metrics of a flow with a workload, from the warm-up on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkloadSummary {
    /// The kind of the workload.
    pub kind: String,
    /// Transfers that began after the warm-up and completed; of a call, frames that were shown.
    pub completed: usize,
    /// Their completion times; of a call, the delays of frames.
    pub completion_s: Statistics,
    /// Their mean size.
    pub mean_bytes: Option<f64>,
    /// The metrics of a player.
    #[serde(flatten)]
    pub playback: Option<Playback>,
    /// The metrics of a video call.
    #[serde(flatten)]
    pub call: Option<CallSummary>,
}

/// The metrics of a video that is played while it is fetched.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Playback {
    /// Interruptions after it began to play.
    pub stalls: Option<f64>,
    /// Their total duration.
    pub stalled_s: Option<f64>,
    /// The time until it began to play; `None` if it never did.
    pub startup_s: Option<f64>,
    /// The time played per interruption.
    pub between_stalls_s: Option<f64>,
    /// The mean bitrate of its chunks.
    pub mean_bitrate_mbps: Option<f64>,
    /// The changes of the bitrate from chunk to chunk.
    pub switches: usize,
}

/// The metrics of a video call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallSummary {
    /// Freezes.
    pub freezes: Option<f64>,
    /// Their total duration.
    pub frozen_s: Option<f64>,
    /// Frames that were never shown.
    pub lost_frames: Option<f64>,
    /// Changes of the encoder's rate.
    pub rate_changes: Option<f64>,
    /// The mean rate of the encoder.
    pub media_mbps: Option<f64>,
    /// How long the encoder went on after the last frame that was shown.
    pub still_s: Option<f64>,
}

/// The internals of a flow, counted from the warm-up on.
struct Samples<'a> {
    internals: &'a Internals,
    flow: u32,
    warmup_s: f64,
}

impl<'a> Samples<'a> {
    /// The samples from the warm-up on.
    fn since_warmup(&self, name: &'static str) -> &'a [(f64, f64)] {
        let samples = self.internals.samples(self.flow, name);
        &samples[samples.partition_point(|&(time_s, _)| time_s < self.warmup_s)..]
    }

    /// The growth of a total since its last sample up to the warm-up, or since 0.
    fn growth(&self, name: &'static str) -> Option<f64> {
        let samples = self.internals.samples(self.flow, name);
        let earlier = samples.partition_point(|&(time_s, _)| time_s <= self.warmup_s);
        let before = earlier.checked_sub(1).map_or(0.0, |last| samples[last].1);
        Some(samples.last()?.1 - before)
    }
}

impl WorkloadSummary {
    /// Summarises a flow with a workload and these lifetimes, which ascend by their starts.
    pub(crate) fn of(
        workload: &Value,
        lives: &[Life],
        internals: &Internals,
        (flow, warmup_s): (u32, f64),
    ) -> Self {
        let samples = Samples { internals, flow, warmup_s };
        let counted: Vec<&Life> = lives.iter().filter(|life| life.start_s >= warmup_s).collect();
        let times: Vec<f64> = counted.iter().map(|life| life.completion_s()).collect();
        let sizes: Vec<f64> = counted.iter().map(|life| life.bytes).collect();
        let kind = workload["kind"].as_str().unwrap_or_default();
        let plays = matches!(kind, "video" | "adaptive_video");
        let chunk_s = number(&workload["chunk_ns"]) / 1e9;
        Self {
            kind: kind.to_owned(),
            completed: times.len(),
            completion_s: Statistics::of(&times, &COMPLETION_STATISTICS),
            mean_bytes: mean(&sizes),
            playback: plays.then(|| Playback::of(&samples, lives, &sizes, chunk_s)),
            call: (kind == "media").then(|| CallSummary::of(&samples, lives)),
        }
    }
}

impl Playback {
    fn of(samples: &Samples<'_>, lives: &[Life], sizes: &[f64], chunk_s: f64) -> Self {
        let stalls = samples.growth("stalls");
        let played_s = played_s(samples, lives, chunk_s).filter(|&played_s| played_s != 0.0);
        let interrupted = stalls.filter(|&stalls| stalls != 0.0);
        Self {
            stalls,
            stalled_s: samples.growth("stalled_s"),
            startup_s: samples.internals.last(samples.flow, "startup_s"),
            between_stalls_s: played_s.zip(interrupted).map(|(played_s, count)| played_s / count),
            mean_bitrate_mbps: mean(sizes).map(|bytes| bytes * 8e-6 / chunk_s),
            switches: sizes.windows(2).filter(|pair| pair[0] != pair[1]).count(),
        }
    }
}

/// The time played: of chunks fetched since the warm-up, without the buffer's growth.
fn played_s(samples: &Samples<'_>, lives: &[Life], chunk_s: f64) -> Option<f64> {
    let buffered = samples.since_warmup("playout_buffer_s");
    let (first, last) = (buffered.first()?, buffered.last()?);
    let fetched_s =
        |at_s: f64| chunk_s * float(lives.iter().map(|life| i64::from(life.end_s <= at_s)).sum());
    Some(fetched_s(last.0) - fetched_s(first.0) - last.1 + first.1)
}

impl CallSummary {
    fn of(samples: &Samples<'_>, lives: &[Life]) -> Self {
        Self {
            freezes: samples.growth("freezes"),
            frozen_s: samples.growth("frozen_s"),
            lost_frames: samples.growth("lost_frames"),
            rate_changes: samples.growth("rate_changes"),
            media_mbps: media_mbps(samples.since_warmup("encoded_bytes")),
            still_s: still_s(samples, lives),
        }
    }
}

/// A total in bytes as a rate, from its first sample to the last.
fn media_mbps(encoded: &[(f64, f64)]) -> Option<f64> {
    let [first, .., last] = encoded else { return None };
    Some((last.1 - first.1) * 8e-6 / (last.0 - first.0))
}

/// The time from the last frame shown to the last one encoded, both since the warm-up.
fn still_s(samples: &Samples<'_>, lives: &[Life]) -> Option<f64> {
    let mut encoded = samples.since_warmup("encoded_bytes").windows(2);
    let last_s = encoded.rfind(|pair| pair[1].1 > pair[0].1)?[1].0;
    let shown_s = lives.iter().map(|life| life.end_s).fold(samples.warmup_s, f64::max);
    let still_s = last_s - shown_s;
    Some(if still_s >= LEAST_STILL_S { still_s } else { 0.0 })
}
