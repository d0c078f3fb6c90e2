//! Linux system calls as safe functions, for the programs that run on real kernels (Linux only).
//!
//! `rustix` has most calls, and these programs use it directly. Here are those that it lacks, and
//! what several programs do by the same calls. Nothing here decides anything about packets.

#![expect(unsafe_code, reason = "system calls that neither the standard library nor rustix has")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "constants and sizes that the kernel's own fields hold"
)]

pub mod clock;
pub mod device;
pub mod events;
pub mod memory;
pub mod packets;
pub mod process;
pub mod rtnetlink;
pub mod socket;
pub mod tracing;
