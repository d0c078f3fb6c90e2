//! The Internet checksum (RFC 1071).

/// The sum of 16-bit words, folded.
pub fn sum(bytes: &[u8]) -> u16 {
    let words = bytes
        .chunks(2)
        .map(|pair| u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0)));
    let mut sum: u64 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    u16::try_from(sum).expect("a folded sum has 16 bits")
}

/// The checksum of bytes whose own field is 0.
pub fn checksum(bytes: &[u8]) -> u16 {
    !sum(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_is_that_of_rfc_1071() {
        assert_eq!(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), 0xddf2);
        assert_eq!(sum(&[0x01]), 0x0100);
        // With its checksum a header sums up to all ones.
        let mut header = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 6, 0, 0, 192, 0, 2, 1, 192, 168, 0, 1];
        let field = checksum(&header);
        header[10..12].copy_from_slice(&field.to_be_bytes());
        assert_eq!(sum(&header), 0xffff);
    }
}
