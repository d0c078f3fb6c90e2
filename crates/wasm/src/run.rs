//! Runs the first trial of a specification.

use std::ops::ControlFlow;

use narrows_base::Time;
use narrows_base::registry::Values;
use narrows_metrics::classes;
use narrows_metrics::run::RunMetrics;
use narrows_record::columns::PACKETS;
use narrows_record::{NullTap, Recorder};
use narrows_sim::{Controls, run_with};
use narrows_spec::{ControlFault, Files, Inputs, Module, Node, Problems, Source};
use serde_json::{Map, Value, json};

use crate::capture::{self, CapturePoint};
use crate::packet_range::{PacketRange, Within};
use crate::{javascript_control, page, tables};

/// The parts of a run to return.
pub(crate) struct OutputSelection {
    /// The names of tables.
    pub(crate) tables: Vec<String>,
    /// The span whose packets are wanted; the run ends with it.
    pub(crate) packets: Option<PacketRange>,
    /// The point of a capture.
    pub(crate) capture: Option<CapturePoint>,
}

/// The run and its records.
pub(crate) fn run(
    text: &str,
    own: Option<&str>,
    wanted: &OutputSelection,
) -> Result<Value, Problems> {
    let document = Node::from_toml(text)?;
    let source = Source::new(&document, Vec::new(), "scenario", None)?;
    let read = source.read(&Page { own })?;
    let mut scenario = read.scenario_of(1);
    if let Some(range) = &wanted.packets {
        range.shorten(&mut scenario);
    }
    let scenario = &scenario;
    let [warmup, ends] = [scenario.run.warmup_ns, scenario.run.duration_ns].map(Time::from_nanos);
    let mut recorder = Recorder::new(scenario.run.record, warmup);
    let controls = own
        .map_or_else(Controls::new, |name| Controls::new().with(name, javascript_control::control));
    let mut on_progress = |at: Time, _| {
        page::progress(at.as_secs_f64() / ends.as_secs_f64());
        ControlFlow::Continue(())
    };
    let mut observer = Within { observer: &mut recorder, range: wanted.packets };
    let mut tap = wanted.capture.map(|at| capture::begin(at, scenario));
    let outcome = match &mut tap {
        None => run_with(scenario, &controls, &mut observer, &mut NullTap, &mut on_progress),
        Some(tap) => run_with(scenario, &controls, &mut observer, tap, &mut on_progress),
    }?;
    let length = tap.map(capture::end);
    let digest = recorder.digest().to_string();
    let described = json!(scenario);
    let groups = classes::names(&json!(read.scenario), &read.groups);
    let (recorded, end_s) = (recorder.into_tables(), outcome.end.as_secs_f64());
    let numbers = RunMetrics::new(described.clone(), recorded.as_slice(), end_s).numbers(&groups);
    let numbers = numbers.expect("the recorder has every table");
    let mut found = Map::new();
    for table in recorded {
        let of_packets = wanted.packets.is_some() && table.name == PACKETS.name;
        if of_packets || wanted.tables.iter().any(|name| name == table.name) {
            found.insert(table.name.into(), tables::columns(&table));
        }
    }
    Ok(json!({
        "digest": digest,
        "end_s": end_s,
        "packets": outcome.packets,
        "groups": groups,
        "numbers": numbers,
        "scenario": described,
        "document": document.to_json(),
        "tables": found,
        "capture": length,
    }))
}

/// A page offers no files, and at most one own control.
struct Page<'a> {
    own: Option<&'a str>,
}

impl Inputs for Page<'_> {
    fn file(&self, name: &str) -> Result<String, String> {
        Files::default().file(name)
    }

    fn control(&self, name: &str, options: &Values) -> Result<Module, Vec<ControlFault>> {
        Files::default().control(name, options)
    }

    fn knows(&self, control: &str) -> bool {
        self.own == Some(control)
    }
}
