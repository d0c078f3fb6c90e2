//! `TCP_INFO`, and what else scripts know of a socket (include/uapi/linux/tcp.h).

use narrows_packetdrill::Variables;

use crate::sys::{Fd, getsockopt};

/// Fields in their order with their sizes in bytes; older kernels give fewer.
const FIELDS: &[(&str, usize)] = &[
    ("tcpi_state", 1),
    ("tcpi_ca_state", 1),
    ("tcpi_retransmits", 1),
    ("tcpi_probes", 1),
    ("tcpi_backoff", 1),
    ("tcpi_options", 1),
    ("", 1), // both window scales
    ("", 1), // bits of the delivery rate and of Fast Open
    ("tcpi_rto", 4),
    ("tcpi_ato", 4),
    ("tcpi_snd_mss", 4),
    ("tcpi_rcv_mss", 4),
    ("tcpi_unacked", 4),
    ("tcpi_sacked", 4),
    ("tcpi_lost", 4),
    ("tcpi_retrans", 4),
    ("tcpi_fackets", 4),
    ("tcpi_last_data_sent", 4),
    ("tcpi_last_ack_sent", 4),
    ("tcpi_last_data_recv", 4),
    ("tcpi_last_ack_recv", 4),
    ("tcpi_pmtu", 4),
    ("tcpi_rcv_ssthresh", 4),
    ("tcpi_rtt", 4),
    ("tcpi_rttvar", 4),
    ("tcpi_snd_ssthresh", 4),
    ("tcpi_snd_cwnd", 4),
    ("tcpi_advmss", 4),
    ("tcpi_reordering", 4),
    ("tcpi_rcv_rtt", 4),
    ("tcpi_rcv_space", 4),
    ("tcpi_total_retrans", 4),
    ("tcpi_pacing_rate", 8),
    ("tcpi_max_pacing_rate", 8),
    ("tcpi_bytes_acked", 8),
    ("tcpi_bytes_received", 8),
    ("tcpi_segs_out", 4),
    ("tcpi_segs_in", 4),
    ("tcpi_notsent_bytes", 4),
    ("tcpi_min_rtt", 4),
    ("tcpi_data_segs_in", 4),
    ("tcpi_data_segs_out", 4),
    ("tcpi_delivery_rate", 8),
    ("tcpi_busy_time", 8),
    ("tcpi_rwnd_limited", 8),
    ("tcpi_sndbuf_limited", 8),
    ("tcpi_delivered", 4),
    ("tcpi_delivered_ce", 4),
    ("tcpi_bytes_sent", 8),
    ("tcpi_bytes_retrans", 8),
    ("tcpi_dsack_dups", 4),
    ("tcpi_reord_seen", 4),
    ("tcpi_rcv_ooopack", 4),
    ("tcpi_snd_wnd", 4),
    ("tcpi_rcv_wnd", 4),
    ("tcpi_rehash", 4),
    ("tcpi_total_rto", 2),
    ("tcpi_total_rto_recoveries", 2),
    ("tcpi_total_rto_time", 4),
    ("tcpi_received_ce", 4),
    ("tcpi_delivered_e1_bytes", 4),
    ("tcpi_delivered_e0_bytes", 4),
    ("tcpi_delivered_ce_bytes", 4),
    ("tcpi_received_e1_bytes", 4),
    ("tcpi_received_e0_bytes", 4),
    ("tcpi_received_ce_bytes", 4),
    ("", 4), // modes of accurate ECN
];
/// The byte with both window scales.
const SCALES: usize = 6;
/// The word with the modes of accurate ECN.
const ECN_MODES: usize = 276;
/// Names of `SO_MEMINFO`'s words.
const MEMORY: [&str; 9] = [
    "SK_MEMINFO_RMEM_ALLOC",
    "SK_MEMINFO_RCVBUF",
    "SK_MEMINFO_WMEM_ALLOC",
    "SK_MEMINFO_SNDBUF",
    "SK_MEMINFO_FWD_ALLOC",
    "SK_MEMINFO_WMEM_QUEUED",
    "SK_MEMINFO_OPTMEM",
    "SK_MEMINFO_BACKLOG",
    "SK_MEMINFO_DROPS",
];
const SO_MEMINFO: i32 = 55;
const SPACE: usize = 512;

/// Sets everything that scripts may ask for; the error's number if the socket has no state.
pub fn describe(fd: Fd, variables: &mut Variables) -> Result<(), i32> {
    let mut info = [0; SPACE];
    let (result, len) = getsockopt(fd, libc::SOL_TCP, libc::TCP_INFO, &mut info);
    result?;
    fields(&info[..len], variables);
    let mut memory = [0; 4 * MEMORY.len()];
    if getsockopt(fd, libc::SOL_SOCKET, SO_MEMINFO, &mut memory).0.is_ok() {
        for (place, name) in MEMORY.iter().enumerate() {
            variables.set(name, number(&memory, 4 * place, 4));
        }
    }
    Ok(())
}

fn fields(info: &[u8], variables: &mut Variables) {
    let mut at = 0;
    for &(name, size) in FIELDS {
        if at + size > info.len() {
            break;
        }
        if !name.is_empty() {
            variables.set(name, number(info, at, size));
        }
        at += size;
    }
    let bits = |byte: usize, shift: u32, mask: i64| number(info, byte, 1) >> shift & mask;
    variables.set("tcpi_snd_wscale", bits(SCALES, 0, 15));
    variables.set("tcpi_rcv_wscale", bits(SCALES, 4, 15));
    variables.set("tcpi_delivery_rate_app_limited", bits(SCALES + 1, 0, 1));
    if info.len() >= ECN_MODES + 4 {
        variables.set("tcpi_ecn_mode", bits(ECN_MODES, 0, 3));
        variables.set("tcpi_accecn_opt_seen", bits(ECN_MODES, 2, 3));
        variables.set("tcpi_accecn_fail_mode", bits(ECN_MODES, 4, 15));
    }
}

fn number(bytes: &[u8], at: usize, size: usize) -> i64 {
    let mut word = [0; 8];
    if let Some(found) = bytes.get(at..at + size) {
        word[..size].copy_from_slice(found);
    }
    i64::from_le_bytes(word)
}
