//! Reads packets.

use super::cursor::Cursor;
use super::tcp_option;
use crate::error::ScriptError;
use crate::lexer::TokenKind;
use crate::packet::{EcnCheck, Icmp, IcmpQuote, IpInfo, IpPacket, Payload, Tcp, TcpFlags, Udp};
use crate::script::PacketDirection;

const ACE_BITS: [TcpFlags; 3] = [TcpFlags::ECE, TcpFlags::CWR, TcpFlags::AE];

/// Reads a packet behind its direction.
pub fn read(cursor: &mut Cursor, direction: PacketDirection) -> Result<IpPacket, ScriptError> {
    let at = cursor.at();
    let ip = ip_info(cursor)?;
    if ip.ecn == EcnCheck::Ect01 && direction == PacketDirection::Inbound {
        return Err(ScriptError::new(at, "ect01 in a packet to the end", "ect0 or ect1"));
    }
    if cursor.accept_word("icmp") {
        return Ok(IpPacket { ip, payload: Payload::Icmp(icmp(cursor)?) });
    }
    for layer in ["encap", "gre", "GREv0", "mpls", "ipv4", "ipv6"] {
        if cursor.is_word(layer) {
            return Err(cursor.refuse("TCP, UDP or ICMP right behind the IP header"));
        }
    }
    if cursor.accept_word("udp") {
        let (source, destination) = ports(cursor)?;
        cursor.expect('(', "a length, such as (1000)")?;
        let len = cursor.u16("a length in bytes")?;
        cursor.expect(')', "\")\"")?;
        return Ok(IpPacket { ip, payload: Payload::Udp(Udp { source, destination, len }) });
    }
    Ok(IpPacket { ip, payload: Payload::Tcp(tcp(cursor, direction)?) })
}

fn tcp(cursor: &mut Cursor, direction: PacketDirection) -> Result<Tcp, ScriptError> {
    let (source, destination) = ports(cursor)?;
    let flags = flags(cursor)?;
    let (seq, len) = sequence(cursor)?;
    let ack = if cursor.accept_word("ack") { cursor.u32("an acknowledgement number")? } else { 0 };
    let window = if cursor.accept_word("win") { Some(cursor.u16("a window field")?) } else { None };
    if window.is_none() && direction == PacketDirection::Inbound {
        return Err(cursor.refuse("\"win\" and the window field of a packet to the end"));
    }
    let urgent = if cursor.accept_word("urg") { cursor.u16("an urgent pointer")? } else { 0 };
    let options = tcp_option::list(cursor, direction)?;
    Ok(Tcp { source, destination, flags, seq, len, ack, window, urgent, options })
}

fn ports(cursor: &mut Cursor) -> Result<(u16, u16), ScriptError> {
    let ports = matches!(cursor.peek().kind, TokenKind::Integer(_))
        && cursor.peek_second().kind == TokenKind::Symbol('>');
    if !ports {
        return Ok((0, 0));
    }
    let source = cursor.u16("a port")?;
    cursor.expect('>', "\">\" between the ports")?;
    Ok((source, cursor.u16("a port")?))
}

/// TcpFlags are letters without white space between them; a digit is accurate ECN's counter.
fn flags(cursor: &mut Cursor) -> Result<TcpFlags, ScriptError> {
    let needed = "flags: letters of F, S, R, P, U, E, W, A and \".\" for ACK, or \"-\" for none";
    let error = cursor.refuse(needed);
    let mut text = cursor.next().text;
    while cursor.peek().joined && cursor.peek().kind != TokenKind::End {
        text += &cursor.next().text;
    }
    if text == "-" {
        return Ok(TcpFlags::default());
    }
    let mut flags = TcpFlags::default();
    for letter in text.chars() {
        match (TcpFlags::of_letter(letter), letter.to_digit(8)) {
            (Some(flag), _) => flags = flags.with(flag),
            (None, Some(count)) => {
                let bits = ACE_BITS.iter().enumerate().filter(|(bit, _)| count >> bit & 1 == 1);
                flags = bits.fold(flags, |set, (_, &flag)| set.with(flag));
            }
            _ => return Err(error),
        }
    }
    Ok(flags)
}

