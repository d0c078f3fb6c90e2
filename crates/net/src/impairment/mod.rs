//! What a path does to packets besides queueing and delay, an element each.

mod duplication;
mod filter;
mod gilbert_elliott;
mod jitter;
mod loss;
mod netem;
mod outage;
mod policer;
mod route;
mod thinning;

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
