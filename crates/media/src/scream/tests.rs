//! The window and the delay's target, counted by hand.

use narrows_spec::scenario::MediaControl;

use super::*;
use crate::bench::{media, ms, report};

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6 * expected.abs().max(1.0), "{found}, not {expected}");
}

/// With packets of 1000 bytes.
fn scream() -> Scream {
    let media = Media { packet_bytes: 1_000, ..media(MediaControl::Scream) };
    Scream::new(&media, Time::ZERO)
}

#[test]
fn the_window_grows_with_what_arrives_while_it_is_used() {
    let mut scream = scream();
    // 5000 bytes are in flight, so a window up to 7500 and more is used.
    scream.report(&report(200, &[140, 150], 0, 0), 0);
    near(scream.window, 5_000.0);
    scream.report(&report(220, &[160, 170], 0, 0), 0);
    near(scream.window, 7_000.0);
    scream.report(&report(240, &[180], 0, 0), 0);
    near(scream.window, 8_000.0);
    scream.window = 9_000.0;
    scream.report(&report(260, &[200], 0, 0), 0);
    near(scream.window, 9_000.0);
    assert_eq!(scream.window(), Some(10_000), "a packet more while the delay is below the target");
    scream.delay = 0.2;
    assert_eq!(scream.window(), Some(9_000));
    near(scream.pacing_bps(0).expect("a pace"), 9_000.0 * 8.0 / 0.1);
}

#[test]
fn losses_shrink_it_once_in_a_round_trip() {
    let mut scream = scream();
    scream.window = 20_000.0;
    scream.report(&report(200, &[150], 0, 2), 0);
    near(scream.window, 16_000.0);
    assert!(!scream.fast);
    scream.on_sent(0, 20_000, ms(200));
    scream.report(&report(299, &[250], 0, 1), 0);
    // Deaf for 100 ms: it counts as an acknowledgement, and the window isn't used.
    near(scream.window, 16_000.0);
    scream.report(&report(300, &[260], 0, 1), 0);
    near(scream.window, 12_800.0);
}

#[test]
fn marks_shrink_it_less() {
    let mut scream = scream();
    scream.window = 20_000.0;
    let mut marked = report(200, &[150], 0, 0);
    if let crate::control::Fate::Arrived { marked, .. } = &mut marked.seen[0].fate {
        *marked = true;
    }
    scream.report(&marked, 0);
    near(scream.window, 18_000.0);
}

#[test]
fn beyond_the_target_the_window_shrinks_as_with_ledbat() {
    let mut scream = scream();
    scream.fast = false;
    scream.report(&report(200, &[150], 0, 0), 0);
    scream.on_sent(0, 20_000, ms(300));
    scream.window = 10_000.0;
    // 150 ms of queue, a target of 100: -0.5 x 1000 x 1000 / 10000.
    scream.report(&report(600, &[550], 150, 0), 0);
    near(scream.window, 10_000.0 - 50.0);
    // At most 1.1 times what was in flight within 5 s.
    scream.window = 50_000.0;
    scream.report(&report(620, &[570], 150, 0), 0);
    near(scream.window, 22_000.0);
}

#[test]
fn a_trend_is_a_correlated_rise() {
    let mut trend = Trend::new(Time::ZERO);
    (0..40).for_each(|_| trend.sample(0.5));
    near(trend.trend, 0.0);
    // A ramp of 20 samples: R(1) / R(0) = 565.25 / 665, times the average fraction.
    for step in 1..=20_u64 {
        trend.sample(real(step) / 20.0);
    }
    near(trend.trend, 565.25 / 665.0 * trend.average);
    assert!(trend.memory >= trend.trend);
}

#[test]
fn the_target_rises_beside_a_standing_queue() {
    let mut target = Target { seconds: 0.1, delays: VecDeque::new(), loss_events: 0.0 };
    target.adjust(0.3);
    near(target.seconds, 0.3);
    (0..300).for_each(|_| target.adjust(0.9));
    near(target.seconds, 0.4);
    // A delay that varies much lowers it by a tenth each time.
    (0..50).for_each(|_| target.adjust(0.0));
    assert!(target.seconds < 0.4);
    (0..300).for_each(|_| target.adjust(0.01));
    near(target.seconds, 0.1);
    target.loss_events = 0.01;
    (0..300).for_each(|_| target.adjust(0.1));
    near(target.seconds, 0.15);
}

#[test]
fn fast_increase_resumes_after_five_calm_seconds() {
    let mut scream = scream();
    scream.report(&report(200, &[150], 0, 1), 0);
    scream.report(&report(5_199, &[5_150], 0, 0), 0);
    assert!(!scream.fast);
    scream.report(&report(5_200, &[5_160], 0, 0), 0);
    assert!(scream.fast);
}
