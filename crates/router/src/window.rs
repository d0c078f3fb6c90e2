//! Files with the packets of a window of virtual time, exchanged by guests and their coupling:
//! `out-N` has those that a guest sent in window N, `window-N` those that reach it in the next
//! window.

use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

use crate::path::Side;

/// A packet at an instant of the run, in ns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    /// When it was sent, or when it is due.
    pub(crate) at: u64,
    /// The host that sent it, or the one that it is for.
    pub(crate) side: Side,
    /// The IP packet.
    pub(crate) packet: Vec<u8>,
}

/// The packets that a guest released in a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GuestWindow {
    /// The largest delay of a packet that the guest released, in ns.
    pub(crate) latest_ns: u64,
    /// The packets, in the order in which they were sent.
    pub(crate) packets: Vec<Passage>,
}

/// The file with the packets that a guest sent in a window.
pub(crate) fn sent_file(directory: &Path, window: u64) -> PathBuf {
    directory.join(format!("out-{window}"))
}

/// The file with the packets that reach a guest in the next window.
pub(crate) fn due_file(directory: &Path, window: u64) -> PathBuf {
    directory.join(format!("window-{window}"))
}

/// Header bytes of a passage: the time, the side, the length.
const HEAD: usize = 8 + 1 + 4;

pub(crate) fn encode(latest_ns: u64, passages: &[Passage]) -> Vec<u8> {
    let mut out = latest_ns.to_le_bytes().to_vec();
    for passage in passages {
        out.extend(passage.at.to_le_bytes());
        out.push(passage.side as u8);
        let length = u32::try_from(passage.packet.len()).expect("a packet is short");
        out.extend(length.to_le_bytes());
        out.extend(&passage.packet);
    }
    out
}

/// Reads a file of the other end; without one, nothing was sent.
///
/// # Errors
/// If it can't be read, or isn't such a file.
pub(crate) fn read(file: &Path) -> Result<GuestWindow> {
    match fs::read(file) {
        Ok(bytes) => decode(&bytes)
            .ok_or_else(|| Error::other(format!("{}: no packets of a window", file.display()))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(GuestWindow::default()),
        Err(error) => Err(error),
    }
}

fn decode(bytes: &[u8]) -> Option<GuestWindow> {
    let (latest, mut rest) = bytes.split_at_checked(8)?;
    let mut packets = Vec::new();
    while !rest.is_empty() {
        let (head, behind) = rest.split_at_checked(HEAD)?;
        let side = match head[8] {
            0 => Side::Sender,
            1 => Side::Receiver,
            _ => return None,
        };
        let length = u32::from_le_bytes(head[9..].try_into().ok()?);
        let (packet, behind) = behind.split_at_checked(usize::try_from(length).ok()?)?;
        let at = u64::from_le_bytes(head[..8].try_into().ok()?);
        packets.push(Passage { at, side, packet: packet.to_vec() });
        rest = behind;
    }
    Some(GuestWindow { latest_ns: u64::from_le_bytes(latest.try_into().ok()?), packets })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_read_back_unless_damaged() {
        let passage = |at, side, size| Passage { at, side, packet: vec![7; size] };
        let packets = vec![passage(5, Side::Sender, 40), passage(u64::MAX, Side::Receiver, 1500)];
        let bytes = encode(12, &packets);
        assert_eq!(decode(&bytes), Some(GuestWindow { latest_ns: 12, packets }));
        assert_eq!(decode(&encode(0, &[])), Some(GuestWindow::default()));
        for cut in [0, 7, 9, bytes.len() - 1] {
            assert_eq!(decode(&bytes[..cut]), None, "cut to {cut} bytes");
        }
        let mut other = bytes;
        other[16] = 2;
        assert_eq!(decode(&other), None, "a third side");
    }
}
