//! Sockets and their options.

/// Options that programs set (`setsockopt`); `None` leaves the choice to the kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct SocketOptions {
    pub(crate) congestion_control: Option<String>,
    pub(crate) notsent_lowat: Option<u64>,
    /// Twice what the program asked for (`SO_RCVBUF`).
    pub(crate) receive_buffer: Option<u32>,
    /// Twice what the program asked for (`SO_SNDBUF`).
    pub(crate) send_buffer: Option<u32>,
    pub(crate) max_segment: Option<u16>,
    pub(crate) user_timeout_ms: Option<u32>,
    pub(crate) tos: u8,
    pub(crate) nonblocking: bool,
}

/// A socket of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Socket {
    pub(crate) options: SocketOptions,
    pub(crate) role: Role,
}

/// How a socket is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    #[default]
    Idle,
    Listening,
    /// It is the present connection, or was an earlier one.
    Connected,
}
