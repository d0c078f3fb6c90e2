//! Small captures in the older format, made byte by byte.

const RAW: u32 = 101;

/// A connection seen over raw IP and over Ethernet: data, ACKs, a hole reported by SACK, and its
/// repair; and pings beside UDP and QUIC.
pub fn captures() -> Vec<Vec<u8>> {
    let ethernet = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    vec![pcap(RAW, &[], &packets()), pcap(1, &ethernet, &packets()), pcap(RAW, &[], &datagrams())]
}

fn pcap(link: u32, frame: &[u8], packets: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let header: Vec<u8> = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, link]);
    bytes.extend(header);
    for (at, packet) in packets.iter().enumerate() {
        let at = u32::try_from(at).expect("few") * 1_500;
        let length = u32::try_from(frame.len() + packet.len()).expect("short");
        let head: Vec<u8> =
            words(&[1_000 + at / 1_000_000, at % 1_000_000, length, length + 1_000]);
        bytes.extend([&head, frame, packet].concat());
    }
    bytes
}

fn packets() -> Vec<Vec<u8>> {
    let data = |number: u32| packet(true, 1 + number * 1_000, 1, None);
    let ack = |number: u32, sack| packet(false, 1, 1 + number * 1_000, sack);
    let mut packets = vec![];
    for round in 0..8 {
        packets.extend((0..4).map(|number| data(round * 4 + number)));
        packets.extend([2, 4].map(|number| ack(round * 4 + number, None)));
    }
    packets.extend([data(32), data(34), data(35)]);
    packets.extend([Some((34, 35)), Some((34, 36))].map(|sack| ack(33, sack)));
    packets.extend([data(33), ack(36, None)]);
    packets
}

/// The IPv4 and TCP headers of a packet with 1000 bytes of data, or of an ACK.
fn packet(forward: bool, seq: u32, ack: u32, sack: Option<(u32, u32)>) -> Vec<u8> {
    let options: u8 = if sack.is_some() { 12 } else { 0 };
    let length = 40 + u16::from(options) + if forward { 1_000 } else { 0 };
    let [ends, ports] = if forward { [[1, 2], [9, 5]] } else { [[2, 1], [5, 9]] };
    let mut bytes = vec![0x45, 0];
    bytes.extend(length.to_be_bytes());
    bytes.extend([0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, ends[0], 10, 0, 0, ends[1]]);
    bytes.extend([0, ports[0], 0, ports[1]]);
    bytes.extend(seq.to_be_bytes());
    bytes.extend(ack.to_be_bytes());
    bytes.extend([(5 + options / 4) << 4, 16, 0xff, 0xff, 0, 0, 0, 0]);
    if let Some((begin, end)) = sack {
        bytes.extend([1, 1, 5, 10]);
        bytes.extend((1 + begin * 1_000_u32).to_be_bytes());
        bytes.extend((1 + end * 1_000_u32).to_be_bytes());
    }
    bytes
}

/// Pings with their answers, and a connection of QUIC whose spin bit turns, with a long header first.
fn datagrams() -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    for round in 0..10 {
        packets.extend([8, 0].map(|kind| ip(kind == 8, 1, &[kind, 0, 0, 0, 0, 7, 0, round])));
        let flags = if round == 0 { 0xc0 } else { 0x40 | (round % 2) << 5 };
        packets.extend([true, true, false].map(|forward| {
            let ports = if forward { [0xc3, 0x50, 1, 187] } else { [1, 187, 0xc3, 0x50] };
            let quic = [flags, 0, 0, 0, 1, 2, round, 0, 0, 0, 0, 0];
            ip(forward, 17, &[&ports[..], &[0, 20, 0, 0], &quic].concat())
        }));
    }
    packets
}

/// An IPv4 packet.
fn ip(forward: bool, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let ends = if forward { [1, 2] } else { [2, 1] };
    let length = u8::try_from(20 + payload.len()).expect("short");
    let header = [0x45, 0, 0, length, 0, 0, 0x40, 0, 64, protocol, 0, 0];
    [&header[..], &[10, 0, 0, ends[0], 10, 0, 0, ends[1]], payload].concat()
}
