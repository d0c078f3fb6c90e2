//! Loss, utilization and standing queue of a link.

use narrows_record::Table;
use serde::Serialize;
use serde_json::Value;

use crate::counters::growth;
use crate::distributions::Statistic;
use crate::offered::{OfferedCapacity, Steps, offers, two_way_ns};
use crate::tables::{Columns, Distributions};

/// Bytes of the largest packet.
const LARGEST: f64 = 65_536.0;

/// The numbers of the bottleneck from the warm-up to the end of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bottleneck {
    /// The part of the arriving packets that the queue dropped, 1 at most.
    pub loss_rate: Option<f64>,
    /// IP bits forwarded over those that the link offered.
    pub utilization: Option<f64>,
    /// The mean backlog in bandwidth-delay products of the link's rate and the path's two-way delay,
    /// or of their means where they change.
    pub queue_mean_bdp: Option<f64>,
    /// The bandwidth-delay product in bytes.
    pub bdp_bytes: f64,
}

impl Bottleneck {
    pub(crate) fn of(
        scenario: &Value,
        tables: &[Table],
        (warmup_s, end_s): (f64, f64),
        distributions: &Distributions,
    ) -> Self {
        let samples = Columns::of(tables, "queue_samples");
        let (links, times) = (samples.numbers("link"), samples.floats("time_s"));
        let grown = |name: &str| {
            let grown = growth(links, &times, &samples.floats(name), (warmup_s, end_s));
            grown.get(&0).copied().flatten()
        };
        let offer = &offers(scenario)[0];
        let (dropped, arrived) = (grown("dropped_packets"), grown("arrived_packets"));
        let (delay, begin_ns) = (two_way_ns(scenario), warmup_s * 1e9);
        let bdp_bytes = mean_bdp(offer, &delay, (begin_ns, planned_end_ns(scenario)));
        let queue = distributions.statistic("queue_bytes", 0, Statistic::Mean);
        Self {
            loss_rate: ratio(dropped, arrived).map(|part| part.min(1.0)),
            utilization: grown("forwarded_bytes")
                .and_then(|forwarded| utilization(offer, forwarded, warmup_s, end_s)),
            queue_mean_bdp: queue.zip(bdp_bytes).map(|(bytes, bdp)| bytes * (1.0 / bdp)),
            bdp_bytes: scenario["path"]["rate_bps"].as_f64().unwrap_or_default()
                * scenario["path"]["rtt_ns"].as_f64().unwrap_or_default()
                / 8e9,
        }
    }
}

/// The part of the capacity that was used.
///
/// A packet counts when it has left, so the packet on the wire at the warm-up's end may push the
/// count above what was offered; so may a burst.
fn utilization(offer: &OfferedCapacity, forwarded: f64, warmup_s: f64, end_s: f64) -> Option<f64> {
    let capacity = (offer.until(end_s * 1e9) - offer.until(warmup_s * 1e9)).max(0.0);
    let ahead = LARGEST + offer.burst_bytes + capacity * offer.margin;
    if capacity < forwarded && forwarded <= capacity + ahead {
        return Some(1.0);
    }
    ratio(Some(forwarded), Some(capacity))
}

/// The mean rate times the mean two-way delay of a span, in bytes; `None` if nothing is offered.
fn mean_bdp(offer: &OfferedCapacity, delay: &Steps, (begin_ns, end_ns): (f64, f64)) -> Option<f64> {
    let span_ns = (end_ns - begin_ns).max(1.0);
    let bytes_per_ns = (offer.until(end_ns) - offer.until(begin_ns)) / span_ns;
    let rtt_ns = (delay.integral(end_ns) - delay.integral(begin_ns)) / span_ns;
    (end_ns > begin_ns && bytes_per_ns > 0.0).then_some(bytes_per_ns * rtt_ns)
}

/// The instant at which a run ends unless `stop_when` ends it earlier, in ns.
fn planned_end_ns(scenario: &Value) -> f64 {
    let changes = scenario["changes"].as_array().map_or(&[][..], Vec::as_slice);
    let ends = changes.iter().filter(|change| change["end"].as_bool().unwrap_or_default());
    let ends = ends.filter_map(|change| change["at_ns"].as_f64());
    ends.chain(scenario["run"]["duration_ns"].as_f64()).fold(f64::INFINITY, f64::min)
}

fn ratio(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    part.zip(whole).filter(|&(_, whole)| whole != 0.0).map(|(part, whole)| part / whole)
}
