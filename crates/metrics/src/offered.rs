//! The capacity of links over time, and the path's two-way delay, as the scenario gives them.
//!
//! A rate may follow `[[changes]]`, the service `steps` or the opportunities of a `trace`; the path's
//! delay may follow `[[changes]]`. The services `tbf` and `htb` offer their own rate, and `wifi` what
//! full batches carry if that is more than the link's rate; others offer the link's rate. Times are
//! in ns, amounts in IP bytes.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::scenario::{list, number, workload};

/// The name of the first link.
pub const BOTTLENECK: &str = "bottleneck";
/// IP bytes of a full packet.
pub const PACKET_BYTES: f64 = 1500.0;
/// Payload bytes of a full packet: IP and TCP headers take 40 bytes, timestamps 12.
const PAYLOAD_BYTES: f64 = 1448.0;
/// Payload bytes of a full datagram: IP and UDP headers take 28 bytes.
const DATAGRAM_BYTES: f64 = 1472.0;
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

    /// The starts and the values.
    #[must_use]
    pub fn into_columns(self) -> (Vec<f64>, Vec<f64>) {
        (self.starts_ns, self.values)
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

    /// The first time at which so many bytes have been offered.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "53 bits are enough"
    )]
    pub fn time_of(&self, bytes: f64) -> f64 {
        match &self.capacity {
            Capacity::Rate(rates) => {
                let offered = |before: &f64| before / 8.0 / NS;
                let step = rates.before.partition_point(|before| offered(before) < bytes);
                let step = step.saturating_sub(1);
                let per_ns = rates.values[step] / 8.0 / NS;
                rates.starts_ns[step] + (bytes - offered(&rates.before[step])) / per_ns
            }
            Capacity::Trace(at_ns) => {
                let (number, count) = ((bytes / PACKET_BYTES).ceil().max(1.0) - 1.0, at_ns.len());
                let within = number % count as f64;
                let rounds = ((number - within) / count as f64).round();
                rounds * at_ns[count - 1] + at_ns[within as usize]
            }
        }
    }

    /// How long after a time a backlog has left the link, in ms.
    #[must_use]
    pub fn drain_ms(&self, time_s: f64, backlog_bytes: f64) -> f64 {
        if backlog_bytes > 0.0 {
            let now_ns = time_s * NS;
            ((self.time_of(self.until(now_ns) + backlog_bytes) - now_ns) / 1e6).max(0.0)
        } else {
            0.0
        }
    }
}

/// The rate of a link that serves packets in batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchRate {
    /// From batch to batch.
    Sustained,
    /// Within a batch, which nothing exceeds.
    Fastest,
}

/// The capacity of each link of a scenario, by the links' numbers in the tables.
#[must_use]
pub fn offers(scenario: &Value, rate: BatchRate) -> Vec<OfferedCapacity> {
    let named = links(scenario).into_iter();
    named.map(|(name, link)| offer(scenario, (name, link), rate)).collect()
}

/// The links of a scenario by name: the bottleneck, those after it, and that of the reverse path.
pub(crate) fn links(scenario: &Value) -> Vec<(&str, &Value)> {
    let path = &scenario["path"];
    let back = Some(&path["reverse"]).filter(|link| !link.is_null());
    let named = list(&path["links"]).iter().chain(back);
    let named = named.map(|link| (link["name"].as_str().unwrap_or_default(), link));
    [(BOTTLENECK, path)].into_iter().chain(named).collect()
}

/// The changes of a run that have this key, with its value.
fn changes<'a>(scenario: &'a Value, key: &'a str) -> impl Iterator<Item = (&'a Value, u64, f64)> {
    list(&scenario["changes"]).iter().filter_map(move |change| {
        Some((change, change["at_ns"].as_u64()?, change.get(key)?.as_f64()?))
    })
}

