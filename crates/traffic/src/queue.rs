//! Reads the counters of a device's queue discipline over rtnetlink.

use std::io::{Error, ErrorKind, Result};

use narrows_linux::device::device_index;
use narrows_linux::rtnetlink::NetlinkSocket;

const RTM_NEWQDISC: u16 = 36;
const RTM_GETQDISC: u16 = 38;
const NLM_F_REQUEST: u16 = 1;
/// Linux 6.9 to 6.12 answers only with this flag or when someone listens (rtnl_notify_needed).
const NLM_F_ECHO: u16 = 8;
const TC_H_ROOT: u32 = 0xFFFF_FFFF;
const TCA_KIND: u16 = 1;
const TCA_STATS2: u16 = 7;
const TCA_STATS_BASIC: u16 = 1;
const TCA_STATS_QUEUE: u16 = 3;
const TCA_STATS_APP: u16 = 4;
/// Offsets, in bytes, of 32-bit counters of marks in a discipline's own statistics
/// (linux/pkt_sched.h); some disciplines count threshold marks separately.
const MARKS: [(&[u8], &[usize]); 6] = [
    (b"codel\0", &[24, 32]),
    (b"fq_codel\0", &[12, 28]),
    (b"pie\0", &[36]),
    (b"red\0", &[12]),
    (b"fq\0", &[80]),
    (b"fq_pie\0", &[16]),
];
/// CAKE reports its own statistics as netlink attributes, those of its tins nested.
const CAKE: &[u8] = b"cake\0";
const TCA_CAKE_STATS_TIN_STATS: u16 = 10;
/// The attributes of tins, in the order of their priorities (`CAKE_MAX_TINS`).
const TINS: std::ops::RangeInclusive<u16> = 1..=8;
const TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS: u16 = 8;

/// The counters of a queue discipline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounters {
    /// Bytes forwarded, including Ethernet headers.
    pub bytes: u64,
    /// Packets forwarded.
    pub packets: u32,
    /// Packets waiting.
    pub queued_packets: u32,
    /// Bytes waiting, including Ethernet headers.
    pub queued_bytes: u32,
    /// Packets dropped.
    pub drops: u32,
    /// Packets marked.
    pub marks: u32,
}

/// Reads one device's counters repeatedly.
pub struct QueueReader {
    socket: NetlinkSocket,
    request: [u8; 36],
}

impl QueueReader {
    /// Opens a reader, in the current namespace, of a class's discipline (class 1:2 is
    /// 0x10002) or of the root's.
    ///
    /// # Errors
    /// If there is no such device.
    pub fn open(device: &str, class: Option<u32>) -> Result<Self> {
        let socket = NetlinkSocket::open(None)?;
        let request = request(device_index(device)?, class.unwrap_or(TC_H_ROOT));
        Ok(Self { socket, request })
    }

    /// Reads the current counters.
    ///
    /// # Errors
    /// If the device is gone.
    pub fn read(&self) -> Result<QueueCounters> {
        let mut buffer = [0_u8; 4096];
        let answer = self.socket.ask(&self.request, &mut buffer)?;
        parse(answer).ok_or_else(|| Error::new(ErrorKind::InvalidData, "no queue counters"))
    }
}

/// A `nlmsghdr` (16 bytes) and a `tcmsg` (20 bytes) that request the discipline of `parent`.
fn request(device: u32, parent: u32) -> [u8; 36] {
    let mut m = [0; 36];
    m[0..4].copy_from_slice(&36_u32.to_ne_bytes());
    m[4..6].copy_from_slice(&RTM_GETQDISC.to_ne_bytes());
    m[6..8].copy_from_slice(&(NLM_F_REQUEST | NLM_F_ECHO).to_ne_bytes());
    m[20..24].copy_from_slice(&device.to_ne_bytes());
    m[28..32].copy_from_slice(&parent.to_ne_bytes());
    m
}

