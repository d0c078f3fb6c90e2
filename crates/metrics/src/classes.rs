//! Groups flows into classes: those of an entry with a name, or identical ones.
//!
//! Entries without a name are a class by their control, such as "cubic". Where flows of a control
//! differ in more, the class names the difference with as few words as possible: "cubic-20ms" and
//! "cubic-80ms". Flows can differ in round-trip time, direction and links, what they send, options,
//! ECN, receive window, hosts, start and stop.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::number::{general, plain};
use crate::scenario::number;

/// A property that would give a control more classes than this is ignored.
pub const MOST: usize = 8;

/// Keys of a flow that describe its own hosts.
pub const OWN_HOST: [&str; 10] = [
    "kernel",
    "profile",
    "fq",
    "line_rate_bps",
    "sysctls",
    "server",
    "client",
    "sender",
    "syscall_time_ns",
    "date",
];

/// Keys of [`OWN_HOST`] whose values need no name beside them.
const NAMED: [&str; 2] = ["kernel", "profile"];

/// A property of a flow: its words, and the value that decides whether flows differ.
type Aspect = fn(&Value, path_rtt: &Value) -> (String, Value);

/// The properties in which flows of a control can differ, in the order of a class's name.
const ASPECTS: [Aspect; 9] =
    [own_rtt, direction, links, transfers, options, ecn, window, hosts, lifetime];

/// Flows that are shown as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowClass {
    /// The class's name.
    pub name: String,
    /// The numbers of its flows, ascending.
    pub flows: Vec<usize>,
}

/// The class of each flow of a scenario, by number; `groups` has the names of its entries, or else
/// its control.
///
/// # Panics
/// If the scenario and `groups` have different numbers of flows.
#[must_use]
pub fn names(scenario: &Value, groups: &[String]) -> Vec<String> {
    let flows = scenario["flows"].as_array().map_or(&[][..], Vec::as_slice);
    assert_eq!(flows.len(), groups.len(), "every flow has a group");
    let path_rtt = &scenario["path"]["rtt_ns"];
    let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let unnamed: BTreeSet<&str> = flows
        .iter()
        .zip(groups)
        .filter(|(flow, group)| flow["cca"] == ***group)
        .map(|(_, group)| group.as_str())
        .collect();
    for (number, group) in groups.iter().enumerate() {
        if unnamed.contains(group.as_str()) {
            members.entry(group).or_default().push(number);
        }
    }
    let mut found = groups.to_vec();
    for (cca, numbers) in members {
        let its: Vec<&Value> = numbers.iter().map(|&number| &flows[number]).collect();
        for (number, words) in numbers.iter().zip(differences(&its, path_rtt)) {
            if !words.is_empty() {
                found[*number] = format!("{cca}-{words}");
            }
        }
    }
    found
}

/// The classes in the order of their first flows.
#[must_use]
pub fn members(classes: &[String]) -> Vec<FlowClass> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found: Vec<FlowClass> = Vec::new();
    for (flow, name) in classes.iter().enumerate() {
        let place = *places.entry(name).or_insert_with(|| {
            found.push(FlowClass { name: name.clone(), flows: Vec::new() });
            found.len() - 1
        });
        found[place].flows.push(flow);
    }
    found
}

/// The properties in which each flow differs; nothing if all are identical.
fn differences(flows: &[&Value], path_rtt: &Value) -> Vec<String> {
    if flows.len() == 1 {
        return vec![String::new()];
    }
    let mut found: Vec<Vec<String>> = vec![Vec::new(); flows.len()];
    for say in ASPECTS {
        let column = distinct(flows.iter().map(|flow| say(flow, path_rtt)));
        let longer = |(parts, word): (&Vec<String>, String)| {
            parts.iter().cloned().chain([word]).collect::<Vec<_>>()
        };
        let more: Vec<Vec<String>> = found.iter().zip(column).map(longer).collect();
        let [before, after] = [&found, &more].map(|one| one.iter().collect::<BTreeSet<_>>().len());
        if before < after && after <= MOST {
            found = more;
        }
    }
    let join = |parts: Vec<String>| {
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
    };
    found.into_iter().map(join).collect()
}

/// The words for values; different values with the same words get numbers.
fn distinct(said: impl Iterator<Item = (String, Value)>) -> Vec<String> {
    let mut known: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    said.map(|(words, value)| {
        let values = known.entry(words.clone()).or_default();
        let place = values.iter().position(|other| *other == value).unwrap_or_else(|| {
            values.push(value);
            values.len() - 1
        });
        if place == 0 { words } else { format!("{words}{}", place + 1) }
    })
    .collect()
}

fn own_rtt(flow: &Value, path_rtt: &Value) -> (String, Value) {
    let own = if flow["rtt_ns"].is_null() { path_rtt } else { &flow["rtt_ns"] };
    (format!("{}ms", general(number(own) / 1e6)), own.clone())
}

fn direction(flow: &Value, _: &Value) -> (String, Value) {
    let back = flow["reverse"].as_bool().unwrap_or_default();
    ((if back { "reverse" } else { "forward" }).to_owned(), back.into())
}

