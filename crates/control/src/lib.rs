//! The interface for a congestion control of one's own in Rust.
//!
//! A control is one file. It implements [`CongestionControl`] and names its type once:
//!
//! ```
//! use narrows_control::*;
//!
//! struct Fixed(u32);
//!
//! impl CongestionControl for Fixed {
//!     fn new(connection: &Connection) -> Self {
//!         Self(connection.initial_cwnd)
//!     }
//!     fn on_ack(&mut self, _sample: &AckSample) {}
//!     fn on_congestion(&mut self, _event: &CongestionEvent) {}
//!     fn control(&self) -> Control {
//!         Control::window(self.0)
//!     }
//! }
//!
//! narrows_control::export!(Fixed);
//! ```
//!
//! narrows compiles the file with this crate into a shared library and loads it. The types are
//! those of `narrows_cc` with a layout that doesn't depend on the compiler. Times are in
//! nanoseconds, windows and volumes in packets, as in Linux.

pub mod abi;
mod control;
mod events;
mod samples;

pub use control::{CongestionControl, Control, INFINITE_SSTHRESH};
pub use events::{AckSample, CongestionEvent, DeliveredSample, LostPacket, StartEvent, UndoEvent};
pub use samples::{AtSend, Congestion, Connection, Maybe, RateSample, RecoveryState, Unused};

/// The files of this crate, which are compiled again with a user's control.
pub const SOURCES: [(&str, &str); 5] = [
    ("lib.rs", include_str!("lib.rs")),
    ("abi.rs", include_str!("abi.rs")),
    ("control.rs", include_str!("control.rs")),
    ("events.rs", include_str!("events.rs")),
    ("samples.rs", include_str!("samples.rs")),
];

/// Names the control of this file.
#[macro_export]
macro_rules! export {
    ($control:ty) => {
        /// The symbol that narrows looks for in the library.
        #[unsafe(no_mangle)]
        pub static NARROWS_CONTROL: $crate::abi::FunctionTable =
            $crate::abi::FunctionTable::of::<$control>();
    };
}
