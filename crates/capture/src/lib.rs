//! Captures: what a network card saw, as files that other tools read and write.
//!
//! [`mod@read`] takes a capture file apart, packet by packet; [`mod@write`]
//! makes one.

pub mod analyze;
pub mod decode;
pub mod read;
pub mod write;
