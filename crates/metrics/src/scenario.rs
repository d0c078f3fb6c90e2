//! Parts of a scenario in JSON.

use serde_json::Value;

/// The number of a value; 0 for any other value.
pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}

/// The elements of a list; none of any other value.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The flows in their order.
pub(crate) fn flows(scenario: &Value) -> &[Value] {
    list(&scenario["flows"])
}

/// The kind of a flow's workload; empty if it has none.
pub(crate) fn workload(flow: &Value) -> &str {
    flow["workload"]["kind"].as_str().unwrap_or_default()
}

/// Returns whether a key of a scenario is present and neither false, zero nor empty.
pub(crate) fn is_given(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(given) => *given,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(values) => !values.is_empty(),
        Value::Object(values) => !values.is_empty(),
    }
}

/// Returns whether the tables have the samples of the run, and not only its totals.
pub(crate) fn has_samples(scenario: &Value) -> bool {
    scenario["run"]["record"] != "summary"
}
