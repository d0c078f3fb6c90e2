//! The rates of links.

use narrows_base::{Bytes, Rate, Time};

use super::constant::ConstantRate;
use super::steps::SteppedRate;
use super::trace::Trace;

/// A rate, which determines when the transmission of a packet ends.
#[derive(Clone, Debug)]
pub enum RateProcess {
    /// The same rate at all times.
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

    /// When a transmission of `size` ends that begins at `start`, the end of the one before; never
    /// before `start`. Calls come in the order of the transmissions, and each `start` is at or
    /// after the end of the one before.
    #[inline]
    pub fn transmit(&mut self, start: Time, size: Bytes) -> Time {
        match self {
            Self::Constant(rate) => rate.transmit(start, size),
            Self::Steps(rate) => rate.transmit(start, size),
            Self::Trace(trace) => trace.transmit(start, size),
        }
    }

    /// The same for a packet that finds the transmitter idle, even if a
    /// transmission ended at this very instant.
    #[inline]
    pub fn transmit_from_idle(&mut self, start: Time, size: Bytes) -> Time {
        match self {
            Self::Constant(rate) => rate.transmit(start, size),
            Self::Steps(rate) => rate.transmit(start, size),
            Self::Trace(trace) => trace.transmit_from_idle(start, size),
        }
    }

    /// Changes the rate at `at`, before which every transmission so far has begun; returns when
    /// the last one ends now, or nothing if a trace dictates the rate.
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