fn links(flow: &Value, _: &Value) -> (String, Value) {
    let names = flow["links"].as_array().map(|links| {
        links.iter().map(|link| link.as_str().unwrap_or_default()).collect::<Vec<_>>().join("+")
    });
    (names.unwrap_or_else(|| "all".to_owned()), flow["links"].clone())
}

/// Its workload, its size, or that it never ends.
fn transfers(flow: &Value, _: &Value) -> (String, Value) {
    let (work, size) = (&flow["workload"], &flow["size_bytes"]);
    let value = json!([work, size, flow["repeat_gap_ns"], flow["while"]]);
    let words = match (work["kind"].as_str(), size.is_null()) {
        (Some(kind), _) => kind.to_owned(),
        (None, true) => "endless".to_owned(),
        (None, false) => amount(number(size)),
    };
    (words, value)
}

fn options(flow: &Value, _: &Value) -> (String, Value) {
    let given: BTreeMap<&String, &Value> =
        flow["options"].as_object().into_iter().flat_map(Map::iter).collect();
    let words = given.iter().map(|(name, value)| format!("{name}={}", plain(value)));
    (words.collect::<Vec<_>>().join("+"), flow["options"].clone())
}

fn ecn(flow: &Value, _: &Value) -> (String, Value) {
    (format!("ecn={}", plain(&flow["ecn"])), flow["ecn"].clone())
}

fn window(flow: &Value, _: &Value) -> (String, Value) {
    let window = &flow["receive_window_bytes"];
    let words = window.as_f64().map(|bytes| format!("window={}", amount(bytes)));
    (words.unwrap_or_default(), window.clone())
}

fn hosts(flow: &Value, _: &Value) -> (String, Value) {
    let own = OWN_HOST.iter().filter_map(|&key| Some((key, flow.get(key)?)));
    let own: Vec<(&str, &Value)> = own.collect();
    let plain_names = own.iter().all(|(key, _)| NAMED.contains(key));
    let words = own.iter().map(|(_, value)| plain(value)).collect::<Vec<_>>().join("+");
    let value = own.iter().map(|(key, value)| ((*key).to_owned(), (*value).clone()));
    (if plain_names { words } else { "own".to_owned() }, Value::Object(value.collect()))
}

fn lifetime(flow: &Value, _: &Value) -> (String, Value) {
    let (start, stop) = (&flow["start_ns"], &flow["stop_ns"]);
    let until = stop.as_f64().map(|stop| format!("+to{}s", general(stop / 1e9)));
    let words = format!("from{}s{}", general(number(start) / 1e9), until.unwrap_or_default());
    (words, json!([start, stop]))
}

/// An amount of bytes in the largest unit that it reaches.
fn amount(bytes: f64) -> String {
    let units = [(1e6, "mb"), (1e3, "kb")];
    let (scale, unit) = units.into_iter().find(|(scale, _)| bytes >= *scale).unwrap_or((1.0, "b"));
    format!("{}{unit}", general(bytes / scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(flows: &[Value]) -> (Value, Vec<String>) {
        let groups = flows.iter().map(|flow| flow["cca"].as_str().unwrap().to_owned()).collect();
        (json!({ "path": { "rtt_ns": 40_000_000 }, "flows": flows }), groups)
    }

    #[test]
    fn a_class_says_what_differs() {
        let flow =
            |rtt: Value, start: u64| json!({ "cca": "cubic", "rtt_ns": rtt, "start_ns": start });
        let found = |flows: &[Value]| {
            let (scenario, groups) = scenario(flows);
            names(&scenario, &groups)
        };
        assert_eq!(found(&[flow(Value::Null, 0), flow(json!(40_000_000), 0)]), ["cubic"; 2]);
        assert_eq!(
            found(&[flow(Value::Null, 0), flow(json!(2_500_000), 0)]),
            ["cubic-40ms", "cubic-2.5ms"]
        );
        let starts: Vec<Value> = (0..9).map(|at| flow(Value::Null, at * 1_000_000_000)).collect();
        assert_eq!(found(&starts), vec!["cubic"; 9], "too many to be told apart");
        assert_eq!(found(&starts[..2]), ["cubic-from0s", "cubic-from1s"]);
    }

    #[test]
    fn named_entries_keep_their_names() {
        let flows =
            [json!({ "cca": "cubic", "rtt_ns": 1 }), json!({ "cca": "cubic", "rtt_ns": 2 })];
        let (scenario, _) = scenario(&flows);
        let groups = ["far".to_owned(), "cubic".to_owned()];
        assert_eq!(names(&scenario, &groups), groups);
    }

    #[test]
    fn classes_stand_in_the_order_of_their_first_flows() {
        let found = members(&["b", "a", "b"].map(str::to_owned));
        let expected = [("b", vec![0, 2]), ("a", vec![1])];
        assert_eq!(found, expected.map(|(name, flows)| FlowClass { name: name.into(), flows }));
    }
}
