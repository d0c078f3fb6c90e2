//! TCP options as bytes (RFC 9293 and those that it names).

use narrows_packetdrill::{AccEcnCounter, SackBlock, TcpOption};

const EOL: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_OK: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMP: u8 = 8;
const MD5: u8 = 19;
const FAST_OPEN: u8 = 34;
/// Accurate ECN with ECT(0)'s counter first, and with ECT(1)'s (RFC 9768).
const ACC_ECN: [(u8, [AccEcnCounter; 3]); 2] = [
    (172, [AccEcnCounter::E0, AccEcnCounter::Ce, AccEcnCounter::E1]),
    (174, [AccEcnCounter::E1, AccEcnCounter::Ce, AccEcnCounter::E0]),
];
/// The kind of experiments, and the number of Fast Open among them (RFC 6994).
const EXPERIMENT: u8 = 254;
const EXPERIMENT_FAST_OPEN: [u8; 2] = [0xf9, 0x89];

/// Options in their order, as long as they are written.
pub fn build(options: &[TcpOption]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for option in options {
        let (kind, content) = match option {
            TcpOption::Eol => {
                bytes.push(EOL);
                continue;
            }
            TcpOption::Nop => {
                bytes.push(NOP);
                continue;
            }
            TcpOption::Mss(mss) => (MSS, mss.to_be_bytes().to_vec()),
            TcpOption::WindowScale(shift) => (WINDOW_SCALE, vec![*shift]),
            TcpOption::SackOk => (SACK_OK, Vec::new()),
            TcpOption::Sack(blocks) => (SACK, sack(blocks)),
            TcpOption::Timestamp { val, ecr } => {
                (TIMESTAMP, [val.to_be_bytes(), ecr.to_be_bytes()].concat())
            }
            TcpOption::Md5(signature) => (MD5, signature.clone()),
            TcpOption::FastOpen { cookie, experimental: false } => (FAST_OPEN, cookie.clone()),
            TcpOption::FastOpen { cookie, experimental: true } => {
                (EXPERIMENT, [&EXPERIMENT_FAST_OPEN[..], cookie].concat())
            }
            TcpOption::AccEcn(counters) => acc_ecn(counters),
            TcpOption::Other(kind, content) => (*kind, content.clone()),
        };
        let len = u8::try_from(content.len() + 2).expect("options have at most 40 bytes");
        bytes.extend([kind, len]);
        bytes.extend(content);
    }
    bytes
}

fn sack(blocks: &[SackBlock]) -> Vec<u8> {
    let both = |block: &SackBlock| [block.left.to_be_bytes(), block.right.to_be_bytes()].concat();
    blocks.iter().flat_map(both).collect()
}

fn acc_ecn(counters: &[(AccEcnCounter, u32)]) -> (u8, Vec<u8>) {
    let first = counters.first().map_or(AccEcnCounter::E0, |counter| counter.0);
    let kind = if first == AccEcnCounter::E1 { ACC_ECN[1].0 } else { ACC_ECN[0].0 };
    // Counters have 24 bits.
    (kind, counters.iter().flat_map(|(_, count)| count.to_be_bytes()[1..].to_vec()).collect())
}

/// Reads options up to the end of `bytes`; `None` if one is cut off.
pub fn read(mut bytes: &[u8]) -> Option<Vec<TcpOption>> {
    let mut found = Vec::new();
    while let Some((&kind, rest)) = bytes.split_first() {
        if kind <= NOP {
            found.push(if kind == EOL { TcpOption::Eol } else { TcpOption::Nop });
            bytes = rest;
            continue;
        }
        let len = usize::from(*rest.first()?);
        let content = rest.get(1..len.checked_sub(1)?)?;
        bytes = rest.get(len - 1..)?;
        found.push(option(kind, content).unwrap_or(TcpOption::Other(kind, content.to_vec())));
    }
    Some(found)
}

/// An option whose length is right for its kind.
fn option(kind: u8, content: &[u8]) -> Option<TcpOption> {
    Some(match (kind, content) {
        (MSS, &[high, low]) => TcpOption::Mss(u16::from_be_bytes([high, low])),
        (WINDOW_SCALE, &[shift]) => TcpOption::WindowScale(shift),
        (SACK_OK, []) => TcpOption::SackOk,
        (SACK, _) if !content.is_empty() && content.len().is_multiple_of(8) => {
            let block = |pair: &[u8]| SackBlock { left: be32(pair), right: be32(&pair[4..]) };
            TcpOption::Sack(content.chunks(8).map(block).collect())
        }
        (TIMESTAMP, _) if content.len() == 8 => {
            TcpOption::Timestamp { val: be32(content), ecr: be32(&content[4..]) }
        }
        (MD5, _) if content.len() == 16 => TcpOption::Md5(content.to_vec()),
        (FAST_OPEN, cookie) => TcpOption::FastOpen { cookie: cookie.to_vec(), experimental: false },
        (EXPERIMENT, [first, second, cookie @ ..]) if [*first, *second] == EXPERIMENT_FAST_OPEN => {
            TcpOption::FastOpen { cookie: cookie.to_vec(), experimental: true }
        }
        _ => {
            let (_, order) = ACC_ECN.iter().find(|known| known.0 == kind)?;
            if !content.len().is_multiple_of(3) || content.len() > 9 {
                return None;
            }
            let counts = content.chunks(3).map(|c| u32::from_be_bytes([0, c[0], c[1], c[2]]));
            TcpOption::AccEcn(order.iter().copied().zip(counts).collect())
        }
    })
}

fn be32(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_survive_the_wire() {
        let all = vec![
            TcpOption::Mss(1460),
            TcpOption::SackOk,
            TcpOption::Timestamp { val: u32::MAX, ecr: 7 },
            TcpOption::Nop,
            TcpOption::WindowScale(8),
            TcpOption::Sack(vec![SackBlock { left: 1, right: 2 }, SackBlock { left: 3, right: 4 }]),
            TcpOption::FastOpen { cookie: vec![1, 2, 3, 4], experimental: false },
            TcpOption::FastOpen { cookie: Vec::new(), experimental: true },
            TcpOption::AccEcn(vec![(AccEcnCounter::E1, 1), (AccEcnCounter::Ce, 0x1_0000)]),
            TcpOption::AccEcn(vec![(AccEcnCounter::E0, 9)]),
            TcpOption::Md5(vec![5; 16]),
            TcpOption::Other(99, vec![1]),
            TcpOption::Eol,
        ];
        assert_eq!(read(&build(&all)), Some(all));
    }

    #[test]
    fn cut_options_are_refused() {
        for bytes in [&[MSS][..], &[MSS, 4, 1], &[MSS, 1], &[MSS, 0]] {
            assert_eq!(read(bytes), None, "{bytes:?}");
        }
        assert_eq!(read(&[MSS, 3, 1]), Some(vec![TcpOption::Other(MSS, vec![1])]));
    }
}
