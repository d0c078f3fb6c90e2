//! The interface between a script and the end that it is played against.

use crate::call::Call;
use crate::code::Variables;
use crate::packet::IpPacket;

/// One end of a connection, with the programs that use it and the clock that both share.
///
/// Times are in ns since the start of the script. Packets have the sequence numbers of the wire;
/// [`crate::run()`] translates them. The script's descriptors are the end's business.
pub trait TestedEnd {
    /// Time 0 begins, once the end is prepared.
    ///
    /// # Errors
    /// If the end is broken.
    fn start(&mut self) -> Result<(), EndError>;

    /// The time.
    fn now(&self) -> i64;

    /// Lets time pass until `at`; packets that leave meanwhile wait for [`TestedEnd::next_packet`].
    ///
    /// # Errors
    /// If the end is broken.
    fn wait_until(&mut self, at: i64) -> Result<(), EndError>;

    /// A connection begins: the next packet to the end opens it (`passive`), or the end's own SYN.
    fn begin_connection(&mut self, passive: bool);

    /// Hands a packet to the end.
    ///
    /// # Errors
    /// If the end can't take such packets.
    fn receive(&mut self, packet: &IpPacket) -> Result<(), EndError>;

    /// The packet of the connection that left first and wasn't returned yet; waits for one until
    /// `deadline`.
    ///
    /// # Errors
    /// If the end is broken.
    fn next_packet(&mut self, deadline: i64) -> Result<Option<Transmission>, EndError>;

    /// Does a system call that returns at once.
    ///
    /// # Errors
    /// If the end has no such call.
    fn call(&mut self, call: &Call) -> Result<CallOutcome, EndError>;

    /// Starts a system call that may block.
    ///
    /// # Errors
    /// If the end has no such call.
    fn start_call(&mut self, call: &Call) -> Result<(), EndError>;

    /// The end of the call that was started; waits for it until `deadline`.
    ///
    /// # Errors
    /// If the end is broken.
    fn finish_call(&mut self, deadline: i64) -> Result<Option<CallCompletion>, EndError>;

    /// Runs a line for the shell.
    ///
    /// # Errors
    /// If it fails, or means nothing at this end.
    fn command(&mut self, line: &str) -> Result<(), EndError>;

    /// Sets what is known about the connection's state, under the names that scripts use.
    ///
    /// # Errors
    /// If there is no connection.
    fn describe(&mut self, variables: &mut Variables) -> Result<(), EndError>;
}

/// Why an end couldn't do something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndError {
    /// The end doesn't have this; no verdict about the script.
    Unsupported(String),
    /// The script fails.
    Failed(String),
}

/// A packet that left.
#[derive(Clone, Debug, PartialEq)]
pub struct Transmission {
    /// When it left, in ns since the start.
    pub at: i64,
    /// The packet; all its fields are set.
    pub packet: IpPacket,
    /// The payload is all zeros, like everything that scripts send.
    pub zeros: bool,
}

/// The result of a system call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOutcome {
    /// Its result; a new descriptor has the number that the script expects.
    pub value: i64,
    /// The name of the error, if there is one.
    pub errno: Option<String>,
    /// How the memory that it filled differs from the script's, if it does.
    pub difference: Option<String>,
}

/// The end of a call that could block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallCompletion {
    /// When the call returned, in ns.
    pub at: i64,
    /// Its result.
    pub outcome: CallOutcome,
}
