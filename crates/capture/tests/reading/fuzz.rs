//! Captures and qlogs turned into nonsense: no panic, no hang, no memory without bound.
//!
//! Captures are made from packets that mostly belong together, and then damaged; crates/fuzz
//! damages whole captures. Every case has a number: `NARROWS_FUZZ_FIRST` is that of the first,
//! `NARROWS_FUZZ_CASES` says how many there are.

use std::time::{Duration, Instant};

use narrows_base::Stream;

use crate::reading::flows::{run, run_all};
use crate::reading::make::{Order, Tcp, ethernet, interface, option, packet, pcap, section};

/// Cases that every run of the tests does.
const CASES: u64 = 5000;
/// A case that takes longer hangs, whatever else the machine does: usual are milliseconds.
const LONGEST: Duration = Duration::from_secs(120);

#[expect(clippy::disallowed_methods, reason = "what a person asks for; no run depends on it")]
fn number_from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[expect(clippy::disallowed_methods, reason = "no run depends on it")]
fn now() -> Instant {
    Instant::now()
}

#[test]
fn nonsense_is_reported_in_words() {
    let first = number_from_environment("NARROWS_FUZZ_FIRST").unwrap_or(0);
    let count = number_from_environment("NARROWS_FUZZ_CASES").unwrap_or(CASES);
    for number in first..first + count {
        let one = now();
        let result = std::panic::catch_unwind(|| case(number));
        let again = format!("NARROWS_FUZZ_FIRST={number} NARROWS_FUZZ_CASES=1 runs it alone");
        assert!(result.is_ok(), "case {number}: {again}");
        assert!(one.elapsed() < LONGEST, "case {number} took {:?}: {again}", one.elapsed());
    }
    println!("{count} captures");
}

fn case(number: u64) {
    let mut random = Stream::new(number, "fuzz");
    let mut bytes = match random.below(3) {
        0 => old(&mut random),
        1 => new(&mut random),
        _ => log(&mut random),
    };
    for _ in 0..random.below(12) {
        mutate(&mut bytes, &mut random);
    }
    if let Err(message) = run(&format!("fuzz-{number}"), &bytes) {
        assert!(message.contains("found"), "case {number}: {message}");
    }
    if number.is_multiple_of(4) {
        // Most of these are two ends of the same flows.
        let mut other = bytes.clone();
        (0..random.below(4)).for_each(|_| mutate(&mut other, &mut random));
        let ends = [("a", &bytes), ("b", &other)];
        let ends = ends.map(|(end, bytes)| (format!("fuzz-{number}-{end}"), bytes.as_slice()));
        if let Err(message) = run_all(&ends) {
            assert!(message.contains("found"), "case {number}: {message}");
        }
    }
}

/// Segments that mostly belong together, with numbers that sometimes don't.
fn segment(random: &mut Stream, next: &mut u32) -> Tcp {
    let wild = random.below(20) == 0;
    let any = |random: &mut Stream| u32::try_from(random.below(1 << 32)).unwrap();
    let near = |random: &mut Stream, at: u32| {
        at.wrapping_add(u32::try_from(random.below(20_000)).unwrap()).wrapping_sub(10_000)
    };
    let payload = usize::try_from([0, 1, 1000, 1448, 30_000][index(random, 5)]).unwrap();
    let seq = if wild {
        any(random)
    } else if random.below(4) == 0 {
        near(random, *next)
    } else {
        *next
    };
    if !wild {
        *next = next.wrapping_add(u32::try_from(payload).unwrap());
    }
    let flags = if random.below(10) == 0 { u8::try_from(random.below(256)).unwrap() } else { 16 };
    let blocks = if random.below(3) == 0 { random.below(4) } else { 0 };
    let stamp = (random.below(2) == 0).then(|| (any(random), any(random)));
    let sacks = (0..blocks).map(|_| (near(random, *next), near(random, *next))).collect();
    let stamps = if blocks > 3 { None } else { stamp };
    let forward = random.below(3) > 0;
    let (seq, ack) = if forward { (seq, any(random)) } else { (any(random), near(random, *next)) };
    let payload = if forward { payload } else { 0 };
    Tcp { forward, seq, ack, flags, payload, stamps, sacks, ..Tcp::data(0, 0) }
}

fn index(random: &mut Stream, count: u64) -> usize {
    usize::try_from(random.below(count)).unwrap()
}

