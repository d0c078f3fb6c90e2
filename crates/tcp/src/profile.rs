//! The differences between kernel versions, as data.
//!
//! Nothing else in this crate knows a version number. Dates and commits are in
//! the documentation of profiles; if a row is based on commit dates rather than on the tree itself,
//! it says so there.

use narrows_cc::CcProfile;

use crate::segment::MSS;

/// How losses are detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// RACK alone, with its built-in duplicate threshold (since 4.18).
    Rack,
    /// RFC 6675's count of SACKed packets, with RACK beside it (4.15 to 4.17).
    Dupthresh,
    /// Distance to the highest SACKed packet (FACK), with RACK beside it (until 4.14).
    Fack,
}

/// How the receiver sizes its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveWindow {
    /// Default receive buffer, `tcp_rmem[1]`, in bytes.
    pub initial_buffer: u32,
    /// Largest receive buffer, `tcp_rmem[2]`, in bytes.
    pub max_buffer: u32,
    /// Packets in the first window at most (`init_rcv_wnd`, until 4.19; none since).
    pub initial_packets: u32,
    /// Initial share of the buffer that becomes window, in 256ths.
    pub initial_ratio: u32,
    /// True if the first full packet shows how much of the buffer becomes window (since 6.6).
    pub measures_ratio: bool,
    /// Memory of a packet beside its payload, in bytes (`skb->truesize`).
    pub packet_overhead: u32,
    /// How autotuning enlarges the buffer.
    pub autotuning: Autotuning,
}

/// How the receive buffer follows what the application reads in a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Autotuning {
    /// Twice that plus 16 packets, and more as it grows (`tcp_rcv_space_adjust`, until 6.15).
    Cushioned,
    /// Twice that plus what waits out of order, and more as it grows unless the round trip is short
    /// (`tcp_rcvbuf_grow`; since 6.16, as in 6.19).
    OutOfOrderToo,
}

/// How long SACKs of further packets out of order are held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackCompression {
    /// Percent of the round trip, at most 1 ms (`tcp_comp_sack_rtt_percent`; 5 until 6.18).
    pub rtt_percent: u64,
    /// How much later the timer may fire, in us (`tcp_comp_sack_slack_ns`).
    pub slack_us: u64,
}

impl ReceiveWindow {
    /// Share of the buffer that becomes window once a full packet was seen, in 256ths
    /// (`tcp_measure_rcv_mss`).
    pub(crate) const fn measured_ratio(&self) -> u32 {
        if self.measures_ratio {
            MSS * 256 / (MSS + self.packet_overhead)
        } else {
            self.initial_ratio
        }
    }

    /// The first window of a host that counts in packets of `mss` bytes: the buffer's share, rounded
    /// down to whole packets (`tcp_select_initial_window`), and at most `most`.
    pub(crate) fn first(&self, mss: u32, most: Option<u64>) -> u32 {
        let share = u64::from(self.initial_buffer) * u64::from(self.initial_ratio) / 256;
        let space = most.map_or(share, |most| most.min(share));
        let space = u32::try_from(space).expect("no more than the initial buffer");
        if space > mss { mss * (space / mss).min(self.initial_packets) } else { space }
    }
}

