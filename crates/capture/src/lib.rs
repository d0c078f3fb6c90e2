//! Captures: what a network card saw, as files that other tools read and write.
//!
//! [`mod@read`] takes a capture file apart, packet by packet; [`mod@write`]
//! makes one.

#![warn(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]

pub mod analyze;
pub mod decode;
pub mod read;
pub mod write;
