//! An interpreter of packetdrill's language: scripts that play the peer of a TCP end, call its
//! socket interface, and say which packets it must send, and when.
//!
//! [`Script::parse`] reads a script, [`run()`] plays it against an [`TestedEnd`]: a kernel behind a TUN
//! device, or the simulator's sender and receiver. The language was learned from its grammar's
//! description and from scripts; the interpreter shares no code with Google's program.

mod call;
mod code;
mod end;
mod error;
mod lexer;
mod packet;
mod parser;
mod run;
mod script;

pub use call::{Argument, Call, CallResult, CallValue};
pub use code::{Block, Variables};
pub use end::{CallCompletion, CallOutcome, EndError, TestedEnd, Transmission};
pub use error::{ScriptError, ScriptPosition};
pub use packet::{
    AccEcnCounter, EcnCheck, Icmp, IcmpQuote, IpInfo, IpPacket, Payload, SackBlock, Tcp, TcpFlags,
    TcpOption, Udp,
};
pub use run::{Failure, ScriptReport, Settings, run};
pub use script::{Action, EventTime, IpMode, PacketDirection, Script, ScriptEvent, ScriptOptions};
