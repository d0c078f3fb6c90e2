//! Small transcripts whose analysis can be told by hand.

use narrows_capture::analyze::{Analysis, AnalysisOptions, FlowReport, analyze_contents};

use crate::reading::make::{Order, Tcp, pcap};

const MS: u64 = 1_000_000;
const SYN: u8 = 2;
const ACK: u8 = 16;
const FIN: u8 = 1;

pub fn run(name: &str, bytes: &[u8]) -> Result<Analysis, String> {
    run_all(&[(name.to_owned(), bytes)])
}

pub fn run_all(files: &[(String, &[u8])]) -> Result<Analysis, String> {
    let captures: Vec<_> = files.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    let options = AnalysisOptions { packets: true, ..AnalysisOptions::default() };
    analyze_contents(&captures, &options).map_err(|error| error.to_string())
}

/// The only flow of segments at times in ms.
pub fn flow(name: &str, segments: &[(u64, Tcp)]) -> FlowReport {
    let frames: Vec<_> = segments.iter().map(|(ms, tcp)| (ms * MS, tcp.ipv4())).collect();
    let outcome = run(name, &pcap(Order(false), true, 101, 96, &frames)).expect("a flow");
    let [flow] = outcome.summary.flows.try_into().expect("one flow");
    flow
}

/// `count` segments of 1000 bytes from number `first` on, all at once.
fn burst(ms: u64, first: u32, count: u32) -> impl Iterator<Item = (u64, Tcp)> {
    (0..count).map(move |i| (ms, Tcp::data(1 + (first + i) * 1000, 1000)))
}

#[test]
fn a_whole_connection() {
    let control = |forward, flags, seq, ack| Tcp { forward, flags, seq, ack, ..Tcp::data(0, 0) };
    let mut segments = vec![
        (0, control(true, SYN, 0, 0)),
        (20, control(false, SYN | ACK, 0, 1)),
        (20, control(true, ACK, 1, 1)),
    ];
    segments.extend(burst(21, 0, 10));
    segments.extend((0..5).map(|i| (41 + u64::from(i), Tcp::ack(2001 + i * 2000))));
    segments.push((46, control(true, FIN | ACK, 10_001, 1)));
    segments.push((66, control(false, FIN | ACK, 1, 10_002)));
    segments.push((66, control(true, ACK, 10_002, 2)));
    let flow = flow("whole", &segments);
    assert_eq!((flow.packets, flow.received_bytes, flow.ending), (10, 10_000, "closed"));
    assert!(flow.complete && flow.handshake && flow.vantage == "sender");
    // The SYN, five acknowledgements of data, the FIN.
    assert_eq!((flow.rtt_ms.samples, flow.rtt_ms.min), (7, Some(20.0)));
    assert_eq!(flow.in_flight_max_bytes, 10_000);
    assert!((flow.end_s - 0.066).abs() < 1e-9, "{}", flow.end_s);
    assert_eq!((flow.bursts.count, flow.bursts.max_packets), (1, 10));
}

#[test]
fn a_loss_repaired_by_sack() {
    let mut segments: Vec<_> = burst(0, 0, 10).collect();
    segments.extend((3..10).map(|i| (20 + u64::from(i), Tcp::sack(2001, 3001, 1001 + i * 1000))));
    segments.push((30, Tcp::data(2001, 1000)));
    segments.push((50, Tcp::ack(10_001)));
    let flow = flow("sack", &segments);
    assert_eq!((flow.loss.retransmitted, flow.loss.lost, flow.loss.spurious), (1, 1, 0));
    assert_eq!((flow.packets, flow.received_bytes), (11, 10_000));
    // Each SACK gives a sample; the acknowledgement of what was sent again gives none.
    assert_eq!((flow.rtt_ms.samples, flow.rtt_ms.min), (7, Some(23.0)));
}

#[test]
fn a_dsack_takes_a_loss_back() {
    let mut segments: Vec<_> = burst(0, 0, 4).collect();
    segments.push((300, Tcp::data(1, 1000)));
    segments.push((301, Tcp::ack(4001)));
    segments.push((320, Tcp::sack(4001, 1, 1001)));
    let flow = flow("dsack", &segments);
    assert_eq!((flow.loss.retransmitted, flow.loss.spurious, flow.loss.timeouts), (1, 1, 1));
    // It counted as lost until the news came; a counter never falls.
    assert_eq!(flow.loss.lost, 1);
    assert_eq!(flow.rtt_ms.samples, 0);
}

