//! What is run: scenarios as plain data, and the one check of them.
//!
//! No file system, no clock: what a scenario needs from outside, the caller gives.

mod check;
pub mod law;
pub mod scenario;

pub use check::{ScenarioError, check};
