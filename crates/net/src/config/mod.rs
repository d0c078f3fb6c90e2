//! Elements as plain data: a kind by its name, and all its parameters.
//!
//! The registries ([`QUEUES`] and its siblings) are the one place that lists what
//! there is, with names, units, defaults and sources. What a specification may say,
//! the reference documentation and the check of a scenario all follow them.

mod impairments;
mod services;

pub use crate::queue::{QUEUES, fits, queue};
pub use impairments::{Acks, IMPAIRMENTS, impairment, impairment_fits};
pub use narrows_base::registry::{
    Choice, Fallback, Fault, Info, Parameter, Role, Room, Unit, Value, check, info,
};
pub use services::{AnyLink, LinkChoice, SERVICES, link, service_fits};
