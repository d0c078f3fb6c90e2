//! Captures of network cards, as files that other tools read and write.
//!
//! [`mod@read`] reads a capture file packet by packet; [`mod@write`] writes one.

pub mod analyze;
pub mod decode;
pub mod read;
pub mod write;
