//! Every format, byte order and kind of link gives the same packets.

use std::io::{Cursor, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use narrows_capture::decode::{CapturedSegment, segment};
use narrows_capture::read::{OpenError, Reader};

use crate::reading::flows::run;
use crate::reading::make::{Order, Tcp, block, ethernet, interface, option, packet, pcap, section};

pub fn segments(bytes: Vec<u8>) -> (Vec<CapturedSegment>, Option<String>) {
    let mut reader = Reader::new(Box::new(Cursor::new(bytes))).expect("a capture");
    let mut found = Vec::new();
    while let Some(frame) = reader.next_frame() {
        let time = frame.time.unwrap_or(0);
        found.extend(segment(&frame, time));
    }
    (found, reader.problem().map(str::to_owned))
}

const TIME: u64 = 1_700_000_000_123_456_000;

fn only(bytes: Vec<u8>) -> CapturedSegment {
    let (found, problem) = segments(bytes);
    assert_eq!((found.len(), problem), (1, None));
    found[0]
}

#[test]
fn pcap_in_both_orders_and_resolutions() {
    let frame = Tcp::data(1000, 1448).ipv4();
    for big in [false, true] {
        for nanos in [false, true] {
            let found = only(pcap(Order(big), nanos, 101, 96, &[(TIME, frame.clone())]));
            assert_eq!((found.time, found.seq, found.payload), (TIME, 1000, 1448));
            assert_eq!((found.source.port, found.destination.port), (40_000, 5001));
            assert_eq!(found.source.to_string(), "10.0.0.1:40000");
        }
    }
}

#[test]
fn pcapng_in_both_orders_with_resolutions_and_offsets() {
    let frame = Tcp::data(1000, 10).ipv4();
    for big in [false, true] {
        let order = Order(big);
        let eight = |value: u64| if big { value.to_be_bytes() } else { value.to_le_bytes() };
        let nanos = option(order, 9, &[9]);
        let binary = option(order, 9, &[0x80 | 10]);
        let shifted = [option(order, 9, &[6]), option(order, 14, &eight(1_700_000_000))].concat();
        for (options, ticks, time) in [
            (vec![], TIME / 1000, TIME),
            (nanos, TIME, TIME),
            (binary, 3 << 10 | 512, 3_500_000_000),
            (shifted, 123_456, TIME),
        ] {
            let mut file = section(order);
            file.extend(block(order, 0x0bad, &[1; 40]));
            file.extend(interface(order, 101, &[]));
            file.extend(interface(order, 101, &options));
            file.extend(packet(order, 1, ticks, &frame));
            assert_eq!(only(file).time, time);
        }
    }
}

#[test]
fn sections_may_change_the_order_and_begin_with_new_interfaces() {
    let mut file = Vec::new();
    for (big, link) in [(false, 101), (true, 1)] {
        let order = Order(big);
        file.extend(section(order));
        file.extend(interface(order, link, &[]));
        let ip = Tcp::data(7, 1).ipv4();
        let frame = if link == 1 { ethernet(&[], &ip) } else { ip };
        file.extend(packet(order, 0, 5, &frame));
    }
    assert_eq!(segments(file).0.len(), 2);
}

#[test]
fn simple_and_obsolete_packets() {
    let (order, frame) = (Order(false), Tcp::data(7, 3).ipv4());
    let length = u32::try_from(frame.len()).unwrap();
    let mut file = section(order);
    file.extend(interface(order, 101, &[]));
    file.extend(block(order, 3, &[order.u32(length).to_vec(), frame.clone()].concat()));
    let mut old = vec![0, 0, 0xff, 0xff];
    [0, 9, length, length].iter().for_each(|&word| old.extend(order.u32(word)));
    old.extend(&frame);
    file.extend(block(order, 2, &old));
    let (found, problem) = segments(file);
    assert_eq!((found.len(), problem), (2, None));
    assert_eq!((found[0].payload, found[1].payload, found[1].time), (3, 3, 9000));
}

#[test]
fn every_kind_of_link() {
    let (v4, v6) = (Tcp::data(5, 100).ipv4(), Tcp::data(5, 100).ipv6(&[]));
    let cooked = |kind: [u8; 2], ip: &[u8]| [&[0; 14][..], &kind, ip].concat();
    let session = |kind: [u8; 2], ip: &[u8]| {
        let size = u16::try_from(ip.len() + 2).expect("a packet").to_be_bytes();
        [&[2; 12][..], &[0x88, 0x64, 0x11, 0, 0, 1], &size, &kind, ip].concat()
    };
    let cooked_2 = |kind: [u8; 2], ip: &[u8]| [&kind[..], &[0; 18], ip].concat();
    for (link, frame) in [
        (1, ethernet(&[], &v4)),
        (1, ethernet(&[0x8100], &v4)),
        (1, ethernet(&[0x88a8, 0x8100], &v6)),
        (1, session([0, 0x21], &v4)),
        (1, session([0, 0x57], &v6)),
        (113, cooked([8, 0], &v4)),
        (113, cooked([0x86, 0xdd], &v6)),
        (276, cooked_2([8, 0], &v4)),
        (101, v6.clone()),
        (228, v4.clone()),
        (0, [&[2, 0, 0, 0][..], &v4].concat()),
        (108, [&[0, 0, 0, 30][..], &v6].concat()),
    ] {
        let found = only(pcap(Order(false), true, link, 9999, &[(TIME, frame)]));
        assert_eq!((found.seq, found.payload), (5, 100), "link {link}");
    }
}

#[test]
fn extension_headers_and_fragments() {
    // Hop by hop with a padding option, then destination options, then TCP.
    let chain = [60, 0, 1, 4, 0, 0, 0, 0, 6, 0, 1, 4, 0, 0, 0, 0];
    let found = only(pcap(Order(false), true, 101, 999, &[(0, Tcp::data(5, 50).ipv6(&chain))]));
    assert_eq!((found.payload, found.headers, found.fragmented), (50, 76, false));
    let mut first = Tcp::data(5, 50).ipv4();
    first[6] = 0x20;
    let mut second = first.clone();
    second[7] = 9;
    let (found, _) = segments(pcap(Order(false), true, 101, 999, &[(0, first), (0, second)]));
    assert_eq!(found.len(), 1);
    assert!(found[0].fragmented);
}

#[test]
fn an_offloaded_packet_without_a_length_has_the_frames() {
    let mut frame = Tcp::data(5, 70_000).ipv4();
    frame[2..4].copy_from_slice(&[0, 0]);
    let found = only(pcap(Order(false), true, 101, 100, &[(0, frame)]));
    assert_eq!(found.payload, 70_000);
    // BIG TCP: a jumbo payload option instead of a length.
    let jumbo = [6, 0, 0xc2, 4, 0, 1, 0x11, 0x9c];
    let mut frame = Tcp::data(5, 60_000).ipv6(&jumbo);
    frame[4..6].copy_from_slice(&[0, 0]);
    let found = only(pcap(Order(false), true, 101, 100, &[(0, frame)]));
    assert_eq!(found.payload, 0x1_119c - 8 - 20);
}

#[test]
fn options_are_read_as_far_as_they_were_kept() {
    let full = Tcp { stamps: Some((77, 66)), ..Tcp::sack(1000, 2000, 3000) };
    let found = only(pcap(Order(false), true, 101, 999, &[(0, full.ipv4())]));
    assert_eq!((found.timestamps, found.sacks()), (Some((77, 66)), &[(2000, 3000)][..]));
    let found = only(pcap(Order(false), true, 101, 54, &[(0, full.ipv4())]));
    assert_eq!((found.timestamps, found.sacks().len()), (Some((77, 66)), 0));
    assert!(found.options_cut);
    assert!(segments(pcap(Order(false), true, 101, 30, &[(0, full.ipv4())])).0.is_empty());
}

#[test]
fn gzip_is_seen_through() {
    let plain = pcap(Order(false), true, 101, 999, &[(TIME, Tcp::data(5, 1).ipv4())]);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&plain).unwrap();
    let packed = packed.finish().unwrap();
    assert_eq!(only(packed.clone()).time, TIME);
    let (found, problem) = segments(packed[..packed.len() - 20].to_vec());
    assert!(found.len() <= 1 && problem.is_some());
}

