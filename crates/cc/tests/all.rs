//! All tests of the controls, in one program: each further program takes seconds to link.

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
mod yielding;

#[test]
fn every_file_here_is_a_part() {
    let listed = include_str!("all.rs");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    for entry in std::fs::read_dir(folder).expect("this folder").flatten() {
        let name = entry.file_name().into_string().expect("a plain name");
        if let Some(stem) = name.strip_suffix(".rs").filter(|&stem| stem != "all") {
            assert!(listed.contains(&format!("\nmod {stem};")), "mod {stem}; is missing in all.rs");
        }
    }
}
