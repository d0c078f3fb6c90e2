//! The connection under test: which one it is, and how the script's numbers map to the wire's.
//!
//! A script counts bytes of each direction from its SYN, whatever sequence number the SYN itself
//! has. The end chooses its own initial sequence number and the start of its timestamps.

use std::collections::BTreeMap;

use crate::call::{Call, CallValue};
use crate::end::EndError;
use crate::packet::{IcmpQuote, IpPacket, Payload, SackBlock, Tcp, TcpFlags, TcpOption};

/// How far the connection is, seen by a script.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stage {
    /// There was no socket yet: a packet may arrive nevertheless.
    #[default]
    Nothing,
    /// A socket without a connection.
    Idle,
    Listening,
    /// A SYN may leave.
    Connecting,
    /// A SYN left, whose answer tells the peer's initial sequence number.
    SynSent,
    /// A SYN arrived, whose answer tells the end's.
    SynReceived,
    Open,
}

#[derive(Debug, Default)]
pub struct ScriptConnection {
    stage: Stage,
    /// The end's initial sequence number on the wire.
    wire_isn: u32,
    /// The one that the script writes in the end's SYN.
    script_isn: u32,
    /// The peer's initial sequence number, the same in both.
    peer_isn: u32,
    /// The end's timestamps on the wire by those of the script.
    timestamps: BTreeMap<u32, u32>,
    /// The first of them.
    first_timestamp: Option<(u32, u32)>,
}

impl ScriptConnection {
    /// Takes note of a call that was successful.
    pub fn note(&mut self, call: &Call) {
        let done = call.result.value.is_none_or(|value| value >= 0);
        match call.name.as_str() {
            "socket" if done => *self = Self { stage: Stage::Idle, ..Self::default() },
            "listen" if done => self.stage = Stage::Listening,
            _ => {}
        }
    }

    /// Returns `true` if a packet to the end opens a connection.
    pub fn opens(&mut self, tcp: &Tcp) -> bool {
        let opens = matches!(self.stage, Stage::Nothing | Stage::Listening);
        if opens {
            *self = Self { stage: Stage::SynReceived, peer_isn: tcp.seq, ..Self::default() };
        }
        opens
    }

    /// Returns `true` if the call opens a connection.
    pub fn connects(&mut self, call: &Call) -> bool {
        let address = match call.name.as_str() {
            "connect" => call.arguments.get(1),
            "sendto" => call.arguments.get(4),
            "sendmsg" => call.arguments.get(1).and_then(|message| message.member("msg_name")),
            _ => None,
        };
        let Some(address) = address else { return false };
        if matches!(&address.value, CallValue::Word(family) if family == "AF_UNSPEC") {
            self.stage = Stage::Idle;
            return false;
        }
        let connects = self.stage == Stage::Idle;
        if connects {
            *self = Self { stage: Stage::Connecting, ..Self::default() };
        }
        connects
    }

    /// A packet to the end, with the numbers of the wire.
    pub fn inject(&mut self, packet: &IpPacket, scaled_echo: bool) -> Result<IpPacket, EndError> {
        let mut packet = packet.clone();
        match &mut packet.payload {
            Payload::Tcp(tcp) => self.inject_tcp(tcp, scaled_echo)?,
            Payload::Icmp(icmp) => {
                if let IcmpQuote::Tcp(seq) = &mut icmp.quote {
                    *seq = seq.wrapping_add(self.wire_isn);
                }
            }
            Payload::Udp(_) => {}
        }
        Ok(packet)
    }

    fn inject_tcp(&mut self, tcp: &mut Tcp, scaled_echo: bool) -> Result<(), EndError> {
        let syn = tcp.flags.has(TcpFlags::SYN);
        let ack = tcp.flags.has(TcpFlags::ACK);
        match self.stage {
            Stage::Idle => {
                let message = "no connection is there for this packet: listen or connect first";
                return Err(EndError::Failed(message.to_owned()));
            }
            Stage::SynSent if syn && ack => {
                (self.stage, self.peer_isn) = (Stage::Open, tcp.seq);
            }
            _ => {}
        }
        tcp.seq = tcp.seq.wrapping_add(self.peer_offset(syn));
        let offset = self.own_offset(syn);
        if ack {
            tcp.ack = tcp.ack.wrapping_add(offset);
        }
        shift_blocks(tcp, offset);
        for option in tcp.options.iter_mut().flatten() {
            if let TcpOption::Timestamp { ecr, .. } = option
                && ack
            {
                *ecr = self.echo_to_wire(*ecr, scaled_echo)?;
            }
        }
        Ok(())
    }

    /// An echo of a timestamp that the end sent; a script may shift others by the first one.
    fn echo_to_wire(&self, ecr: u32, scaled: bool) -> Result<u32, EndError> {
        if let Some(&wire) = self.timestamps.get(&ecr) {
            return Ok(wire);
        }
        match self.first_timestamp {
            Some((script, wire)) if scaled => Ok(ecr.wrapping_sub(script).wrapping_add(wire)),
            _ => Err(EndError::Failed(format!(
                "the packet echoes timestamp {ecr}, which the end has not sent"
            ))),
        }
    }

    /// The end's SYN, or its answer to one, tells its initial sequence number.
    pub fn learn(&mut self, expected: &Tcp, wire: &Tcp) {
        let syn = expected.flags.has(TcpFlags::SYN) && wire.flags.has(TcpFlags::SYN);
        let ack = expected.flags.has(TcpFlags::ACK);
        let stage = match self.stage {
            Stage::SynReceived if syn && ack => Stage::Open,
            Stage::Connecting if syn && !ack => Stage::SynSent,
            _ => return,
        };
        self.stage = stage;
        (self.wire_isn, self.script_isn) = (wire.seq, expected.seq);
    }

    /// A packet of the end, with the script's numbers.
    pub fn to_script(&self, tcp: &mut Tcp) {
        let syn = tcp.flags.has(TcpFlags::SYN);
        tcp.seq = tcp.seq.wrapping_sub(self.own_offset(syn));
        let offset = self.peer_offset(syn);
        if tcp.flags.has(TcpFlags::ACK) {
            tcp.ack = tcp.ack.wrapping_sub(offset);
        }
        shift_blocks(tcp, 0u32.wrapping_sub(offset));
    }

    /// Takes note of a timestamp of the end; returns it as the script counts.
    pub fn timestamp_to_script(&mut self, expected: u32, wire: u32) -> u32 {
        self.timestamps.insert(expected, wire);
        let (first_script, first_wire) = *self.first_timestamp.get_or_insert((expected, wire));
        wire.wrapping_sub(first_wire).wrapping_add(first_script)
    }

    /// The peer's numbers on the wire, less those of the script.
    fn peer_offset(&self, syn: bool) -> u32 {
        if syn { 0 } else { self.peer_isn }
    }

    /// The end's numbers on the wire, less those of the script.
    fn own_offset(&self, syn: bool) -> u32 {
        self.wire_isn.wrapping_sub(if syn { self.script_isn } else { 0 })
    }
}

fn shift_blocks(tcp: &mut Tcp, offset: u32) {
    for option in tcp.options.iter_mut().flatten() {
        if let TcpOption::Sack(blocks) = option {
            for SackBlock { left, right } in blocks {
                *left = left.wrapping_add(offset);
                *right = right.wrapping_add(offset);
            }
        }
    }
}
