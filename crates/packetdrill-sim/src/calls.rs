//! The system calls of scripts.

use narrows_base::Time;
use narrows_packetdrill::{Argument, Call, CallOutcome, CallValue, EndError};

use crate::connection::Connection;
use crate::end::SimulatedEnd;
use crate::socket::{Role, Socket};
use crate::state::TcpState;

/// `O_RDWR`.
const READ_WRITE: i64 = 2;

impl SimulatedEnd {
    /// Does a call; `None` if it blocks.
    pub(crate) fn do_call(&mut self, call: &Call) -> Result<Option<CallOutcome>, EndError> {
        let arguments = &call.arguments;
        let outcome = match call.name.as_str() {
            "socket" => {
                self.sockets.insert(call.result.value.unwrap_or(0), Socket::default());
                success(call.result.value.unwrap_or(0))
            }
            "bind" => success(0),
            "listen" => {
                self.socket(call)?.role = Role::Listening;
                success(0)
            }
            "accept" | "accept4" => return self.accept(call),
            "connect" => return self.connect(call),
            "setsockopt" => return self.set_option(call).map(Some),
            "getsockopt" => return self.get_option(call).map(Some),
            "fcntl" => self.control(call)?,
            "ioctl" => self.ask_unread(call)?,
            "poll" => return self.poll(call),
            "read" | "recv" | "recvfrom" => {
                let most = integer(arguments.get(2), "a length")?;
                return self.read(call, most.max(0).cast_unsigned());
            }
            "write" | "send" | "sendto" => {
                let len = integer(arguments.get(2), "a length")?;
                let flags = arguments.get(3).filter(|_| call.name != "write");
                refuse_flags(flags)?;
                self.write(call, len)?
            }
            "writev" => self.write(call, vector(arguments.get(1))?)?,
            "sendmsg" => {
                refuse_flags(arguments.get(2))?;
                let message = arguments.get(1).and_then(|message| message.member("msg_iov"));
                self.write(call, vector(message)?)?
            }
            "shutdown" => self.shutdown(call)?,
            "close" => self.close(call)?,
            other => return Err(EndError::Unsupported(format!("the system call {other}"))),
        };
        Ok(Some(outcome))
    }

    /// The socket of the first argument.
    pub(crate) fn socket(&mut self, call: &Call) -> Result<&mut Socket, EndError> {
        let number = integer(call.arguments.first(), "a descriptor")?;
        let unknown = || EndError::Failed(format!("descriptor {number} is not an open socket"));
        self.sockets.get_mut(&number).ok_or_else(unknown)
    }

    fn accept(&mut self, call: &Call) -> Result<Option<CallOutcome>, EndError> {
        let options = self.socket(call)?.options.clone();
        let ready = self.connection.as_ref().is_some_and(|one| {
            one.passive && (one.state.is_synchronized() || one.state == TcpState::Closed)
        });
        if !ready || self.accepted {
            return Ok(options.nonblocking.then(|| refusal("EAGAIN")));
        }
        self.accepted = true;
        if let Some(connection) = &mut self.connection {
            connection.receiver.accept(true);
        }
        let number = call.result.value.unwrap_or(0);
        let role = Role::Connected;
        let options = crate::socket::SocketOptions { nonblocking: false, ..options };
        self.sockets.insert(number, Socket { options, role });
        Ok(Some(success(number)))
    }

    fn connect(&mut self, call: &Call) -> Result<Option<CallOutcome>, EndError> {
        let now = self.time();
        let socket = self.socket(call)?;
        let first = socket.role == Role::Idle;
        socket.role = Role::Connected;
        let options = socket.options.clone();
        if first {
            let connection = Connection::connect((&self.kernel, &options), self.choices, now)?;
            self.connection = Some(connection);
            self.collect();
        }
        Ok(match self.connection.as_ref().map(|one| one.state) {
            Some(TcpState::SynSent) if options.nonblocking => Some(refusal("EINPROGRESS")),
            Some(TcpState::SynSent) => None,
            Some(TcpState::Closed) | None => Some(refusal("ECONNREFUSED")),
            Some(_) => Some(success(0)),
        })
    }