fn offer(scenario: &Value, (name, link): (&str, &Value), by: BatchRate) -> OfferedCapacity {
    let service = &link["service"];
    let kind = service["kind"].as_str().unwrap_or("constant");
    if kind == "trace" {
        let times = list(&service["opportunities_ms"]);
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
            let (rate, margin) = batch.rate_and_margin(rate, by, gso);
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
        let most_ns = of("max_time_ns");
        let fitting = ((most_ns - most_ns % packet_ns) / packet_ns).round();
        let fitting = of("max_packets_packets").min(fitting);
        let bytes = PACKET_BYTES * fitting.max(1.0);
        let sent = bytes + bytes / PACKET_BYTES * overhead;
        let ns = sent * 8.0 * NS / phy_bps + of("access_ns") + contention_ns / 2.0;
        Self { phy_bps, bytes, ns, contention_ns }
    }

    /// The rate of batches, if it is above the link's; a burst of GSO has the overhead of a packet.
    fn rate_and_margin(&self, rate: f64, by: BatchRate, gso: bool) -> (f64, f64) {
        let rate = rate.max(match by {
            BatchRate::Sustained => self.bytes * 8.0 * NS / self.ns,
            BatchRate::Fastest => self.phy_bps,
        });
        let margin = self.contention_ns / 2.0 / self.ns;
        (rate, if gso { (self.phy_bps / rate - 1.0).max(margin) } else { margin })
    }
}

/// The two-way delay of the path without queueing, in ns.
#[must_use]
pub fn two_way_ns(scenario: &Value) -> Steps {
    let later = changes(scenario, "rtt_ns").map(|(_, at, rtt)| (at, rtt));
    Steps::new(number(&scenario["path"]["rtt_ns"]), later)
}

/// The two-way delay of a flow without queueing in ns: its own, or the path's.
#[must_use]
pub fn flow_two_way_ns(scenario: &Value, flow: &Value) -> Steps {
    flow["rtt_ns"].as_f64().map_or_else(|| two_way_ns(scenario), |own| Steps::new(own, []))
}

/// The IP bytes per byte of a flow's payload, in full packets: the lowest ratio.
fn wire_ratio(flow: &Value) -> f64 {
    PACKET_BYTES / if flow["cca"] == "none" { DATAGRAM_BYTES } else { PAYLOAD_BYTES }
}

/// The minimum times of transfers.
///
/// A transfer takes some round trips, and its payload in full packets passes the slowest link. Where
/// the path's delay or a link's speed isn't constant, the lowest delay since its start counts, and
/// the link that takes longest for the payload, which leaves a round trip before the last
/// acknowledgement; a link may let a burst pass at once.
#[derive(Debug)]
pub(crate) struct LeastTimes<'a> {
    scenario: &'a Value,
    names: Vec<&'a str>,
    offers: Vec<OfferedCapacity>,
    /// Returns whether a delay or a speed isn't constant.
    pub(crate) varies: bool,
}

impl<'a> LeastTimes<'a> {
    pub(crate) fn new(scenario: &'a Value) -> Self {
        let fastest = offers(scenario, BatchRate::Fastest);
        let sustained = offers(scenario, BatchRate::Sustained);
        let mut speeds = fastest.iter().zip(&sustained);
        let varies = speeds.any(|(offer, other)| {
            offer.varies() || offer.burst_bytes > 0.0 || offer.until(NS) != other.until(NS)
        });
        let varies = varies || changes(scenario, "rtt_ns").next().is_some();
        let names = links(scenario).into_iter().map(|(name, _)| name).collect();
        Self { scenario, names, offers: fastest, varies }
    }

    /// The minimum time of a transfer of a flow in s where nothing varies: a fixed part, and a part
    /// for each byte.
    pub(crate) fn constant(&self, flow: &Value) -> (f64, f64) {
        let links = links(self.scenario);
        let crossed = self.on_path(flow).into_iter();
        let rates = crossed.map(|place| number(&links[place].1["rate_bps"]));
        let rate_bps = rates.fold(f64::INFINITY, f64::min);
        let own = if flow["rtt_ns"].is_null() { &self.scenario["path"] } else { flow };
        let two_way_ms = number(&own["rtt_ns"]) / 1e6;
        (trips(flow) * two_way_ms / 1e3, wire_ratio(flow) * 8.0 / rate_bps)
    }

    /// The minimum time in s of a transfer of a flow that begins at `start_s`, if anything varies.
    pub(crate) fn of_transfer(&self, flow: &Value, start_s: f64, bytes: f64) -> Option<f64> {
        self.varies.then(|| self.varying(flow, start_s * NS, bytes, trips(flow)))
    }

    /// The minimum time in s of a flow with a size, which connects first, if anything varies.
    pub(crate) fn of_connection(&self, flow: &Value, start_s: f64, bytes: f64) -> Option<f64> {
        self.varies.then(|| self.varying(flow, start_s * NS, bytes, 2.0))
    }