#[test]
fn holes_are_filled_late_or_again() {
    let stamped = |seq, stamp| Tcp { stamps: Some((stamp, 1)), ..Tcp::data(seq, 1000) };
    let flow = flow(
        "holes",
        &[
            (0, stamped(1, 10)),
            (1, stamped(2001, 11)),
            // The same stamp as before: overtaken.
            (2, stamped(1001, 10)),
            (3, stamped(4001, 13)),
            (90, stamped(3001, 99)),
            (91, Tcp::ack(5001)),
        ],
    );
    assert_eq!((flow.loss.reordered, flow.loss.lost_before, flow.loss.retransmitted), (1, 1, 1));
    assert_eq!((flow.loss.reordered_bytes, flow.loss.reordered_ms), (2000, 1.0));
}

#[test]
fn a_capture_that_begins_in_the_middle_and_lacks_packets() {
    let mut segments = vec![(0, Tcp::ack(500_001))];
    segments.extend([(1, Tcp::data(501_001, 1000)), (2, Tcp::data(503_001, 1000))]);
    segments.push((20, Tcp::ack(504_001)));
    let flow = flow("middle", &segments);
    assert!(!flow.handshake && !flow.complete);
    assert_eq!((flow.packets, flow.loss.missing_bytes, flow.loss.retransmitted), (2, 2000, 0));
    assert_eq!(flow.received_bytes, 4000);
    assert!(flow.window.scale.is_none() && flow.window.max_bytes.is_none());
}

#[test]
fn sequence_numbers_wrap() {
    let first = u32::MAX - 2500;
    let mut segments = Vec::new();
    for i in 0..8u32 {
        let seq = first.wrapping_add(i * 1000);
        segments.push((u64::from(i) * 10, Tcp::data(seq, 1000)));
        segments.push((u64::from(i) * 10 + 5, Tcp::ack(seq.wrapping_add(1000))));
    }
    let flow = flow("wrap", &segments);
    assert_eq!((flow.received_bytes, flow.loss.retransmitted), (8000, 0));
    assert_eq!((flow.rtt_ms.samples, flow.rtt_ms.p99.map(f64::round)), (8, Some(5.0)));
}

#[test]
fn offloaded_packets_count_as_many() {
    let flow = flow("offload", &[(0, Tcp::data(1, 14_600)), (20, Tcp::ack(14_601))]);
    // 1500 bytes less 40 of headers.
    assert_eq!((flow.mss, flow.packets, flow.offloaded_frames), (Some(1460), 10, 1));
    assert_eq!(flow.wire_bytes, 14_600 + 10 * 40);
}

#[test]
fn ports_that_are_used_again_are_another_flow() {
    let syn = |seq| Tcp { flags: SYN, ack: 0, payload: 0, ..Tcp::data(seq, 0) };
    let segments =
        [(0, syn(0)), (1, Tcp::data(1, 100)), (500, syn(9000)), (501, Tcp::data(9001, 100))];
    let frames: Vec<_> = segments.iter().map(|(ms, tcp)| (ms * MS, tcp.ipv4())).collect();
    let outcome = run("ports", &pcap(Order(false), true, 101, 96, &frames)).expect("flows");
    let bytes: Vec<_> = outcome.summary.flows.iter().map(|flow| flow.payload_bytes).collect();
    assert_eq!(bytes, [100, 100]);
}

