//! Writes captures of simulated runs, as on a wire.

mod addresses;
mod ecn;
mod headers;
mod points;
mod qlog;
mod wire;

pub use addresses::{Address, ConnectionEnds, IpVersion, ends};
pub use points::{CaptureFile, CaptureOptions, Captures};
pub use qlog::{QlogForm, Qlogs};
pub use wire::FlowInfo;
