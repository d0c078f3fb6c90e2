//! The ECN flags of a segment (RFC 3168, RFC 9768).

use narrows_tcp::{Ace, Kind};

use super::headers::flags;

/// The flags AE, CWR and ECE of a segment: what it negotiates, echoes or counts.
pub(super) fn ecn_flags(kind: &Kind) -> u16 {
    match kind {
        Kind::Syn { ace, .. }
        | Kind::SynAck { ace, .. }
        | Kind::HandshakeAck { ace, .. }
        | Kind::Challenge { ace, .. }
        | Kind::WindowProbe { ace, .. } => bits(*ace),
        Kind::Data(data) if data.cwr => flags::CWR,
        Kind::Data(data) => bits(data.ace),
        Kind::Ack(ack) if ack.ece => flags::ECE,
        Kind::Ack(ack) => bits(ack.ace),
        Kind::Datagram(_) | Kind::Echo(_) | Kind::Opaque(_) | Kind::OpaqueReply(_) => 0,
    }
}

fn bits(ace: Ace) -> u16 {
    let flags = [flags::ECE, flags::CWR, flags::AE].iter().enumerate();
    let set = flags.filter(|(bit, _)| ace.bits() >> bit & 1 == 1);
    set.map(|(_, flag)| flag).sum()
}
