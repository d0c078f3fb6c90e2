//! The memory of this process.

use std::fs::read_to_string;
use std::ops::Range;

/// `MADV_COLLAPSE`, of Linux 6.1 and later.
const COLLAPSE: libc::c_int = 25;
/// The least memory that has a large page of its own, on most processors.
const LARGE: usize = 2 << 20;

/// Moves the memory of this process into large pages, as far as the kernel can, so that the processor
/// finds the addresses in it faster. Memory that is added later has small pages.
///
/// This only saves time, and kernels before 6.1 refuse it, so errors are ignored.
pub fn use_large_pages() {
    let maps = read_to_string("/proc/self/maps").unwrap_or_default();
    for range in maps.lines().filter_map(anonymous).filter(|range| range.len() >= LARGE) {
        // SAFETY: the contents stay the same, and memory that is gone by now is an error.
        unsafe { libc::madvise(range.start as *mut libc::c_void, range.len(), COLLAPSE) };
    }
}

/// The addresses of a line of `/proc/self/maps`, if they are those of private data without a file.
fn anonymous(line: &str) -> Option<Range<usize>> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let is_data = words.next()? == "rw-p" && words.nth(2)? == "0";
    let is_heap = words.next().is_none_or(|name| name == "[heap]");
    let address = |digits| usize::from_str_radix(digits, 16).ok();
    (is_data && is_heap).then_some(address(start)?..address(end)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_private_data_without_a_file_is_moved() {
        let line = |rest| anonymous(&format!("7f00-7fff {rest}"));
        assert_eq!(line("rw-p 00000000 00:00 0"), Some(0x7f00..0x7fff));
        assert_eq!(line("rw-p 00000000 00:00 0          [heap]"), Some(0x7f00..0x7fff));
        assert_eq!(line("rw-p 00000000 00:00 0          [stack]"), None);
        assert_eq!(line("r--p 00000000 00:00 0"), None);
        assert_eq!(line("rw-p 00002000 fe:00 9977985    /usr/lib/libc.so.6"), None);
    }

    #[test]
    fn memory_keeps_its_contents() {
        let numbers: Vec<u64> = (0..4 << 20).collect();
        use_large_pages();
        assert!((0..4 << 20).eq(numbers));
    }
}
