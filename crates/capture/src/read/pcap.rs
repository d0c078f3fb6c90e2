//! The older format: draft-ietf-opsawg-pcap.

use super::byte_order::Order;
use super::bytes::BlockBuffer;
use super::frame::{FrameInBlock, OpenError};

/// No card delivers a longer frame; tcpdump's own limit is a quarter of this.
pub(super) const LONGEST_FRAME: u32 = 1 << 20;
const HEADER: usize = 24;

/// The facts that a file's header gives for all its frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    order: Order,
    /// Nanoseconds in a unit of the fraction.
    unit: u64,
    link: u16,
    /// Bytes before each frame.
    record: usize,
}

impl Header {
    pub(super) fn read(input: &mut BlockBuffer, begin: &[u8]) -> Result<Self, OpenError> {
        let (order, unit, record) = match begin {
            [0xd4, 0xc3, 0xb2, 0xa1] => (Order::Little, 1000, 16),
            [0xa1, 0xb2, 0xc3, 0xd4] => (Order::Big, 1000, 16),
            [0x4d, 0x3c, 0xb2, 0xa1] => (Order::Little, 1, 16),
            [0xa1, 0xb2, 0x3c, 0x4d] => (Order::Big, 1, 16),
            // Kuznetzov's, with the interface in each record.
            [0x34, 0xcd, 0xb2, 0xa1] => (Order::Little, 1000, 24),
            [0xa1, 0xb2, 0xcd, 0x34] => (Order::Big, 1000, 24),
            _ => return Err(OpenError::Unknown(begin.to_vec())),
        };
        let bytes = input.peek(HEADER)?;
        if bytes.len() < HEADER {
            return Err(OpenError::Header(format!("{} of {HEADER} bytes", bytes.len())));
        }
        #[expect(clippy::cast_possible_truncation, reason = "the upper half tells of checksums")]
        let link = order.u32(bytes, 20) as u16;
        input.take(HEADER);
        Ok(Self { order, unit, link, record })
    }

    #[inline]
    pub(super) fn next(&self, input: &mut BlockBuffer) -> Result<Option<FrameInBlock>, String> {
        let at = input.offset();
        let head = input.peek(self.record).map_err(|error| format!("byte {at}: {error}"))?;
        if head.is_empty() {
            return Ok(None);
        }
        if head.len() < self.record {
            return Err(format!("byte {at}: the file ends within the head of a frame"));
        }
        let [seconds, fraction, kept, length] = [0, 4, 8, 12].map(|i| self.order.u32(head, i));
        if kept > LONGEST_FRAME {
            return Err(format!("byte {at}: a frame that claims {kept} bytes"));
        }
        let (kept, record) = (kept as usize, self.record);
        let there = input.peek(record + kept).map_err(|error| format!("byte {at}: {error}"))?;
        if there.len() < record + kept {
            return Err(format!("byte {at}: the file ends within a frame of {kept} bytes"));
        }
        input.take(record + kept);
        let time = u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * self.unit;
        Ok(Some(FrameInBlock { time: Some(time), link: self.link, length, offset: record, kept }))
    }
}
