//! Copa and LEDBAT: the delay that each aims at, and what moves it.

#![expect(clippy::cast_precision_loss, reason = "small numbers")]

use crate::common::link::{Flow, Path};
use crate::common::{Options, ack, at_ms, control, control_of, delivered_sample, internal, loss};
use narrows_base::{Duration, Time};
use narrows_cc::{AckSample, CongestionControl, LINUX_6_12};

fn flow(name: &str, options: Options, path: Path) -> Flow {
    Flow::new(control_of(name, options, &LINUX_6_12, Some(path.rtt)), path, Time::ZERO)
}

/// Share of the path used and mean packets waiting, over 20 s from `from_ms` on.
fn use_and_queue(flow: &mut Flow, service: Duration, from_ms: u64) -> (f64, f64) {
    flow.run(at_ms(from_ms), |_| {});
    let before = flow.delivered;
    let (mut sum, mut acks) = (0, 0);
    flow.run(at_ms(from_ms + 20_000), |flow| {
        sum += flow.queue();
        acks += 1;
    });
    let used = (flow.delivered - before) as f64 * service.as_secs_f64() / 20.0;
    (used, sum as f64 / f64::from(acks))
}

#[test]
fn copa_alone_queues_a_few_packets_for_each_1_over_delta() {
    let path = Path::new(20, 40, 1_000);
    let queues = ["0.5", "0.1"].map(|delta| {
        let mut flow = flow("copa", &[("delta", delta)], path);
        let (used, queue) = use_and_queue(&mut flow, path.service, 5_000);
        assert!(used > 0.9, "{delta}: {used}");
        queue
    });
    assert!(queues[0] < 10.0 && queues[1] > 2.0 * queues[0], "{queues:?}");
}

#[test]
fn copa_alone_stays_in_its_default_mode() {
    let mut flow = flow("copa", &[], Path::new(20, 40, 1_000));
    flow.run(at_ms(5_000), |_| {});
    let mut competitive = 0;
    let mut acks = 0;
    flow.run(at_ms(25_000), |flow| {
        acks += 1;
        competitive += u32::from(flow.control.state() == "competitive");
    });
    assert!(competitive * 20 < acks, "{competitive} of {acks} ACKs");
}

/// A control that sees a lowest RTT of 40 ms, then a queue of 30 to 60 ms for `seconds`.
fn beside_a_full_buffer(options: Options, seconds: u64) -> Box<dyn CongestionControl> {
    let mut control = control("copa", options);
    let rtt = |now: Time, ms| AckSample {
        rtt: Some(Duration::from_millis(ms)),
        srtt: Duration::from_millis(ms),
        ..ack(now, 1)
    };
    control.on_ack(&rtt(at_ms(0), 40));
    for step in 1..seconds * 1_000 / 5 {
        control.on_ack(&rtt(at_ms(step * 5), 70 + step % 30));
    }
    control
}

#[test]
fn copa_competes_where_the_queue_never_empties() {
    let control = beside_a_full_buffer(&[], 5);
    assert_eq!(control.state(), "competitive");
    assert!(internal(control.as_ref(), "delta") < 0.05, "one more packet each round trip");
    let never = beside_a_full_buffer(&[("competitive", "false")], 5);
    assert_eq!((never.state(), internal(never.as_ref(), "delta")), ("default", 0.5));
}

/// Returns `true` if a control competes that sees a queue swing from `trough_us` to 6 ms and back.
fn competes_at(trough_us: u64, resolution: &str) -> bool {
    let mut control = control("copa", &[("resolution", resolution)]);
    let rtt = |now: Time, queue_us| AckSample {
        rtt: Some(Duration::from_micros(40_000 + queue_us)),
        srtt: Duration::from_millis(43),
        ..ack(now, 1)
    };
    control.on_ack(&rtt(at_ms(0), 0));
    (1..500).for_each(|step| {
        let queue = if step % 50 < 25 { trough_us } else { 6_000 };
        control.on_ack(&rtt(at_ms(step * 5), queue));
    });
    control.state() == "competitive"
}

#[test]
fn copa_counts_no_packet_of_its_own_as_a_competitors() {
    // A tenth of the swing is 0.6 ms; its own packets are 40 ms / cwnd apart.
    assert!(!competes_at(500, "0.0") && competes_at(700, "0.0"));
    assert!(!competes_at(700, "1.0") && !competes_at(1_500, "1.0"));
    assert!(competes_at(5_500, "0.1"));
}

