//! TCP (RFC 9293), its timestamps and window scale (RFC 7323), SACK (RFC 2018).

use super::link::{be16, be32};
use super::segment::{CapturedSegment, Flags, Other};

const FIXED: usize = 20;
/// The largest packets of offload (Linux: 512 KiB).
const LONGEST: usize = 1 << 20;
const MSS: u8 = 2;
const SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
/// The largest window scale; larger ones count as this (RFC 7323, section 2.3).
const LARGEST_SCALE: u8 = 14;

/// Reads the segment in `data`, of `length` bytes on the wire, without addresses.
#[inline]
pub(super) fn segment(data: &[u8], length: usize) -> Result<CapturedSegment, Other> {
    let window = be16(data, 14)?;
    let headers = usize::from(data[12] >> 4) * 4;
    if headers < FIXED {
        return Err(Other::Malformed);
    }
    let payload = length.checked_sub(headers).filter(|&payload| payload <= LONGEST);
    let payload = payload.ok_or(Other::Malformed)?;
    let mut segment = CapturedSegment {
        seq: be32(data, 4)?,
        ack: be32(data, 8)?,
        flags: Flags(data[13]),
        window,
        payload: u32::try_from(payload).map_err(|_| Other::Malformed)?,
        headers: u16::from(data[12] >> 4) * 4,
        ..CapturedSegment::default()
    };
    segment.source.port = be16(data, 0)?;
    segment.destination.port = be16(data, 2)?;
    let kept = headers.min(data.len());
    segment.options_cut = kept < headers;
    options(data.get(FIXED..kept).unwrap_or_default(), &mut segment);
    Ok(segment)
}

/// Reads the options up to one that is cut off or malformed.
#[inline]
fn options(mut data: &[u8], segment: &mut CapturedSegment) {
    while let Some(&kind) = data.first() {
        match kind {
            0 => return,
            1 => data = &data[1..],
            _ => {
                let length = data.get(1).map_or(0, |&length| usize::from(length));
                let Some(option) = data.get(..length).filter(|_| length >= 2) else { return };
                option_of(kind, &option[2..], segment);
                data = &data[length..];
            }
        }
    }
}

#[inline]
fn option_of(kind: u8, value: &[u8], segment: &mut CapturedSegment) {
    let number = |at: usize| be32(value, at).unwrap_or(0);
    match (kind, value.len()) {
        (MSS, 2) => segment.mss = be16(value, 0).ok(),
        (SCALE, 1) => segment.scale = Some(value[0].min(LARGEST_SCALE)),
        (SACK_PERMITTED, 0) => segment.sack_permitted = true,
        (TIMESTAMPS, 8) => segment.timestamps = Some((number(0), number(4))),
        (SACK, length) if length % 8 == 0 => {
            segment.sack_count = 0;
            for (slot, block) in segment.sacks.iter_mut().zip(0..length / 8) {
                *slot = (number(block * 8), number(block * 8 + 4));
                segment.sack_count += 1;
            }
        }
        _ => {}
    }
}
