//! The path between two hosts: what it is made of, as plain data, and whether that can be.

mod check;
mod config;

pub use check::PathError;
pub use config::{Direction, FIRST_LINK, Impairment, Limit, LinkConfig, PathConfig, Place};
