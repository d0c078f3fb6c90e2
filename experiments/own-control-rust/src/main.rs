//! A congestion control from outside narrows, run in the place of a scenario's first.
//!
//!     cargo run --release -- DIR/trial-1/scenario.json     (DIR: a result of `narrows run`)

mod aimd;

use std::ops::ControlFlow::Continue;

use narrows_record::{NullTap, Recorder};
use narrows_sim::{Controls, run_with};
use narrows_spec::scenario::{Level, Scenario};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("own-control SCENARIO.json")?;
    let mut scenario: Scenario = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    scenario.flows[0].cca = "aimd".into();
    let controls = Controls::new().with("aimd", |config| Box::new(aimd::Aimd::new(&config)));
    let mut recorder = Recorder::new(Level::Summary, Default::default());
    let never = &mut |_, _| Continue(());
    let outcome = run_with(&scenario, &controls, &mut recorder, &mut NullTap, never)?;
    println!(
        "{} packets in {} s, digest {}",
        outcome.packets,
        outcome.end.as_secs_f64(),
        recorder.digest()
    );
    Ok(())
}
