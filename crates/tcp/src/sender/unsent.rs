//! Data that the application has written and that aren't sent yet (`sk_write_queue`).

/// The unsent payload.
#[derive(Debug)]
pub(super) struct Unsent {
    mss: u32,
    /// Bytes left; `None` without end.
    left: Option<u64>,
    /// Whether the last packet ends the connection.
    closes: bool,
}

impl Unsent {
    pub(super) fn new(size: Option<u64>, mss: u32, closes: bool) -> Self {
        Self { mss, left: size, closes: closes && size.is_some() }
    }

    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.left == Some(0)
    }

    /// Whether less than a full packet is left.
    pub(super) fn is_short(&self) -> bool {
        self.left.is_some_and(|left| left < u64::from(self.mss))
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

    /// The application writes more; without end if no size is given.
    pub(super) fn add(&mut self, bytes: Option<u64>) {
        self.left = self.left.zip(bytes).map(|(left, more)| left + more);
    }

    /// No more data follow.
    pub(super) fn stop(&mut self) {
        // The last packet sent wasn't marked as the end.
        self.closes &= self.is_empty();
        self.left = Some(0);
    }

    /// Whether the packet taken last carries the FIN.
    pub(super) fn closes(&self) -> bool {
        self.closes
    }
}
