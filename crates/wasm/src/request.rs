//! Requests and their answers.

use narrows_spec::{Node, Problems};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::capture::CapturePoint;
use crate::edit::{Edit, apply};
use crate::packet_range::PacketRange;
use crate::run::{OutputSelection, run};

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
enum Request {
    /// The JSON Schema of specifications.
    Schema,
    /// The events and fields of a page's own control.
    Control,
    /// The document of a specification.
    Read { text: String },
    /// Edits of a specification's text.
    Edit { text: String, edits: Vec<Edit> },
    /// The first trial of a specification.
    Run {
        text: String,
        /// The name of the page's own control, if there is one.
        #[serde(default)]
        own: Option<String>,
        /// The tables of the answer.
        tables: Vec<String>,
        /// The time span whose packets are also wanted; the run ends with it.
        #[serde(default)]
        packets: Option<PacketRange>,
        /// The point whose capture is also wanted.
        #[serde(default)]
        capture: Option<CapturePoint>,
    },
}

/// The answer to a request.
#[must_use]
pub fn answer(request: &str) -> String {
    let answered = match serde_json::from_str(request) {
        Ok(request) => handle(request),
        Err(error) => Ok(json!({ "problems": [{ "text": error.to_string() }] })),
    };
    answered.unwrap_or_else(|problems| describe(&problems)).to_string()
}

fn handle(request: Request) -> Result<Value, Problems> {
    match request {
        Request::Schema => Ok(narrows_spec::schema()),
        Request::Control => Ok(crate::javascript_control::interface()),
        Request::Read { text } => Ok(json!({ "document": Node::from_toml(&text)?.to_json() })),
        Request::Edit { text, edits } => {
            // A text that isn't TOML gets the same message as elsewhere.
            Node::from_toml(&text)?;
            Ok(match apply(&text, &edits) {
                Ok(text) => json!({ "text": text }),
                Err(problem) => json!({ "problems": [{ "text": problem }] }),
            })
        }
        Request::Run { text, own, tables, packets, capture } => {
            run(&text, own.as_deref(), &OutputSelection { tables, packets, capture })
        }
    }
}

fn describe(problems: &Problems) -> Value {
    let one = |problem: &narrows_spec::Problem| {
        json!({
            "at": problem.at.map(|at| json!({ "line": at.line, "column": at.column })),
            "place": problem.place.to_string(),
            "text": problem.to_string(),
        })
    };
    json!({ "problems": problems.0.iter().map(one).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_is_none_is_answered() {
        for request in ["", "{}", r#"{"do": "fly"}"#, r#"{"do": "run"}"#] {
            assert!(answer(request).contains("problems"), "{request}");
        }
    }

    #[test]
    fn the_schema_is_that_of_the_command() {
        let whole: Value = serde_json::from_str(&answer(r#"{"do": "schema"}"#)).unwrap();
        assert_eq!(whole, narrows_spec::schema());
    }

    #[test]
    fn a_capture_is_a_file_of_packets() {
        let text = "[path]\nrate = \"1mbit\"\nrtt = \"10ms\"\nbuffer = \"10pkt\"\n[[flows]]\ncca = \"reno\"\n\
                    [run]\nduration = \"1s\"\nwarmup = \"0s\"\n";
        let mut request = json!({ "do": "run", "text": text, "tables": [], "capture": "receiver" });
        let said: Value = serde_json::from_str(&answer(&request.to_string())).unwrap();
        assert!(said["capture"].as_u64().unwrap() > 80 * 60, "{said}");
        request["capture"] = json!("elsewhere");
        assert!(answer(&request.to_string()).contains("unknown variant `elsewhere`"));
    }

    #[test]
    fn a_problem_has_its_line() {
        let request = json!({ "do": "run", "text": "[path]\nrate = 5\n", "tables": [] });
        let said: Value = serde_json::from_str(&answer(&request.to_string())).unwrap();
        let of_rate =
            said["problems"].as_array().unwrap().iter().find(|one| one["place"] == "path.rate");
        assert_eq!(of_rate.unwrap()["at"], json!({ "line": 2, "column": 8 }));
    }

    #[test]
    fn packets_of_a_range_before_another_flow_starts_and_the_path_changes() {
        let text = "[path]\nrate = \"1mbit\"\nrtt = \"20ms\"\nbuffer = \"1bdp\"\n\
                    [[flows]]\ncca = \"reno\"\n[[flows]]\ncca = \"reno\"\nstart = \"2s\"\n\
                    [[changes]]\nat = \"50s\"\nrate = \"2mbit\"\n\
                    [run]\nduration = \"60s\"\n";
        let packets = json!({ "flow": 0, "from_s": 0.5, "to_s": 1.0 });
        let request = json!({ "do": "run", "text": text, "tables": [], "packets": packets });
        let said: Value = serde_json::from_str(&answer(&request.to_string())).unwrap();
        let times = said["tables"]["packets"]["time_s"].as_array().expect("the packets' times");
        let times: Vec<f64> = times.iter().filter_map(Value::as_f64).collect();
        assert!(times.len() > 100 && times.iter().all(|time| (0.5..=1.0).contains(time)));
    }

    #[test]
    fn packets_of_all_flows_if_none_is_named() {
        let text = "[path]\nrate = \"1mbit\"\nrtt = \"20ms\"\nbuffer = \"1bdp\"\n\
                    [[flows]]\ncca = \"reno\"\ncount = 2\n[run]\nduration = \"2s\"\n";
        let flows = |packets: Value| {
            let request = json!({ "do": "run", "text": text, "tables": [], "packets": packets });
            let said: Value = serde_json::from_str(&answer(&request.to_string())).unwrap();
            let flows = said["tables"]["packets"]["flow"].as_array().expect("the flows").clone();
            flows.iter().filter_map(Value::as_u64).collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(flows(json!({ "from_s": 1.0, "to_s": 2.0 })), [0, 1].into());
        assert_eq!(flows(json!({ "flow": 1, "from_s": 1.0, "to_s": 2.0 })), [1].into());
    }
}
