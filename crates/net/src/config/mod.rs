//! Elements as plain data: a kind by its name, and all its parameters.
//!
//! The registries ([`QUEUES`] and its siblings) are the one place that lists what
//! there is, with names, units, defaults and sources. What a specification may say,
//! the reference documentation and the check of a scenario all follow them.

mod check;
mod choice;
mod info;
mod queues;

pub use check::{Fault, check};
pub use choice::{Choice, Value};
pub use info::{Fallback, Info, Parameter, Room, Unit, info};
pub use queues::{QUEUES, fits, queue};
