//! Maps flows to queues.

use narrows_base::{FlowId, Stream};

/// A seeded hash of flows into buckets, where Linux hashes addresses and ports
/// (`skb_get_hash`).
#[derive(Clone, Debug)]
pub(super) struct FlowHash {
    buckets: u32,
    seed: u64,
}

impl FlowHash {
    /// # Panics
    /// If there are no buckets.
    pub(super) fn new(buckets: u32, random: &mut Stream) -> Self {
        assert!(buckets > 0, "flows need at least one queue");
        Self { buckets, seed: random.next_u64() }
    }

    /// The bucket of a flow, uniform.
    #[inline]
    pub(super) fn bucket(&self, flow: FlowId) -> usize {
        ((u64::from(self.hash(flow)) * u64::from(self.buckets)) >> 32) as usize
    }

    /// 32 bits that stand for a flow, uniform (the mixer of splitmix64).
    #[inline]
    pub(super) fn hash(&self, flow: FlowId) -> u32 {
        let mut z = self.seed ^ u64::from(flow.0);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_spread_over_the_buckets_and_collide_as_chance_has_it() {
        let used = |seed| {
            let hash = FlowHash::new(1_024, &mut Stream::new(seed, "hash"));
            let mut used: Vec<_> = (0..1_024).map(|n| hash.bucket(FlowId(n))).collect();
            used.sort_unstable();
            used.dedup();
            used.len()
        };
        // 1 - 1/e of the buckets: 647 on average, with a deviation of 10.
        let mean = (0..100).map(used).sum::<usize>() / 100;
        assert!((640..655).contains(&mean), "{mean}");
    }
}
