//! Early exits from slow start, shared by all loss-based controls.

pub(crate) mod hystart;
mod hystart_pp;
mod search;

use crate::progress::Mark;
use narrows_base::Time;
use narrows_base::registry::{FormerNumbers, Parameter};

use self::hystart::{Hystart, HystartParameters};
use self::hystart_pp::HystartPlus;
use self::search::Search;
use crate::config::CcConfig;
use crate::events::{CongestionEvent, DeliveredSample};

/// The early exits from slow start, as values of the option.
const EXITS: [&str; 4] = ["off", "hystart", "hystart++", "search"];

/// The option that selects one, with the control's default.
pub(crate) const fn option(default: &'static str) -> Parameter {
    const OLD: [(u8, &str); 4] = [(0, EXITS[0]), (1, EXITS[1]), (2, EXITS[2]), (3, EXITS[3])];
    Parameter::word(
        "hystart",
        &EXITS,
        default,
        "early exit from slow start: HyStart as in Linux's CUBIC, HyStart++ (RFC 9406) or SEARCH \
         (draft-chung-ccwg-search-09)",
    )
    .formerly("hystart", FormerNumbers::Words(&OLD))
}

/// An RTT sample in the unit of HyStart's clock, and the lowest so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delay {
    pub(crate) latest: u64,
    pub(crate) lowest: u64,
}

/// An early exit from slow start.
#[derive(Clone, Debug)]
pub(crate) enum Exit {
    AtLoss,
    Hystart(Hystart),
    Plus(HystartPlus),
    Search(Box<Search>),
}

impl Exit {
    /// The exit that the option names.
    pub(crate) fn new(parameters: HystartParameters, config: &CcConfig) -> Self {
        match config.options.word("hystart") {
            "hystart" => Self::Hystart(Hystart::new(parameters, config.profile.cubic)),
            "hystart++" => Self::Plus(HystartPlus::new()),
            "search" => Self::Search(Box::default()),
            _ => Self::AtLoss,
        }
    }

    /// The flow's first packet leaves.
    pub(crate) fn start(&mut self, now: Time) {
        if let Self::Hystart(hystart) = self {
            hystart.begin_round(now, Mark::START);
        }
    }

    /// Takes an ACK, with an RTT sample or without.
    pub(crate) fn on_ack(&mut self, sample: &DeliveredSample) {
        if let Self::Hystart(hystart) = self {
            hystart.on_ack(sample);
        }
    }

    /// Takes an RTT sample in slow start; returns whether slow start is over.
    pub(crate) fn on_sample(&mut self, sample: &DeliveredSample, cwnd: u32, delay: Delay) -> bool {
        let Some(rtt) = sample.rtt else { return false };
        match self {
            Self::AtLoss => false,
            Self::Hystart(hystart) => hystart.on_sample(sample, cwnd, delay.latest, delay.lowest),
            Self::Plus(plus) => plus.on_sample(sample, rtt.as_micros()),
            Self::Search(search) => search.on_sample(sample, rtt),
        }
    }

    /// How many of the acknowledged packets count as growth in slow start.
    pub(crate) fn growth(&mut self, now: Time, acked: u32) -> u32 {
        match self {
            Self::Hystart(hystart) => hystart.on_growth(now),
            Self::Plus(plus) => return plus.growth(acked),
            Self::AtLoss | Self::Search(_) => {}
        }
        acked
    }

    /// Congestion ended slow start.
    pub(crate) fn on_congestion(&mut self) {
        match self {
            Self::Plus(plus) => plus.stop(),
            Self::Search(search) => search.reset(),
            Self::AtLoss | Self::Hystart(_) => {}
        }
    }

    /// A timeout begins another slow start.
    pub(crate) fn rearm(&mut self, event: &CongestionEvent) {
        if let Self::Hystart(hystart) = self {
            hystart.rearm(event.now, event.progress.mark());
        }
    }

    /// Returns whether HyStart has found its exit; `None` for the other methods.
    pub(crate) fn hystart_found(&self) -> Option<bool> {
        match self {
            Self::Hystart(hystart) => Some(hystart.has_exit()),
            Self::AtLoss | Self::Plus(_) | Self::Search(_) => None,
        }
    }

    /// Returns `true` in HyStart++'s conservative slow start.
    pub(crate) const fn is_conservative(&self) -> bool {
        matches!(self, Self::Plus(plus) if plus.is_conservative())
    }
}
