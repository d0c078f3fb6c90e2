//! Writes pcapng files (draft-ietf-opsawg-pcapng) of the packets that pass a point of the path, for
//! the simulator, the router and the program that captures at real hosts.

mod files;
mod interface;
mod snaplen;
mod writer;

pub use files::PcapFiles;
pub use interface::{Interface, file_name};
pub use snaplen::{MOST_HEADERS, truncate};
pub use writer::{Ending, PcapngWriter};
