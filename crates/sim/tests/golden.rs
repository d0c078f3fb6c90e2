//! The golden table: the results of each control on a few paths. A change of
//! behaviour changes this table, and has to be understood and explained.

#![expect(clippy::cast_precision_loss, reason = "small numbers")]

use std::fmt::Write as _;

use crate::common::{SECOND, bdp, run, scenario};

const MBPS: u64 = 20;

#[test]
fn controls_on_paths() {
    let mut table = String::from(
        "control      RTT ms  buffer BDP | goodput  drops %  retrans  mean queue BDP  srtt ms  cwnd\n",
    );
    for cca in narrows_cc::CONTROLS.iter().map(|entry| entry.info.name) {
        for rtt_ms in [20, 80] {
            for percent in [50, 100, 400] {
                row(&mut table, cca, rtt_ms, percent);
            }
        }
    }
    insta::assert_snapshot!(table);
}

fn row(table: &mut String, cca: &str, rtt_ms: u64, percent: u64) {
    let mut case = scenario(MBPS, rtt_ms, bdp(MBPS, rtt_ms, percent), &[cca, cca]);
    case.run.duration_ns = 30 * SECOND;
    case.run.warmup_ns = 5 * SECOND;
    let log = run(&case);
    let goodput = log.goodput(0, 5.0, 30.0) + log.goodput(1, 5.0, 30.0);
    let last = log.flow(0).last().expect("a last sample").1;
    let retransmitted = last.retransmitted + log.flow(1).last().expect("a sample").1.retransmitted;
    writeln!(
        table,
        "{cca:11}  {rtt_ms:6}  {:10.1} | {goodput:7.2}  {:7.3}  {retransmitted:7}  {:14.3}  {:7.2}  {:4}",
        percent as f64 / 100.0,
        100.0 * log.drop_rate(5.0, 30.0),
        log.mean_queue(5.0, 30.0) / bdp(MBPS, rtt_ms, 100) as f64,
        last.srtt.map_or(0.0, |srtt| srtt.as_secs_f64() * 1e3),
        last.cwnd,
    )
    .expect("text grows");
}
