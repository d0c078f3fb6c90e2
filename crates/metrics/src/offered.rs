//! The capacity of links over time, and the path's two-way delay, as the scenario gives them.
//!
//! A rate may follow `[[changes]]`, the service `steps` or the opportunities of a `trace`; the path's
//! delay may follow `[[changes]]`. The services `tbf` and `htb` offer their own rate, and `wifi` what
//! full batches carry if that is more than the link's rate; others offer the link's rate. Times are
//! in ns, amounts in IP bytes.

use std::collections::BTreeMap;

use serde_json::Value;

/// The name of the first link.
pub const BOTTLENECK: &str = "bottleneck";
/// IP bytes of a full packet.
pub const PACKET_BYTES: f64 = 1500.0;
const NS: f64 = 1e9;

/// A value that changes at given times.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    starts_ns: Vec<f64>,
    values: Vec<f64>,
    /// The integral up to each start.
    before: Vec<f64>,
}

impl Steps {
    /// A value from time 0 on, and its later values by their times in ns.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "53 bits are enough")]
    pub fn new(first: f64, changes: impl IntoIterator<Item = (u64, f64)>) -> Self {
        let steps: BTreeMap<u64, f64> = [(0, first)].into_iter().chain(changes).collect();
        Self::from_columns(
            steps.keys().map(|&at| at as f64).collect(),
            steps.values().copied().collect(),
        )
    }

    /// `values[i]` from `starts_ns[i]` on; the starts ascend from 0.
    #[must_use]
    pub fn from_columns(starts_ns: Vec<f64>, values: Vec<f64>) -> Self {
        let mut before = vec![0.0; starts_ns.len()];
        for step in 1..starts_ns.len() {
            let span = starts_ns[step] - starts_ns[step - 1];
            before[step] = before[step - 1] + span * values[step - 1];
        }
        Self { starts_ns, values, before }
    }

    /// Returns whether it ever changes.
    #[must_use]
    pub fn varies(&self) -> bool {
        self.values.len() > 1
    }

    fn step(&self, time_ns: f64) -> usize {
        self.starts_ns.partition_point(|&start| start <= time_ns).saturating_sub(1)
    }

    /// The value at a time; a change counts from its instant on.
    #[must_use]
    pub fn at(&self, time_ns: f64) -> f64 {
        self.values[self.step(time_ns)]
    }

    /// The value times ns, from time 0 to a time.
    #[must_use]
    pub fn integral(&self, time_ns: f64) -> f64 {
        let step = self.step(time_ns);
        self.before[step] + (time_ns - self.starts_ns[step]) * self.values[step]
    }
}

/// How a link's capacity comes.
#[derive(Clone, Debug, PartialEq)]
enum Capacity {
    /// A rate in bit/s, constant or in steps.
    Rate(Steps),
    /// Opportunities for a packet, in ns; the last one ends a round.
    Trace(Vec<f64>),
}

/// The capacity of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedCapacity {
    capacity: Capacity,
    /// Bytes that may leave at once, ahead of the rate.
    pub burst_bytes: f64,
    /// By what part the capacity may be exceeded, as random waits count by their mean.
    pub margin: f64,
}

impl OfferedCapacity {
    /// A rate in bit/s.
    #[must_use]
    pub fn rate(rates: Steps, burst_bytes: f64, margin: f64) -> Self {
        Self { capacity: Capacity::Rate(rates), burst_bytes, margin }
    }

    /// The opportunities of a trace, which repeats.
    #[must_use]
    pub fn trace(opportunities_ms: &[f64]) -> Self {
        let at_ns = opportunities_ms.iter().map(|at| at * 1e6).collect();
        Self { capacity: Capacity::Trace(at_ns), burst_bytes: 0.0, margin: 0.0 }
    }

    /// Returns whether the rate ever changes.
    #[must_use]
    pub fn varies(&self) -> bool {
        match &self.capacity {
            Capacity::Rate(rates) => rates.varies(),
            Capacity::Trace(_) => true,
        }
    }

    /// The bytes offered from time 0 to a time.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "53 bits are enough")]
    pub fn until(&self, time_ns: f64) -> f64 {
        match &self.capacity {
            Capacity::Rate(rates) => rates.integral(time_ns) / 8.0 / NS,
            Capacity::Trace(at_ns) => {
                let round_ns = at_ns[at_ns.len() - 1];
                let within = time_ns.rem_euclid(round_ns);
                let rounds = ((time_ns - within) / round_ns).round();
                let count = at_ns.partition_point(|&at| at <= within);
                (rounds * at_ns.len() as f64 + count as f64) * PACKET_BYTES
            }
        }
    }
}

/// The capacity of each link of a scenario, by the links' numbers in the tables.
#[must_use]
pub fn offers(scenario: &Value) -> Vec<OfferedCapacity> {
    links(scenario).into_iter().map(|(name, link)| offer(scenario, name, link)).collect()
}

/// The links of a scenario by name: the bottleneck, those after it, and that of the reverse path.
pub(crate) fn links(scenario: &Value) -> Vec<(&str, &Value)> {
    let path = &scenario["path"];
    let further = path["links"].as_array().map_or(&[][..], Vec::as_slice);
    let back = Some(&path["reverse"]).filter(|link| !link.is_null());
    let named = further.iter().chain(back);
    let named = named.map(|link| (link["name"].as_str().unwrap_or_default(), link));
    [(BOTTLENECK, path)].into_iter().chain(named).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}

