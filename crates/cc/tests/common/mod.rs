//! Helpers of the tests: controls, samples and a small bottleneck.

pub mod link;
pub mod script;

use narrows_base::registry::{Unit, Value, Values};
use narrows_base::{Duration, Rate, Stream, Time};
use narrows_cc::{
    AckSample, CcConfig, CcProfile, Congestion, CongestionControl, CongestionEvent,
    DeliveredSample, Progress,
};
use narrows_cc::{LINUX_6_12, RecoveryState};

pub const MSS: u32 = 1448;

/// Options by name, written as in a specification.
pub type Options<'a> = &'a [(&'a str, &'a str)];

/// The options as a control takes them.
pub fn values(name: &str, options: Options) -> Values {
    let info = narrows_cc::info(name).expect("a control of the tests");
    let value = |&(option, text): &(&str, &str)| {
        let parameter = info.parameter(option).expect("an option of the control");
        (parameter.key(), value(parameter.unit, text))
    };
    options.iter().map(value).collect()
}

fn value(unit: Unit, text: &str) -> Value {
    let number = || text.parse::<f64>().expect("a number");
    let whole = |text: &str| text.parse::<u64>().expect("a whole number");
    match unit {
        Unit::Flag => (text == "true").into(),
        Unit::Word(_) => text.into(),
        Unit::Share | Unit::Number => number().into(),
        Unit::Duration => match text.strip_suffix("ms") {
            Some(ms) => Duration::from_millis(whole(ms)).into(),
            None => Duration::from_secs(whole(text.strip_suffix('s').expect("a unit"))).into(),
        },
        _ => whole(text).into(),
    }
}

/// A control with an initial window of 10 packets.
pub fn control(name: &str, options: Options) -> Box<dyn CongestionControl> {
    control_of(name, options, &LINUX_6_12, None)
}

/// A control on another kernel, after a handshake of `initial_rtt`.
pub fn control_of(
    name: &str,
    options: Options,
    profile: &CcProfile,
    initial_rtt: Option<Duration>,
) -> Box<dyn CongestionControl> {
    let options = &values(name, options);
    let random = Stream::new(1, name);
    let config = CcConfig { mss: MSS, initial_cwnd: 10, initial_rtt, profile, random, options };
    narrows_cc::build(name, config).expect("a control of the tests")
}

/// One of the control's internals.
pub fn internal(control: &dyn CongestionControl, name: &str) -> f64 {
    let mut found = None;
    control.inspect(&mut |key, value| {
        if key == name {
            found = Some(value);
        }
    });
    found.unwrap_or_else(|| panic!("no internal is called {name}"))
}

/// An ACK in Open of a window-limited flow.
pub fn ack(now: Time, acked: u32) -> AckSample {
    AckSample {
        now,
        mss: MSS,
        acked,
        prior_in_flight: acked,
        delivered_at: now,
        rtt: None,
        srtt: Duration::from_millis(100),
        min_rtt: Duration::from_millis(100),
        may_grow: true,
        cwnd_limited: true,
        departure: now,
        ..AckSample::default()
    }
}

/// An RTT sample of an unpaced flow.
pub fn delivered_sample(
    now: Time,
    acked: u32,
    rtt: Duration,
    edges: (u64, u64),
) -> DeliveredSample {
    DeliveredSample {
        now,
        acked,
        rtt: Some(rtt),
        progress: Progress::new(edges.0, edges.1),
        pacing_rate: Rate::from_bps(10_000_000_000),
        cwnd_limited: true,
        delivered: edges.0,
        ..DeliveredSample::default()
    }
}

/// The instant `millis` milliseconds after the run began.
pub fn at_ms(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

/// A loss found at a window of `cwnd`.
pub fn loss(cwnd: u32) -> CongestionEvent {
    CongestionEvent {
        now: at_ms(1_000),
        kind: Congestion::Loss,
        state: RecoveryState::Disorder,
        cwnd,
        in_flight: cwnd,
        mss: MSS,
        delivered: 0,
        lost_total: 1,
        progress: Progress::new(0, u64::from(cwnd)),
    }
}
