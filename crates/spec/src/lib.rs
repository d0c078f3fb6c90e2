//! Specifications are read and checked here, and nowhere else.
//!
//! A TOML text with changes becomes a checked [`Specification`], or every problem with its
//! line, what was found and what would be right. A [`Study`] has several values in some places
//! and gives the specification of each combination. The vocabulary is declared once, in [`keys`]
//! and in the registries of elements and controls.
//!
//! There is no file system and no clock: the caller supplies external inputs as [`Inputs`].

mod build;
mod canonical;
mod check;
mod document;
mod exact;
mod inputs;
pub mod keys;
pub mod ladder;
pub mod law;
pub mod limits;
mod names;
pub mod open_transfers;
mod place;
pub mod player;
mod problem;
pub mod programs;
mod read;
mod result_check;
pub mod scenario;
mod schema;
pub mod shown;
mod specification;
pub mod stacks;
mod study;
pub mod text;
pub mod units;
mod workloads;

pub use canonical::canonical_json;
pub use check::{ALL, check};
pub use document::{Assignment, Node, inline};
pub use inputs::{ControlFault, Files, Inputs, Module};
pub use names::Names;
pub use place::{Place, Step};
pub use problem::{Position, Problem, ProblemKind, Problems};
pub use read::{Preset, is_own, presets};
pub use result_check::{Condition, ResultCheck, SeriesNumber, Until};
pub use schema::schema;
pub use specification::{Source, Specification};
pub use study::{Axis, Design, DesignPoint, Study};
pub use workloads::{DISTRIBUTIONS, WORKLOADS};