#[test]
fn both_ends_tell_what_was_lost_in_between() {
    let stamped = |seq, stamp| Tcp { stamps: Some((stamp, 1)), ..Tcp::data(seq, 1000) };
    let acks = |seq| Tcp { stamps: Some((seq, 10)), ..Tcp::ack(seq) };
    // The card makes two packets of what the sender's capture has as one; the first is lost.
    let big = Tcp { payload: 2000, ..stamped(1, 10) };
    let near = [(0, big), (60, acks(1)), (61, stamped(1, 71)), (102, acks(2001))];
    let far = [(20, stamped(1001, 10)), (40, acks(1)), (81, stamped(1, 71)), (82, acks(2001))];
    for apart in [0, 1_000_000] {
        let capture = |segments: &[(u64, Tcp)], apart: u64| {
            let at = |(ms, tcp): &(u64, Tcp)| ((ms + apart + 1000) * MS, tcp.ipv4());
            let frames: Vec<_> = segments.iter().map(at).collect();
            pcap(Order(false), true, 101, 96, &frames)
        };
        let (near, far) = (capture(&near, 0), capture(&far, apart));
        for turned in [false, true] {
            let mut files = [("near".to_owned(), &near[..]), ("far".to_owned(), &far[..])];
            if turned {
                files.reverse();
            }
            let found = run_all(&files).expect("a flow").summary.flows;
            let ends = found[0].ends.as_ref().expect("both ends");
            assert_eq!((ends.sent, ends.lost, ends.lost_bytes), (3, 1, 1000), "{apart} {turned}");
            assert_eq!((ends.under_way, ends.appeared_bytes, ends.overtaken), (0, 0, 0));
            assert_eq!(ends.least_delay_ms.is_some(), apart == 0);
            assert_eq!(found[0].loss.retransmitted, 1);
        }
    }
}

/// Two captures of two flows, 10 ms apart and more while there is a queue, which the second flow
/// always meets. One packet of the first never arrives.
fn one_flow_always_queues() -> [Vec<u8>; 2] {
    let from = |host: u8, tcp: &Tcp| {
        let mut frame = tcp.ipv4();
        frame[if tcp.forward { 15 } else { 19 }] = host;
        frame
    };
    let (mut near, mut far) = (Vec::new(), Vec::new());
    let mut pass = |host: u8, number: u32, ms: u64, delay: Option<u64>| {
        let stamps = Some((u32::try_from(ms).unwrap(), 1));
        let data = Tcp { stamps, ..Tcp::data(1 + number * 1000, 1000) };
        near.push((ms * MS, from(host, &data)));
        let Some(delay) = delay else { return };
        let ack = Tcp { stamps, ..Tcp::ack(1001 + number * 1000) };
        far.extend([&data, &ack].map(|tcp| ((ms + delay) * MS, from(host, tcp))));
        near.push(((ms + delay + 10) * MS, from(host, &ack)));
    };
    for (number, delay) in (0..).zip([Some(10), Some(51), None, Some(53), Some(50)]) {
        let ms = 100 * u64::from(number);
        pass(101, number, ms, delay);
        pass(102, number, ms + 1, Some(52 - 4 * u64::from(number)));
    }
    [near, far].map(|mut frames| {
        frames.sort_by_key(|&(time, _)| time);
        pcap(Order(false), true, 101, 96, &frames)
    })
}

#[test]
fn a_flow_that_always_queues_does_not_part_the_clocks() {
    let [near, far] = one_flow_always_queues();
    for turned in [false, true] {
        let mut files = [("near".to_owned(), &near[..]), ("far".to_owned(), &far[..])];
        if turned {
            files.reverse();
        }
        let found = run_all(&files).expect("flows").summary;
        let ends: Vec<_> = found.flows.iter().map(|flow| flow.ends.as_ref().unwrap()).collect();
        let counts: Vec<_> =
            ends.iter().map(|ends| (ends.sent, ends.lost, ends.appeared_bytes)).collect();
        assert_eq!(counts, [(5, 1, 0), (5, 0, 0)], "{turned} {:?}", found.notes);
        let least: Vec<_> = ends.iter().map(|ends| ends.least_delay_ms).collect();
        assert_eq!(least, [Some(10.0), Some(36.0)], "{turned}");
    }
}

#[test]
fn a_zero_window_is_timed() {
    let closed = |ms, zero: bool| {
        let mut frame = Tcp::ack(1001).ipv4();
        if zero {
            frame[34..36].copy_from_slice(&[0, 0]);
        }
        (ms * MS, frame)
    };
    let frames = [(0, Tcp::data(1, 1000).ipv4()), closed(10, true), closed(310, false)];
    let outcome = run("zero", &pcap(Order(false), true, 101, 96, &frames)).expect("a flow");
    let zero = outcome.summary.flows[0].window.zero;
    assert_eq!((zero.count, zero.longest_s), (1, 0.3));
}