    fn varying(&self, flow: &Value, start_ns: f64, bytes: f64, trips: f64) -> f64 {
        let own = flow_two_way_ns(self.scenario, flow);
        let later = own.starts_ns.iter().zip(&own.values).filter(|(start, _)| **start > start_ns);
        let least = later.fold(own.at(start_ns), |least, (_, &value)| least.min(value));
        let ready_ns = start_ns + (trips - 1.0).max(0.0) * least;
        let wire = bytes * wire_ratio(flow);
        let end_ns = |number: usize| {
            let offer = &self.offers[number];
            offer.time_of(offer.until(ready_ns) + (wire - offer.burst_bytes).max(0.0))
        };
        let busy_ns = self.on_path(flow).into_iter().map(end_ns).fold(0.0, f64::max);
        (trips * least + (busy_ns - ready_ns).max(0.0)) / NS
    }

    /// The numbers of the links that a flow's data cross.
    fn on_path(&self, flow: &Value) -> Vec<usize> {
        let last = self.names.len() - 1;
        let further = list(&self.scenario["path"]["links"]).len();
        if flow["reverse"].as_bool().unwrap_or_default() {
            return vec![last];
        }
        let chosen = list(&flow["links"]);
        let crosses = |number: &usize| {
            chosen.is_empty() || chosen.iter().any(|name| *name == self.names[*number])
        };
        (0..=further).filter(crosses).collect()
    }
}

/// The fewest round trips of a flow's transfer.
fn trips(flow: &Value) -> f64 {
    match workload(flow) {
        "media" => 0.5,
        "requests" | "video" | "adaptive_video" => 1.0,
        _ => 2.0,
    }
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
        let found = [1.0, 2.0, 5.0, 8.0, 9.0].map(|bytes| offer.time_of(bytes));
        assert_eq!(found, [1.0, 2.0, 3.5, 5.0, 7.0]);
    }

    #[test]
    fn a_trace_repeats() {
        let offer = OfferedCapacity::trace(&[1.0, 1.0, 4.0]);
        let found = [0.5, 1.0, 3.9, 4.0, 5.0].map(|at| offer.until(at * 1e6) / PACKET_BYTES);
        assert_eq!(found, [0.0, 2.0, 2.0, 3.0, 5.0]);
        let found = [1.0, 1500.0, 1501.0, 3001.0, 4501.0].map(|bytes| offer.time_of(bytes) / 1e6);
        assert_eq!(found, [1.0, 1.0, 1.0, 4.0, 5.0]);
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
        let found: Vec<f64> =
            offers(&scenario, BatchRate::Sustained).iter().map(|offer| offer.until(3e9)).collect();
        assert_eq!(found, [21.0, 24.0]);
        let delay = two_way_ns(&scenario);
        assert_eq!([4.0, 5.0].map(|at| delay.at(at)), [10.0, 20.0]);
    }

    fn path(more: &Value, changes: &Value) -> Value {
        json!({
            "path": {
                "rate_bps": 10_000_000, "rtt_ns": 20_000_000, "service": { "kind": "constant" },
                "links": more,
            },
            "changes": changes,
        })
    }

    fn is_close(found: Option<f64>, expected: f64) -> bool {
        found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-9)
    }

    #[test]
    fn the_least_time_takes_the_slowest_link_and_the_least_delay() {
        let slow = json!([{ "name": "b", "rate_bps": 5_000_000 }]);
        let nearer = json!([{ "at_ns": 2_000_000_000, "rtt_ns": 2_000_000 }]);
        let (constant, varying) = (path(&slow, &json!([])), path(&slow, &nearer));
        let flow = json!({ "cca": "cubic" });
        assert_eq!(LeastTimes::new(&constant).of_connection(&flow, 0.0, 1e6), None);
        let wire_s = 1e6 * 1500.0 / 1448.0 * 8.0 / 5e6;
        let (fixed_s, byte_s) = LeastTimes::new(&constant).constant(&flow);
        assert!(is_close(Some(fixed_s + 1e6 * byte_s), 0.04 + wire_s));
        let found = LeastTimes::new(&varying).of_connection(&flow, 0.0, 1e6);
        assert!(is_close(found, 0.004 + wire_s));
    }

    #[test]
    fn the_least_time_counts_payload_from_when_the_connection_is_there() {
        let faster = json!([{ "at_ns": 15_000_000, "rate_bps": 100_000_000 }]);
        let scenario = path(&json!([]), &faster);
        let flow = json!({ "cca": "cubic" });
        let found = LeastTimes::new(&scenario).of_connection(&flow, 0.0, 14_480.0);
        assert!(is_close(found, 0.04 + 15_000.0 * 8.0 / 100e6), "no payload needs the lower rate");
    }
}
