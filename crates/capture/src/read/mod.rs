//! Capture files as a stream of packets.
