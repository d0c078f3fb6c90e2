//! A window and a pacing rate that are given from outside.

use std::any::Any;

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role};
use narrows_base::{Duration, Rate};

use crate::config::{CcConfig, Entry};
use crate::control::{CongestionControl, Control, INFINITE_SSTHRESH, Needs};
use crate::events::{AckSample, CongestionEvent, UndoEvent};

/// The registry's entry.
pub(crate) static FIXED: Entry = Entry {
    info: Info {
        name: "fixed",
        title: "Fixed window",
        family: "none",
        summary: "a given window and pacing rate, whatever happens; changes of a run may set them",
        source: "crates/cc/src/fixed.rs",
        role: Role::Control { ecn: None, paces: true },
        parameters: &[
            Parameter::packets("window", ParameterDefault::Whole(10), "congestion window")
                .positive()
                .at_most(10_000_000),
            Parameter::rate(
                "pacing_rate",
                ParameterDefault::Off,
                "payload bits per second; if none, two windows in each smoothed RTT",
            ),
        ],
    },
    build: |config| Box::new(FixedWindow::new(&config)),
};

/// A window or a pacing rate from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// The window in packets; the same as before if none.
    pub window: Option<u32>,
    /// The pacing rate, as in [`Control`]; the same as before if none.
    pub pacing_rate: Option<Rate>,
}

/// A given window and rate.
#[derive(Clone, Debug)]
struct FixedWindow {
    mss: u32,
    window: u32,
    pacing_rate: Option<Rate>,
    srtt: Duration,
}

/// Sets the window or the rate of a control that is `fixed`; others ignore it.
pub fn set_fixed(control: &mut dyn CongestionControl, setting: Setting) {
    let control: &mut dyn Any = control;
    if let Some(fixed) = control.downcast_mut::<FixedWindow>() {
        fixed.set(setting);
    }
}

impl FixedWindow {
    fn new(config: &CcConfig) -> Self {
        Self {
            mss: config.mss,
            window: config.options.packets("window"),
            pacing_rate: config.options.some_rate("pacing_rate"),
            srtt: config.initial_rtt.unwrap_or(Duration::from_millis(100)),
        }
    }

    fn set(&mut self, setting: Setting) {
        self.window = setting.window.unwrap_or(self.window);
        self.pacing_rate = setting.pacing_rate.or(self.pacing_rate);
    }

    /// Two windows in each round trip: so fast that only the window limits the flow.
    fn default_rate(&self) -> Rate {
        let bits = u128::from(self.window) * u128::from(self.mss) * 8;
        let per_second = 2 * bits * 1_000_000_000 / u128::from(self.srtt.as_nanos().max(1));
        Rate::from_bps(u64::try_from(per_second).unwrap_or(u64::MAX).max(1))
    }
}

impl CongestionControl for FixedWindow {
    fn needs(&self) -> Needs {
        Needs { deliveries: false, ..Needs::OWN_RECOVERY }
    }

    fn on_ack(&mut self, sample: &AckSample) {
        if !sample.srtt.is_zero() {
            self.srtt = sample.srtt;
        }
    }

    fn on_congestion(&mut self, _event: &CongestionEvent) {}

    fn on_undo(&mut self, _event: &UndoEvent) {}

    fn control(&self) -> Control {
        Control {
            cwnd: self.window,
            ssthresh: INFINITE_SSTHRESH,
            pacing_rate: Some(self.pacing_rate.unwrap_or_else(|| self.default_rate())),
            app_limited: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::registry::{Value, Values};
    use narrows_base::{Stream, Time};

    use super::*;
    use crate::samples::Congestion;
    use crate::{LINUX_6_12, Progress, RecoveryState, build};

    fn make_fixed(options: &[(&str, u64)]) -> Box<dyn CongestionControl> {
        let option = |&(key, value): &(&str, u64)| (key.to_owned(), Value::Whole(value));
        let config = CcConfig {
            mss: 1_000,
            initial_cwnd: 10,
            initial_rtt: Some(Duration::from_millis(40)),
            profile: &LINUX_6_12,
            random: Stream::new(1, "fixed"),
            options: &options.iter().map(option).collect::<Values>(),
        };
        build("fixed", config).unwrap_or_else(|error| panic!("{error}"))
    }

    fn of(control: &dyn CongestionControl) -> (u32, u64) {
        let Control { cwnd, pacing_rate, .. } = control.control();
        (cwnd, pacing_rate.map_or(0, Rate::as_bps))
    }

    #[test]
    fn events_leave_the_window_unchanged() {
        let mut control = make_fixed(&[("window_packets", 20)]);
        // Twice 20 packets of 8000 bits in 40 ms.
        assert_eq!(of(&*control), (20, 8_000_000));
        control.on_congestion(&CongestionEvent {
            kind: Congestion::Timeout { reduce: true },
            now: Time::ZERO,
            state: RecoveryState::Open,
            cwnd: 20,
            in_flight: 20,
            mss: 1_000,
            delivered: 0,
            lost_total: 0,
            progress: Progress::default(),
        });
        let srtt = Duration::from_millis(80);
        control.on_ack(&AckSample { srtt, ..AckSample::plain(1, 1_000, 19) });
        assert_eq!(of(&*control), (20, 4_000_000));
    }

    #[test]
    fn set_values_hold_and_others_stay() {
        let mut control = make_fixed(&[("pacing_rate_bps", 5_000_000)]);
        assert_eq!(of(&*control), (10, 5_000_000));
        set_fixed(&mut *control, Setting { window: Some(7), pacing_rate: None });
        assert_eq!(of(&*control), (7, 5_000_000));
        set_fixed(&mut *control, Setting { window: None, pacing_rate: Some(Rate::from_bps(9)) });
        assert_eq!(of(&*control), (7, 9));
    }
}
