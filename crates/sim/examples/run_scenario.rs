//! Runs a scenario file (JSON) and prints what each flow got.
//!
//!     cargo run --release -p narrows-sim --example run_scenario -- scenario.json

#![expect(clippy::cast_precision_loss, reason = "small numbers")]
#![expect(clippy::disallowed_methods, reason = "a clock, for the person's sake")]

use std::error::Error;
use std::ops::ControlFlow;
use std::time::Instant;

use narrows_base::{Level, Time};
use narrows_record::Recorder;
use narrows_spec::scenario::Scenario;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("a scenario file is needed")?;
    let scenario: Scenario = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let warmup = Time::from_nanos(scenario.run.warmup_ns);
    let mut recorder = Recorder::new(Level::Samples, warmup);
    let began = Instant::now();
    let outcome =
        narrows_sim::run(&scenario, &mut recorder, &mut |_, _| ControlFlow::Continue(()))?;
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
    Ok(())
}
