//! What a path does to packets besides queueing and delay, an element each.

mod jitter;
mod loss;

pub use jitter::Jitter;
pub use loss::RandomLoss;
