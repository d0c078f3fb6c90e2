//! The system calls that a script's end needs, each a safe function.

mod address;
mod clock;
mod device;
mod memory;
mod process;
mod raw;
mod socket;

pub use address::{Fd, Sockaddr};
pub use clock::{monotonic_ns, realtime_ns, tick_ns, wait};
pub use device::Tun;
pub use memory::{Buffer, ControlMessage, recvmsg, send_parts, sendmsg};
pub use process::in_child;
pub use raw::Raw;
pub use socket::{
    accept, bind, close, connect, epoll_create, epoll_ctl, epoll_wait, fcntl, getsockopt, inq,
    listen, open, pipe, poll, read, recv, sendfile, sendto, setsockopt, shutdown, socket, splice,
    write,
};
