//! The memory of the send buffer, which grows with the window.

/// Bytes of a socket buffer beside its payload: `SKB_TRUESIZE` of an empty buffer for TCP, in a
/// kernel without tunnels and wireless devices.
pub(super) const BUFFER_OVERHEAD: u64 = 832;
/// Bytes that the buffer grows by for a packet of the window: the next power of two above packet,
/// headers and `skb_shared_info`, and `struct sk_buff` (`tcp_sndbuf_expand`, in such a kernel).
const BYTES_PER_PACKET: u64 = 2_304;
/// Unsent payload that only the send buffer limits (`tcp_notsent_lowat`).
const NO_LOWAT: u64 = u32::MAX as u64;
/// Packets that it has room for at least (`TCP_INIT_CWND`).
const LEAST_PACKETS: u32 = 10;

/// The contents of a send buffer, sent or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct BufferUse {
    /// Payload that isn't acknowledged, in bytes.
    pub(super) payload: u64,
    /// Payload of it that isn't sent, in bytes.
    pub(super) unsent: u64,
    /// Socket buffers that it is in.
    pub(super) buffers: u64,
}

impl BufferUse {
    /// All of its memory (`sk_wmem_queued`).
    fn memory(self) -> u64 {
        self.payload + self.buffers * BUFFER_OVERHEAD
    }
}

/// The limits of the send buffer, and whether the application waits for room in it.
#[derive(Debug)]
pub(super) struct SendBuffer {
    /// Its present size (`sk_sndbuf`), and the largest (`tcp_wmem[2]`), in bytes.
    size: u64,
    max: u64,
    /// Packets of the largest window so far.
    packets: u32,
    /// The memory in use below which a third is free, in bytes.
    write_space: u64,
    /// Unsent payload from which on no buffer is added (`TCP_NOTSENT_LOWAT`), in bytes.
    lowat: u64,
    /// Windows that it has room for.
    windows: u64,
    /// True if the application waits (`SOCK_NOSPACE`).
    waits: bool,
}

impl SendBuffer {
    /// An empty buffer with its first and largest size; the control wants room for `windows`.
    pub(super) fn new((first, max): (u32, u32), lowat: Option<u64>, windows: u32) -> Self {
        let (max, windows) = (u64::from(max), u64::from(windows));
        let lowat = lowat.unwrap_or(NO_LOWAT);
        let size = u64::from(first);
        Self { size, max, packets: 0, write_space: write_space(size), lowat, windows, waits: false }
    }

    /// Sets the unsent payload from which on no buffer is added (`TCP_NOTSENT_LOWAT`).
    pub(super) fn set_lowat(&mut self, lowat: Option<u64>) {
        self.lowat = lowat.unwrap_or(NO_LOWAT);
    }

    /// Grows with the window, and with the reordering degree, in packets (`tcp_sndbuf_expand`).
    #[inline]
    pub(super) fn expand(&mut self, cwnd: u32, reordering: u32) {
        let packets = cwnd.max(reordering + 1).max(LEAST_PACKETS);
        if packets > self.packets {
            self.resize(packets);
        }
    }

    /// Makes room for a window that is larger than all before.
    #[inline(never)] // few windows are
    fn resize(&mut self, packets: u32) {
        self.packets = packets;
        let wanted = self.windows * u64::from(packets) * BYTES_PER_PACKET;
        self.size = self.size.max(wanted.min(self.max));
        self.write_space = write_space(self.size);
    }

    /// Returns `true` if another socket buffer may be added (`sk_stream_memory_free`).
    pub(super) fn has_room(&self, used: BufferUse) -> bool {
        used.memory() < self.size && used.unsent < self.lowat
    }

    /// The application found no room.
    pub(super) fn wait(&mut self) {
        self.waits = true;
    }

    #[inline]
    pub(super) fn waits(&self) -> bool {
        self.waits
    }

    /// The application resumes once a third of the memory is free and half of what may be unsent
    /// (`sk_stream_write_space`).
    pub(super) fn wake(&mut self, used: BufferUse) {
        let free = used.memory() < self.write_space;
        self.waits = !(free && 2 * used.unsent < self.lowat);
    }
}

/// The memory in use below which a buffer of this size has room, that is, it is below the size, and
/// so is the sum of it and its half, or equal (`sk_stream_min_wspace`).
fn write_space(size: u64) -> u64 {
    ((2 * size + 4) / 3).min(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_use(payload: u64, unsent: u64) -> BufferUse {
        BufferUse { payload, unsent, buffers: 1 }
    }

    #[test]
    fn it_grows_with_the_window_up_to_its_largest_size() {
        let mut buffer = SendBuffer::new((16_384, 1 << 20), None, 2);
        buffer.expand(4, 3);
        assert_eq!(buffer.size, 46_080, "what a new socket has");
        buffer.expand(100, 3);
        assert_eq!(buffer.size, 460_800);
        buffer.expand(10, 120);
        assert_eq!(buffer.size, 121 * 4_608, "reordering keeps more packets out");
        buffer.expand(5, 3);
        assert_eq!(buffer.size, 121 * 4_608, "it never shrinks");
        buffer.expand(1_000, 3);
        assert_eq!(buffer.size, 1 << 20);
    }

    #[test]
    fn the_application_fills_it_and_waits_until_a_third_is_free() {
        let mut buffer = SendBuffer::new((16_384, 1 << 20), None, 2);
        buffer.expand(10, 3);
        assert!(buffer.has_room(in_use(46_080 - 833, 0)));
        assert!(!buffer.has_room(in_use(46_080 - 832, 0)), "its own overhead counts");
        buffer.wait();
        buffer.wake(in_use(30_000, 0));
        assert!(buffer.waits());
        buffer.wake(in_use(29_800, 0));
        assert!(!buffer.waits());
    }

    #[test]
    fn a_third_is_free_below_one_bound() {
        for size in 0..100_u64 {
            for memory in 0..200 {
                let free = memory + memory / 2 <= size && memory < size;
                assert_eq!(memory < write_space(size), free, "{memory} of {size}");
            }
        }
    }

    #[test]
    fn few_unsent_data_are_kept() {
        let mut buffer = SendBuffer::new((16_384, 1 << 20), Some(10_000), 2);
        buffer.expand(100, 3);
        assert!(buffer.has_room(in_use(10_000, 9_999)));
        assert!(!buffer.has_room(in_use(10_000, 10_000)));
        buffer.wake(in_use(10_000, 5_000));
        assert!(buffer.waits());
        buffer.wake(in_use(10_000, 4_999));
        assert!(!buffer.waits());
    }
}
