//! Runs our own scripts on the simulator's TCP.

mod accurate_ecn;
mod receiving;
mod scripts;