#[test]
fn truncated_files_are_reported_with_their_position() {
    let whole = pcap(Order(false), true, 101, 999, &vec![(TIME, Tcp::data(5, 100).ipv4()); 3]);
    let one = (whole.len() - 24) / 3;
    let (found, problem) = segments(whole[..24 + one + 7].to_vec());
    assert_eq!(found.len(), 1);
    let place = format!("byte {}: the file ends within the head", 24 + one);
    assert!(problem.unwrap().starts_with(&place));
    let mut lying = whole.clone();
    lying[24 + one + 8..24 + one + 12].copy_from_slice(&[0xff; 4]);
    let (found, problem) = segments(lying);
    assert_eq!(found.len(), 1);
    assert!(problem.unwrap().contains("claims 4294967295 bytes"));
}

#[test]
fn other_files_are_refused() {
    let open = |bytes: &[u8]| Reader::new(Box::new(Cursor::new(bytes.to_vec()))).err();
    assert!(matches!(open(b""), Some(OpenError::Empty)));
    assert!(matches!(open(b"GET / HTTP"), Some(OpenError::Unknown(_))));
    assert!(matches!(open(&[0xd4, 0xc3, 0xb2, 0xa1, 2]), Some(OpenError::Header(_))));
    assert!(matches!(open(&[0x0a, 0x0d, 0x0d, 0x0a, 9, 9, 9, 9]), Some(OpenError::Header(_))));
}

