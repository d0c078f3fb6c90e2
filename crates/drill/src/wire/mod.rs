//! Packets as bytes.

mod build;
mod checksum;
mod icmp;
mod options;
mod read;

pub use build::{Endpoints, build};
pub use read::read;
