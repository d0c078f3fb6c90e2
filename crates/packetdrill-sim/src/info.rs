//! The connection's state under the names that scripts use.

use narrows_base::{Duration, Ecn, Time};
use narrows_cc::RecoveryState;
use narrows_packetdrill::Variables;

use crate::connection::Connection;

/// Constants that scripts compare with (include/uapi/linux/tcp.h).
const CONSTANTS: &[(&str, i64)] = &[
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_FIN_WAIT1", 4),
    ("TCP_FIN_WAIT2", 5),
    ("TCP_TIME_WAIT", 6),
    ("TCP_CLOSE", 7),
    ("TCP_CLOSE_WAIT", 8),
    ("TCP_LAST_ACK", 9),
    ("TCP_LISTEN", 10),
    ("TCP_CLOSING", 11),
    ("TCPI_OPT_TIMESTAMPS", TIMESTAMPS),
    ("TCPI_OPT_SACK", SACK),
    ("TCPI_OPT_WSCALE", WSCALE),
    ("TCPI_OPT_ECN", ECN),
    ("TCPI_OPT_ECN_SEEN", 16),
    ("TCPI_OPT_SYN_DATA", 32),
];
const TIMESTAMPS: i64 = 1;
const SACK: i64 = 2;
const WSCALE: i64 = 4;
const ECN: i64 = 8;

/// Sets what the simulator knows of `struct tcp_info`.
pub(crate) fn describe(connection: &mut Connection, now: Time, variables: &mut Variables) {
    for &(name, value) in CONSTANTS {
        variables.set(name, value);
    }
    let buffer = i64::try_from(connection.receiver.buffer_size()).unwrap_or(i64::MAX);
    variables.set("SK_MEMINFO_RCVBUF", buffer);
    let used = i64::try_from(connection.receiver.memory_in_use()).unwrap_or(i64::MAX);
    variables.set("SK_MEMINFO_RMEM_ALLOC", used);
    let mut set = |name: &str, value: u64| {
        variables.set(&format!("tcpi_{name}"), i64::try_from(value).unwrap_or(i64::MAX));
    };
    let terms = &connection.terms;
    let options = [
        (terms.timestamps, TIMESTAMPS),
        (terms.sack, SACK),
        (terms.scaling, WSCALE),
        (terms.ecn != narrows_tcp::EcnMode::Off, ECN),
    ];
    let options: i64 = options.iter().filter(|one| one.0).map(|one| one.1).sum();
    set("options", options.cast_unsigned());
    set("state", connection.state as u64);
    set("snd_mss", terms.mss.into());
    set("advmss", connection.own_options().mss.into());
    set("snd_wscale", terms.peer_scale.into());
    set("rcv_wscale", terms.own_scale.into());
    set("rcv_mss", connection.receiver.packet_size().into());
    set("bytes_received", connection.received_bytes());
    let received = connection.last_data_received.unwrap_or(connection.established);
    set("last_data_recv", now.saturating_since(received).as_nanos() / 1_000_000);
    set("last_data_sent", now.saturating_since(connection.last_data).as_nanos() / 1_000_000);
    sender(connection, &mut set);
    codepoints(connection, &mut set);
}

/// The counters of accurate ECN.
fn codepoints(connection: &mut Connection, set: &mut impl FnMut(&str, u64)) {
    const NAMES: [(&str, Ecn); 3] = [("e1", Ecn::Ect1), ("ce", Ecn::Ce), ("e0", Ecn::Ect0)];
    let (sender, receiver) = (connection.sender.accurate_ecn(), connection.receiver.accurate_ecn());
    set("received_ce", receiver.as_ref().map_or(0, |end| end.received_ce()).into());
    for (name, ecn) in NAMES {
        let delivered = sender.as_ref().map_or(0, |end| end.delivered_bytes(ecn));
        let received = receiver.as_ref().map_or(0, |end| end.received_bytes(ecn));
        set(&format!("delivered_{name}_bytes"), delivered.into());
        set(&format!("received_{name}_bytes"), received.into());
    }
}

fn sender(connection: &Connection, set: &mut impl FnMut(&str, u64)) {
    let (Some(view), Some(info)) = (connection.sender.view(), connection.sender.info()) else {
        return;
    };
    let stats = connection.sender.stats();
    let micros = |span: Option<Duration>| span.map_or(0, Duration::as_micros);
    for (name, value) in [
        ("ca_state", ca_state(view.state)),
        ("snd_cwnd", view.cwnd.into()),
        ("snd_ssthresh", view.ssthresh.into()),
        ("rtt", micros(view.srtt)),
        ("min_rtt", micros(view.min_rtt)),
        ("unacked", info.unacked.into()),
        ("sacked", info.sacked.into()),
        ("lost", info.lost.into()),
        ("retrans", info.retrans.into()),
        ("reordering", info.reordering.into()),
        ("reord_seen", info.reorderings.into()),
        ("retransmits", info.retransmits.into()),
        ("backoff", info.backoff.into()),
        ("probes", info.probes.into()),
        ("rto", info.rto_us),
        ("snd_wnd", info.snd_wnd.into()),
        ("notsent_bytes", info.notsent_bytes),
        ("total_retrans", stats.retransmitted),
        // The SYN counts.
        ("delivered", stats.delivered + 1),
        ("delivered_ce", stats.delivered_ce),
        ("bytes_acked", connection.sender.acked_bytes()),
    ] {
        set(name, value);
    }
}

fn ca_state(state: RecoveryState) -> u64 {
    match state {
        RecoveryState::Open => 0,
        RecoveryState::Disorder => 1,
        RecoveryState::Cwr => 2,
        RecoveryState::Recovery => 3,
        RecoveryState::Loss => 4,
    }
}
