//! All tests of the simulator, in one program: each program more takes seconds to link.

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
mod stepwise;
mod workloads;

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
