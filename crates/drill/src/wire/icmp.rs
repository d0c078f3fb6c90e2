//! ICMP messages by the names of scripts (RFC 792, RFC 1191, RFC 1812, RFC 4443).

use std::net::IpAddr;

use narrows_packetdrill::Icmp;

const ICMP: u8 = 1;
const ICMP_V6: u8 = 58;

type Names = &'static [(&'static str, u8)];

const TYPES: Names = &[
    ("echo_reply", 0),
    ("unreachable", 3),
    ("source_quench", 4),
    ("redirect", 5),
    ("echo_request", 8),
    ("time_exceeded", 11),
    ("parameter_problem", 12),
];
const UNREACHABLE: Names = &[
    ("net_unreachable", 0),
    ("host_unreachable", 1),
    ("protocol_unreachable", 2),
    ("port_unreachable", 3),
    ("frag_needed", 4),
    ("source_route_failed", 5),
    ("net_unknown", 6),
    ("host_unknown", 7),
    ("source_host_isolated", 8),
    ("net_prohibited", 9),
    ("host_prohibited", 10),
    ("net_unreachable_for_tos", 11),
    ("host_unreachable_for_tos", 12),
    ("packet_filtered", 13),
    ("precedence_violation", 14),
    ("precedence_cutoff", 15),
];
const TYPES_V6: Names = &[
    ("unreachable", 1),
    ("packet_too_big", 2),
    ("time_exceeded", 3),
    ("parameter_problem", 4),
    ("echo_request", 128),
    ("echo_reply", 129),
];
const UNREACHABLE_V6: Names = &[
    ("net_unreachable", 0),
    ("no_route", 0),
    ("admin_prohibited", 1),
    ("not_neighbour", 2),
    ("address_unreachable", 3),
    ("port_unreachable", 4),
];

/// The protocol, and a message whose checksum is 0.
pub fn build(message: &Icmp, quoted: &[u8], from: IpAddr) -> Result<(u8, Vec<u8>), String> {
    let (protocol, types, codes) = match from {
        IpAddr::V4(_) => (ICMP, TYPES, UNREACHABLE),
        IpAddr::V6(_) => (ICMP_V6, TYPES_V6, UNREACHABLE_V6),
    };
    let kind = number(&message.kind, "type_", types)?;
    let code = message.code.as_ref().map_or(Ok(0), |code| number(code, "code_", codes))?;
    let mut bytes = vec![kind, code, 0, 0];
    bytes.extend(message.mtu.unwrap_or(0).to_be_bytes());
    bytes.extend(quoted);
    Ok((protocol, bytes))
}

fn number(name: &str, prefix: &str, names: Names) -> Result<u8, String> {
    let by_name = names.iter().find(|known| known.0 == name).map(|known| known.1);
    let by_number = || name.strip_prefix(prefix).and_then(|number| number.parse().ok());
    by_name.or_else(by_number).ok_or_else(|| {
        let known: Vec<_> = names.iter().map(|known| known.0).collect();
        format!(
            "found \"{name}\"; one of {} is needed, or {prefix} and its number",
            known.join(", ")
        )
    })
}
