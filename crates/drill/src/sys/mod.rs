//! The system calls that a script's end needs, each a safe function.

mod address;
mod clock;
mod device;
mod memory;
mod raw;
mod socket;

pub use address::{Fd, Sockaddr};
pub use clock::{Alarm, coarse_tick_ns, monotonic_ns, realtime_ns, wait};
pub use device::{Tun, leave_network};
pub use memory::{Buffer, ControlMessage, recvmsg, send_parts, sendmsg};
pub use raw::Raw;
pub use socket::{
    accept, bind, close, connect, epoll_create, epoll_ctl, epoll_wait, event_fd, fcntl, getsockopt,
    inq, listen, notify, open, pipe, poll, read, recv, sendfile, sendto, setsockopt, shutdown,
    socket, splice, take_event, write,
};
