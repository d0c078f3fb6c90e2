//! Capture files: pcap, pcapng and qlog.
//!
//! [`mod@read`] reads a file packet by packet, [`mod@analyze`] finds flows and causes in it, and
//! [`mod@write`] writes the packets of a run.

pub mod analyze;
pub mod decode;
pub mod read;
pub mod write;
