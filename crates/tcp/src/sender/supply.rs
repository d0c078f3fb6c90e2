//! What the application has for the sender.

/// The payload that is still to be sent.
#[derive(Debug)]
pub(super) struct Supply {
    mss: u32,
    /// Bytes left; `None` without end.
    left: Option<u64>,
}

impl Supply {
    pub(super) fn new(size: Option<u64>, mss: u32) -> Self {
        Self { mss, left: size }
    }

    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.left == Some(0)
    }

    /// Packets left, at most `limit`.
    pub(super) fn packets(&self, limit: u32) -> u32 {
        match self.left {
            None => limit,
            Some(left) => {
                u32::try_from(left.div_ceil(u64::from(self.mss))).map_or(limit, |n| n.min(limit))
            }
        }
    }

    /// Takes the next packet and returns its length.
    pub(super) fn take(&mut self) -> u16 {
        let len = self.left.map_or(self.mss, |left| {
            u32::try_from(left).map_or(self.mss, |left| left.min(self.mss))
        });
        if let Some(left) = &mut self.left {
            *left -= u64::from(len);
        }
        u16::try_from(len).expect("a packet's payload fits 16 bits")
    }

    /// More is there to be sent; without end if none is given.
    pub(super) fn add(&mut self, bytes: Option<u64>) {
        self.left = super::sum(self.left, bytes);
    }

    /// Whether less than a full packet is left.
    pub(super) fn is_short(&self) -> bool {
        self.left.is_some_and(|left| left < u64::from(self.mss))
    }

    /// Nothing more comes.
    pub(super) fn close(&mut self) {
        self.left = Some(0);
    }
}
