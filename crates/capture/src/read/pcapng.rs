//! The newer format: draft-ietf-opsawg-pcapng.

use super::byte_order::Order;
use super::bytes::BlockBuffer;
use super::frame::FrameInBlock;
use super::pcap::LONGEST_FRAME;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

/// Longer blocks are skipped; a frame with its options is never as long.
const LONGEST_BLOCK: u32 = LONGEST_FRAME + (1 << 16);
/// More interfaces than any host has.
const MOST_INTERFACES: usize = 1 << 16;
/// Type, length, and the length again.
const FRAME_OF_BLOCK: usize = 12;

const RESOLUTION: u16 = 9;
const OFFSET: u16 = 14;
const DROPPED: u16 = 5;

#[derive(Clone, Copy, Debug)]
struct Interface {
    link: u16,
    snap: u32,
    /// Units in a second.
    units: u64,
    /// Seconds to add.
    offset: i64,
    /// Its reported drops; the last report counts.
    dropped: u64,
}

/// The part of a file under one section header.
#[derive(Debug, Default)]
pub(super) struct Section {
    order: Order,
    interfaces: Vec<Interface>,
    /// Frames dropped by interfaces of earlier sections.
    dropped: u64,
}

impl Section {
    /// Reads the section header with which a file must begin.
    pub(super) fn begin(&mut self, input: &mut BlockBuffer) -> Result<(), String> {
        let (kind, length) = self.head(input)?.ok_or("nothing in it")?;
        if kind != SECTION {
            return Err(format!("a block of type {kind:#x} instead of a section"));
        }
        self.block(input, length).map(drop)?;
        Ok(())
    }

    pub(super) fn next(
        &mut self,
        input: &mut BlockBuffer,
        dropped: &mut u64,
    ) -> Result<Option<FrameInBlock>, String> {
        loop {
            let at = input.offset();
            let Some((kind, length)) = self.head(input).map_err(|e| format!("byte {at}: {e}"))?
            else {
                return Ok(None);
            };
            let found = match kind {
                ENHANCED_PACKET | OLD_PACKET | SIMPLE_PACKET | INTERFACE | STATISTICS
                    if length <= LONGEST_BLOCK =>
                {
                    self.read_block(input, kind, length)
                }
                SECTION => self.block(input, length).map(|_| None),
                _ => Self::pass(input, length).map(|()| None),
            };
            let found = found.map_err(|error| format!("byte {at}: {error}"))?;
            *dropped = self.dropped + self.interfaces.iter().map(|i| i.dropped).sum::<u64>();
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// The type and length of the next block; a section's head sets the byte order.
    #[inline]
    fn head(&mut self, input: &mut BlockBuffer) -> Result<Option<(u32, u32)>, String> {
        let head = input.peek(FRAME_OF_BLOCK).map_err(|error| error.to_string())?;
        if head.is_empty() {
            return Ok(None);
        }
        if head.len() < FRAME_OF_BLOCK {
            return Err("the file ends within the head of a block".into());
        }
        let kind = self.order.u32(head, 0);
        if kind == SECTION {
            self.order = match head[8..12] {
                [0x4d, 0x3c, 0x2b, 0x1a] => Order::Little,
                [0x1a, 0x2b, 0x3c, 0x4d] => Order::Big,
                _ => return Err(format!("a section of byte order {:02x?}", &head[8..12])),
            };
            self.dropped += self.interfaces.drain(..).map(|i| i.dropped).sum::<u64>();
        }
        let length = self.order.u32(head, 4);
        let least = if kind == SECTION { 28 } else { 12 };
        if length < least || !length.is_multiple_of(4) {
            return Err(format!("a block of type {kind:#x} that claims {length} bytes"));
        }
        Ok(Some((kind, length)))
    }

    fn pass(input: &mut BlockBuffer, length: u32) -> Result<(), String> {
        match input.skip(u64::from(length)) {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("the file ends within a block of {length} bytes")),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Takes a whole block whose two lengths agree.
    #[inline]
    fn block<'a>(&self, input: &'a mut BlockBuffer, length: u32) -> Result<&'a [u8], String> {
        if length > LONGEST_BLOCK {
            return Err(format!("a block that claims {length} bytes"));
        }
        let size = length as usize;
        let there = input.peek(size).map_err(|error| error.to_string())?;
        if there.len() < size {
            return Err(format!("the file ends within a block of {length} bytes"));
        }
        let again = self.order.u32(there, size - 4);
        if again != length {
            return Err(format!("a block of {length} bytes that ends as if it had {again}"));
        }
        input.take(size);
        Ok(input.last(0, size))
    }

    #[inline]
    fn read_block(
        &mut self,
        input: &mut BlockBuffer,
        kind: u32,
        length: u32,
    ) -> Result<Option<FrameInBlock>, String> {
        let order = self.order;
        let block = self.block(input, length)?;
        match kind {
            INTERFACE => {
                let interface = interface(order, block)?;
                if self.interfaces.len() >= MOST_INTERFACES {
                    return Err(format!("more than {MOST_INTERFACES} interfaces"));
                }
                self.interfaces.push(interface);
                Ok(None)
            }
            STATISTICS => {
                if let Some(interface) = interface_of(&mut self.interfaces, order, block) {
                    let body = block.get(20..block.len() - 4).unwrap_or_default();
                    options(order, body, |code, value| {
                        if code == DROPPED && value.len() == 8 {
                            interface.dropped = order.u64(value, 0);
                        }
                    });
                }
                Ok(None)
            }
            SIMPLE_PACKET => self.simple(block),
            _ => self.packet(block, kind).map(Some),
        }
    }

    /// An enhanced packet, or the obsolete one, whose interface is half as long.
    #[inline]
    fn packet(&self, block: &[u8], kind: u32) -> Result<FrameInBlock, String> {
        const BODY: usize = 28;
        if block.len() < BODY + 4 {
            return Err(format!("a packet in a block of {} bytes", block.len()));
        }
        let number = match kind {
            OLD_PACKET => usize::from(self.order.u16(block, 8)),
            _ => self.order.u32(block, 8) as usize,
        };
        let interface = self.interfaces.get(number);
        let interface = interface.ok_or(format!("a packet of the unknown interface {number}"))?;
        let [high, low, kept, length] = [12, 16, 20, 24].map(|at| self.order.u32(block, at));
        let kept = kept as usize;
        if kept > block.len() - BODY - 4 {
            return Err(format!("{kept} bytes of a packet in a block of {}", block.len()));
        }
        let time = Some(nanos(u64::from(high) << 32 | u64::from(low), interface));
        Ok(FrameInBlock { time, link: interface.link, length, offset: BODY, kept })
    }

    fn simple(&self, block: &[u8]) -> Result<Option<FrameInBlock>, String> {
        const BODY: usize = 12;
        let interface = self.interfaces.first().ok_or("a packet before any interface")?;
        if block.len() < BODY + 4 {
            return Err(format!("a packet in a block of {} bytes", block.len()));
        }
        let length = self.order.u32(block, 8);
        let snap = if interface.snap == 0 { u32::MAX } else { interface.snap };
        let kept = (length.min(snap) as usize).min(block.len() - BODY - 4);
        Ok(Some(FrameInBlock { time: None, link: interface.link, length, offset: BODY, kept }))
    }
}

fn interface_of<'a>(
    interfaces: &'a mut [Interface],
    order: Order,
    block: &[u8],
) -> Option<&'a mut Interface> {
    let number = if block.len() >= 16 { order.u32(block, 8) } else { u32::MAX };
    interfaces.get_mut(number as usize)
}