/// One kernel version's TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpProfile {
    /// Its name in a specification.
    pub name: &'static str,
    /// How losses are detected.
    pub loss_detection: LossDetection,
    /// Smallest reordering window of RACK in us (1000 before 4.18).
    pub rack_floor_us: u64,
    /// True if RACK re-checks on its own timer (since 4.11).
    pub rack_timer: bool,
    /// TLP after two RTT plus 2 ms (since 4.14), or the older max(2 RTT, 10 ms).
    pub tlp_two_rtt: bool,
    /// PRR grows when `snd_una` advances without new loss (since 5.11), or when
    /// retransmitted data is acknowledged.
    pub prr_on_una: bool,
    /// A timeout spares packets sent recently, so that the window becomes pipe + 1
    /// (since 4.19); before, all were marked lost.
    pub timeout_keeps_pipe: bool,
    /// Receivers hold back SACKs (since 4.18).
    pub sack_compression: Option<SackCompression>,
    /// A full packet with PSH is acknowledged when it is read (since late 2023, also in stable
    /// builds of 5.10 and 6.1).
    pub ack_on_psh: bool,
    /// Larger bursts below 3 ms of RTT (`tcp_tso_rtt_log`, since 5.18).
    pub tso_rtt_bonus: bool,
    /// The accounting of pacing.
    pub pacing: Pacing,
    /// SYN timeouts of a second each before the timeout starts to double
    /// (`tcp_syn_linear_timeouts`, since 6.5; none before).
    pub linear_syn_timeouts: u32,
    /// True if a host remembers the slow-start threshold of a destination
    /// (`tcp_no_ssthresh_metrics_save = 0`, the default until 5.6).
    pub keeps_ssthresh: bool,
    /// The receive window.
    pub receive: ReceiveWindow,
    /// True if a burst may continue in the next socket buffer (`tcp_grow_skb`, since 6.10); before,
    /// it ended where its buffer did.
    pub bursts_cross_buffers: bool,
    /// True if an ACK of data that weren't sent gets an answer (RFC 5961 section 5.2; 7.3 does).
    pub challenges_acks_of_unsent: bool,
    /// True if a reset of a connection request counts only with exactly the next number, as on an
    /// established connection (RFC 5961 section 3.2; 7.3 does).
    pub challenges_early_resets: bool,
    /// True if a segment that ends beyond the window is refused, unless nothing waits for the
    /// program (7.3 does).
    pub checks_ends_of_segments: bool,
    /// True if the kernel has accurate ECN (`tcp_ecn` up to 5; since 7.0).
    pub accurate_ecn: bool,
    /// Largest send buffer, `tcp_wmem[2]`, in bytes.
    pub send_buffer: u32,
    /// The congestion controls of that version.
    pub cc: CcProfile,
}

/// How a pacer charges bursts beyond their payload, and how it handles late timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// Header bytes that `fq` charges for each packet: Ethernet, IP and TCP while it
    /// kept the clock itself (until the departure-time model, 4.20).
    pub fq_header: u32,
    /// Header bytes that internal pacing charges for each burst: one TCP header, as
    /// the socket buffer has when the timer is set (`tcp_internal_pacing`, until 4.20).
    pub internal_header: u32,
    /// True if TCP paces by a timer of its own where a control asks for it and the egress queue
    /// isn't `fq` (`tcp_internal_pacing`, commit 218af599fa63, since 4.13). Earlier kernels used
    /// the rate only to size bursts.
    pub internal: bool,
    /// True if TCP fixes when each burst leaves (since 4.20): a host's `fq` only releases it, and
    /// internal pacing makes up for a late timer. Before, `fq` spaced bursts at the rate of the
    /// moment when they left, and with internal pacing each burst's gap began then.
    pub departure_times: bool,
}

/// Limits of the socket buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferLimits {
    /// The profile's own maxima.
    Stock,
    /// 64 MiB, as testbeds set them.
    Raised,
    /// None.
    Unlimited,
}

const RAISED: u32 = 64 << 20;

impl BufferLimits {
    /// Largest receive buffer in bytes.
    #[must_use]
    pub const fn receive(self, profile: &TcpProfile) -> u32 {
        match self {
            Self::Stock => profile.receive.max_buffer,
            Self::Raised => RAISED,
            Self::Unlimited => u32::MAX / 4,
        }
    }

    /// Largest send buffer in bytes.
    #[must_use]
    pub const fn send(self, profile: &TcpProfile) -> u32 {
        match self {
            Self::Stock => profile.send_buffer,
            Self::Raised => RAISED,
            Self::Unlimited => u32::MAX,
        }
    }
}

/// 7.3, whose congestion controls, loss recovery and pacing do what those of 6.12 do. Its `tcp_ecn` is
/// 2 by default, so hosts don't request accurate ECN.
const LINUX_7_3: TcpProfile = TcpProfile {
    name: "linux-7.3",
    sack_compression: Some(SackCompression { rtt_percent: 33, slack_us: 10 }),
    receive: ReceiveWindow {
        max_buffer: 32 << 20,
        autotuning: Autotuning::OutOfOrderToo,
        ..LINUX_6_12.receive
    },
    challenges_acks_of_unsent: true,
    challenges_early_resets: true,
    checks_ends_of_segments: true,
    accurate_ecn: true,
    ..LINUX_6_12
};

