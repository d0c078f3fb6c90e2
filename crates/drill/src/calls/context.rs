//! The common parts of calls: descriptors and addresses before, results after.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use narrows_packetdrill::CallOutcome;

use crate::symbols::errno;
use crate::sys::{Fd, Raw};

/// The context of a call: everything that it depends on beside its arguments.
#[derive(Debug)]
pub struct Context {
    /// The live descriptors by those of the script.
    pub fds: BTreeMap<i64, Fd>,
    /// Sockets are AF_INET6.
    pub socket_v6: bool,
    /// The address that sockets are bound to.
    pub local: SocketAddr,
    /// The address that they connect to.
    pub remote: SocketAddr,
    /// CLOCK_REALTIME at the script's start.
    pub realtime_zero_ns: i64,
    /// How far timestamps may be from the script's.
    pub tolerance_ns: i64,
}

/// A call whose arguments are ready.
pub type PreparedCall = Box<dyn FnOnce() -> CallReturn + Send>;

/// The result of a call.
#[derive(Debug)]
pub struct CallReturn {
    pub result: Raw,
    /// How the memory that it filled differs from the script's.
    pub difference: Option<String>,
    /// Descriptors that it opened, after the numbers that the script gives them.
    pub opened: Vec<(i64, Fd)>,
    /// A descriptor of the script that it closed.
    pub closed: Option<i64>,
}

impl From<Raw> for CallReturn {
    fn from(result: Raw) -> Self {
        Self { result, difference: None, opened: Vec::new(), closed: None }
    }
}

impl CallReturn {
    /// In the words of scripts.
    pub fn outcome(&self) -> CallOutcome {
        let difference = self.difference.clone();
        match self.result {
            Ok(value) => CallOutcome {
                // A new descriptor counts as the one that the script expects.
                value: self
                    .opened
                    .first()
                    .filter(|_| self.opened.len() == 1)
                    .map_or(value, |m| m.0),
                errno: None,
                difference,
            },
            Err(number) => CallOutcome { value: -1, errno: Some(errno(number)), difference: None },
        }
    }
}