fn u16_at(b: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(b.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(b: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(b.get(at..at + 4)?.try_into().ok()?))
}

/// The payload of the first attribute of that type.
fn attribute(mut list: &[u8], kind: u16) -> Option<&[u8]> {
    loop {
        let len = usize::from(u16_at(list, 0)?);
        if len < 4 {
            return None;
        }
        // The top two bits flag nesting and byte order.
        if u16_at(list, 2)? & 0x3FFF == kind {
            return list.get(4..len);
        }
        list = list.get(len.next_multiple_of(4)..)?;
    }
}

fn parse(message: &[u8]) -> Option<QueueCounters> {
    if u16_at(message, 4)? != RTM_NEWQDISC {
        return None;
    }
    let attributes = message.get(36..)?;
    let stats = attribute(attributes, TCA_STATS2)?;
    let basic = attribute(stats, TCA_STATS_BASIC)?;
    let queue = attribute(stats, TCA_STATS_QUEUE)?;
    Some(QueueCounters {
        bytes: u64::from_ne_bytes(basic.get(0..8)?.try_into().ok()?),
        packets: u32_at(basic, 8)?,
        queued_packets: u32_at(queue, 0)?,
        queued_bytes: u32_at(queue, 4)?,
        drops: u32_at(queue, 8)?,
        marks: marks(attribute(attributes, TCA_KIND), attribute(stats, TCA_STATS_APP)),
    })
}

fn marks(kind: Option<&[u8]>, own: Option<&[u8]>) -> u32 {
    let (Some(kind), Some(own)) = (kind, own) else { return 0 };
    if kind == CAKE {
        return marks_of_cake(own).unwrap_or(0);
    }
    let known = MARKS.iter().find(|(name, _)| *name == kind);
    known.map_or(0, |(_, places)| places.iter().filter_map(|&at| u32_at(own, at)).sum())
}

/// Sums the marks of all tins; which tins exist and which one a flow uses depends on `diffserv`.
fn marks_of_cake(own: &[u8]) -> Option<u32> {
    let tins = attribute(own, TCA_CAKE_STATS_TIN_STATS)?;
    let marks =
        |tin| u32_at(attribute(attribute(tins, tin)?, TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS)?, 0);
    Some(TINS.filter_map(marks).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attr(kind: u16, payload: &[u8]) -> Vec<u8> {
        let mut out =
            u16::try_from(payload.len() + 4).expect("a short attribute").to_ne_bytes().to_vec();
        out.extend(kind.to_ne_bytes());
        out.extend(payload);
        out.resize(out.len().next_multiple_of(4), 0);
        out
    }

    #[test]
    fn counters_are_found_among_other_attributes() {
        let mut basic = 3028_u64.to_ne_bytes().to_vec();
        basic.extend([2_u32, 0].map(u32::to_ne_bytes).concat());
        let queue = [5_u32, 7570, 9, 0, 0].map(u32::to_ne_bytes).concat();
        let stats = [attr(TCA_STATS_BASIC, &basic), attr(TCA_STATS_QUEUE, &queue)].concat();
        let mut message = request(3, TC_H_ROOT).to_vec();
        message[4..6].copy_from_slice(&RTM_NEWQDISC.to_ne_bytes());
        message.extend(attr(1, b"tbf\0x"));
        message.extend(attr(TCA_STATS2, &stats));
        let counters = parse(&message).expect("well-formed");
        let expected = QueueCounters {
            bytes: 3028,
            packets: 2,
            queued_packets: 5,
            queued_bytes: 7570,
            drops: 9,
            marks: 0,
        };
        assert_eq!(counters, expected);
        assert_eq!(parse(&message[..40]), None);
    }

    #[test]
    fn marks_are_among_the_disciplines_own_statistics() {
        let own: Vec<u8> = (0..9_u32).flat_map(u32::to_ne_bytes).collect();
        assert_eq!(marks(Some(b"codel\0"), Some(&own)), 6 + 8);
        assert_eq!(marks(Some(b"red\0"), Some(&own)), 3);
        assert_eq!(marks(Some(b"fq_pie\0"), Some(&own)), 4);
        assert_eq!(marks(Some(b"tbf\0"), Some(&own)), 0);
        assert_eq!(marks(Some(b"codel\0"), None), 0);
    }

    #[test]
    fn marks_of_cake_are_those_of_all_its_tins() {
        let tin = |of, marks: u32| {
            let counters = [attr(2, &7_u32.to_ne_bytes()), attr(8, &marks.to_ne_bytes())].concat();
            attr(of, &counters)
        };
        let tins = [tin(1, 11), tin(2, 0), tin(3, 5)].concat();
        let own = [attr(3, &[0; 4]), attr(10, &tins)].concat();
        assert_eq!(marks(Some(b"cake\0"), Some(&own)), 16);
        assert_eq!(marks(Some(b"cake\0"), Some(&own[..8])), 0);
    }
}
