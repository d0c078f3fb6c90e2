//! The ECN flags of a segment: those of RFC 3168, or accurate counts (RFC 9768).
//!
//! For accurate ECN only the three flags are written; the simulator's packets have no room for its
//! option.

use narrows_tcp::Kind;

use super::headers::flags;

/// The initial value of accurate counts (RFC 9768 section 3.2.1).
const FIRST_COUNT: u16 = 5;
/// Says that the other end's handshake packet arrived as ECT(1), like all packets of the
/// simulator's scalable controls (RFC 9768 section 3.1.2, table 3).
const CAME_AS_ECT1: u16 = 0b011;

/// The flags AE, CWR and ECE of a segment.
pub(super) fn ecn_flags(kind: &Kind, accurate: bool) -> u16 {
    if accurate { accurate_flags(kind) } else { classic_flags(kind) }
}

/// The offer in a SYN, its acceptance, echo and answer (RFC 3168 section 6.1).
fn classic_flags(kind: &Kind) -> u16 {
    match kind {
        Kind::Syn { ecn: true, .. } => flags::ECE | flags::CWR,
        Kind::SynAck { ecn: true, .. } => flags::ECE,
        Kind::Data(data) if data.cwr => flags::CWR,
        Kind::Ack(ack) if ack.ece => flags::ECE,
        _ => 0,
    }
}

fn accurate_flags(kind: &Kind) -> u16 {
    match kind {
        Kind::Syn { ecn: true, .. } => flags::AE | flags::CWR | flags::ECE,
        Kind::Syn { .. } | Kind::SynAck { ecn: false, .. } => 0,
        Kind::Datagram(_) | Kind::Echo(_) | Kind::Opaque(_) | Kind::OpaqueReply(_) => 0,
        Kind::SynAck { .. } | Kind::HandshakeAck { .. } => count_bits(CAME_AS_ECT1),
        // No packet of the receiver is ever counted as marked.
        Kind::Data(_) | Kind::Challenge { .. } => count_bits(FIRST_COUNT),
        Kind::Ack(ack) => count_bits(ack.marked.wrapping_add(FIRST_COUNT)),
    }
}

/// The lowest three bits of a count, in AE, CWR and ECE.
fn count_bits(count: u16) -> u16 {
    (count & 7) * flags::ECE
}
