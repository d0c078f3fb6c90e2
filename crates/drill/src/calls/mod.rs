//! The system calls of scripts: their arguments, what they do, and how results are compared.

mod arguments;
mod connect;
mod context;
mod data;
mod message;
mod options;
mod wait;

use narrows_packetdrill::{Call, EndError};

use arguments::Arguments;
pub use context::{CallReturn, Context, PreparedCall};

/// Checks the arguments of a call, and prepares it.
pub fn prepare(call: &Call, context: &Context) -> Result<PreparedCall, EndError> {
    let arguments = Arguments { call, context };
    match call.name.as_str() {
        "socket" => connect::socket(&arguments),
        "bind" => connect::bind(&arguments),
        "listen" => connect::listen(&arguments),
        "accept" => connect::accept(&arguments),
        "connect" => connect::connect(&arguments),
        "close" => connect::close(&arguments),
        "shutdown" => connect::shutdown(&arguments),
        "fcntl" => options::fcntl(&arguments),
        "ioctl" => options::ioctl(&arguments),
        "setsockopt" => options::setsockopt(&arguments),
        "getsockopt" => options::getsockopt(&arguments),
        "read" | "recv" | "recvfrom" => data::read(&arguments),
        "write" | "send" | "sendto" => data::write(&arguments),
        "readv" | "writev" => data::vectors(&arguments),
        "open" => data::open(&arguments),
        "pipe" => data::pipe(&arguments),
        "sendfile" => data::sendfile(&arguments),
        "splice" => data::splice(&arguments),
        "sendmsg" => message::send(&arguments),
        "recvmsg" => message::receive(&arguments),
        "poll" => wait::poll(&arguments),
        "epoll_create" => wait::epoll_create(&arguments),
        "epoll_ctl" => wait::epoll_ctl(&arguments),
        "epoll_wait" => wait::epoll_wait(&arguments),
        other => Err(EndError::Unsupported(format!("the system call {other}"))),
    }
}