/// The default.
const LINUX_6_12: TcpProfile = TcpProfile {
    name: "linux-6.12",
    loss_detection: LossDetection::Rack,
    rack_floor_us: 0,
    rack_timer: true,
    tlp_two_rtt: true,
    prr_on_una: true,
    timeout_keeps_pipe: true,
    sack_compression: Some(SackCompression { rtt_percent: 5, slack_us: 100 }),
    ack_on_psh: true,
    tso_rtt_bonus: true,
    pacing: Pacing { fq_header: 0, internal_header: 0, internal: true, departure_times: true },
    linear_syn_timeouts: 4,
    keeps_ssthresh: false,
    receive: ReceiveWindow {
        initial_buffer: 131_072,
        max_buffer: 6 << 20,
        initial_packets: u32::MAX,
        initial_ratio: 128,
        measures_ratio: true,
        packet_overhead: 832,
        autotuning: Autotuning::Cushioned,
    },
    bursts_cross_buffers: true,
    challenges_acks_of_unsent: false,
    challenges_early_resets: false,
    checks_ends_of_segments: false,
    accurate_ecn: false,
    send_buffer: 4 << 20,
    cc: narrows_cc::LINUX_6_12,
};

/// 6.1 in stable builds since 2025, such as Debian's 6.1.192, in which full packets with PSH and
/// HyStart's rounds are handled as in 6.12.
const LINUX_6_1: TcpProfile = TcpProfile {
    name: "linux-6.1",
    bursts_cross_buffers: false,
    linear_syn_timeouts: 0,
    receive: ReceiveWindow { measures_ratio: false, ..LINUX_6_12.receive },
    ..LINUX_6_12
};

const LINUX_5_15: TcpProfile = TcpProfile {
    name: "linux-5.15",
    ack_on_psh: false,
    tso_rtt_bonus: false,
    cc: narrows_cc::LINUX_5_15,
    ..LINUX_6_1
};

/// 5.10 in stable builds of 2024, such as Debian's 5.10.223, which acknowledges full packets with PSH
/// as 6.12 does. Its `tcp_bbr.c` and `tcp_cubic.c` do what those of 5.15 do; PRR is older.
const LINUX_5_10: TcpProfile =
    TcpProfile { name: "linux-5.10", ack_on_psh: true, prr_on_una: false, ..LINUX_5_15 };

const LINUX_4_17: TcpProfile = TcpProfile {
    name: "linux-4.17",
    loss_detection: LossDetection::Dupthresh,
    rack_floor_us: 1_000,
    ack_on_psh: false,
    timeout_keeps_pipe: false,
    sack_compression: None,
    keeps_ssthresh: true,
    pacing: Pacing { fq_header: 66, internal_header: 32, internal: true, departure_times: false },
    receive: ReceiveWindow { initial_buffer: 87_380, initial_packets: 20, ..LINUX_5_10.receive },
    cc: narrows_cc::LINUX_4_17,
    ..LINUX_5_10
};

/// 4.11 with the patch of 4.13 that lets BBR pace without `fq`, as on testbeds.
const LINUX_4_11_PACED: TcpProfile = TcpProfile {
    name: "linux-4.11-paced",
    loss_detection: LossDetection::Fack,
    tlp_two_rtt: false,
    cc: narrows_cc::LINUX_4_11,
    ..LINUX_4_17
};

const LINUX_4_11: TcpProfile = TcpProfile {
    name: "linux-4.11",
    pacing: Pacing { internal: false, ..LINUX_4_17.pacing },
    ..LINUX_4_11_PACED
};

const LINUX_4_9: TcpProfile =
    TcpProfile { name: "linux-4.9", rack_timer: false, cc: narrows_cc::LINUX_4_9, ..LINUX_4_11 };

/// The known profiles, newest first.
pub static PROFILES: [TcpProfile; 9] = [
    LINUX_7_3,
    LINUX_6_12,
    LINUX_6_1,
    LINUX_5_15,
    LINUX_5_10,
    LINUX_4_17,
    LINUX_4_11_PACED,
    LINUX_4_11,
    LINUX_4_9,
];

/// The profile of that name.
#[must_use]
pub fn profile(name: &str) -> Option<&'static TcpProfile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::SYN_MSS;

    #[test]
    fn the_first_window_is_whole_packets_by_the_size_each_host_knows() {
        let windows =
            |profile: &TcpProfile| [SYN_MSS, MSS].map(|mss| profile.receive.first(mss, None));
        assert_eq!(windows(&LINUX_6_12), [44 * 1460, 45 * 1448]);
        assert_eq!(windows(&LINUX_4_17), [20 * 1460, 20 * 1448]);
    }

    #[test]
    fn a_clamped_first_window_is_whole_packets_too_unless_it_is_less_than_one() {
        let window = |most| LINUX_6_12.receive.first(MSS, Some(most));
        assert_eq!([1_000, 1_448, 4_000, 1 << 20].map(window), [1_000, 1_448, 2_896, 65_160]);
    }
}
