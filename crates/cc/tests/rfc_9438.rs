//! CUBIC by RFC 9438, where Linux differs or has other units.

use crate::common::{ack, at_ms, control, delivered_sample, internal, loss};
use narrows_base::{Duration, Time};
use narrows_cc::{CongestionControl, CongestionEvent, StartEvent};

fn cubic(options: crate::common::Options) -> Box<dyn CongestionControl> {
    let mut all = vec![("hystart", "off"), ("rfc9438", "true")];
    all.extend(options);
    control("cubic", &all)
}

fn lose(control: &mut dyn CongestionControl, now: Time, cwnd: u32) -> u32 {
    control.on_congestion(&CongestionEvent { now, ..loss(cwnd) });
    control.control().cwnd
}

#[test]
fn beta_is_seven_tenths_unless_another_is_given() {
    // Linux's 717/1024 would leave 70,019.
    assert_eq!(lose(&mut *cubic(&[]), at_ms(0), 100_000), 70_000);
    assert_eq!(lose(&mut *cubic(&[("beta", "512")]), at_ms(0), 100_000), 50_000);
}

#[test]
fn a_loss_below_the_last_maximum_aims_lower() {
    for (fast, expected) in [("true", 68.0), ("false", 80.0)] {
        let mut control = cubic(&[("fast_convergence", fast)]);
        lose(&mut *control, at_ms(0), 100);
        lose(&mut *control, at_ms(500), 80);
        // 80 (1 + 0.7) / 2.
        assert_eq!(internal(&*control, "w_last_max"), expected);
    }
}

/// The window after a round that begins 5 s into an epoch with an idle time of `pause`.
fn after_a_pause(pause: Duration) -> u32 {
    let mut control = cubic(&[]);
    lose(&mut *control, at_ms(0), 1_000);
    control.on_ack(&ack(at_ms(100), 1));
    let now = at_ms(5_100);
    control.on_start(&StartEvent {
        now,
        last_sent: Some(now - pause),
        app_limited: true,
        mss: 1448,
        delivered: 0,
    });
    control.on_ack(&ack(now, 700));
    control.control().cwnd
}

#[test]
fn a_pause_is_no_time_of_the_epoch() {
    let windows = [0, 2_500, 5_000].map(|ms| after_a_pause(Duration::from_millis(ms)));
    assert!(windows.is_sorted_by(|before, after| before > after), "{windows:?}");
    // The curve begins at 700 and is steep there.
    assert!(windows[2] < 725 && windows[0] > 900, "{windows:?}");
}

#[test]
fn delays_in_the_first_second_of_an_epoch_are_the_old_queues() {
    let mut control = cubic(&[]);
    control.on_delivered(&delivered_sample(at_ms(100), 1, Duration::from_millis(80), (100, 110)));
    lose(&mut *control, at_ms(200), 100);
    control.on_ack(&ack(at_ms(300), 1));
    let mut hear = |ms: u64, rtt_ms: u64| {
        let rtt = Duration::from_millis(rtt_ms);
        control.on_delivered(&delivered_sample(at_ms(ms), 1, rtt, (ms, ms + 10)));
        internal(&*control, "delay_min_ms")
    };
    assert_eq!([hear(1_299, 70), hear(1_300, 60), hear(1_400, 65)], [80.0, 60.0, 60.0]);
}
