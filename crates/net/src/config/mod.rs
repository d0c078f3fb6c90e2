//! Elements as plain data: a kind by its name, and all its parameters.
//!
//! The registries ([`QUEUES`] and its siblings) are the one place that lists what
//! there is, with names, units, defaults and sources. What a specification may say,
//! the reference documentation and the check of a scenario all follow them.

mod check;
mod choice;
mod impairments;
mod info;
mod queues;
mod services;

pub use check::{Fault, check};
pub use choice::{Choice, Value};
pub use impairments::{Acks, IMPAIRMENTS, Passage, impairment, impairment_fits};
pub use info::{Fallback, Info, Parameter, Room, Unit, info};
pub use queues::{QUEUES, fits, queue};
pub use services::{AnyLink, LinkChoice, SERVICES, link, service_fits};
