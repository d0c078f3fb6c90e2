//! Makes captures byte by byte.

/// A TCP segment with its IPv4 header: ports, numbers, flags, payload.
#[derive(Clone)]
pub struct Tcp {
    pub forward: bool,
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    pub window: u16,
    pub payload: usize,
    pub stamps: Option<(u32, u32)>,
    pub sacks: Vec<(u32, u32)>,
}

impl Tcp {
    pub fn data(seq: u32, payload: usize) -> Self {
        Self {
            forward: true,
            seq,
            ack: 1,
            flags: 16,
            window: 0xffff,
            payload,
            stamps: None,
            sacks: vec![],
        }
    }

    pub fn ack(ack: u32) -> Self {
        Self {
            forward: false,
            seq: 1,
            ack,
            flags: 16,
            window: 0xffff,
            payload: 0,
            stamps: None,
            sacks: vec![],
        }
    }

    pub fn sack(ack: u32, begin: u32, end: u32) -> Self {
        Self { sacks: vec![(begin, end)], ..Self::ack(ack) }
    }

    /// The TCP header, then the payload.
    pub fn segment(&self) -> Vec<u8> {
        let mut options = Vec::new();
        if let Some((value, echo)) = self.stamps {
            options.extend([1, 1, 8, 10]);
            options.extend(value.to_be_bytes());
            options.extend(echo.to_be_bytes());
        }
        if !self.sacks.is_empty() {
            options.extend([1, 1, 5, 2 + 8 * u8::try_from(self.sacks.len()).unwrap()]);
            for (begin, end) in &self.sacks {
                options.extend(begin.to_be_bytes());
                options.extend(end.to_be_bytes());
            }
        }
        let ports: [u16; 2] = if self.forward { [40_000, 5001] } else { [5001, 40_000] };
        let mut bytes = Vec::new();
        ports.iter().for_each(|port| bytes.extend(port.to_be_bytes()));
        bytes.extend(self.seq.to_be_bytes());
        bytes.extend(self.ack.to_be_bytes());
        let words = u8::try_from(5 + options.len() / 4).unwrap();
        bytes.extend([words << 4, self.flags]);
        bytes.extend(self.window.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(options);
        bytes.resize(bytes.len() + self.payload, 0x55);
        bytes
    }

    pub fn ipv4(&self) -> Vec<u8> {
        let segment = self.segment();
        let length = u16::try_from(20 + segment.len()).unwrap_or(0);
        let mut bytes = vec![0x45, 0];
        bytes.extend(length.to_be_bytes());
        bytes.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        let ends = if self.forward { [1, 2] } else { [2, 1] };
        ends.iter().for_each(|&end| bytes.extend([10, 0, 0, end]));
        bytes.extend(segment);
        bytes
    }

    pub fn ipv6(&self, extensions: &[u8]) -> Vec<u8> {
        let segment = self.segment();
        let next = if extensions.is_empty() { 6 } else { 0 };
        let mut bytes = vec![0x60, 0, 0, 0];
        bytes.extend(u16::try_from(segment.len() + extensions.len()).unwrap().to_be_bytes());
        bytes.extend([next, 64]);
        let ends = if self.forward { [1, 2] } else { [2, 1] };
        ends.iter().for_each(|&end| {
            bytes.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, end]);
        });
        bytes.extend(extensions);
        bytes.extend(segment);
        bytes
    }
}

/// Numbers in one byte order.
#[derive(Clone, Copy)]
pub struct Order(pub bool);

impl Order {
    pub fn u16(self, value: u16) -> [u8; 2] {
        if self.0 { value.to_be_bytes() } else { value.to_le_bytes() }
    }
    pub fn u32(self, value: u32) -> [u8; 4] {
        if self.0 { value.to_be_bytes() } else { value.to_le_bytes() }
    }
}

/// A pcap file of frames at times in ns, each cut to `snap` bytes.
pub fn pcap(
    order: Order,
    nanos: bool,
    link: u32,
    snap: usize,
    frames: &[(u64, Vec<u8>)],
) -> Vec<u8> {
    let magic = if nanos { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
    let mut bytes = order.u32(magic).to_vec();
    bytes.extend(order.u16(2));
    bytes.extend(order.u16(4));
    [0, 0, 65_535, link].iter().for_each(|&word| bytes.extend(order.u32(word)));
    for (time, frame) in frames {
        let fraction = time % 1_000_000_000 / if nanos { 1 } else { 1000 };
        let kept = frame.len().min(snap);
        for word in [time / 1_000_000_000, fraction, kept as u64, frame.len() as u64] {
            bytes.extend(order.u32(u32::try_from(word).unwrap()));
        }
        bytes.extend(&frame[..kept]);
    }
    bytes
}

/// A block of pcapng with its two lengths.
pub fn block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(12 + body.len().next_multiple_of(4)).unwrap();
    let mut bytes = order.u32(kind).to_vec();
    bytes.extend(order.u32(length));
    bytes.extend(body);
    bytes.resize(8 + body.len().next_multiple_of(4), 0);
    bytes.extend(order.u32(length));
    bytes
}

pub fn section(order: Order) -> Vec<u8> {
    let mut body = order.u32(0x1a2b_3c4d).to_vec();
    body.extend(order.u16(1));
    body.extend(order.u16(0));
    body.extend([0xff; 8]);
    block(order, 0x0a0d_0d0a, &body)
}

/// An interface whose times have a resolution, with options already in bytes.
pub fn interface(order: Order, link: u16, options: &[u8]) -> Vec<u8> {
    let mut body = order.u16(link).to_vec();
    body.extend([0, 0]);
    body.extend(order.u32(0));
    body.extend(options);
    block(order, 1, &body)
}

pub fn option(order: Order, code: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = order.u16(code).to_vec();
    bytes.extend(order.u16(u16::try_from(value.len()).unwrap()));
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// An enhanced packet at `ticks` of its interface.
pub fn packet(order: Order, interface: u32, ticks: u64, frame: &[u8]) -> Vec<u8> {
    let length = u32::try_from(frame.len()).unwrap();
    let [high, low] = [ticks >> 32, ticks & 0xffff_ffff].map(|half| u32::try_from(half).unwrap());
    let mut body = Vec::new();
    [interface, high, low, length, length].iter().for_each(|&word| body.extend(order.u32(word)));
    body.extend(frame);
    block(order, 6, &body)
}

/// An Ethernet frame around an IP packet, with VLAN tags.
pub fn ethernet(tags: &[u16], packet: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2; 12];
    for tag in tags {
        bytes.extend(tag.to_be_bytes());
        bytes.extend([0, 7]);
    }
    let kind: u16 = if packet[0] >> 4 == 6 { 0x86dd } else { 0x0800 };
    bytes.extend(kind.to_be_bytes());
    bytes.extend(packet);
    bytes
}
