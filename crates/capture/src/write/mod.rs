//! Writes captures: what a run of the simulator would have shown on a wire.

mod addresses;
mod ecn;
mod headers;
mod pcapng;
mod points;
mod qlog;
mod wire;

pub use addresses::{Address, Ends, IpVersion, ends};
pub use pcapng::{Interface, PcapngWriter};
pub use points::{CaptureOptions, Captures, Written, file_name};
pub use qlog::Qlogs;
pub use wire::FlowInfo;
