//! BBR: a model of the path from its delivery rate and its lowest RTT.
//!
//! Version 1 is in [`v1`], versions 2 and 3 in [`v3`]; their common parts are beside them.

mod aggregation;
mod options;
mod pacing;
mod units;
mod v1;
mod v3;
mod window;

pub use self::v1::transitions;
pub(crate) use self::v1::{BBR, BBR_SHALLOW};
pub(crate) use self::v3::{BBR2, BBR3};
