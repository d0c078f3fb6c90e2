//! Captures whose records are changed, so that more of a damaged file is still read.

use std::ops::Range;

use narrows_base::Stream;

use super::{change, index};

/// First bytes of a file of pcap, in the order in which its numbers are written.
const PCAP: [u32; 2] = [0xa1b2_c3d4, 0xa1b2_3c4d];
const PCAP_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;
/// The length that its header claims of a record, and where.
const RECORD_LENGTH: usize = 8;
/// The first block of pcapng, and its mark of the byte order.
const SECTION: u32 = 0x0a0d_0d0a;
const ORDER: u32 = 0x1a2b_3c4d;
const SHORTEST_BLOCK: usize = 12;

/// Values at which arithmetic turns.
const EDGES: [u32; 10] =
    [0, 1, 2, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

/// A capture after random changes, most of them of whole records or of fields in them.
#[must_use]
pub fn mutate_capture(content: &[u8], random: &mut Stream) -> Vec<u8> {
    let mut bytes = content.to_vec();
    for _ in 0..=random.below(5) {
        let records = records(&bytes);
        if records.is_empty() || random.below(5) == 0 {
            change(&mut bytes, random);
        } else {
            change_records(&mut bytes, &records, random);
        }
    }
    bytes
}

fn change_records(bytes: &mut Vec<u8>, records: &[Range<usize>], random: &mut Stream) {
    let pick = |random: &mut Stream| records[index(random, records.len())].clone();
    let (one, other) = (pick(random), pick(random));
    match random.below(6) {
        0 => drop(bytes.drain(one)),
        1 => drop(bytes.splice(other.start..other.start, bytes[one].to_vec())),
        2 => {
            // The later one first, so that the place of the earlier one stays.
            let (first, second) = if one.start < other.start { (one, other) } else { (other, one) };
            let [early, late] = [first.clone(), second.clone()].map(|range| bytes[range].to_vec());
            bytes.splice(second, early);
            bytes.splice(first, late);
        }
        _ => change_field(bytes, &one, &other, random),
    }
}

/// Overwrites a field of a record: with an edge, the same field of another record, or a neighbour.
fn change_field(bytes: &mut [u8], one: &Range<usize>, other: &Range<usize>, random: &mut Stream) {
    let size = [1, 2, 4][index(random, 3)];
    let at = index(random, one.len().saturating_sub(size) + 1);
    let Some(field) = bytes.get(one.start + at..one.start + at + size) else { return };
    let mut value: Vec<u8> = field.to_vec();
    match random.below(3) {
        0 => {
            let edge = EDGES[index(random, EDGES.len())].to_be_bytes();
            value.copy_from_slice(&edge[4 - size..]);
        }
        1 => {
            if let Some(theirs) = bytes.get(other.start + at..other.start + at + size) {
                value = theirs.to_vec();
            }
        }
        _ => {
            let last = value.last_mut().expect("a byte at least");
            *last = last.wrapping_add([1, 255, 100, 156][index(random, 4)]);
        }
    }
    bytes[one.start + at..one.start + at + size].copy_from_slice(&value);
}

/// The places of a capture's records, up to one that doesn't fit.
fn records(bytes: &[u8]) -> Vec<Range<usize>> {
    let word = |at: usize| bytes.get(at..at + 4).map(|word| word.try_into().expect("4 bytes"));
    let Some(begin) = word(0) else { return Vec::new() };
    let marked = word(8).unwrap_or_default();
    if u32::from_be_bytes(begin) == SECTION {
        let little = u32::from_le_bytes(marked) == ORDER;
        let read = |word| if little { u32::from_le_bytes(word) } else { u32::from_be_bytes(word) };
        return chain(bytes.len(), 0, |at| {
            Some(usize::try_from(read(word(at + 4)?)).ok()?.max(SHORTEST_BLOCK))
        });
    }
    let [little, big] = [u32::from_le_bytes(begin), u32::from_be_bytes(begin)];
    if !PCAP.contains(&little) && !PCAP.contains(&big) {
        return Vec::new();
    }
    let read = |word| {
        if PCAP.contains(&little) { u32::from_le_bytes(word) } else { u32::from_be_bytes(word) }
    };
    chain(bytes.len(), PCAP_HEADER, |at| {
        let kept = usize::try_from(read(word(at + RECORD_LENGTH)?)).ok()?;
        kept.checked_add(RECORD_HEADER)
    })
}

/// Ranges that follow one another from `at` on, each of the length that its header claims.
fn chain(end: usize, mut at: usize, length: impl Fn(usize) -> Option<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    while let Some(next) = length(at).and_then(|length| at.checked_add(length))
        && next <= end
    {
        found.push(at..next);
        at = next;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_of_a_seed_is_found() {
        for seed in crate::wire::captures() {
            let records = records(&seed);
            assert!(records.len() > 40, "{}", records.len());
            assert_eq!(records.last().map(|record| record.end), Some(seed.len()));
        }
    }

    #[test]
    fn most_changed_captures_are_still_read() {
        let seed = &crate::wire::captures()[0];
        let read = |number: &u64| {
            let bytes = mutate_capture(seed, &mut Stream::new(*number, "records"));
            let found = narrows_capture::analyze::analyze_contents(
                &[("a", &bytes)],
                &narrows_capture::analyze::AnalysisOptions::default(),
            );
            found.is_ok_and(|found| found.summary.flows.iter().any(|flow| flow.packets > 20))
        };
        let count = (0..200).filter(read).count();
        assert!(count > 120, "{count} of 200");
    }
}
