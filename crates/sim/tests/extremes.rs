//! Scenarios and controls at the limits of what they may ask for.

use std::ops::ControlFlow;

use crate::common::{Log, MILLI, SECOND, bdp, scenario};
use narrows_base::Rate;
use narrows_cc::{
    AckSample, CongestionControl, CongestionEvent, Control, INFINITE_SSTHRESH, Needs, UndoEvent,
};
use narrows_record::NullTap;
use narrows_sim::{Controls, run_with};
use narrows_spec::law::Law;
use narrows_spec::scenario::{Scenario, SocketBuffers, Workload};

/// The largest window that an own control may ask for.
const MOST: u32 = 10_000_000;

/// A control that always asks for the same.
#[derive(Clone, Copy)]
struct Constant {
    cwnd: u32,
    ssthresh: u32,
    rate: Option<Rate>,
    owns_recovery: bool,
}

impl CongestionControl for Constant {
    fn needs(&self) -> Needs {
        Needs { own_recovery: self.owns_recovery, ..Needs::LOSS_BASED }
    }

    fn on_ack(&mut self, _sample: &AckSample) {}

    fn on_congestion(&mut self, _event: &CongestionEvent) {}

    fn on_undo(&mut self, _event: &UndoEvent) {}

    fn control(&self) -> Control {
        Control {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            pacing_rate: self.rate,
            app_limited: false,
        }
    }
}

fn run_constant(case: &Scenario, constant: Constant) -> Log {
    let controls = Controls::new().with("constant", move |_| Box::new(constant));
    let mut log = Log::default();
    let mut go_on = |_, _| ControlFlow::Continue(());
    run_with(case, &controls, &mut log, &mut NullTap, &mut go_on).expect("the scenario runs");
    log
}

/// A flow with that control for two seconds, at 1 Tbit/s or with losses at 100 Mbit/s.
fn two_seconds(mbps: u64) -> Scenario {
    let mut case = scenario(mbps, 20, bdp(mbps, 20, 100), &["constant"]);
    (case.run.duration_ns, case.run.warmup_ns) = (2 * SECOND, SECOND);
    case
}

#[test]
fn windows_of_ten_million_packets_are_sent_by() {
    for (cwnd, ssthresh) in [(MOST, INFINITE_SSTHRESH), (MOST, 2), (u32::MAX, u32::MAX)] {
        for owns_recovery in [false, true] {
            for mbps in [100, 1_000_000] {
                let constant = Constant { cwnd, ssthresh, rate: None, owns_recovery };
                let log = run_constant(&two_seconds(mbps), constant);
                let last = log.flows.last().expect("a row").1;
                assert!(last.delivered > 1_000, "{mbps} Mbit/s: {}", last.delivered);
            }
        }
    }
}

#[test]
fn such_windows_are_paced_and_limited_by_the_receiver_alone() {
    let mut case = two_seconds(1_000_000);
    case.host.socket_buffers = SocketBuffers::Unlimited;
    case.flows[0].stop_ns = Some(50 * MILLI);
    for rate in [Some(Rate::from_bps(8)), Some(Rate::from_bps(2_000_000_000)), None] {
        let constant =
            Constant { cwnd: MOST, ssthresh: INFINITE_SSTHRESH, rate, owns_recovery: true };
        assert!(!run_constant(&case, constant).flows.is_empty());
    }
}

#[test]
fn windows_of_many_connections_add_up_without_overflow() {
    let mut case = scenario(100, 20, bdp(100, 20, 100), &["constant"]);
    (case.run.duration_ns, case.run.warmup_ns) = (SECOND, 0);
    case.flows[0].workload = Some(Workload::Arrivals {
        gap_ns: Law::Constant(MILLI),
        size_bytes: Law::Constant(10_000_000),
    });
    let constant = Constant { cwnd: MOST, ssthresh: MOST, rate: None, owns_recovery: false };
    let log = run_constant(&case, constant);
    assert!(log.flows.iter().any(|(_, sample)| sample.cwnd == u32::MAX));
}

#[test]
fn thousands_of_flows_end_the_run_with_the_last_of_them() {
    const FLOWS: usize = 2_000;
    let mut case = scenario(1_000, 20, bdp(1_000, 20, 100), &["reno"; FLOWS]);
    for index in 0..FLOWS {
        case.flows[index].size_bytes = Some(1_000);
        case.flows[index].start_ns = MILLI * index as u64;
        if index % 2 == 1 {
            // Ends with the flow before, which is done within 100 ms.
            case.flows[index].repeat_gap_ns = Some(500 * MILLI);
            case.flows[index].while_flow = Some(case.flows[index - 1].name.clone());
        }
    }
    case.run.stop_when = Some("all".into());
    let mut go_on = |_, _| ControlFlow::Continue(());
    let outcome = narrows_sim::run(&case, &mut Log::default(), &mut go_on).expect("it runs");
    let end = outcome.end.as_secs_f64();
    assert!((2.0..2.2).contains(&end), "the last flow starts after 2 s and takes 40 ms: {end}");
}
