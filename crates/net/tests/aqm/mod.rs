//! The promises of the documents on active queue management, under the load of
//! simple window-based senders.

mod senders;

use narrows_base::{Duration, Ecn, Rate, Stream};
use narrows_net::{
    CoDel, CoDelParams, DocsisPie, DocsisPieParams, DualPi2, DualPi2Params, Fq, FqCoDel,
    FqCoDelParams, FqParams, Pie, PieParams, Queue, Red, RedParams,
};

use self::senders::{Report, Sender, run};

const RATE: Rate = Rate::from_bps(20_000_000);
const RTT: Duration = Duration::from_millis(50);

fn noise() -> Stream {
    Stream::new(1, "queue")
}

/// `count` bulk senders that halve their window, for a minute.
fn load(queue: impl Into<Queue<u64>>, count: usize, ecn: Ecn) -> Report {
    run(queue.into(), RATE, &vec![Sender::halving(RTT, ecn); count])
}

fn assert_within(what: &str, found: f64, least: f64, most: f64) {
    assert!((least..most).contains(&found), "{what}: {found}");
}

#[test]
fn codel_keeps_its_delay_near_the_target() {
    for (ecn, mode) in [(false, Ecn::NotEct), (true, Ecn::Ect0)] {
        let report = load(CoDel::new(&CoDelParams { ecn, ..CoDelParams::default() }), 4, mode);
        assert_within("mean delay in ms", report.mean_delay_ms(None), 2.0, 10.0);
        assert_within("utilisation", report.utilisation(RATE), 0.85, 1.001);
        assert_eq!(report.dropped == 0, ecn, "{} drops", report.dropped);
    }
}

#[test]
fn pie_holds_fifteen_milliseconds() {
    let report = load(Pie::new(&PieParams::default(), noise()), 10, Ecn::NotEct);
    assert_within("mean delay in ms", report.mean_delay_ms(None), 11.0, 19.0);
    assert_within("utilisation", report.utilisation(RATE), 0.95, 1.001);
}

#[test]
fn docsis_pie_holds_ten_milliseconds() {
    let params =
        DocsisPieParams { max_sustained_rate: RATE, peak_rate: RATE, ..DocsisPieParams::default() };
    let report = load(DocsisPie::new(&params, noise()), 10, Ecn::NotEct);
    assert_within("mean delay in ms", report.mean_delay_ms(None), 6.0, 14.0);
    assert_within("utilisation", report.utilisation(RATE), 0.93, 1.001);
}

/// The thresholds are 33 and 100 kB: 13 and 40 ms.
#[test]
fn adaptive_red_keeps_the_average_between_its_thresholds() {
    let params = RedParams { adaptive: true, bandwidth: RATE, ..RedParams::default() };
    let report = load(Red::new(&params, noise()), 10, Ecn::NotEct);
    assert_within("mean delay in ms", report.mean_delay_ms(None), 13.0, 40.0);
    assert_within("utilisation", report.utilisation(RATE), 0.95, 1.001);
}

/// One packet every 20 ms among eight bulk flows: it waits for at most the
/// packet in transmission and one of each flow.
#[test]
fn flow_queues_isolate_a_sparse_flow() {
    let mut senders = vec![Sender::halving(RTT, Ecn::NotEct); 8];
    senders.push(Sender::sparse(Duration::from_millis(20)));
    let report = run(FqCoDel::new(&FqCoDelParams::default(), noise()).into(), RATE, &senders);
    assert_within("sparse flow's delay in ms", report.mean_delay_ms(Some(8)), 0.0, 1.3);
    assert!(report.max_delay_ms(8) < 6.0, "{}", report.max_delay_ms(8));
    assert_within("bulk flow's delay in ms", report.mean_delay_ms(Some(0)), 3.0, 40.0);
}

/// A sender that never yields gets no more than its share.
#[test]
fn flow_queues_share_evenly_whatever_the_senders_do() {
    let senders = [Sender::halving(RTT, Ecn::NotEct), Sender::stubborn(RTT, 400.0)];
    for queue in [
        Queue::from(FqCoDel::new(&FqCoDelParams::default(), noise())),
        Queue::from(Fq::new(&FqParams::default())),
    ] {
        let report = run(queue, RATE, &senders);
        assert_within("share of the halving sender", report.share(0), 0.40, 0.55);
    }
}

#[test]
fn dualpi2_has_two_latencies_and_shares_evenly() {
    let mut senders = vec![Sender::halving(RTT, Ecn::Ect0); 4];
    senders.extend([Sender::scalable(RTT); 4]);
    let report = run(DualPi2::new(&DualPi2Params::default(), noise()).into(), RATE, &senders);
    assert_within("classic delay in ms", report.mean_delay_ms(Some(0)), 11.0, 19.0);
    assert_within("l4s delay in ms", report.mean_delay_ms(Some(4)), 0.0, 2.0);
    assert_within("utilisation", report.utilisation(RATE), 0.95, 1.001);
    let classic: f64 = (0..4).map(|n| report.share(n)).sum();
    assert_within("share of the classic senders", classic, 0.3, 0.7);
}
