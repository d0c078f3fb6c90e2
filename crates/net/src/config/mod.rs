//! Elements as plain data: the name of a kind, and all its parameters.
//!
//! The registries ([`QUEUES`] and its siblings) are the only lists of elements, with names, units,
//! defaults and sources. Specifications, the reference documentation and the check of a scenario
//! all use them.

mod impairments;
mod services;

pub use crate::queue::{QUEUES, fits, queue};
pub use impairments::{AckHooks, IMPAIRMENTS, impairment, impairment_fits};
pub use narrows_base::registry::{
    Choice, Fault, Info, LimitUnit, Parameter, ParameterDefault, Role, Unit, Value, check, info,
};
pub use services::{AnyLink, LinkChoice, SERVICES, link, service_fits};
