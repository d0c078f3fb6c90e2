//! Decodes frames into TCP segments.
//!
//! Headers may be cut off by a snap length; everything before that is still decoded. Lengths come
//! from the IP header, not from the bytes kept; if a card's offload left the IP length at zero,
//! they come from the frame.

mod datagram;
mod ip;
mod link;
mod segment;
mod tcp;

pub use datagram::{BEGIN, IpDatagram};
pub use ip::FRAGMENT_HEADER;
pub use segment::{CapturedSegment, Endpoint, Flags, MOST_SACKS, Other};

use crate::read::Frame;

/// The segment in a frame that was captured at `time`.
///
/// # Errors
/// If there is none; the error says what the frame holds.
#[inline]
pub fn segment(frame: &Frame<'_>, time: u64) -> Result<CapturedSegment, Other> {
    let (network, bytes) = link::network(frame.link, frame.data)?;
    let before = frame.data.len() - bytes.len();
    let length = (frame.length as usize).max(frame.data.len()) - before;
    let (packet, bytes) = ip::packet(network, bytes, length)?;
    let mut segment = tcp::segment(bytes, packet.payload)?;
    segment.time = time;
    segment.source.address = packet.source;
    segment.destination.address = packet.destination;
    segment.id = packet.id;
    segment.ecn = packet.ecn;
    segment.fragmented = packet.fragmented;
    segment.headers += packet.headers;
    segment.size = u32::from(segment.headers) + segment.payload;
    Ok(segment)
}

/// The ends and the payload of a datagram of UDP in a frame, as far as it was kept.
///
/// # Errors
/// If there is none; the error says what the frame holds.
pub fn payload<'a>(frame: &Frame<'a>) -> Result<((Endpoint, Endpoint), &'a [u8]), Other> {
    let (network, bytes) = link::network(frame.link, frame.data)?;
    datagram::payload(network, bytes)
}

/// The datagram or the echo in a frame that holds no TCP segment.
///
/// # Errors
/// If there is none; the error says what the frame holds.
#[cold]
pub fn datagram(frame: &Frame<'_>) -> Result<IpDatagram, Other> {
    let (network, bytes) = link::network(frame.link, frame.data)?;
    datagram::datagram(network, bytes)
}
