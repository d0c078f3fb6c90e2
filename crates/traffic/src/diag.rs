//! TCP sockets of other processes, by `NETLINK_SOCK_DIAG` (sock_diag(7)).

#![expect(
    clippy::cast_possible_truncation,
    reason = "constants and lengths that netlink's own fields hold"
)]

use std::collections::BTreeMap;
use std::io::{Error, Result};
use std::net::SocketAddrV4;

use narrows_linux::rtnetlink::NetlinkSocket;
use rustix::net::netlink;

use crate::info::{self, TcpInfo};

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const NLMSG_ERROR: u16 = 2;
/// Bits of the requested attributes: INET_DIAG_INFO, and INET_DIAG_VEGASINFO, which returns the
/// state of every congestion control that has any.
const EXTENSIONS: u8 = 1 << 1 | 1 << 2;
const INET_DIAG_INFO: u16 = 2;
/// INET_DIAG_VEGASINFO, INET_DIAG_DCTCPINFO and INET_DIAG_BBRINFO.
const CONTROL_INFOS: [u16; 3] = [3, 9, 16];
/// All states except TIME_WAIT, LISTEN and those without data (include/net/tcp_states.h).
const STATES: u32 = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;
/// Bytes of `struct inet_diag_msg`, and of the netlink header before it.
const MESSAGE: usize = 72;
const HEADER: usize = 16;

/// The state of a socket: `TCP_INFO`, and its congestion control's values.
pub type SocketState = (TcpInfo, [u32; 5]);

/// Reads the TCP sockets of the namespace in which it was opened.
pub struct Sockets(NetlinkSocket);

impl Sockets {
    /// Opens a reader in the current namespace.
    ///
    /// # Errors
    /// If the kernel lacks INET_DIAG.
    pub fn open() -> Result<Self> {
        NetlinkSocket::open(Some(netlink::SOCK_DIAG)).map(Self)
    }

    /// The existing ones among these connections (our port, the peer's).
    ///
    /// Each is requested separately, since a dump would walk the kernel's whole table.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn read(
        &self,
        wanted: impl Iterator<Item = (SocketAddrV4, SocketAddrV4)>,
    ) -> Result<BTreeMap<(u16, u16), SocketState>> {
        let (mut found, mut buffer) = (BTreeMap::new(), [0; 4096]);
        for (ours, peer) in wanted {
            let answer = self.0.ask(&request(ours, peer), &mut buffer)?;
            if let Some((ports, state)) = parse(answer)? {
                found.insert(ports, state);
            }
        }
        Ok(found)
    }
}

