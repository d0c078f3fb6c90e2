//! Accurate ECN (RFC 9768), as Linux 7.3 has it (include/net/tcp_ecn.h).
//!
//! Each end counts what arrives at it (`received`) and learns what arrived at the other one
//! (`delivered`). A counter of marked packets is in three flags of every header, counters of bytes are in
//! an option. Both may be damaged on the way, which the ends look for (`checks`).

mod ace;
mod checks;
mod delivered;
mod end;
mod option;
mod received;
mod settings;

pub use ace::Ace;
pub use checks::Checks;
pub(crate) use delivered::Delivery;
pub use end::AccurateEnd;
pub use option::{AccEcnOption, OptionOrder, SeenOption};
pub use received::OptionSlot;
pub use settings::{AccEcnSettings, OptionUse};
