//! Packet transcripts, one file for each rule; docs/reference/tcp.md lists the
//! rules and says what the scripts' words mean.

mod runner;

/// A test for each script, and one that none is forgotten.
macro_rules! transcripts {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                let file = concat!(stringify!($name), ".txt");
                let text = include_str!(concat!("transcripts/", stringify!($name), ".txt"));
                if let Err(mistakes) = runner::run(file, text) {
                    panic!("\n{mistakes}\n");
                }
            }
        )*

        #[test]
        fn every_script_is_a_test() {
            let listed = [$(stringify!($name)),*];
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transcripts");
            for entry in std::fs::read_dir(folder).expect("the folder of transcripts") {
                let path = entry.expect("an entry").path();
                let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
                assert!(listed.contains(&name), "{name}.txt isn't in the list");
            }
        }
    };
}

transcripts! {
    dsack_widens_rack_window
    dupthresh
    initial_window
    late_original_fills_hole
    limited_transmit
    lost_retransmission
    prr_proportional
    rack_timer
    rack_window_on_ack
    reordering_degree
    reordering_seen
    slow_start
    slow_start_clips
    tso_pairs
    tso_sizes
}
