//! Packets in the words of scripts.

use crate::packet::{
    AccEcnCounter, EcnCheck, IcmpQuote, IpPacket, Payload, Tcp, TcpFlags, TcpOption,
};

/// A packet as a script would write it.
pub fn describe(packet: &IpPacket) -> String {
    let ecn = match packet.ip.ecn {
        EcnCheck::Any | EcnCheck::Tos(0) => "",
        EcnCheck::Ect01 => "[ect01] ",
        EcnCheck::Ecn(bits) | EcnCheck::Tos(bits) => match bits & 3 {
            0 => "[noecn] ",
            1 => "[ect1] ",
            2 => "[ect0] ",
            _ => "[ce] ",
        },
    };
    match &packet.payload {
        Payload::Tcp(tcp) => format!("{ecn}{}", segment(tcp)),
        Payload::Udp(udp) => format!("{ecn}udp ({})", udp.len),
        Payload::Icmp(icmp) => {
            let quote = match icmp.quote {
                IcmpQuote::Tcp(seq) => format!("a segment at {seq}"),
                IcmpQuote::Udp => "a datagram".to_owned(),
                IcmpQuote::Raw(len) => format!("{len} bytes"),
            };
            format!("icmp {} {} [{quote}]", icmp.kind, icmp.code.as_deref().unwrap_or(""))
        }
    }
}

fn segment(tcp: &Tcp) -> String {
    let end = tcp.seq.wrapping_add(tcp.len);
    let mut text = format!("{} {}:{end}({})", flags(tcp.flags), tcp.seq, tcp.len);
    if tcp.flags.has(TcpFlags::ACK) {
        text += &format!(" ack {}", tcp.ack);
    }
    if let Some(window) = tcp.window {
        text += &format!(" win {window}");
    }
    if tcp.urgent != 0 {
        text += &format!(" urg {}", tcp.urgent);
    }
    match &tcp.options {
        None => text += " <...>",
        Some(options) if options.is_empty() => {}
        Some(options) => {
            let options: Vec<_> = options.iter().map(option).collect();
            text += &format!(" <{}>", options.join(","));
        }
    }
    text
}

/// TcpFlags in letters.
pub fn flags(flags: TcpFlags) -> String {
    flags.letters()
}

/// An option as a script would write it.
pub fn option(option: &TcpOption) -> String {
    match option {
        TcpOption::Eol => "eol".to_owned(),
        TcpOption::Nop => "nop".to_owned(),
        TcpOption::Mss(mss) => format!("mss {mss}"),
        TcpOption::WindowScale(shift) => format!("wscale {shift}"),
        TcpOption::SackOk => "sackOK".to_owned(),
        TcpOption::Sack(blocks) => {
            let blocks = blocks.iter().map(|block| format!("{}:{}", block.left, block.right));
            format!("sack {}", blocks.collect::<Vec<_>>().join(" "))
        }
        TcpOption::Timestamp { val, ecr } => format!("TS val {val} ecr {ecr}"),
        TcpOption::Md5(signature) => format!("md5 {}", hex(signature)),
        TcpOption::FastOpen { cookie, experimental: false } => format!("FO {}", hex(cookie)),
        TcpOption::FastOpen { cookie, experimental: true } => format!("FOEXP {}", hex(cookie)),
        TcpOption::AccEcn(counters) => {
            let counters = counters.iter().map(|(counter, count)| match counter {
                AccEcnCounter::E0 => format!(" e0b {count}"),
                AccEcnCounter::E1 => format!(" e1b {count}"),
                AccEcnCounter::Ce => format!(" ceb {count}"),
            });
            format!("ECN{}", counters.collect::<String>())
        }
        TcpOption::Other(kind, content) => format!("kind {kind}: {}", hex(content)),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
