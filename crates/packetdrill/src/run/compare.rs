//! How a packet differs from the one that the script expects.

use super::describe::{flags, option};
use crate::packet::{EcnCheck, IpInfo, IpPacket, Tcp, TcpFlags, TcpOption};

/// An expected packet, and how exactly its timestamp is known.
pub struct ExpectedPacket<'a> {
    pub ip: IpInfo,
    pub tcp: &'a Tcp,
    /// The tick of timestamps in ns, if they are checked.
    pub tick: Option<i64>,
    /// By how many ns they may be off.
    pub tolerance: i64,
}

/// The first difference in words.
pub fn difference(wanted: &ExpectedPacket, packet: &IpPacket, actual: &Tcp) -> Option<String> {
    let tcp = wanted.tcp;
    let tos = packet.ip.ecn.tos();
    if !wanted.ip.ecn.accepts(tos) {
        return Some(format!("{}, not {}", ecn(tos), expected_ecn(wanted.ip.ecn)));
    }
    let ttl = wanted.ip.ttl.filter(|&ttl| packet.ip.ttl != Some(ttl));
    if let Some(ttl) = ttl {
        return Some(format!("time to live {}, not {ttl}", packet.ip.ttl.unwrap_or_default()));
    }
    if actual.flags != tcp.flags {
        return Some(format!("flags {}, not {}", flags(actual.flags), flags(tcp.flags)));
    }
    let numbers = [
        ("sequence number", actual.seq, tcp.seq),
        ("acknowledgement", actual.ack, tcp.ack),
        ("urgent pointer", u32::from(actual.urgent), u32::from(tcp.urgent)),
    ];
    for (name, found, wanted) in numbers {
        if found != wanted {
            return Some(format!("{name} {found}, not {wanted}"));
        }
    }
    if tcp.window.is_some() && tcp.window != actual.window {
        let (found, wanted) = (actual.window.unwrap_or_default(), tcp.window.unwrap_or_default());
        return Some(format!("window {found}, not {wanted}"));
    }
    options(wanted, tcp.options.as_deref()?, actual.options.as_deref().unwrap_or_default())
}

fn options(wanted: &ExpectedPacket, expected: &[TcpOption], found: &[TcpOption]) -> Option<String> {
    for (place, expected) in expected.iter().enumerate() {
        let Some(found) = found.get(place) else {
            return Some(format!("no option {}", option(expected)));
        };
        let same = match (expected, found) {
            (TcpOption::Timestamp { val, ecr }, TcpOption::Timestamp { val: v, ecr: e }) => {
                // The echo isn't compared: the peer's timestamps may have any value.
                let _ = (ecr, e);
                wanted.tick.is_none_or(|tick| {
                    i64::from(val.wrapping_sub(*v).cast_signed()).abs() * tick <= wanted.tolerance
                })
            }
            _ => expected == found,
        };
        if !same {
            return Some(format!("option {}, not {}", option(found), option(expected)));
        }
    }
    let more = found.get(expected.len())?;
    Some(format!("option {} in addition", option(more)))
}

/// Says why a packet isn't the next part of the same large packet as the one before it.
pub fn fragment(before: &Tcp, next: &Tcp, whole: u32) -> Option<String> {
    let free = TcpFlags::FIN.with(TcpFlags::PSH).with(TcpFlags::CWR);
    let (a, b) = (before.flags.without(free), next.flags.without(free));
    if a != b {
        return Some(format!("a part with flags {} behind {}", flags(b), flags(a)));
    }
    if next.seq != before.seq.wrapping_add(before.len) {
        return Some(format!("a part at {} behind {}", next.seq, before.seq + before.len));
    }
    if next.ack != before.ack || next.window != before.window {
        return Some("a part with another acknowledgement or window".to_owned());
    }
    (before.len + next.len > whole)
        .then(|| format!("{} bytes in parts, not {whole}", before.len + next.len))
}

fn ecn(tos: u8) -> &'static str {
    ["noecn", "ect1", "ect0", "ce"][usize::from(tos & 3)]
}

fn expected_ecn(check: EcnCheck) -> String {
    match check {
        EcnCheck::Any => "any".to_owned(),
        EcnCheck::Ecn(bits) => ecn(bits).to_owned(),
        EcnCheck::Ect01 => "ect0 or ect1".to_owned(),
        EcnCheck::Tos(byte) => format!("tos {byte:#x}"),
    }
}
