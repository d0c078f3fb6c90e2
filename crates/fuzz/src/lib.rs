//! Fuzz targets: for each kind of input, seeds to start from and a function that takes any bytes
//! and panics only if narrows has a bug.
//!
//! `tests/targets.rs` mutates the seeds without coverage, on any compiler; `fuzz/` beside the
//! workspace uses libFuzzer (`make fuzz`).

mod capture;
mod logs;
mod mutate;
mod seeds;
mod specification;
mod wire;

pub use capture::{BETWEEN, capture};
pub use mutate::{mutate, mutate_capture, mutate_json};
use narrows_base::Stream;
pub use narrows_cc::contract::hold_control;
pub use narrows_net::contract::hold_queue;
pub use specification::{CHANGES, specification};

/// A kind of input.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name for `cargo fuzz`.
    pub name: &'static str,
    /// The function that takes the bytes.
    pub run: fn(&[u8]),
    /// The seeds.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// The function that changes a seed.
    pub mutate: fn(&[u8], &mut Stream) -> Vec<u8>,
}

/// Every kind of input.
pub const TARGETS: [Target; 5] = [
    Target { name: "specification", run: specification, seeds: seeds::specifications, mutate },
    Target { name: "capture", run: capture, seeds: seeds::captures, mutate: mutate_capture },
    Target { name: "qlog", run: capture, seeds: logs::logs, mutate: mutate_json },
    Target { name: "control", run: hold_control, seeds: seeds::controls, mutate },
    Target { name: "queue", run: hold_queue, seeds: seeds::queues, mutate },
];

/// The kind of input called `name`.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn target(name: &str) -> Target {
    let found = TARGETS.into_iter().find(|target| target.name == name);
    found.unwrap_or_else(|| panic!("no target is called {name}"))
}
