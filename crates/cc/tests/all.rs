//! All tests of the controls, in one program: each program more takes seconds to link.

mod bbr3_states;
mod bbr_options;
mod bbr_states;
mod common;
mod delay_and_ecn;
mod delay_targets;
mod fuzz;
mod kernel;
mod loss_based;
mod pcc;
mod prague;
mod registry;
mod rfc_9438;