/// `first:end(length)`: the first sequence number and the length.
pub fn sequence(cursor: &mut Cursor) -> Result<(u32, u32), ScriptError> {
    let at = cursor.at();
    let seq: u32 = cursor.u32("a sequence number")?;
    cursor.expect(':', "\":\" in a range such as 1:1001(1000)")?;
    let end: u32 = cursor.u32("a sequence number")?;
    cursor.expect('(', "the length in parentheses, as in 1:1001(1000)")?;
    let len = u32::from(cursor.u16("a length in bytes")?);
    cursor.expect(')', "\")\"")?;
    if seq.wrapping_add(len) != end {
        let found = format!("\"{seq}:{end}({len})\"");
        let right = format!(
            "\"{seq}:{}({len})\" or the length {}",
            seq.wrapping_add(len),
            end.wrapping_sub(seq)
        );
        return Err(ScriptError::new(at, found, right));
    }
    Ok((seq, len))
}

fn ip_info(cursor: &mut Cursor) -> Result<IpInfo, ScriptError> {
    let close = match cursor.peek().kind {
        TokenKind::Symbol('[') => ']',
        TokenKind::Symbol('(') => ')',
        _ => return Ok(IpInfo::default()),
    };
    cursor.next();
    let mut info = IpInfo::default();
    loop {
        let needed = "noecn, ect0, ect1, ce, ect01, tos, ttl or flowlabel";
        let error = cursor.refuse(needed);
        match cursor.word(needed)?.as_str() {
            "noecn" => info.ecn = EcnCheck::Ecn(0),
            "ect1" => info.ecn = EcnCheck::Ecn(1),
            "ect0" => info.ecn = EcnCheck::Ecn(2),
            "ce" => info.ecn = EcnCheck::Ecn(3),
            "ect01" => info.ecn = EcnCheck::Ect01,
            "tos" => info.ecn = EcnCheck::Tos(cursor.u8("a type of service")?),
            "ttl" => info.ttl = Some(cursor.u8("a time to live")?),
            "flowlabel" => info.flow_label = Some(cursor.u32("a flow label")?),
            _ => return Err(error),
        }
        if !cursor.accept(',') {
            break;
        }
    }
    cursor.expect(close, &format!("\"{close}\""))?;
    Ok(info)
}

fn icmp(cursor: &mut Cursor) -> Result<Icmp, ScriptError> {
    let kind = cursor.word("the ICMP type's name, such as unreachable")?;
    let mut code = None;
    if cursor.peek().kind == TokenKind::Word && !cursor.is_word("mtu") && !cursor.is_word("id") {
        code = Some(cursor.next().text);
    }
    let mtu = if cursor.accept_word("mtu") { Some(cursor.u32("an MTU in bytes")?) } else { None };
    if cursor.accept_word("id") {
        cursor.u16("an identifier")?;
    }
    let mut quote = IcmpQuote::Tcp(0);
    if cursor.accept('[') {
        quote = if cursor.accept_word("udp") {
            cursor.expect('(', "a length, such as (1000)")?;
            cursor.u16("a length in bytes")?;
            cursor.expect(')', "\")\"")?;
            IcmpQuote::Udp
        } else if cursor.accept_word("raw") {
            cursor.expect('(', "a length, such as (1000)")?;
            let len = cursor.u16("a length in bytes")?;
            cursor.expect(')', "\")\"")?;
            IcmpQuote::Raw(len)
        } else {
            IcmpQuote::Tcp(sequence(cursor)?.0)
        };
        cursor.expect(']', "\"]\"")?;
    }
    Ok(Icmp { kind, code, mtu, quote })
}