#[test]
fn a_loss_halves_copas_share_while_it_competes() {
    let mut control = beside_a_full_buffer(&[], 5);
    let before = internal(control.as_ref(), "delta");
    let lossy = AckSample { lost: 1, rtt: Some(Duration::from_millis(80)), ..ack(at_ms(5_100), 1) };
    control.on_ack(&lossy);
    assert!((internal(control.as_ref(), "delta") - 2.0 * before).abs() < 1e-9);
    control.on_ack(&AckSample { rtt: Some(Duration::from_millis(41)), ..lossy });
    assert_eq!((control.state(), internal(control.as_ref(), "delta")), ("default", 0.5));
}

#[test]
fn copa_ignores_losses_in_its_default_mode() {
    let mut control = control("copa", &[]);
    control.on_congestion(&loss(10));
    assert_eq!(control.control().cwnd, 10);
}

#[test]
fn ledbat_keeps_its_target_delay() {
    let path = Path::new(10, 40, 1_000);
    for (target, packets) in [("100ms", 83.0), ("25ms", 21.0)] {
        let mut flow = flow("ledbat", &[("target", target)], path);
        let (used, queue) = use_and_queue(&mut flow, path.service, 60_000);
        assert!(used > 0.99 && (queue / packets - 1.0_f64).abs() < 0.1, "{target}: {used} {queue}");
    }
}

/// A LEDBAT that has seen 40 ms and sees `rtt_ms` now, after `acks` ACKs.
fn ledbat(rtt_ms: u64, acks: u64) -> Box<dyn CongestionControl> {
    let mut control = control("ledbat", &[]);
    let mut take = |rtt_ms, count| {
        for step in 0..count {
            let rtt = Duration::from_millis(rtt_ms);
            control.on_delivered(&delivered_sample(at_ms(step), 1, rtt, (step, step + 10)));
            control.on_ack(&ack(at_ms(step), 1));
        }
    };
    take(40, 1);
    take(rtt_ms, acks);
    control
}

#[test]
fn ledbat_yields_to_a_queue_above_its_target() {
    assert!(ledbat(40, 60).control().cwnd > 13, "grows like Reno without a queue");
    assert_eq!(ledbat(140, 60).control().cwnd, 10, "holds at the target");
    let yielded = ledbat(340, 60).control().cwnd;
    assert_eq!(yielded, 2, "and no less");
}

#[test]
fn ledbat_pp_keeps_a_shorter_queue_and_slows_down_for_a_tenth_of_the_time() {
    let path = Path::new(10, 40, 1_000);
    let mut flow = flow("ledbat_pp", &[], path);
    let (used, queue) = use_and_queue(&mut flow, path.service, 60_000);
    // 50 packets are 60 ms.
    assert!(used > 0.9 && (25.0..52.0).contains(&queue), "{used} {queue}");
    let (mut slow, mut acks, mut begun, mut was_slow) = (0, 0, 0, false);
    flow.run(at_ms(140_000), |flow| {
        let is_slow = matches!(flow.control.state(), "slowdown" | "ramp");
        (acks, slow) = (acks + 1, slow + u32::from(is_slow));
        begun += u32::from(is_slow && !was_slow);
        was_slow = is_slow;
    });
    assert!(begun >= 3, "{begun} slowdowns in a minute");
    assert!(slow * 5 < acks, "{slow} of {acks} ACKs");
}

/// A LEDBAT++ that has seen 40 ms, is past slow start, and sees `rtt_ms` for `acks` ACKs.
fn ledbat_pp(rtt_ms: u64, acks: u64) -> u32 {
    let mut control = control("ledbat_pp", &[("slowdown", "false")]);
    control.on_congestion(&loss(40)); // 20 packets, steady
    for step in 0..=acks {
        let rtt = Duration::from_millis(if step == 0 { 40 } else { rtt_ms });
        control.on_delivered(&delivered_sample(at_ms(step), 1, rtt, (step, step + 10)));
        if step >= 4 {
            control.on_ack(&ack(at_ms(step), 1));
        }
    }
    control.control().cwnd
}

#[test]
fn ledbat_pp_grows_by_a_third_of_reno_and_gives_way_by_its_window() {
    // 2 * 60 / 40 = 3: a packet in three round trips.
    assert_eq!((ledbat_pp(40, 57), ledbat_pp(40, 70)), (20, 21));
    assert_eq!(ledbat_pp(100, 70), 21, "grows still at the target");
    let quarter = ledbat_pp(115, 23);
    assert!((15..=16).contains(&quarter), "{quarter}: a quarter less in a round trip");
    let half = ledbat_pp(400, 23);
    assert_eq!(half, 10, "at most half in a round trip");
}

#[test]
fn ledbat_halves_on_loss() {
    let mut control = ledbat(140, 60);
    control.on_congestion(&loss(10));
    assert_eq!(control.control().cwnd, 5);
}
