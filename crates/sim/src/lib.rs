//! The simulator: a scenario in, events out.

pub mod scenario;
