//! Texts of JSON whose values are changed, so that most of them are still JSON.

use std::ops::Range;

use narrows_base::Stream;

use super::{change, index};

/// Values that logs don't hold, or hold seldom.
const VALUES: [&str; 24] = [
    "0",
    "-1",
    "1",
    "63",
    "65535",
    "65536",
    "4294967295",
    "9007199254740993",
    "4611686018427387903",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e999",
    "1e300",
    "-1e300",
    "0.5",
    "1e-400",
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\"7\"",
    "[[1,0],[3]]",
];

/// A text of JSON, or a sequence of them, after random changes of values and lines.
#[must_use]
pub fn mutate_json(content: &[u8], random: &mut Stream) -> Vec<u8> {
    let mut bytes = content.to_vec();
    for _ in 0..=random.below(5) {
        match random.below(8) {
            0 => change(&mut bytes, random),
            1 | 2 => change_lines(&mut bytes, random),
            _ => change_value(&mut bytes, random),
        }
    }
    bytes
}

/// Removes, repeats or swaps lines: the seeds have an event in each.
fn change_lines(bytes: &mut Vec<u8>, random: &mut Stream) {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let (one, other) = (index(random, lines.len()), index(random, lines.len()));
    if lines.is_empty() {
        return;
    }
    match random.below(3) {
        0 => drop(lines.remove(one)),
        1 => lines.insert(other, lines[one]),
        _ => lines.swap(one, other),
    }
    *bytes = lines.concat();
}

/// Puts another value in place of a number or a string: an unusual one, or one of the same text.
fn change_value(bytes: &mut Vec<u8>, random: &mut Stream) {
    let values = values(bytes);
    if values.is_empty() {
        return;
    }
    let [one, other] = [(), ()].map(|()| values[index(random, values.len())].clone());
    let key = bytes.get(one.end) == Some(&b':');
    if key && bytes[other.start] != b'"' {
        return;
    }
    let value = if !key && random.below(2) == 0 {
        VALUES[index(random, VALUES.len())].as_bytes().to_vec()
    } else {
        bytes[other].to_vec()
    };
    bytes.splice(one, value);
}

/// The places of numbers and strings; keys are strings, too.
fn values(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at + 1..];
        let length = match bytes[at] {
            b'"' => rest.iter().position(|&byte| byte == b'"').map(|end| end + 2),
            b'0'..=b'9' | b'-' => {
                let inside = |byte: &u8| !matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'-' | b'+');
                Some(1 + rest.iter().position(inside).unwrap_or(rest.len()))
            }
            _ => None,
        };
        if let Some(length) = length {
            found.push(at..at + length);
        }
        at += length.unwrap_or(1);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_changed_logs_are_still_read() {
        for seed in crate::logs::logs() {
            let read = |number: &u64| {
                let bytes = mutate_json(&seed, &mut Stream::new(*number, "json"));
                narrows_capture::read::read_qlog(&bytes[..]).is_ok()
            };
            let count = (0..200).filter(read).count();
            assert!(count > 60, "{count} of 200 of {}", String::from_utf8_lossy(&seed[..60]));
        }
    }
}
