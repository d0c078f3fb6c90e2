//! The system calls that a script's end needs, each a safe function.

mod address;
mod clock;
mod device;
mod memory;
mod process;
mod raw;
mod socket;

pub use address::{Fd, Sockaddr};
pub use clock::{Alarm, coarse_tick_ns, monotonic_ns, realtime_ns, wait};
pub use device::{Tun, device_index, leave_network, netlink_request};
pub use memory::{Buffer, ControlMessage, recvmsg, send_parts, sendmsg};
pub use process::{in_child, mount, power_off};
pub use raw::Raw;
pub use socket::{
    accept, bind, close, connect, epoll_create, epoll_ctl, epoll_wait, event_fd, fcntl, getsockopt,
    inq, listen, notify, open, pipe, poll, read, recv, sendfile, sendto, setsockopt, shutdown,
    socket, splice, take_event, write,
};
