//! Reads the values of a document's keys; every problem has its place and what would be right.

mod control;
mod element;
mod law;
mod parameter;
mod preset;
mod scalar;
mod section;
mod trace;
mod values;
mod workload;

pub use control::is_own;
pub(crate) use preset::expand;
pub use preset::{Preset, presets};
pub(crate) use section::Reader;
pub(crate) use values::Values;
