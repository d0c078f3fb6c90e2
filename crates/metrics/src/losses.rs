//! The loss of data packets on the whole path.

use arrow_schema::ArrowError;
use serde::Serialize;
use serde_json::Value;

use crate::counters::{SampleCounters, float, ratio};
use crate::run::RunMetrics;
use crate::scenario::{flows, is_given, list};
use crate::tables::RunTables;

/// The data packets lost from the warm-up to the end of the run; `None` on back ends that don't know
/// the losses of each flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LossSummary {
    /// Data packets sent.
    pub sent: Option<i64>,
    /// Those dropped or lost anywhere on the path.
    pub dropped: Option<i64>,
    /// The share of the latter.
    pub loss_rate: Option<f64>,
    /// Drops of the links' queues; without `places`, everything that the links dropped, including
    /// SYNs, or `None` where data and acknowledgements share a queue.
    pub queues: Option<i64>,
    /// Losses by impairments, such as a policer, or by the path's own loss.
    pub elsewhere: Option<i64>,
    /// The losses of each impairment and of the path's own loss, if the back end reports them.
    pub places: Option<Vec<PlaceLosses>>,
}

/// The losses at a place of the path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlaceLosses {
    /// The place in the specification.
    pub place: String,
    /// The kind of the impairment, or "loss".
    pub kind: String,
    /// Data packets lost.
    pub dropped: i64,
}

impl<T: RunTables> RunMetrics<T> {
    /// The losses on the path; `None` if packets can be lost only at the bottleneck, whose own
    /// summary suffices. `places` has the losses since the warm-up by place, if they are known.
    ///
    /// # Errors
    /// If a table can't be read.
    pub fn losses(
        &self,
        places: Option<&[(String, i64)]>,
    ) -> Result<Option<LossSummary>, ArrowError> {
        let path = &self.scenario["path"];
        let parts = ["impairments", "loss", "links", "reverse"].map(|part| &path[part]);
        let changes = list(&self.scenario["changes"]).iter().map(|change| &change["loss"]);
        if !changes.chain(parts).any(is_given) {
            return Ok(None);
        }
        // Only a warm-up's end resets a back end's counts.
        let count = |lost: i64| if self.span_s.1 <= self.span_s.0 { 0 } else { lost };
        let of_place = |(place, lost): &(String, i64)| PlaceLosses::of(path, place, count(*lost));
        let places = places.map(|places| places.iter().map(of_place).collect::<Vec<_>>());
        let table = ("flow_samples", "flow");
        let counters = SampleCounters::of(&self.tables, table, &["sent", "dropped"], self.span_s)?;
        let [sent, dropped] = ["sent", "dropped"].map(|name| counters.total(name, |_| true));
        let elsewhere = match (&places, sent.and(dropped)) {
            (_, None) => None,
            (Some(places), _) => Some(places.iter().map(|one| one.dropped).sum()),
            (None, Some(dropped)) => self.queue_drops()?.map(|drops| (dropped - drops).max(0)),
        };
        Ok(Some(LossSummary {
            sent,
            dropped,
            loss_rate: ratio(dropped.map(float), sent.map(float)),
            queues: dropped.zip(elsewhere).map(|(dropped, elsewhere)| dropped - elsewhere),
            elsewhere,
            places,
        }))
    }

    /// The packets that links dropped; without reversed flows only forward links carry data.
    fn queue_drops(&self) -> Result<Option<i64>, ArrowError> {
        if flows(&self.scenario).iter().any(|flow| is_given(&flow["reverse"])) {
            return Ok(None);
        }
        let forward = list(&self.scenario["path"]["links"]).len();
        let table = ("queue_samples", "link");
        let counters = SampleCounters::of(&self.tables, table, &["dropped_packets"], self.span_s)?;
        Ok(counters.total("dropped_packets", |link| link as usize <= forward))
    }
}

impl PlaceLosses {
    fn of(path: &Value, place: &str, dropped: i64) -> Self {
        let number =
            place.strip_prefix("path.impairments[").and_then(|rest| rest.strip_suffix(']'));
        let impairment =
            number.and_then(|number| path["impairments"].get(number.parse::<usize>().ok()?));
        let kind = impairment.and_then(|one| one["kind"].as_str()).unwrap_or("loss").to_owned();
        Self { place: place.to_owned(), kind, dropped }
    }
}