fn frames(random: &mut Stream) -> Vec<(u64, Vec<u8>)> {
    let (mut next, mut time) = (0, 0);
    (0..random.below(200))
        .map(|_| {
            time += random.below(30_000_000);
            let tcp = segment(random, &mut next);
            (
                time,
                if tcp.payload < 9000 && random.below(5) == 0 { tcp.ipv6(&[]) } else { tcp.ipv4() },
            )
        })
        .collect()
}

fn old(random: &mut Stream) -> Vec<u8> {
    let frames = frames(random);
    let link = [101, 1, 113, 276, 0, 147][index(random, 6)];
    pcap(Order(random.below(2) == 0), random.below(2) == 0, link, 120, &frames)
}

fn new(random: &mut Stream) -> Vec<u8> {
    let order = Order(random.below(2) == 0);
    let mut file = section(order);
    let resolution = u8::try_from(random.below(256)).unwrap();
    file.extend(interface(order, 1, &option(order, 9, &[resolution])));
    file.extend(interface(order, 1, &[]));
    for (time, frame) in frames(random) {
        let frame = ethernet(&[], &frame[..frame.len().min(120)]);
        file.extend(packet(order, u32::try_from(random.below(2)).unwrap(), time, &frame));
    }
    file
}

/// A qlog of packets that mostly belong together, in one of its forms.
fn log(random: &mut Stream) -> Vec<u8> {
    let (mut time, mut sent, mut offset) = (0, 0, 0);
    let mut events = Vec::new();
    for _ in 0..random.below(150) {
        time += random.below(30);
        let wild = |random: &mut Stream, usual: u64| match random.below(30) {
            0 => u64::MAX >> random.below(64),
            1 => usual.saturating_sub(random.below(9)),
            _ => usual,
        };
        let (name, frame) = if random.below(2) == 0 {
            let usual = 1 + random.below(1400);
            let (at, length) = (wild(random, offset), wild(random, usual));
            (offset, sent) = (at.wrapping_add(length), sent + 1);
            let id = 4 * random.below(2);
            let of = format!("\"stream_id\":{id},\"offset\":{at},\"length\":{length}");
            ("packet_sent", format!("{{\"frame_type\":\"stream\",{of}}}"))
        } else {
            let (first, last) = (random.below(sent + 1), wild(random, sent));
            let ranges = format!("[[0,{first}],[{last}]]");
            let ack = format!("{{\"frame_type\":\"ack\",\"acked_ranges\":{ranges}}}");
            let most = wild(random, offset.wrapping_add(9000));
            let limit = format!("{{\"frame_type\":\"max_data\",\"maximum\":{most}}}");
            ("packet_received", format!("{ack},{limit}"))
        };
        let header =
            format!("{{\"packet_type\":\"1RTT\",\"packet_number\":{}}}", wild(random, sent));
        events.push(format!(
            "{{\"time\":{time},\"name\":\"quic:{name}\",\"data\":{{\"header\":{header},\
             \"raw\":{{\"length\":1200}},\"frames\":[{frame}]}}}}"
        ));
    }
    let head = "\"file_schema\":\"urn:ietf:params:qlog:file:sequential\"";
    let text = if random.below(3) == 0 {
        format!("{{{head},\"traces\":[{{\"events\":[{}]}}]}}", events.join(","))
    } else {
        let head = format!("{{{head},\"trace\":{{\"vantage_point\":{{\"type\":\"server\"}}}}}}");
        [vec![head], events].concat().iter().map(|text| format!("\u{1e}{text}\n")).collect()
    };
    text.into_bytes()
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Stream) {
    if bytes.is_empty() {
        return;
    }
    let at = index(random, bytes.len() as u64);
    let value = u8::try_from(random.below(256)).unwrap();
    match random.below(7) {
        0 => bytes[at] = value,
        1 => bytes[at] ^= 1 << random.below(8),
        2 => bytes.truncate(at),
        3 => bytes[at..].iter_mut().take(4).for_each(|byte| *byte = 0xff),
        4 => bytes[at..].iter_mut().take(4).for_each(|byte| *byte = 0),
        5 => {
            bytes.insert(at, value);
        }
        _ => {
            let end = (at + index(random, 200)).min(bytes.len());
            let part = bytes[at..end].to_vec();
            bytes.splice(at..at, part);
        }
    }
}
