//! Packets out of order that carry less than a full payload.

use crate::segment::{Data, MSS, Seq};

/// The bytes that short packets in the out-of-order queue lack to be full.
///
/// Ranges of packet numbers hold no sizes; nearly all packets are full, so only the others are
/// listed.
#[derive(Debug, Default)]
pub(super) struct ShortPackets {
    missing: Vec<(Seq, u32)>,
}

impl ShortPackets {
    /// Notes packets that wait out of order.
    #[inline]
    pub(super) fn hold(&mut self, unit: &[Data]) {
        for data in unit {
            if u32::from(data.len) < MSS {
                self.missing.push((data.seq, MSS - u32::from(data.len)));
            }
        }
    }

    /// Returns the payload in bytes of `start..end`, which is now in order, and forgets it.
    pub(super) fn release(&mut self, start: Seq, end: Seq) -> u64 {
        let mut bytes = u64::from(end - start) * u64::from(MSS);
        self.missing.retain(|&(seq, missing)| {
            let waits = !(start..end).contains(&seq);
            if !waits {
                bytes -= u64::from(missing);
            }
            waits
        });
        bytes
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::Ecn;

    use super::*;
    use crate::accecn::Ace;

    fn data(seq: Seq, len: u16) -> Data {
        Data {
            seq,
            count: 1,
            len,
            psh: false,
            fin: false,
            retransmission: false,
            ts: 1,
            ts_echo: 1,
            cwr: false,
            ace: Ace::NONE,
            ecn: Ecn::NotEct,
        }
    }

    #[test]
    fn payload_of_a_range_counts_its_short_packets_once() {
        let mut short = ShortPackets::default();
        short.hold(&[data(3, 1_448), data(4, 100)]);
        short.hold(&[data(7, 1)]);
        assert_eq!(short.release(3, 5), 1_448 + 100);
        assert_eq!(short.release(5, 7), 2 * 1_448);
        assert_eq!(short.release(7, 8), 1);
        assert_eq!(short.release(7, 8), 1_448);
    }
}
