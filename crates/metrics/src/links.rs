//! Loss, utilization and standing queue of the links.

use arrow_schema::ArrowError;
use serde::Serialize;
use serde_json::Value;

use crate::counters::{SampleCounters, float, ratio};
use crate::distributions::Statistics;
use crate::offered::{BatchRate, OfferedCapacity, links, offers, two_way_ns};
use crate::run::RunMetrics;
use crate::scenario::{has_samples, list, number};
use crate::tables::RunTables;

/// The statistics of a queue.
pub const QUEUE_STATISTICS: [&str; 5] = ["mean", "p5", "p50", "p95", "max"];
/// The fewest samples for statistics of a queue's delay.
const FEWEST: usize = 10;
/// The IP bytes of the largest packet.
const LARGEST: f64 = 65_536.0;
const COUNTERS: [&str; 4] =
    ["arrived_packets", "dropped_packets", "forwarded_packets", "forwarded_bytes"];

/// The numbers of a link from the warm-up to the end of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkSummary {
    /// Its name.
    pub name: String,
    /// The share of arriving packets that the queue dropped, 1 at most: a packet that arrived before
    /// the warm-up's end may be dropped after it.
    pub loss_rate: Option<f64>,
    /// The share of its capacity that was used, in IP bits.
    pub utilization: Option<f64>,
    /// The backlog over time, in bandwidth-delay products of its rate and the path; where the rate
    /// or the path's delay changes, of their means from the warm-up to the planned end.
    pub queue_bdp: Statistics,
    /// How long it takes to send its backlog, over time; where its rate varies, of the samples.
    pub queue_ms: Statistics,
    /// Packets dropped.
    pub drops: Option<i64>,
    /// Packets forwarded.
    pub forwarded: Option<i64>,
}

impl<T: RunTables> RunMetrics<T> {
    /// The summaries of the links, by their numbers in the tables; the first is the bottleneck.
    ///
    /// # Errors
    /// If a table can't be read.
    pub fn links(&self) -> Result<Vec<LinkSummary>, ArrowError> {
        let table = ("queue_samples", "link");
        let counters = SampleCounters::of(&self.tables, table, &COUNTERS, self.span_s)?;
        let named =
            links(&self.scenario).into_iter().zip(offers(&self.scenario, BatchRate::Sustained));
        (0..)
            .zip(named)
            .map(|(id, ((name, link), offer))| {
                let is_known = counters.keys().any(|key| key == id);
                let grown = |name| counters.growth(id, name).filter(|_| is_known);
                let (dropped, arrived) = (grown("dropped_packets"), grown("arrived_packets"));
                Ok(LinkSummary {
                    name: name.to_owned(),
                    loss_rate: ratio(dropped.map(float), arrived.map(float))
                        .map(|part| part.min(1.0)),
                    utilization: self.utilization(&offer, grown("forwarded_bytes").map(float)),
                    queue_bdp: self.queue_bdp(id, &offer)?,
                    queue_ms: self.queue_ms(id, link, &offer)?,
                    drops: dropped,
                    forwarded: grown("forwarded_packets"),
                })
            })
            .collect()
    }

    fn queue_bdp(&self, id: u32, offer: &OfferedCapacity) -> Result<Statistics, ArrowError> {
        let (begin_ns, end_ns) =
            (number(&self.scenario["run"]["warmup_ns"]), planned_end_ns(&self.scenario));
        let (delay, span_ns) = (two_way_ns(&self.scenario), (end_ns - begin_ns).max(1.0));
        let bytes_per_ns = (offer.until(end_ns) - offer.until(begin_ns)) / span_ns;
        let rtt_ns = (delay.integral(end_ns) - delay.integral(begin_ns)) / span_ns;
        if end_ns <= begin_ns || bytes_per_ns <= 0.0 {
            return Ok(Statistics::unknown(&QUEUE_STATISTICS));
        }
        self.queue(id, 1.0 / (bytes_per_ns * rtt_ns))
    }

    fn queue_ms(
        &self,
        id: u32,
        link: &Value,
        offer: &OfferedCapacity,
    ) -> Result<Statistics, ArrowError> {
        if !offer.varies() {
            return self.queue(id, 1.0 / (number(&link["rate_bps"]) / 8e3));
        }
        let ((warmup_s, end_s), mut drains) = (self.span_s, Vec::new());
        if has_samples(&self.scenario) {
            let columns = ["link", "time_s", "backlog_bytes"];
            self.tables.each("queue_samples", &columns, &mut |rows| {
                let (links, times) = (rows.numbers("link")?, rows.numbers("time_s")?);
                let backlog = rows.numbers("backlog_bytes")?;
                let own = (0..rows.len()).filter(|&row| links.key(row) == id);
                let counted = own.filter(|&row| (warmup_s..=end_s).contains(&times.at(row)));
                drains.extend(counted.map(|row| offer.drain_ms(times.at(row), backlog.at(row))));
                Ok(())
            })?;
        }
        Ok(if drains.len() < FEWEST {
            Statistics::unknown(&QUEUE_STATISTICS)
        } else {
            Statistics::of(&drains, &QUEUE_STATISTICS)
        })
    }

    fn queue(&self, id: u32, scale: f64) -> Result<Statistics, ArrowError> {
        Ok(self.distributions()?.statistics(("queue_bytes", id), &QUEUE_STATISTICS, scale))
    }

    /// The share of the capacity that was used; `None` if a measurement doesn't show the capacity.
    ///
    /// A packet counts when it has left, so the packet on the wire at the warm-up's end may push the
    /// count above the capacity, and so may a burst.
    fn utilization(&self, offer: &OfferedCapacity, forwarded: Option<f64>) -> Option<f64> {
        if self.scenario["path"]["capacity_known"] == false {
            return None;
        }
        let ((warmup_s, end_s), forwarded) = (self.span_s, forwarded?);
        let capacity = (offer.until(end_s * 1e9) - offer.until(warmup_s * 1e9)).max(0.0);
        let ahead = LARGEST + offer.burst_bytes + capacity * offer.margin;
        if capacity < forwarded && forwarded <= capacity + ahead {
            return Some(1.0);
        }
        ratio(Some(forwarded), Some(capacity))
    }
}

/// The instant at which a run ends unless `stop_when` ends it earlier, in ns.
fn planned_end_ns(scenario: &Value) -> f64 {
    let changes = list(&scenario["changes"]).iter();
    let ends = changes.filter(|change| change["end"].as_bool().unwrap_or_default());
    let ends = ends.map(|change| number(&change["at_ns"]));
    ends.fold(number(&scenario["run"]["duration_ns"]), f64::min)
}
