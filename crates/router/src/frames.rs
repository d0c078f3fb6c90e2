//! The frames of a device, through a socket that says when each came, and sends each at its time.

use std::io::{Error, IoSlice, Result};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use narrows_linux::packets::PacketBatch;
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmmsg};

use crate::device::LARGEST;
use crate::super_packet::{self, HEADER};
use crate::sys;

/// Frames that one system call sends.
const FRAMES: usize = 64;
/// Bytes of an Ethernet header.
pub(crate) const ETHERNET: usize = 14;

pub(crate) struct Frames {
    socket: OwnedFd,
    batch: PacketBatch,
    offloads: bool,
}

impl Frames {
    /// The IPv4 frames of a device of the current namespace, whose qdisc has to be `fq`.
    pub(crate) fn of(device: &str, offloads: bool) -> Result<Self> {
        let socket = sys::frame_socket(device, offloads)?;
        Ok(Self { socket, batch: PacketBatch::new(LARGEST), offloads })
    }

    /// Passes every frame that waits to `each`, with CLOCK_REALTIME of its arrival in ns.
    pub(crate) fn take(&mut self, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        let before = if self.offloads { HEADER } else { 0 };
        self.batch.take(&self.socket, |packet| {
            each(packet.at_ns, packet.data.get(before..).unwrap_or(&[]));
            Ok(())
        })
    }

    /// Sends packets behind the header `link`, each when CLOCK_MONOTONIC has its value in ns.
    pub(crate) fn send(&self, link: [u8; ETHERNET], packets: &[(u64, &[u8])]) -> Result<()> {
        packets.chunks(FRAMES).try_for_each(|some| self.send_some(&link, some))
    }

    fn send_some(&self, link: &[u8; ETHERNET], packets: &[(u64, &[u8])]) -> Result<()> {
        let headers: Vec<_> =
            packets.iter().map(|(_, packet)| super_packet::header(packet, ETHERNET)).collect();
        let first = |header| if self.offloads { IoSlice::new(header) } else { IoSlice::new(&[]) };
        let parts: Vec<_> = packets
            .iter()
            .zip(&headers)
            .map(|((_, packet), header)| [first(header), IoSlice::new(link), IoSlice::new(packet)])
            .collect();
        let mut spaces = vec![[MaybeUninit::<u8>::uninit(); SPACE]; packets.len()];
        let mut times: Vec<_> = spaces.iter_mut().map(|it| SendAncillaryBuffer::new(it)).collect();
        for (time, (at, _)) in times.iter_mut().zip(packets) {
            assert!(time.push(SendAncillaryMessage::TxTime(*at)), "the space is for one time");
        }
        let both = parts.iter().zip(&mut times);
        let mut messages: Vec<_> = both.map(|(parts, time)| MMsgHdr::new(parts, time)).collect();
        match sendmmsg(&self.socket, &mut messages, SendFlags::DONTWAIT)? {
            sent if sent == packets.len() => Ok(()),
            _ => Err(Error::other("too many packets wait for a host of the guest")),
        }
    }
}

/// Bytes of a message with a time.
const SPACE: usize = rustix::cmsg_aligned_space!(TxTime(1));