fn interface(order: Order, block: &[u8]) -> Result<Interface, String> {
    if block.len() < 20 {
        return Err(format!("an interface in a block of {} bytes", block.len()));
    }
    let (link, snap) = (order.u16(block, 8), order.u32(block, 12));
    let mut found = Interface { link, snap, units: 1_000_000, offset: 0, dropped: 0 };
    let mut wrong = None;
    options(order, &block[16..block.len() - 4], |code, value| match (code, value) {
        (RESOLUTION, &[resolution, ..]) => match units(resolution) {
            Some(units) => found.units = units,
            None => wrong = Some(format!("a time resolution of {resolution:#x}")),
        },
        (OFFSET, value) if value.len() == 8 => {
            found.offset = order.u64(value, 0).cast_signed();
        }
        _ => {}
    });
    wrong.map_or(Ok(found), Err)
}

/// Units in a second: a negative power of ten, or of two if the first bit is set.
fn units(resolution: u8) -> Option<u64> {
    let power = u32::from(resolution & 0x7f);
    if resolution & 0x80 == 0 { 10u64.checked_pow(power) } else { 1u64.checked_shl(power) }
}

/// A time in the interface's units as nanoseconds since 1970, as near as they come.
#[inline]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
fn nanos(ticks: u64, interface: &Interface) -> u64 {
    let nanos = match interface.units {
        1_000_000_000 => i128::from(ticks),
        1_000_000 => i128::from(ticks) * 1000,
        units => i128::from(ticks) * 1_000_000_000 / i128::from(units),
    };
    let shifted = nanos + i128::from(interface.offset) * 1_000_000_000;
    shifted.clamp(0, i128::from(u64::MAX / 2)) as u64
}

/// Calls `each` with every option's code and value; options cut off are left out.
fn options(order: Order, mut bytes: &[u8], mut each: impl FnMut(u16, &[u8])) {
    while bytes.len() >= 4 {
        let (code, length) = (order.u16(bytes, 0), usize::from(order.u16(bytes, 2)));
        let Some(value) = bytes.get(4..4 + length) else { return };
        if code == 0 {
            return;
        }
        each(code, value);
        bytes = bytes.get(4 + length.next_multiple_of(4)..).unwrap_or_default();
    }
}