/// A packet of IPv4 between two hosts.
fn ipv4(protocol: u8, hosts: (u8, u8), content: &[u8]) -> Vec<u8> {
    let length = u8::try_from(20 + content.len()).expect("a short packet");
    let mut packet = vec![0x45, 0, 0, length, 0, 0, 0, 0, 64, protocol, 0, 0];
    packet.extend([10, 0, 0, hosts.0, 10, 0, 0, hosts.1]);
    packet.extend(content);
    packet
}

#[test]
fn pings_and_udp_are_reported_where_there_is_no_tcp() {
    let request = ethernet(&[0x8100], &ipv4(1, (1, 2), &[8, 0, 0, 0, 0, 7, 0, 1]));
    let reply = ethernet(&[0x8100], &ipv4(1, (2, 1), &[0, 0, 0, 0, 0, 7, 0, 1]));
    let udp = ethernet(&[], &ipv4(17, (1, 2), &[0, 53, 0, 99, 0, 12, 0, 0, 1, 2, 3, 4]));
    let frames =
        [(TIME, request), (TIME + 20_000_000, reply), (TIME, udp.clone()), (TIME + 1_000_000, udp)];
    let file = pcap(Order(false), true, 1, 96, &frames);
    let summary = run("pings", &file).expect("there are datagrams").summary;
    let ping = "ping 10.0.0.1>10.0.0.2: 1 of 1 answered (0.0 % lost), RTT 20.00 ms on average";
    let udp = "UDP 10.0.0.1:53>10.0.0.2:99: 2 packets, 0.064 Mbit/s, the longest gap 0.001 s";
    let notes = summary.notes.join("\n");
    assert!(notes.contains(ping) && notes.contains(udp), "{notes}");
    assert!(!notes.contains("passed over"), "{notes}");
    assert_eq!((summary.flows.len(), summary.files[0].datagrams), (0, 4));
}
