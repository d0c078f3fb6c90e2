//! Transport stacks of other projects as hosts of the simulator.
//!
//! Each runs as its project wrote it, TLS and all. What it would take from the operating system
//! comes from the run instead: the time from the simulator, and whatever is drawn, keys too, from
//! the seed. So a run repeats itself, byte by byte.

mod clock;
mod draws;
mod keys;
mod quinn;
mod tls;

use narrows_sim::Controls;

pub use keys::Keys;

/// Adds all stacks to the controls of a run. `keys` gathers the secrets of their connections.
#[must_use]
pub fn with_stacks(controls: Controls, keys: &Keys) -> Controls {
    let keys = keys.clone();
    controls.with_stack("quinn", move |connecting| quinn::ends(connecting, &keys))
}