#[test]
fn an_acknowledgement_captured_before_its_data_is_no_retransmission() {
    let mut segments: Vec<_> = burst(0, 0, 1).collect();
    segments.push((20, Tcp::ack(3001)));
    segments.extend(burst(20, 1, 1));
    // One frame of two packets, the first of which is acknowledged.
    segments.push((21, Tcp::data(2001, 2000)));
    segments.push((41, Tcp::ack(4001)));
    let found = flow("ack-first", &segments);
    assert_eq!((found.loss.retransmitted, found.loss.missing_bytes), (0, 0));
    assert_eq!((found.payload_bytes, found.received_bytes), (4000, 4000));

    // What comes a round trip later was sent for nothing.
    segments.truncate(2);
    segments.push((40, Tcp::data(1001, 1000)));
    let found = flow("ack-early", &segments);
    assert_eq!((found.loss.retransmitted, found.loss.needless), (1, 1));
    assert_eq!(found.loss.missing_bytes, 2000);
}

#[test]
fn segments_in_disorder_are_refused() {
    let mut segments: Vec<_> =
        (0..20).map(|i| (u64::from(i), Tcp::data(1 + i * 1000, 1000))).collect();
    let frames = |segments: &[(u64, Tcp)]| -> Vec<_> {
        segments.iter().map(|(ms, tcp)| (ms * MS, tcp.ipv4())).collect()
    };
    let one_way = pcap(Order(false), true, 101, 96, &frames(&segments));
    assert!(run("ordered", &one_way).is_ok());
    segments.reverse();
    let other_way = pcap(Order(false), true, 101, 96, &frames(&segments));
    let error = run("reversed", &other_way).expect_err("times that descend");
    assert_eq!(error, "reversed: found 19 of 20 segments earlier than one before them");
    // A first time far ahead of all others.
    segments.reverse();
    segments[0].0 = 3_600_000;
    let ahead = pcap(Order(false), true, 101, 96, &frames(&segments));
    assert!(run("ahead", &ahead).is_err());
}

/// The flows' source ports and the notes for two connections to one port, each of which begins with
/// `cookie` bytes; both ends talk on the first until the second is over.
fn beside_a_conversation(cookie: usize) -> (Vec<String>, Vec<String>) {
    let from = |port: u16, at: u64, tcp: Tcp| {
        let (mut frame, place) = (tcp.ipv4(), if tcp.forward { 20 } else { 22 });
        frame[place..place + 2].copy_from_slice(&port.to_be_bytes());
        (at * MS, frame)
    };
    let next = 1 + u32::try_from(cookie).unwrap();
    let mut frames = vec![
        from(40_000, 0, Tcp::data(1, cookie)),
        from(40_000, 10, Tcp { payload: 1, ..Tcp::ack(next) }),
        from(40_001, 12, Tcp::data(1, cookie)),
    ];
    let data = |i: u32| from(40_001, 13 + u64::from(i), Tcp::data(next + i * 1000, 1000));
    frames.extend((0..10).map(data));
    frames.push(from(40_001, 40, Tcp::ack(next + 10_000)));
    frames.push(from(40_000, 50, Tcp::data(next, 100)));
    let outcome = run("test", &pcap(Order(false), true, 101, 96, &frames)).expect("flows");
    let sources = outcome.summary.flows.into_iter().map(|flow| flow.source);
    (sources.collect(), outcome.summary.notes)
}

#[test]
fn the_conversation_of_iperf3_is_no_flow() {
    let (sources, notes) = beside_a_conversation(37);
    assert_eq!(sources, ["10.0.0.1:40001"]);
    let told = notes.iter().filter(|note| note.contains("iperf3 controls its test")).count();
    assert_eq!(told, 2, "in both directions: {notes:?}");
    // Anything else that begins otherwise is a flow.
    assert_eq!(beside_a_conversation(38).0.len(), 3);
}