/// The changes of a run that have this key, with its value.
fn changes<'a>(scenario: &'a Value, key: &'a str) -> impl Iterator<Item = (&'a Value, u64, f64)> {
    let changes = scenario["changes"].as_array().map_or(&[][..], Vec::as_slice);
    changes.iter().filter_map(move |change| {
        Some((change, change["at_ns"].as_u64()?, change.get(key)?.as_f64()?))
    })
}

fn offer(scenario: &Value, name: &str, link: &Value) -> OfferedCapacity {
    let service = &link["service"];
    let kind = service["kind"].as_str().unwrap_or("constant");
    if kind == "trace" {
        let times = service["opportunities_ms"].as_array().map_or(&[][..], Vec::as_slice);
        return OfferedCapacity::trace(&times.iter().map(number).collect::<Vec<_>>());
    }
    let pairs = service["rates"].as_array().filter(|_| kind == "steps");
    let steps = pairs.into_iter().flatten();
    let steps = steps.map(|pair| (pair[0].as_u64().unwrap_or_default(), number(&pair[1])));
    let of_link = |change: &Value| change["link"].as_str().unwrap_or(BOTTLENECK) == name;
    let later = changes(scenario, "rate_bps").filter(|(change, ..)| of_link(change));
    let steps = steps.chain(later.map(|(_, at, rate)| (at, rate)));
    let own = service["rate_bps"].as_f64().filter(|&rate| rate > 0.0);
    let rate = own.unwrap_or_else(|| number(&link["rate_bps"]));
    let burst = number(&service["burst_bytes"]) + number(&service["cburst_bytes"]);
    match kind {
        "cellular" => {
            let burst = rate / 8.0 / NS * number(&service["slot_ns"]);
            OfferedCapacity::rate(Steps::new(rate, steps), burst, 0.0)
        }
        "wifi" => {
            let gso = scenario["host"]["gso"].as_bool().unwrap_or_default();
            let batch = Batch::of(service);
            let (rate, margin) = batch.rate_and_margin(rate, gso);
            OfferedCapacity::rate(Steps::new(rate, steps), batch.bytes, margin)
        }
        _ => OfferedCapacity::rate(Steps::new(rate, steps), burst, 0.0),
    }
}

/// A full batch of `wifi`.
struct Batch {
    phy_bps: f64,
    /// IP bytes.
    bytes: f64,
    /// How long it takes on the medium, with the mean backoff.
    ns: f64,
    contention_ns: f64,
}

impl Batch {
    fn of(service: &Value) -> Self {
        let of = |key: &str| number(&service[key]);
        let (phy_bps, overhead, contention_ns) =
            (of("phy_rate_bps"), of("overhead_bytes"), of("contention_ns"));
        let packet_ns = (PACKET_BYTES + overhead) * 8.0 * NS / phy_bps;
        let fitting = of("max_packets_packets").min((of("max_time_ns") / packet_ns).floor());
        let bytes = PACKET_BYTES * fitting.max(1.0);
        let sent = bytes + bytes / PACKET_BYTES * overhead;
        let ns = sent * 8.0 * NS / phy_bps + of("access_ns") + contention_ns / 2.0;
        Self { phy_bps, bytes, ns, contention_ns }
    }

    /// The rate that full batches carry, if it is above the link's; a burst of GSO has the
    /// overhead of a packet.
    fn rate_and_margin(&self, rate: f64, gso: bool) -> (f64, f64) {
        let rate = rate.max(self.bytes * 8.0 * NS / self.ns);
        let margin = self.contention_ns / 2.0 / self.ns;
        (rate, if gso { (self.phy_bps / rate - 1.0).max(margin) } else { margin })
    }
}

/// The two-way delay of a scenario's path without queueing, in ns.
#[must_use]
pub fn two_way_ns(scenario: &Value) -> Steps {
    let later = changes(scenario, "rtt_ns").map(|(_, at, rtt)| (at, rtt));
    Steps::new(number(&scenario["path"]["rtt_ns"]), later)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rate_in_steps_offers_its_integral() {
        let offer =
            OfferedCapacity::rate(Steps::new(8e9, [(2, 16e9), (5, 0.0), (6, 8e9)]), 0.0, 0.0);
        let found = [0.0, 1.0, 2.0, 4.0, 5.5, 7.0].map(|at| offer.until(at));
        assert_eq!(found, [0.0, 1.0, 2.0, 6.0, 8.0, 9.0]);
    }

    #[test]
    fn a_trace_repeats() {
        let offer = OfferedCapacity::trace(&[1.0, 1.0, 4.0]);
        let found = [0.5, 1.0, 3.9, 4.0, 5.0].map(|at| offer.until(at * 1e6) / PACKET_BYTES);
        assert_eq!(found, [0.0, 2.0, 2.0, 3.0, 5.0]);
    }

    #[test]
    fn changes_of_a_link_are_its_own() {
        let scenario = json!({
            "path": {
                "rate_bps": 8, "rtt_ns": 10, "service": { "kind": "constant" },
                "links": [{ "name": "b", "rate_bps": 16, "service": { "kind": "constant" } }],
            },
            "changes": [
                { "at_ns": 1_000_000_000, "rate_bps": 80 },
                { "at_ns": 2_000_000_000, "rate_bps": 160, "link": "b" },
                { "at_ns": 5, "rtt_ns": 20 },
            ],
        });
        let found: Vec<f64> = offers(&scenario).iter().map(|offer| offer.until(3e9)).collect();
        assert_eq!(found, [21.0, 24.0]);
        let delay = two_way_ns(&scenario);
        assert_eq!([4.0, 5.0].map(|at| delay.at(at)), [10.0, 20.0]);
    }
}