/// A `nlmsghdr` and a `struct inet_diag_req_v2` that ask for an IPv4 TCP socket.
fn request(ours: SocketAddrV4, peer: SocketAddrV4) -> [u8; 72] {
    let mut m = [0; 72];
    m[0..4].copy_from_slice(&72_u32.to_ne_bytes());
    m[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    m[6..8].copy_from_slice(&NLM_F_REQUEST.to_ne_bytes());
    m[16] = libc::AF_INET as u8;
    m[17] = libc::IPPROTO_TCP as u8;
    m[18] = EXTENSIONS;
    m[20..24].copy_from_slice(&STATES.to_ne_bytes());
    m[24..26].copy_from_slice(&ours.port().to_be_bytes());
    m[26..28].copy_from_slice(&peer.port().to_be_bytes());
    m[28..32].copy_from_slice(&ours.ip().octets());
    m[44..48].copy_from_slice(&peer.ip().octets());
    // INET_DIAG_NOCOOKIE: any socket with these addresses.
    m[64..72].copy_from_slice(&[0xff; 8]);
    m
}

/// The socket of an answer; none if there is no such socket, or it has no data.
fn parse(answer: &[u8]) -> Result<Option<((u16, u16), SocketState)>> {
    let (Some(length), Some(kind)) = (u32_at(answer, 0), u16_at(answer, 4)) else {
        return Ok(None);
    };
    let Some(body) = answer.get(HEADER..(length as usize).max(HEADER)) else { return Ok(None) };
    if kind != NLMSG_ERROR {
        return Ok(socket(body));
    }
    match u32_at(body, 0).map_or(0, |error| -error.cast_signed()) {
        libc::ENOENT => Ok(None),
        error => Err(Error::other(format!("the kernel has no INET_DIAG for TCP (error {error})"))),
    }
}

/// A `struct inet_diag_msg` with its attributes.
fn socket(body: &[u8]) -> Option<((u16, u16), SocketState)> {
    let port = |at: usize| Some(u16::from_be_bytes(body.get(at..at + 2)?.try_into().ok()?));
    let ports = (port(4)?, port(6)?);
    let (mut tcp, mut control) = (None, [0; 5]);
    let mut rest = body.get(MESSAGE..)?;
    while let (Some(length), Some(kind)) = (u16_at(rest, 0), u16_at(rest, 2)) {
        let Some(payload) = rest.get(4..usize::from(length).max(4)) else { break };
        match kind {
            INET_DIAG_INFO => tcp = Some(TcpInfo::decode(payload)),
            kind if CONTROL_INFOS.contains(&kind) => control = info::decode_cc(payload),
            _ => {}
        }
        rest = rest.get(usize::from(length).max(4).next_multiple_of(4)..).unwrap_or(&[]);
    }
    Some((ports, (tcp?, control)))
}

fn u16_at(b: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(b.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(b: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(b.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let length = (HEADER + body.len()) as u32;
        let mut out = length.to_ne_bytes().to_vec();
        out.extend(kind.to_ne_bytes());
        out.resize(HEADER, 0);
        out.extend(body);
        out.resize(out.len().next_multiple_of(4), 0);
        out
    }

    fn attribute(kind: u16, payload: &[u8]) -> Vec<u8> {
        let length = (4 + payload.len()) as u16;
        let mut out = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
        out.extend(payload);
        out.resize(out.len().next_multiple_of(4), 0);
        out
    }

    #[test]
    fn sockets_are_found_by_their_ports() {
        let mut info = vec![0; 232];
        info[80..84].copy_from_slice(&10_u32.to_ne_bytes());
        let mut body = vec![0; MESSAGE];
        body[4..6].copy_from_slice(&40_001_u16.to_be_bytes());
        body[6..8].copy_from_slice(&5001_u16.to_be_bytes());
        body.extend(attribute(4, b"bbr\0"));
        body.extend(attribute(INET_DIAG_INFO, &info));
        body.extend(attribute(16, &[7, 0, 0, 0]));
        let answer = message(20, &body);
        let (ports, (tcp, control)) = parse(&answer).expect("well-formed").expect("a socket");
        assert_eq!(ports, (40_001, 5001));
        assert_eq!((tcp.cwnd, control[0]), (10, u32::from_ne_bytes([7, 0, 0, 0])));
        assert!(parse(&message(20, &[0; MESSAGE])).expect("without data").is_none());
        let error = |number: i32| message(NLMSG_ERROR, &(-number).to_ne_bytes());
        assert!(parse(&error(libc::ENOENT)).expect("no such socket").is_none());
        assert!(parse(&error(libc::EINVAL)).is_err());
        assert!(parse(&answer[..40]).expect("cut off").is_none());
    }

    #[test]
    fn a_connection_is_asked_for_by_both_its_ends() {
        let end = |last, port| SocketAddrV4::new([10, 77, 0, last].into(), port);
        let asked = request(end(1, 30_000), end(2, 5000));
        assert_eq!(asked[24..28], [0x75, 0x30, 0x13, 0x88]);
        assert_eq!((&asked[28..32], &asked[44..48]), (&[10, 77, 0, 1][..], &[10, 77, 0, 2][..]));
    }
}