    /// The connection of the call's socket.
    fn connection(&mut self, call: &Call) -> Result<&mut Connection, EndError> {
        if self.socket(call)?.role != Role::Connected {
            return Err(EndError::Unsupported(format!("{} on such a socket", call.name)));
        }
        self.connection.as_mut().ok_or_else(|| EndError::Failed("no connection".to_owned()))
    }

    fn read(&mut self, call: &Call, most: u64) -> Result<Option<CallOutcome>, EndError> {
        let now = self.time();
        let nonblocking = self.socket(call)?.options.nonblocking;
        let shut = self.shut_for_reading;
        let connection = self.connection(call)?;
        let len = connection.unread().min(most);
        let fin = connection.peer_fin.is_some_and(|fin| fin < connection.in_order());
        if len == 0 && !fin && !shut && connection.state != TcpState::Closed {
            return Ok(nonblocking.then(|| refusal("EAGAIN")));
        }
        connection.read += len;
        if len > 0 {
            connection.receiver.read_by_program(len, now);
            connection.flush(now);
        }
        self.collect();
        Ok(Some(success(len.cast_signed())))
    }

    fn write(&mut self, call: &Call, len: i64) -> Result<CallOutcome, EndError> {
        let now = self.time();
        let nonblocking = self.socket(call)?.options.nonblocking;
        let connection = self.connection(call)?;
        if connection.sender.has_given_up() && !connection.told_timeout {
            connection.told_timeout = true;
            return Ok(refusal("ETIMEDOUT"));
        }
        if connection.own_fin.is_some() || !connection.state.may_send() {
            return Ok(refusal("EPIPE"));
        }
        let bytes = u32::try_from(len)
            .map_err(|_| EndError::Failed(format!("{len} bytes can't be written")))?;
        connection.written += bytes;
        connection.sender.write(Some(u64::from(bytes)), now);
        connection.flush(now);
        let left = if nonblocking { connection.withdraw_unwritten(now) } else { 0 };
        self.collect();
        Ok(if left == bytes && bytes > 0 {
            refusal("EAGAIN")
        } else {
            success(len - i64::from(left))
        })
    }

    fn shutdown(&mut self, call: &Call) -> Result<CallOutcome, EndError> {
        let now = self.time();
        let (read, write) = match word(call.arguments.get(1)) {
            Some("SHUT_RD") => (true, false),
            Some("SHUT_WR") => (false, true),
            Some("SHUT_RDWR") => (true, true),
            _ => {
                return Err(EndError::Failed(
                    "shutdown takes SHUT_RD, SHUT_WR or SHUT_RDWR".to_owned(),
                ));
            }
        };
        self.shut_for_reading |= read;
        let connection = self.connection(call)?;
        if write {
            connection.shut_down(now);
        }
        self.collect();
        Ok(success(0))
    }

    fn close(&mut self, call: &Call) -> Result<CallOutcome, EndError> {
        let now = self.time();
        let role = self.socket(call)?.role;
        let number = integer(call.arguments.first(), "a descriptor")?;
        self.sockets.remove(&number);
        if let (Role::Connected, Some(connection)) = (role, &mut self.connection)
            && !connection.orphaned
        {
            connection.close(now);
            self.collect();
        }
        Ok(success(0))
    }

    fn control(&mut self, call: &Call) -> Result<CallOutcome, EndError> {
        let nonblocking = call.arguments.get(2).is_some_and(|flags| mentions(flags, "O_NONBLOCK"));
        let socket = self.socket(call)?;
        match word(call.arguments.get(1)) {
            Some("F_GETFL") => Ok(success(READ_WRITE)),
            Some("F_SETFL") => {
                socket.options.nonblocking = nonblocking;
                Ok(success(0))
            }
            _ => Err(EndError::Unsupported("fcntl with other than F_GETFL and F_SETFL".to_owned())),
        }
    }

    /// `ioctl` with `SIOCINQ`.
    fn ask_unread(&mut self, call: &Call) -> Result<CallOutcome, EndError> {
        if word(call.arguments.get(1)) != Some("SIOCINQ") {
            return Err(EndError::Unsupported("ioctl with other than SIOCINQ".to_owned()));
        }
        let unread = self.connection(call)?.unread().cast_signed();
        let expected = integer(call.arguments.get(2), "a value")?;
        let difference = (unread != expected).then(|| format!("{unread} unread bytes"));
        Ok(CallOutcome { difference, ..success(0) })
    }

