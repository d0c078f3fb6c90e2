//! The numbers that the simulator's receiver gives to packets, and the bytes of the peer.
//!
//! A script may send any bytes in any order, while the receiver wants packets in a row. So a gap is
//! taken to be as many packets of the usual size as fit; bytes that fill it otherwise can't be
//! numbered.

use narrows_packetdrill::EndError;
use narrows_tcp::Seq;

/// Where each packet ends, in bytes from the first one.
#[derive(Debug)]
pub(crate) struct Arrivals {
    ends: Vec<u32>,
    /// The usual size of a packet.
    unit: u32,
}

/// A packet with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NumberedPacket {
    pub(crate) seq: Seq,
    pub(crate) len: u32,
}

impl Arrivals {
    pub(crate) fn new(unit: u32) -> Self {
        Self { ends: Vec::new(), unit }
    }

    /// The first byte of a packet.
    pub(crate) fn start(&self, seq: Seq) -> u32 {
        if seq == 0 { 0 } else { self.ends[seq as usize - 1] }
    }

    fn last_end(&self) -> u32 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The packets that bytes are.
    ///
    /// # Errors
    /// If the packets are numbered otherwise already.
    pub(crate) fn number(&mut self, start: u32, end: u32) -> Result<Vec<NumberedPacket>, EndError> {
        self.extend_to(start);
        self.extend_to(end);
        let first = self.find(start)?;
        let last = self.find(end)?;
        Ok((first..last)
            .map(|seq| NumberedPacket { seq, len: self.start(seq + 1) - self.start(seq) })
            .collect())
    }

    fn extend_to(&mut self, end: u32) {
        while self.last_end() < end {
            self.ends.push((self.last_end() + self.unit).min(end));
        }
    }

    /// The packet that begins at a byte.
    ///
    /// # Errors
    /// If the packets are numbered otherwise.
    pub(crate) fn find(&self, byte: u32) -> Result<Seq, EndError> {
        if byte == 0 {
            return Ok(0);
        }
        let at = self.ends.binary_search(&byte).map_err(|_| {
            let message = "bytes that begin or end within a packet that was sent otherwise before";
            EndError::Unsupported(message.to_owned())
        })?;
        Ok(Seq::try_from(at + 1).expect("a script of fewer than 2^32 packets"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_packets_of_the_usual_size() {
        let mut arrivals = Arrivals::new(1_000);
        let seqs = |found: Vec<NumberedPacket>| found.iter().map(|one| one.seq).collect::<Vec<_>>();
        assert_eq!(seqs(arrivals.number(2_000, 3_500).expect("new")), [2, 3]);
        assert_eq!(arrivals.number(1_000, 2_000), Ok(vec![NumberedPacket { seq: 1, len: 1_000 }]));
        assert_eq!(arrivals.start(4), 3_500);
        assert!(matches!(arrivals.number(0, 500), Err(EndError::Unsupported(_))));
    }
}
