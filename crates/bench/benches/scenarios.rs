//! The engine on the four scenarios of `make bench`, shortened.
//!
//! For instruction counts, which don't depend on the machine's load:
//! `valgrind --tool=callgrind target/release/examples/run_scenario SCENARIO.json`.

#[path = "../../sim/tests/common/mod.rs"]
mod common;

use std::ops::ControlFlow;

use common::{SECOND, bdp, scenario};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use narrows_record::NullObserver;
use narrows_spec::scenario::Scenario;

fn case(mbps: u64, rtt_ms: u64, percent: u64, seconds: u64, ccas: &[&str]) -> Scenario {
    let mut case = scenario(mbps, rtt_ms, bdp(mbps, rtt_ms, percent), ccas);
    case.run.duration_ns = seconds * SECOND;
    case.run.warmup_ns = 0;
    case
}

fn scenarios(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scenario");
    group.sample_size(10);
    let many = [["bbr"; 50], ["cubic"; 50]].concat();
    for (name, case) in [
        ("S1 1 cubic 10 Mbit/s", case(10, 40, 100, 60, &["cubic"])),
        ("S2 2 bbr 2 cubic 80 Mbit/s", case(80, 25, 175, 10, &["bbr", "bbr", "cubic", "cubic"])),
        ("S3 8 cubic 1 Gbit/s", case(1000, 20, 100, 2, &["cubic"; 8])),
        ("S4 50 bbr 50 cubic 1 Gbit/s", case(1000, 20, 100, 2, &many)),
    ] {
        let mut run = || {
            narrows_sim::run(&case, &mut NullObserver, &mut |_, _| ControlFlow::Continue(()))
                .expect("the scenario runs")
                .packets
        };
        group.throughput(Throughput::Elements(run()));
        group.bench_function(name, |bencher| bencher.iter(&mut run));
    }
    group.finish();
}

criterion_group!(benches, scenarios);
criterion_main!(benches);
