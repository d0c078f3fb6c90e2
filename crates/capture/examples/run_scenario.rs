//! Runs a scenario file (JSON), prints what was recorded, and writes captures if a directory is given.
//!
//!     cargo run --release -p narrows-capture --example run_scenario -- scenario.json [DIRECTORY]

#![expect(clippy::cast_precision_loss, reason = "small numbers")]
#![expect(clippy::disallowed_methods, reason = "times the run for its report")]

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use narrows_base::{Level, Time};
use narrows_capture::write::{CaptureOptions, Captures, FlowInfo, IpVersion};
use narrows_record::{NullTap, Recorder};
use narrows_sim::{Controls, run_with};
use narrows_spec::scenario::Scenario;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let path = words.next().ok_or("a scenario file is needed")?;
    let scenario: Scenario = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let mut captures = words.next().map(|to| begin(&scenario, Path::new(&to))).transpose()?;
    let mut recorder = Recorder::new(Level::Samples, Time::from_nanos(scenario.run.warmup_ns));
    let (controls, mut go_on) = (Controls::default(), |_, _| ControlFlow::Continue(()));
    let began = Instant::now();
    let outcome = match &mut captures {
        None => run_with(&scenario, &controls, &mut recorder, &mut NullTap, &mut go_on)?,
        Some(tap) => run_with(&scenario, &controls, &mut recorder, tap, &mut go_on)?,
    };
    let wall = began.elapsed().as_secs_f64();
    println!(
        "{} packets in {wall:.3} s: {:.2} M packets/s; digest {}",
        outcome.packets,
        outcome.packets as f64 / wall / 1e6,
        recorder.digest(),
    );
    for table in recorder.into_tables() {
        println!("{}: {} rows", table.name, table.batch.num_rows());
    }
    for (written, _) in captures.map_or(Ok(Vec::new()), Captures::finish)? {
        println!("{}: {} packets", written.file, written.records);
    }
    Ok(())
}

/// Captures of a run's packets, in an existing directory.
fn begin(scenario: &Scenario, directory: &Path) -> io::Result<Captures<BufWriter<File>>> {
    let info = |flow: &narrows_spec::scenario::Flow| FlowInfo {
        name: flow.name.clone(),
        several: flow.has_several_connections(),
    };
    let flows: Vec<FlowInfo> = scenario.flows.iter().map(info).collect();
    let options =
        CaptureOptions { snaplen: None, version: IpVersion::V4, comment: scenario.name.clone() };
    Captures::create(directory, &options, &flows)
}
