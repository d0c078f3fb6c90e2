//! The elements that a description of a run can name: controls, queues, services, impairments and
//! workloads.
//!
//! Each has one [`Info`], declared beside the thing it describes: its name, where it is
//! specified, and its parameters with units, defaults and bounds. A registry is a list of these.
//! Specifications, the check of a scenario and the reference pages all use it. A [`Choice`] is one
//! entry with values for its parameters, as a scenario holds it.

mod check;
mod choice;
mod draw;
mod info;
mod names;
mod parameter;
mod value;

pub use check::{Fault, check, check_values};
pub use choice::{Choice, Values};
pub use info::{EcnNeed, Info, LimitUnit, Role, info};
pub use names::nearest;
pub use parameter::{Bounds, FormerNumbers, FormerSpelling, Parameter, ParameterDefault, Unit};
pub use value::Value;
