//! The argument of `on_connect`.

use narrows_base::Duration;
use narrows_cc as cc;
use pyo3::prelude::*;

/// The initial values of a connection.
#[pyclass(frozen, get_all, module = "narrows._native")]
#[derive(Debug)]
pub struct Connection {
    /// Payload bytes of a full packet.
    mss: u32,
    /// Initial window in packets.
    initial_cwnd: u32,
    /// The handshake's RTT in seconds.
    rtt_s: Option<f64>,
}

impl Connection {
    pub(super) fn new(config: &cc::CcConfig) -> Self {
        let rtt_s = config.initial_rtt.and_then(cc::drop_placeholder).map(Duration::as_secs_f64);
        Self { mss: config.mss, initial_cwnd: config.initial_cwnd, rtt_s }
    }
}

#[pymethods]
impl Connection {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}
