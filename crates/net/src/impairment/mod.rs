//! The impairments of a path besides queueing and delay, each an element.

pub(crate) mod duplication;
mod filter;
pub(crate) mod gilbert_elliott;
pub(crate) mod jitter;
pub(crate) mod loss;
pub(crate) mod netem;
pub(crate) mod outage;
pub(crate) mod policer;
pub(crate) mod route;
pub(crate) mod thinning;

pub use duplication::Duplication;
pub use filter::{Fate, Filter, Rule};
pub use gilbert_elliott::{GilbertElliott, GilbertElliottParams};
pub use jitter::Jitter;
pub use loss::RandomLoss;
pub use netem::{Netem, NetemParams};
pub use outage::{Outage, OutageMode};
pub use policer::{Policer, PolicerParams};
pub use route::{Overtaking, Route};
pub use thinning::{Merge, Thinning, ThinningParams};
