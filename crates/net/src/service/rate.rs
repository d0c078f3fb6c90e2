//! The rates of links.

use narrows_base::{Bytes, Rate, Time};

use super::constant::ConstantRate;
use super::steps::SteppedRate;
use super::trace::Trace;

/// A link's rate, which determines when the transmission of a packet ends.
#[derive(Clone, Debug)]
pub enum RateProcess {
    /// A rate that never changes.
    Constant(ConstantRate),
    /// A rate that changes at given times.
    Steps(Box<SteppedRate>),
    /// Delivery opportunities from a trace.
    Trace(Box<Trace>),
}

impl RateProcess {
    /// A constant rate.
    ///
    /// # Panics
    /// If `rate` is zero.
    #[must_use]
    pub const fn constant(rate: Rate) -> Self {
        Self::Constant(ConstantRate::new(rate))
    }

    /// Returns when a transmission of `size` ends that begins at `start`, as soon as the previous one
    /// has ended; never before `start`. Calls must be in the order of transmissions: no `start` is
    /// before the end of the previous one.
    #[inline]
    pub fn transmit(&mut self, start: Time, size: Bytes) -> Time {
        match self {
            Self::Constant(rate) => rate.transmit(start, size),
            Self::Steps(rate) => rate.transmit(start, size),
            Self::Trace(trace) => trace.transmit(start, size),
        }
    }

    /// Returns when a transmission of `size` ends that finds the transmitter idle at `start`, even if
    /// a transmission ended at that very instant.
    #[inline]
    pub fn transmit_from_idle(&mut self, start: Time, size: Bytes) -> Time {
        match self {
            Self::Constant(rate) => rate.transmit(start, size),
            Self::Steps(rate) => rate.transmit(start, size),
            Self::Trace(trace) => trace.transmit_from_idle(start, size),
        }
    }

    /// Changes the rate at `at`, by which every transmission so far has begun; returns when the
    /// last one then ends, or `None` if a trace dictates the rate.
    pub(super) fn change(&mut self, at: Time, rate: Rate) -> Option<Time> {
        if let Self::Constant(constant) = self {
            *self = constant.to_steps().into();
        }
        match self {
            Self::Steps(steps) => Some(steps.change(at, rate)),
            Self::Constant(_) | Self::Trace(_) => None,
        }
    }
}

impl From<ConstantRate> for RateProcess {
    fn from(rate: ConstantRate) -> Self {
        Self::Constant(rate)
    }
}

impl From<SteppedRate> for RateProcess {
    fn from(rate: SteppedRate) -> Self {
        Self::Steps(Box::new(rate))
    }
}

impl From<Trace> for RateProcess {
    fn from(trace: Trace) -> Self {
        Self::Trace(Box::new(trace))
    }
}
