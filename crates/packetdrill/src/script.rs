//! A script: its options, its commands and its events.

use std::net::IpAddr;

use crate::call::Call;
use crate::code::Block;
use crate::error::ScriptPosition;
use crate::packet::IpPacket;

/// A script that was read without mistakes.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Its own options.
    pub options: ScriptOptions,
    /// The line for the shell that prepares the end.
    pub init: Option<String>,
    /// The events in their order.
    pub events: Vec<ScriptEvent>,
    /// The line for the shell that runs at the end, whatever happened.
    pub cleanup: Option<String>,
}

/// Options that a script gives itself; `None` leaves the choice to the runner.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptOptions {
    /// The protocol below.
    pub ip_version: Option<IpMode>,
    /// The end's address.
    pub local_ip: Option<IpAddr>,
    /// The address of the gateway to the peer.
    pub gateway_ip: Option<IpAddr>,
    /// The peer's address.
    pub remote_ip: Option<IpAddr>,
    /// The mask of the end's network.
    pub netmask_ip: Option<IpAddr>,
    /// Segment size of large packets to the end, which come as if a card had merged them.
    pub mss: Option<u16>,
    /// The device's MTU.
    pub mtu: Option<u16>,
    /// How far from its time an event may be, in ns.
    pub tolerance_ns: Option<i64>,
    /// The tick of the end's timestamps, in ns; they are checked if it is given.
    pub timestamp_tick_ns: Option<i64>,
    /// Timestamps to the end that echo none it sent are shifted by its first one.
    pub scaled_echo: bool,
    /// True if a packet must have the expected length; otherwise several may have it together.
    pub strict_segments: bool,
    /// The port that the end listens at.
    pub bind_port: Option<u16>,
    /// The port that the end connects to.
    pub connect_port: Option<u16>,
    /// Kinds of events whose failure doesn't end the script.
    pub non_fatal: Vec<String>,
}

/// The protocol below TCP, and the family of the end's sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpMode {
    /// IPv4 in both.
    V4,
    /// IPv4 packets, IPv6 sockets.
    V4MappedV6,
    /// IPv6 in both.
    V6,
}

impl IpMode {
    /// The versions by their names.
    pub const NAMES: [(&'static str, Self); 3] =
        [("ipv4", Self::V4), ("ipv4-mapped-ipv6", Self::V4MappedV6), ("ipv6", Self::V6)];

    /// The version of that name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|known| known.0 == name).map(|known| known.1)
    }
}

/// Something that happens, or must happen, at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptEvent {
    /// Where it is in the script.
    pub at: ScriptPosition,
    /// When it happens, or must happen.
    pub when: EventTime,
    /// The action.
    pub action: Action,
}

/// The time of an event, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventTime {
    /// Since the start of the script.
    At(i64),
    /// Since the event before.
    After(i64),
    /// Whenever.
    Any,
    /// Between two times since the start.
    Between(i64, i64),
    /// Between two times since the event before.
    AfterBetween(i64, i64),
}

/// The direction of a packet, seen from the peer that the script plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketDirection {
    /// "<": to the end.
    Inbound,
    /// ">": the end must send it.
    Outbound,
}

/// An event's action.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A packet to the end, or one that it must send.
    Packet(PacketDirection, IpPacket),
    /// A system call of a program at the end.
    Call(Call),
    /// A line for the shell.
    Command(String),
    /// Statements about the connection's state.
    Code(Block),
}
