//! How often a run says how far it is.

use std::ops::ControlFlow;

use crate::common::{SECOND, bdp, scenario};
use narrows_record::NullObserver;

/// A path of a million seconds on which nothing arrives, looked at once a second: what
/// takes the time are the samples, one of each flow.
#[test]
fn many_flows_that_wait_still_show_progress() {
    let mut waiting = scenario(8, 1000, bdp(8, 1000, 100), &["reno"; 4000]);
    waiting.path.rtt_ns = 1_000_000 * SECOND;
    waiting.run.duration_ns = 300 * SECOND;
    waiting.run.warmup_ns = 0;
    waiting.run.sample_interval_ns = SECOND;
    for flow in &mut waiting.flows {
        flow.start_ns = 299 * SECOND;
    }
    let mut calls = 0;
    let mut on_progress = |_, _| {
        calls += 1;
        ControlFlow::Continue(())
    };
    narrows_sim::run(&waiting, &mut NullObserver, &mut on_progress).expect("it runs");
    assert!(calls >= 1, "no progress in 300 times 4000 samples");
}
