//! Inputs changed at random.

mod json;
mod records;

use narrows_base::Stream;

pub use json::mutate_json;
pub use records::mutate_capture;

/// Plausible and implausible values.
const WORDS: [&str; 40] = [
    "0",
    "-1",
    "1e999",
    "-0.0",
    "nan",
    "inf",
    "1e-400",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\"0s\"",
    "\"-1s\"",
    "\"1e999999999/s\"",
    "\"99999999999999s\"",
    "\"0.5bdp\"",
    "\"1pkt\"",
    "\"1ns\"",
    "\"\\u0000\"",
    "\"../../x\"",
    "\"a:b\"",
    "\"all\"",
    "\"cubic\"",
    "\"bbr3\"",
    "\"fq_codel\"",
    "\"poisson\"",
    "{ kind = \"codel\" }",
    "{ kind = \"x\" }",
    "1979-05-27T07:32:00Z",
    "0x7fffffffffffffffffff",
    "[[1, 2], [3]]",
    "10000",
    "\"link.trace\"",
    "[\"1ms\", \"2ms\"]",
    "{ from = 1, to = 9, count = 3 }",
    "{ from = \"1ms\", to = \"1s\", step = \"1ns\" }",
    "99999999999999999999999999",
    "\"1mbit\"",
    "{ exponential = \"5ms\" }",
    "[0.1, 0.1]",
];

/// `content` after random changes; for a text, of its lines and values.
#[must_use]
pub fn mutate(content: &[u8], random: &mut Stream) -> Vec<u8> {
    let mut bytes = content.to_vec();
    let text = !bytes.is_empty() && std::str::from_utf8(&bytes).is_ok();
    for _ in 0..=random.below(5) {
        if text && random.below(5) > 0 {
            bytes = other_line(&bytes, random);
        } else {
            change(&mut bytes, random);
        }
    }
    bytes
}

/// A number below `count`, or 0.
fn index(random: &mut Stream, count: usize) -> usize {
    usize::try_from(random.below(count.max(1) as u64)).expect("a place")
}

fn change(bytes: &mut Vec<u8>, random: &mut Stream) {
    let at = index(random, bytes.len());
    let value = u8::try_from(random.below(256)).expect("a byte");
    let end = (at + index(random, 200)).min(bytes.len());
    match random.below(8) {
        0 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = value),
        1 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (value % 8)),
        2 => bytes.truncate(at),
        3 => bytes.iter_mut().skip(at).take(4).for_each(|byte| *byte = 0xff),
        4 => bytes.iter_mut().skip(at).take(4).for_each(|byte| *byte = 0),
        5 => bytes.insert(at, value),
        6 => drop(bytes.drain(at..end)),
        _ => {
            let part = bytes[at..end].to_vec();
            let to = index(random, bytes.len());
            bytes.splice(to..to, part);
        }
    }
}

fn other_line(text: &[u8], random: &mut Stream) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    let at = index(random, lines.len());
    let word = WORDS[index(random, WORDS.len())];
    let key = lines[at].iter().position(|&byte| byte == b'=').map(|equals| &lines[at][..=equals]);
    let changed = [key.unwrap_or_default(), b" ", word.as_bytes()].concat();
    match random.below(5) {
        0 | 1 if key.is_some() => lines[at] = &changed,
        2 => drop(lines.remove(at)),
        3 => {
            let other = lines[index(random, lines.len())];
            lines.insert(at, other);
        }
        _ => {
            let other = index(random, lines.len());
            lines.swap(at, other);
        }
    }
    lines.join(&b'\n')
}
