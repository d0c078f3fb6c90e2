//! Numbers of either byte order.

/// Either byte order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    #[default]
    Little,
    Big,
}

impl Order {
    pub(super) fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let two = [bytes[at], bytes[at + 1]];
        if self == Self::Big { u16::from_be_bytes(two) } else { u16::from_le_bytes(two) }
    }

    pub(super) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let four = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        if self == Self::Big { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
    }

    /// A number of eight bytes, as in options.
    pub(super) fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let (first, second) = (u64::from(self.u32(bytes, at)), u64::from(self.u32(bytes, at + 4)));
        if self == Self::Big { first << 32 | second } else { second << 32 | first }
    }
}
