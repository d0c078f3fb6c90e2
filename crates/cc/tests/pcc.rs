//! PCC: the phases, and what each utility makes of loss and delay.

#![expect(clippy::cast_precision_loss, reason = "small numbers")]

use crate::common::link::{Flow, Path};
use crate::common::{Options, at_ms, control_of, internal};
use narrows_base::Time;
use narrows_cc::LINUX_6_12;

fn flow(name: &str, options: Options, path: Path) -> Flow {
    Flow::new(control_of(name, options, &LINUX_6_12, Some(path.rtt)), path, Time::ZERO)
}

/// The rates, in order, and the phases that the flow went through by `until_ms`.
fn walk(flow: &mut Flow, until_ms: u64) -> (Vec<f64>, Vec<&'static str>) {
    let (mut rates, mut phases) = (Vec::new(), Vec::new());
    flow.run(at_ms(until_ms), |flow| {
        rates.push(internal(flow.control.as_ref(), "rate_mbps"));
        phases.push(flow.control.state());
    });
    rates.dedup();
    phases.dedup();
    (rates, phases)
}

#[test]
fn starting_doubles_until_the_utility_falls() {
    for (name, next) in [("pcc_allegro", "deciding"), ("pcc_vivace", "probing")] {
        let (rates, phases) = walk(&mut flow(name, &[], Path::new(50, 40, 170)), 5_000);
        assert_eq!(phases[..2], ["starting", next], "{name}");
        let doubled = rates.windows(2).take_while(|pair| (pair[1] - 2.0 * pair[0]).abs() < 1e-9);
        let doubled = doubled.count();
        let top = rates[doubled];
        assert!((50.0..=200.0).contains(&top), "{name} starts up to {top}");
        assert!((rates[doubled + 1] - top / 2.0).abs() < 1e-9, "{name} takes the last one back");
    }
}

#[test]
fn allegro_moves_in_growing_steps_of_a_percent() {
    let (rates, phases) = walk(&mut flow("pcc_allegro", &[], Path::new(50, 40, 170)), 20_000);
    assert!(phases.contains(&"adjusting"));
    let changes: Vec<f64> = rates.windows(2).map(|pair| pair[1] / pair[0]).collect();
    // A decision at 1 % and the first step at once, then 2 %, 3 % and so on.
    let first = changes.iter().position(|change| (change - 1.01 * 1.01).abs() < 1e-6);
    let first = first.expect("a decision upwards");
    assert!((changes[first + 1] - 1.02).abs() < 1e-6 || changes[first + 1] < 1.0, "{changes:?}");
}

#[test]
fn vivace_keeps_the_queue_empty_unless_delay_has_no_weight() {
    let path = Path::new(50, 40, 170);
    let mean_queue = |options: Options| {
        let mut flow = flow("pcc_vivace", options, path);
        flow.run(at_ms(10_000), |_| {});
        let (mut sum, mut acks) = (0, 0);
        flow.run(at_ms(30_000), |flow| {
            sum += flow.queue();
            acks += 1;
        });
        assert!(f64::from(acks) * path.service.as_secs_f64() > 0.85 * 20.0, "the path is used");
        sum as f64 / f64::from(acks)
    };
    let (latency, loss) = (mean_queue(&[]), mean_queue(&[("latency", "0")]));
    assert!(latency < 20.0, "{latency}");
    assert!(loss > 2.0 * latency, "{loss} {latency}");
}
