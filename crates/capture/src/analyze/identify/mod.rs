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

use super::causes::{Cause, CauseReport, CauseShare};
use super::connection::Round;
use features::{Features, features};

/// Fewer round trips prove nothing.
const FEWEST_ROUNDS: usize = 30;
/// A window that deviates more from a curve, on average, doesn't follow it; this is half of CUBIC's
/// decrease.
const SIMILAR: f64 = 0.15;
/// Growth fits one curve better than the other if its deviation is below this part of the other's.
const CLOSER: f64 = 0.75;
/// Falls show one factor if this part of them is alike.
const ALIKE: f64 = 0.6;
/// The most packets in flight, in the median of the rounds, that have no shape.
const SMALL: f64 = 8.0;
/// Without a loss, only a control with a model of the path lets the window fall this far.
const DRAINED: f64 = 0.7;
/// So far it falls for no other reason.
const DEEP: f64 = 0.5;
/// Growth that deviates from both curves by more isn't that of a control that reacts to loss.
const UNLIKE: f64 = 0.45;
/// A control doesn't show in a flow that something else limited for this part of its time.
const HIDDEN: f64 = 0.5;
/// Other limits of a flow; the window after a timeout is one packet in any control.
const OTHERS: [Cause; 5] = [
    Cause::Application,
    Cause::ReceiverWindow,
    Cause::SendBuffer,
    Cause::Reordering,
    Cause::Timeouts,
];
/// A smaller share isn't named, unless all are.
const NAMED: f64 = 0.1;
/// Beyond this share of spurious retransmissions, in percent, the window doesn't follow losses.
const SPURIOUS: f64 = 40.0;
/// A verdict needs this much evidence, and this much more than any other control has.
const ENOUGH: u32 = 3;
const AHEAD: u32 = 2;

/// A verdict with its evidence.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Identification {
    /// "bbr", "cubic" or "reno"; "hidden" if nothing in the flow depends on its control; "unsure"
    /// if it should show, but the evidence is thin or contradicts itself.
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
pub(crate) fn identify(
    rounds: &[Round],
    mss: Option<u64>,
    vantage: &str,
    causes: &CauseReport,
) -> Identification {
    if let Some(why) = find_obstacle(rounds, vantage, causes) {
        return Identification { control: "hidden", evidence: vec![why] };
    }
    let found = features(rounds, mss.unwrap_or(1448));
    verdict(&found)
}

/// Why the flow doesn't show its control, if it doesn't.
fn find_obstacle(rounds: &[Round], vantage: &str, causes: &CauseReport) -> Option<String> {
    if vantage == "receiver" {
        return Some("captured at the receiver, where the sender's window can't be seen".into());
    }
    if rounds.len() < FEWEST_ROUNDS {
        return Some(format!(
            "{} round trips with data; {FEWEST_ROUNDS} are the fewest that show a control",
            rounds.len()
        ));
    }
    let others: Vec<&CauseShare> =
        causes.shares.iter().filter(|share| OTHERS.contains(&share.cause)).collect();
    let share: f64 = others.iter().map(|share| share.share).sum();
    if share >= HIDDEN {
        let names = others.iter().filter(|share| share.share >= NAMED);
        let names: Vec<_> = names.map(|share| share.cause.name().replace('_', " ")).collect();
        let percent = share * 100.0;
        return Some(format!("something else held it for {percent:.0} %: {}", names.join(", ")));
    }
    let spurious = causes.evidence.spurious * 100.0;
    (spurious > SPURIOUS)
        .then(|| format!("{spurious:.0} % of its retransmissions were due to reordering"))
}

fn verdict(found: &Features) -> Identification {
    let mut scales = Scales::default();
    weigh_fall(found, &mut scales);
    weigh_growth(found, &mut scales);
    weigh_dips(found, &mut scales);
    weigh_drain(found, &mut scales);
    weigh_swing(found, &mut scales);
    weigh_excess(found, &mut scales);
    let mut ranks = [(scales.bbr, "bbr"), (scales.cubic, "cubic"), (scales.reno, "reno")];
    ranks.sort_unstable_by_key(|&(weight, _)| std::cmp::Reverse(weight));
    let [(first, control), (second, _), _] = ranks;
    let control = match () {
        () if first >= ENOUGH && first >= second + AHEAD => control,
        () if scales.evidence.is_empty() => {
            scales.note("no loss, no dips and no swing: nothing to tell a control by".into());
            "hidden"
        }
        () if found.window < SMALL => {
            let window = found.window;
            scales.evidence.push(format!("{window:.0} packets in flight are too few for a shape"));
            "hidden"
        }
        () => "unsure",
    };
    Identification { control, evidence: scales.evidence }
}

/// Weighs the fall of the window after losses.
fn weigh_fall(found: &Features, scales: &mut Scales) {
    let Some(fall) = found.fall else { return };
    let weight = match found.falls {
        5.. if found.alike >= ALIKE => 3,
        3.. => 2,
        _ => 1,
    };
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
    let events = found.falls;
    scales.note(format!(
        "after a loss event the window falls to {fall:.2} ({events} events): as {speaks}"
    ));
}

/// Weighs the growth between losses.
fn weigh_growth(found: &Features, scales: &mut Scales) {
    let Some((cubic, reno)) = found.growth else { return };
    let (stretches, percents) = (found.stretches, (cubic * 100.0, reno * 100.0));
    let speaks = if cubic.min(reno) > SIMILAR {
        scales.bbr += u32::from(cubic.min(reno) > UNLIKE && stretches >= 5);
        "as neither"
    } else if cubic < CLOSER * reno {
        scales.cubic += if cubic < 0.5 * reno { 2 } else { 1 };
        "as CUBIC"
    } else if reno < CLOSER * cubic {
        scales.reno += if reno < 0.5 * cubic { 2 } else { 1 };
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

/// Weighs a fall without loss.
fn weigh_drain(found: &Features, scales: &mut Scales) {
    if let Some(drain) = found.drain.filter(|&drain| drain <= DRAINED) {
        scales.bbr += if drain <= DEEP { 4 } else { 3 };
        scales.note(format!("the window falls to {drain:.2} without a loss: as BBR's DRAIN"));
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
