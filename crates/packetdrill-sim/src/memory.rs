//! The memory of a packet that a program hands to the device `tun0`, as packetdrill does
//! (`skb->truesize` after `tun_get_user`).

use narrows_packetdrill::{Tcp, TcpOption};

/// Bytes of a header of IPv4, and of TCP without options.
const HEADERS: u64 = 20 + 20;
const PAGE: u64 = 4_096;
/// Room before the packet (`NET_SKB_PAD`).
const PAD: u64 = 64;
/// `struct skb_shared_info` behind the packet, and `struct sk_buff`.
const SHARED_INFO: u64 = 320;
const BUFFER: u64 = 256;
/// The allocation of a small packet (`SKB_SMALL_HEAD_CACHE_SIZE`).
const SMALL: u64 = 576;
/// Bytes of a larger packet that the first page takes (`SKB_MAX_HEAD`).
const FIRST_PART: u64 = PAGE - PAD - SHARED_INFO;
/// The largest power of two of pages in a piece (`PAGE_ALLOC_COSTLY_ORDER`).
const MOST_PAGES: u64 = 8;

/// The memory of a packet, in bytes.
pub(crate) fn of_packet(tcp: &Tcp) -> u64 {
    let options: u64 = tcp.options.iter().flatten().map(length).sum();
    of_length(HEADERS + options.next_multiple_of(4) + u64::from(tcp.len))
}

/// Up to a page the packet is in one piece (`tun_alloc_skb`); of a larger one the rest is in pages.
fn of_length(len: u64) -> u64 {
    let linear = if PAD + len < PAGE { len } else { FIRST_PART };
    let needed = (PAD + linear).next_multiple_of(64) + SHARED_INFO;
    let head = if needed <= SMALL { SMALL } else { needed.next_power_of_two() };
    head + BUFFER + in_pages(len - linear)
}

/// Pieces of pages, each as large as it is full (`alloc_skb_with_frags`).
fn in_pages(mut rest: u64) -> u64 {
    let (mut pages, mut sum) = (MOST_PAGES, 0);
    while rest > 0 {
        while pages > 1 && rest.next_multiple_of(PAGE) < pages * PAGE {
            pages /= 2;
        }
        sum += pages * PAGE;
        rest = rest.saturating_sub(pages * PAGE);
    }
    sum
}

/// The bytes of an option in the header.
fn length(option: &TcpOption) -> u64 {
    let variable = |len: usize| len as u64;
    match option {
        TcpOption::Eol | TcpOption::Nop => 1,
        TcpOption::SackOk => 2,
        TcpOption::WindowScale(_) => 3,
        TcpOption::Mss(_) => 4,
        TcpOption::Sack(blocks) => 2 + 8 * variable(blocks.len()),
        TcpOption::Timestamp { .. } => 10,
        TcpOption::AccEcn(counters) => 2 + 3 * variable(counters.len()),
        TcpOption::Md5(bytes) | TcpOption::Other(_, bytes) => 2 + variable(bytes.len()),
        TcpOption::FastOpen { cookie, experimental } => {
            2 + variable(cookie.len()) + if *experimental { 2 } else { 0 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_that_of_linux() {
        // As SO_MEMINFO tells in a guest for packets of these lengths.
        let known = [
            (140, 832),
            (256, 1_280),
            (340, 1_280),
            (680, 2_304),
            (1_063, 2_304),
            (4_031, 8_448),
            (10_040, 12_544),
            (20_040, 20_736),
            (60_040, 61_696),
            (65_040, 65_792),
        ];
        for (len, memory) in known {
            assert_eq!(of_length(len), memory, "{len}");
        }
    }
}
