//! The frames of a decrypted packet that matter (RFC 9000, section 19).

use crate::read::QuicFrame;

/// More ranges of a frame than any program sends.
const MOST_RANGES: u64 = 4096;

/// Bytes that are read from the front.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number of 1 to 8 bytes (section 16).
    pub(super) fn number(&mut self) -> Option<u64> {
        let first = self.byte()?;
        let more = self.take((1 << (first >> 6)) - 1)?;
        Some(more.iter().fold(u64::from(first & 0x3f), |value, &byte| value << 8 | u64::from(byte)))
    }

    /// Skips bytes of a length that is written before them.
    fn skip_text(&mut self) -> Option<()> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length).map(drop)
    }

    fn skip_numbers(&mut self, count: usize) -> Option<()> {
        (0..count).try_for_each(|_| self.number().map(drop))
    }
}

/// The frames of a packet, up to one of an unknown type.
pub(super) fn frames(payload: &[u8]) -> Vec<QuicFrame> {
    let mut bytes = Bytes(payload);
    let mut found = Vec::new();
    while !bytes.0.is_empty() {
        match frame(&mut bytes) {
            Some(Some(frame)) => found.push(frame),
            Some(None) => {}
            None => break,
        }
    }
    found
}

/// Reads a frame; `None` if it can't be read, `Some(None)` if it doesn't matter.
fn frame(bytes: &mut Bytes<'_>) -> Option<Option<QuicFrame>> {
    let kind = bytes.number()?;
    let found = match kind {
        0x02 | 0x03 => Some(ack(bytes, kind == 0x03)?),
        0x08..=0x0f => Some(stream(bytes, kind)?),
        0x10 => Some(QuicFrame::MaxData(bytes.number()?)),
        0x11 => Some(QuicFrame::MaxStreamData(bytes.number()?, bytes.number()?)),
        _ => {
            skip(bytes, kind)?;
            None
        }
    };
    Some(found)
}

fn stream(bytes: &mut Bytes<'_>, kind: u64) -> Option<QuicFrame> {
    let id = bytes.number()?;
    let offset = if kind & 4 != 0 { bytes.number()? } else { 0 };
    let length = if kind & 2 != 0 { bytes.number()? } else { bytes.0.len() as u64 };
    bytes.take(usize::try_from(length).ok()?)?;
    Some(QuicFrame::Stream { id, offset, length })
}

/// Ranges are written from the largest number down, each as its length less 1 after a gap.
fn ack(bytes: &mut Bytes<'_>, with_marks: bool) -> Option<QuicFrame> {
    let largest = bytes.number()?;
    bytes.number()?;
    let count = bytes.number()?;
    let mut last = largest;
    let mut first = last.checked_sub(bytes.number()?)?;
    let mut ranges = vec![(first, last)];
    for _ in 0..count {
        last = first.checked_sub(bytes.number()?)?.checked_sub(2)?;
        first = last.checked_sub(bytes.number()?)?;
        if (ranges.len() as u64) < MOST_RANGES {
            ranges.push((first, last));
        }
    }
    if with_marks {
        bytes.skip_numbers(3)?;
    }
    Some(QuicFrame::Ack(ranges))
}

/// Skips a frame that says nothing about data or windows.
fn skip(bytes: &mut Bytes<'_>, kind: u64) -> Option<()> {
    match kind {
        // PADDING, PING, HANDSHAKE_DONE, IMMEDIATE_ACK
        0x00 | 0x01 | 0x1e | 0x1f => Some(()),
        // RESET_STREAM
        0x04 => bytes.skip_numbers(3),
        // STOP_SENDING, STREAM_DATA_BLOCKED
        0x05 | 0x15 => bytes.skip_numbers(2),
        // CRYPTO
        0x06 => {
            bytes.number()?;
            bytes.skip_text()
        }
        // NEW_TOKEN, DATAGRAM with a length
        0x07 | 0x31 => bytes.skip_text(),
        // MAX_STREAMS, DATA_BLOCKED, STREAMS_BLOCKED, RETIRE_CONNECTION_ID
        0x12 | 0x13 | 0x14 | 0x16 | 0x17 | 0x19 => bytes.skip_numbers(1),
        // NEW_CONNECTION_ID
        0x18 => {
            bytes.skip_numbers(2)?;
            let length = usize::from(bytes.byte()?);
            bytes.take(length + 16).map(drop)
        }
        // PATH_CHALLENGE, PATH_RESPONSE
        0x1a | 0x1b => bytes.take(8).map(drop),
        // CONNECTION_CLOSE
        0x1c => {
            bytes.skip_numbers(2)?;
            bytes.skip_text()
        }
        0x1d => {
            bytes.skip_numbers(1)?;
            bytes.skip_text()
        }
        // DATAGRAM up to the end
        0x30 => bytes.take(bytes.0.len()).map(drop),
        // ACK_FREQUENCY
        0xaf => bytes.skip_numbers(4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_examples() {
        // RFC 9000, appendix A.1.
        let examples: [(&[u8], u64); 4] = [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
        ];
        for (text, number) in examples {
            assert_eq!(Bytes(text).number(), Some(number));
        }
        assert_eq!(Bytes(&[0x7b]).number(), None);
    }

    #[test]
    fn any_bytes_are_read_up_to_some_frame() {
        let mut random = narrows_base::Stream::new(1, "frames");
        for _ in 0..20_000 {
            let length = random.below(60);
            let byte = |_| u8::try_from(random.below(256) >> random.below(8)).expect("a byte");
            let payload: Vec<u8> = (0..length).map(byte).collect();
            for frame in frames(&payload) {
                let QuicFrame::Ack(ranges) = frame else { continue };
                assert!(ranges.iter().all(|(first, last)| first <= last), "{payload:?}");
            }
        }
    }

    #[test]
    fn frames_follow_one_another() {
        let payload = [
            &[0x00, 0x01][..],
            // ACK of 10 to 8 and 5, with marks.
            &[0x03, 10, 0, 1, 2, 1, 0, 0, 0, 1],
            // NEW_CONNECTION_ID of 4 bytes.
            &[0x18, 1, 0, 4],
            &[0; 20],
            &[0x11, 4, 0x40, 0x64],
            // STREAM with an offset, up to the end.
            &[0x0c, 8, 0x44, 0, 1, 2, 3],
        ]
        .concat();
        let expected = [
            QuicFrame::Ack(vec![(8, 10), (5, 5)]),
            QuicFrame::MaxStreamData(4, 100),
            QuicFrame::Stream { id: 8, offset: 1024, length: 3 },
        ];
        assert_eq!(frames(&payload), expected);
        assert_eq!(frames(&payload[..payload.len() - 5]), expected[..2]);
        assert!(frames(&[0x02, 1, 0, 0, 9]).is_empty(), "a range below zero");
    }
}
