//! All tests of the simulator, in one program: each further program takes seconds to link.

mod common;
mod controls;
mod determinism;
mod ecn;
mod environments;
mod extremes;
mod golden;
mod linux;
mod own_hosts;
mod paths;
mod progress;
mod stacks;
mod stepwise;
mod workloads;
