//! A small capture in the older format, made byte by byte.

/// A connection seen over raw IP and over Ethernet: data, ACKs, a hole reported by SACK, and its
/// repair.
pub fn captures() -> Vec<Vec<u8>> {
    [(101, &[][..]), (1, &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0][..])]
        .map(|(link, frame)| pcap(link, frame))
        .into()
}

fn pcap(link: u32, frame: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let header: Vec<u8> = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, link]);
    bytes.extend(header);
    for (at, packet) in packets().iter().enumerate() {
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
