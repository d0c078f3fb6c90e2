//! The path between two hosts: as plain data, its check, and its elements in their order.
//!
//! Two drivers build the path here and move packets through its elements: the simulator in
//! virtual time, the router in real time.

mod build;
mod check;
mod config;
mod element;

pub use build::{Conditions, Path, dscps};
pub use check::PathError;
pub use config::{Direction, FIRST_LINK, Impairment, ImpairmentPlace, LinkConfig, PathConfig};
pub use element::PathElement;
