//! Packet transcripts, one file for each rule; docs/reference/tcp.md lists the
//! rules and explains the words of the scripts.

use crate::runner;

/// Makes a test for each script, and one that checks that no script is missing.
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
    app_limited_mark
    buffer_ends
    buffers_cross
    compression_follows_rtt
    compression_limit
    compression_off
    compression_since_6_19
    cwr
    dsack_widens_rack_window
    duplicate
    duplicate_of_newest
    duplicate_out_of_order
    dupthresh
    dupthresh_old
    ecn_accurate_syn_retry
    ecn_classic
    ecn_counts
    ecn_dctcp
    ecn_dctcp_echo
    ecn_echo
    ecn_l4s
    ecn_refused
    ecn_retransmission
    ecn_syn_retry
    enter_loss
    enter_loss_old
    fack_old
    first_ten_unpaced
    fq_paces_all
    fq_queues_ahead
    frto_no_new_data
    frto_real
    frto_spurious
    gro
    gro_gap
    idle_restart
    initial_window
    late_original_fills_hole
    late_write
    limited_transmit
    loss_eifel_undo
    loss_exit
    lost_retransmission
    one_reduction_a_window
    out_of_order
    paced_retransmissions
    pacing_catches_up
    partial_fill
    partial_fill_in_memory
    prr_new_loss
    prr_old
    prr_proportional
    prr_slow_start
    psh
    psh_old
    quickack
    quickack_after_long_pause
    quickack_after_pause
    rack_timer
    rack_timer_old
    rack_window_on_ack
    rate_ack_compression
    rate_of_retransmission
    rate_sample
    receive_window
    receive_window_moves
    recovery_dsack_undo
    recovery_eifel_undo
    recovery_exit
    reordering_degree
    reordering_seen
    rto_backoff
    rto_restart
    rto_runs_out_in_recovery
    rto_variance
    rtt_of_retransmission
    rtt_of_sacked
    rtt_of_stretch_ack
    sack_blocks
    send_buffer
    send_buffer_full
    short_last_packet
    short_packet
    short_packets_out_of_order
    slow_start
    slow_start_clips
    starts
    stop
    syn_again
    syn_late_answer
    syn_lost_twice
    syn_retry
    syn_retry_old
    synack_again
    synack_retry
    timer_waits_for_pacing
    timestamp_echo
    timestamp_echo_first
    tlp_dsack
    tlp_duplicate_ack
    tlp_last_packet
    tlp_new_data
    tlp_old
    tlp_one_packet
    tlp_one_packet_long_path
    tlp_one_packet_short_path
    tlp_only_one
    tlp_repairs_tail
    tlp_repairs_tail_cubic
    tlp_then_rto
    tso_defer
    tso_pairs
    tso_sizes
    two_to_one
    underused_window
    window_doubles
    window_growth_acks
    window_probe
}
