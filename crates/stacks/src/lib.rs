//! Transport stacks of other projects as hosts of the simulator.
//!
//! Each runs as its project wrote it, TLS and all. What it would take from the operating system
//! comes from the run instead: the time from the simulator, and whatever is drawn, keys too, from
//! the seed. So a run repeats itself, byte by byte.

/// The configuration of a control with the initial window, if there is one. These types of the
/// stacks have no trait in common.
macro_rules! with_window {
    ($config:ident, $window:expr) => {{
        let mut config = $config::default();
        if let Some(window) = $window {
            config.initial_window(window);
        }
        Arc::new(config)
    }};
}

mod clock;
mod events;
mod keys;
mod logs;
mod noq;
mod quic;
mod quinn;
mod tls;

use narrows_sim::Controls;

use noq::Noq;
use quinn::Quinn;

pub use keys::Keys;
pub use logs::{Logs, QlogWriter};

/// Adds all stacks to the controls of a run. `logs` says where the logs of their connections go.
#[must_use]
pub fn with_stacks(controls: Controls, logs: &Logs) -> Controls {
    let (of_quinn, of_noq) = (logs.clone(), logs.clone());
    controls
        .with_stack("quinn", move |connecting| quic::ends::<Quinn>(connecting, &of_quinn))
        .with_stack("noq", move |connecting| quic::ends::<Noq>(connecting, &of_noq))
}
