//! Sequence numbers of 32 bits, unwrapped to 64.

/// The sequence number of an unwrapped number.
#[expect(clippy::cast_possible_truncation, reason = "as on the wire: modulo 2^32")]
pub(crate) fn wrap(number: u64) -> u32 {
    number as u32
}

/// The number nearest to `near` that has this sequence number.
pub(crate) fn unwrap_near(seq: u32, near: u64) -> u64 {
    let ahead = seq.wrapping_sub(wrap(near)).cast_signed();
    near.saturating_add_signed(i64::from(ahead))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_beyond_32_bits_in_either_direction() {
        let near = (1 << 32) + 10;
        assert_eq!(unwrap_near(12, near), near + 2);
        assert_eq!(unwrap_near(u32::MAX, near), near - 11);
        assert_eq!(wrap(unwrap_near(u32::MAX, near)), u32::MAX);
    }
}