    /// Waits until one socket may be read or written.
    fn poll(&mut self, call: &Call) -> Result<Option<CallOutcome>, EndError> {
        let unsupported = || EndError::Unsupported("poll of other than one socket".to_owned());
        let Some(CallValue::List(polled)) = call.arguments.first().map(|one| &one.value) else {
            return Err(unsupported());
        };
        let [polled] = polled.as_slice() else { return Err(unsupported()) };
        let connection = self.connection.as_ref().ok_or_else(unsupported)?;
        let waits = connection.sender.info().is_none_or(|info| info.waits_for_room);
        let states = [("POLLIN", connection.unread() > 0), ("POLLOUT", !waits)];
        let names = |member| polled.member(member).ok_or_else(unsupported);
        let (asked, expected) = (names("events")?, names("revents")?);
        let (mut ready, mut difference) = (false, None);
        for (name, is_ready) in states {
            let is_ready = is_ready && mentions(asked, name);
            ready |= is_ready;
            if is_ready != mentions(expected, name) {
                difference = Some(format!("{name} {}", if is_ready { "set" } else { "not set" }));
            }
        }
        Ok(ready.then(|| CallOutcome { difference, ..success(1) }))
    }

    /// The time as the simulator counts.
    pub(crate) fn time(&self) -> Time {
        Time::from_nanos(self.now.max(0).cast_unsigned())
    }
}

/// Returns `true` if the argument is this constant, or an expression of several with it among them.
fn mentions(argument: &Argument, name: &str) -> bool {
    match &argument.value {
        CallValue::Word(word) => word == name,
        CallValue::Or(parts) => parts.iter().any(|part| mentions(part, name)),
        _ => false,
    }
}

/// Flags of a send that the simulator's applications don't have.
fn refuse_flags(flags: Option<&Argument>) -> Result<(), EndError> {
    const HARMLESS: [&str; 2] = ["MSG_DONTWAIT", "MSG_NOSIGNAL"];
    match flags.map(|flags| &flags.value) {
        None | Some(CallValue::Integer(0)) => Ok(()),
        Some(CallValue::Word(word)) if HARMLESS.contains(&word.as_str()) => Ok(()),
        Some(CallValue::Word(word)) => Err(EndError::Unsupported(word.clone())),
        Some(_) => Err(EndError::Unsupported("flags of a send".to_owned())),
    }
}

/// The length of a vector of buffers.
fn vector(argument: Option<&Argument>) -> Result<i64, EndError> {
    let Some(CallValue::List(parts)) = argument.map(|argument| &argument.value) else {
        return Err(EndError::Failed("a list of buffers is needed".to_owned()));
    };
    parts.iter().try_fold(0, |sum, part| {
        let CallValue::Members(members) = &part.value else {
            return Err(EndError::Failed("a buffer with its length is needed".to_owned()));
        };
        Ok(sum + integer(members.last().map(|member| &member.1), "a length")?)
    })
}

/// The constant that an argument is.
pub(crate) fn word(argument: Option<&Argument>) -> Option<&str> {
    match argument.map(|argument| &argument.value) {
        Some(CallValue::Word(word)) => Some(word),
        _ => None,
    }
}

/// The number that an argument is, also between brackets.
pub(crate) fn integer(argument: Option<&Argument>, what: &str) -> Result<i64, EndError> {
    match argument.map(|argument| &argument.value) {
        Some(CallValue::Integer(value)) => Ok(*value),
        Some(CallValue::List(parts)) if parts.len() == 1 => integer(parts.first(), what),
        _ => Err(EndError::Unsupported(format!("a call without {what}"))),
    }
}

/// A successful call.
pub(crate) fn success(value: i64) -> CallOutcome {
    CallOutcome { value, ..CallOutcome::default() }
}

/// A call that fails.
pub(crate) fn refusal(errno: &str) -> CallOutcome {
    CallOutcome { value: -1, errno: Some(errno.to_owned()), difference: None }
}
