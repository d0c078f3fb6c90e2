//! Which congestion control a flow may have.
//!
//! The criteria are differences in the controls' definitions: how far the
//! window falls after a loss (Reno to 0.5, CUBIC to 0.7, BBR not at all), how it
//! grows in between (by one packet a round trip, along a cubic), whether it dips
//! to four packets every ten seconds (BBR's `PROBE_RTT`), swings with a period of
//! eight round trips (BBR's pacing gains), and whether it is larger than loss
//! allows. Limits between two controls lie midway.

mod epochs;
mod features;

use serde::Serialize;

use super::connection::Round;
use features::{Features, features};

/// Fewer round trips prove nothing.
const FEWEST_ROUNDS: usize = 30;
/// A window that deviates more from a curve, on average, doesn't follow it; this is half of CUBIC's
/// decrease.
const SIMILAR: f64 = 0.15;
/// A verdict needs this much evidence, and this much more than any other control has.
const ENOUGH: u32 = 3;
const AHEAD: u32 = 2;

/// A verdict with its evidence.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Identification {
    /// "bbr", "cubic", "reno" or "unsure".
    pub control: &'static str,
    /// The evidence for each control, in words with numbers.
    pub evidence: Vec<String>,
}

/// The evidence for each control, and the reasons.
#[derive(Default)]
struct Scales {
    bbr: u32,
    cubic: u32,
    reno: u32,
    evidence: Vec<String>,
}

impl Scales {
    fn note(&mut self, what: String) {
        self.evidence.push(what);
    }
}

/// The verdict on a flow whose full packets have `mss` bytes of payload.
pub(crate) fn identify(rounds: &[Round], mss: Option<u64>, vantage: &str) -> Identification {
    let unsure = |why: String| Identification { control: "unsure", evidence: vec![why] };
    if vantage == "receiver" {
        return unsure("captured at the receiver, where the sender's window can't be seen".into());
    }
    if rounds.len() < FEWEST_ROUNDS {
        return unsure(format!(
            "{} round trips with data; {FEWEST_ROUNDS} are the fewest that show a control",
            rounds.len()
        ));
    }
    let found = features(rounds, mss.unwrap_or(1448));
    if found.limited > 0.5 {
        let percent = found.limited * 100.0;
        return unsure(format!("the receiver's window was the limit {percent:.0} % of the time"));
    }
    verdict(&found)
}

fn verdict(found: &Features) -> Identification {
    let mut scales = Scales::default();
    weigh_fall(found, &mut scales);
    weigh_growth(found, &mut scales);
    weigh_dips(found, &mut scales);
    weigh_swing(found, &mut scales);
    weigh_excess(found, &mut scales);
    let mut ranks = [(scales.bbr, "bbr"), (scales.cubic, "cubic"), (scales.reno, "reno")];
    ranks.sort_unstable_by_key(|&(weight, _)| std::cmp::Reverse(weight));
    let [(first, control), (second, _), _] = ranks;
    let control = if first >= ENOUGH && first >= second + AHEAD { control } else { "unsure" };
    if scales.evidence.is_empty() {
        scales.note("no loss, no dips and no swing: nothing to tell a control by".into());
    }
    Identification { control, evidence: scales.evidence }
}

/// Weighs the fall of the window after losses.
fn weigh_fall(found: &Features, scales: &mut Scales) {
    let Some(fall) = found.fall else { return };
    let weight = if found.falls >= 3 { 2 } else { 1 };
    let speaks = match fall {
        fall if fall < 0.6 => {
            scales.reno += weight;
            "Reno (0.5)"
        }
        fall if fall < 0.85 => {
            scales.cubic += weight;
            "CUBIC (0.7)"
        }
        _ => {
            scales.bbr += weight;
            "BBR, which takes no notice"
        }
    };
    let times = found.falls;
    scales.note(format!("after loss the window falls to {fall:.2} ({times} times): as {speaks}"));
}

/// Weighs the growth between losses.
fn weigh_growth(found: &Features, scales: &mut Scales) {
    let Some((cubic, reno)) = found.growth else { return };
    let (stretches, percents) = (found.stretches, (cubic * 100.0, reno * 100.0));
    let speaks = if cubic.min(reno) > SIMILAR {
        "as neither"
    } else if cubic < 0.5 * reno {
        scales.cubic += 2;
        "as CUBIC"
    } else if reno < 0.5 * cubic {
        scales.reno += 2;
        "as Reno"
    } else {
        "as either"
    };
    scales.note(format!(
        "growth between losses ({stretches} stretches) is off CUBIC's curve by {:.1} % and off \
         Reno's line by {:.1} % of the window: {speaks}",
        percents.0, percents.1
    ));
}

/// Weighs otherwise unexplained dips to four packets.
fn weigh_dips(found: &Features, scales: &mut Scales) {
    if found.dips == 0 {
        return;
    }
    let dips = found.dips;
    match found.dip_distance {
        Some(distance) if (9.0..12.0).contains(&distance) => {
            scales.bbr += 4;
            scales.note(format!(
                "{dips} dips to four packets {distance:.1} s apart: as BBR's PROBE_RTT"
            ));
        }
        Some(distance) => {
            scales
                .note(format!("{dips} dips to four packets {distance:.1} s apart: as no control"));
        }
        None => {
            scales.bbr += 1;
            scales.note("a dip to four packets without loss: as BBR's PROBE_RTT".into());
        }
    }
}

/// Weighs swings with the period of BBR's gains.
fn weigh_swing(found: &Features, scales: &mut Scales) {
    if let Some(swing) = found.swing.filter(|&swing| swing > 0.5) {
        scales.bbr += 2;
        scales.note(format!(
            "the window repeats itself every 8 round trips (correlation {swing:.2}): as BBR"
        ));
    }
}

/// Weighs more data in flight than loss-based controls would have at this loss rate.
fn weigh_excess(found: &Features, scales: &mut Scales) {
    let Some(excess) = found.excess else { return };
    if excess > 2.0 {
        scales.bbr += 3;
        scales.note(format!(
            "{excess:.1} times the window that loss would leave CUBIC or Reno: as BBR"
        ));
    }
}
