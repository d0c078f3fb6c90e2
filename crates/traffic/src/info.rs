//! Decoding of `TCP_INFO` and `TCP_CC_INFO` (include/uapi/linux/tcp.h, inet_diag.h).

/// The fields of `struct tcp_info` that are recorded; absent ones (older kernels) are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Congestion state: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub ca_state: u8,
    /// True if the last delivery-rate sample was limited by the application.
    pub app_limited: bool,
    /// Congestion window, packets.
    pub cwnd: u32,
    /// Slow-start threshold, packets; 0x7fffffff stands for none.
    pub ssthresh: u32,
    /// Packets sent and not cumulatively acknowledged.
    pub unacked: u32,
    /// The number reported by SACK.
    pub sacked: u32,
    /// The number deemed lost.
    pub lost: u32,
    /// Retransmissions in flight.
    pub retrans: u32,
    /// Smoothed round-trip time, us.
    pub srtt_us: u32,
    /// Its mean deviation, us.
    pub rttvar_us: u32,
    /// Windowed minimum of the round-trip time, us.
    pub min_rtt_us: u32,
    /// Reordering degree, packets.
    pub reordering: u32,
    /// Pacing rate, bytes/s.
    pub pacing_rate: u64,
    /// Last delivery-rate sample, bytes/s.
    pub delivery_rate: u64,
    /// Payload bytes cumulatively acknowledged.
    pub bytes_acked: u64,
    /// Payload bytes received in order.
    pub bytes_received: u64,
    /// Data segments sent, including retransmissions.
    pub data_segs_out: u32,
    /// Data segments received, including duplicates.
    pub data_segs_in: u32,
    /// Segments known to be delivered; the SYN counts as one.
    pub delivered: u32,
    /// Retransmitted segments.
    pub total_retrans: u32,
    /// Time limited by the receive window, us.
    pub rwnd_limited_us: u64,
    /// Time limited by the send buffer, us.
    pub sndbuf_limited_us: u64,
    /// The peer's advertised window, bytes.
    pub snd_wnd: u32,
    /// Payload bytes of a full segment.
    pub snd_mss: u32,
    /// Segments that the receiver reported as duplicates (DSACK).
    pub dsack_dups: u32,
}

fn u32_at(raw: &[u8], at: usize) -> u32 {
    raw.get(at..at + 4).map_or(0, |b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
}

fn u64_at(raw: &[u8], at: usize) -> u64 {
    raw.get(at..at + 8)
        .map_or(0, |b| u64::from_ne_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]))
}

impl TcpInfo {
    /// Decodes what `getsockopt(TCP_INFO)` returned.
    #[must_use]
    pub fn decode(raw: &[u8]) -> Self {
        Self {
            ca_state: raw.get(1).copied().unwrap_or(0),
            app_limited: raw.get(7).copied().unwrap_or(0) & 1 == 1,
            snd_mss: u32_at(raw, 16),
            unacked: u32_at(raw, 24),
            sacked: u32_at(raw, 28),
            lost: u32_at(raw, 32),
            retrans: u32_at(raw, 36),
            srtt_us: u32_at(raw, 68),
            rttvar_us: u32_at(raw, 72),
            ssthresh: u32_at(raw, 76),
            cwnd: u32_at(raw, 80),
            reordering: u32_at(raw, 88),
            total_retrans: u32_at(raw, 100),
            pacing_rate: u64_at(raw, 104),
            bytes_acked: u64_at(raw, 120),
            bytes_received: u64_at(raw, 128),
            min_rtt_us: u32_at(raw, 148),
            data_segs_in: u32_at(raw, 152),
            data_segs_out: u32_at(raw, 156),
            delivery_rate: u64_at(raw, 160),
            rwnd_limited_us: u64_at(raw, 176),
            sndbuf_limited_us: u64_at(raw, 184),
            delivered: u32_at(raw, 192),
            dsack_dups: u32_at(raw, 216),
            snd_wnd: u32_at(raw, 228),
        }
    }
}

/// The congestion control's values as 32-bit words: five of BBR, four of Vegas and DCTCP, none of
/// others.
#[must_use]
pub fn decode_cc(raw: &[u8]) -> [u32; 5] {
    std::array::from_fn(|i| u32_at(raw, 4 * i))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_from_their_offsets() {
        let mut raw = vec![0_u8; 248];
        raw[1] = 3;
        raw[80..84].copy_from_slice(&77_u32.to_ne_bytes());
        raw[104..112].copy_from_slice(&5_000_000_000_u64.to_ne_bytes());
        raw[192..196].copy_from_slice(&9_u32.to_ne_bytes());
        let info = TcpInfo::decode(&raw);
        assert_eq!((info.ca_state, info.cwnd, info.delivered), (3, 77, 9));
        assert_eq!(info.pacing_rate, 5_000_000_000);
    }

    #[test]
    fn a_short_answer_leaves_zeros() {
        assert_eq!(TcpInfo::decode(&[1, 2]), TcpInfo { ca_state: 2, ..TcpInfo::default() });
        assert_eq!(decode_cc(&[1, 0, 0, 0]), [u32::from_ne_bytes([1, 0, 0, 0]), 0, 0, 0, 0]);
    }
}
