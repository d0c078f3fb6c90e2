//! Checks of results for Python.

use narrows_spec::{Condition, ResultCheck, SeriesNumber};
use serde_json::{Map, Value, json};

/// A check as the arguments of its class in Python.
pub(super) fn to_json(check: &ResultCheck) -> Value {
    let wheres = check.wheres.iter();
    let wheres: Map<_, _> =
        wheres.map(|(place, node)| (place.to_string(), node.to_json())).collect();
    json!({
        "metric": check.metric,
        "taken": check.taken.as_ref().map(taken_to_json),
        "at_least": check.at_least,
        "at_most": check.at_most,
        "where": wheres,
    })
}

fn taken_to_json(taken: &SeriesNumber) -> Value {
    json!({
        "condition": condition(&taken.condition),
        "take": taken.take,
        "over": taken.over,
        "window_s": taken.window_ns.map(seconds),
        "from_s": taken.from_ns.map(seconds),
        "to_s": taken.to_ns.map(seconds),
        "after": taken.after.as_ref().map(condition),
        "until": taken.until.as_ref().map(condition),
        "lasting_s": taken.lasting_ns.map(seconds),
        "lasting_rtts": taken.lasting_rtts,
        "holding": taken.holding.as_ref().map(condition),
    })
}

fn condition(condition: &Condition) -> Value {
    let Condition { series, is, above, below, nth } = condition;
    json!({ "series": series, "is_": is, "above": above, "below": below, "nth": nth })
}

#[expect(clippy::cast_precision_loss, reason = "exact below 104 days")]
fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
