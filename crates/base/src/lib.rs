//! The types that all other crates share: time, sizes, rates, packets and seeded randomness.
//!
//! Each quantity is a newtype with only its physical operators, so that a rate
//! can't be added to a time. Arithmetic overflow panics, in release builds too: a wrong result is
//! worse than none.

mod dscp;
mod histogram;
mod jiffies;
mod level;
mod packet;
mod point;
mod prefetch;
mod quantity;
mod random;
mod range_set;
pub mod registry;
mod time;

pub use dscp::{DSCP_NAMES, Dscp};
pub use histogram::{Dense, Histogram, Sparse, Weights};
pub use jiffies::Jiffies;
pub use level::Level;
pub use packet::{Ecn, FlowId, Packet};
pub use point::{Heading, Point};
pub use prefetch::{prefetch, prefetch_start};
pub use quantity::{Bytes, Rate};
pub use random::Stream;
pub use range_set::RangeSet;
pub use time::{Duration, Time};
