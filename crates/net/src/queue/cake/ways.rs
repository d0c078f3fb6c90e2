//! CAKE's hash: sets of eight queues, so that flows seldom share one.

/// Queues of a tin.
pub(super) const QUEUES: u32 = 1_024;
const WAYS: u32 = 8;

/// The flows for which the queues are reserved, by their hashes.
#[derive(Clone, Debug)]
pub(super) struct Ways {
    tags: Vec<u32>,
}

impl Ways {
    pub(super) fn new() -> Self {
        Self { tags: vec![0; QUEUES as usize] }
    }

    /// The queue of the flow with this hash, which is reserved for it from now on (`cake_hash`):
    /// the one that it had, else a free one of its set, else the one that it hashes to.
    pub(super) fn queue(&mut self, hash: u32, taken: impl Fn(usize) -> bool) -> usize {
        let own = hash % QUEUES;
        let direct = own as usize;
        if self.tags[direct] == hash && taken(direct) {
            return direct;
        }
        let way = |step: u32| (own - own % WAYS + (own + step) % WAYS) as usize;
        let mut ways = (0..WAYS).map(way);
        let known = ways.clone().find(|&queue| self.tags[queue] == hash);
        let queue = known.or_else(|| ways.find(|&queue| !taken(queue))).unwrap_or(direct);
        self.tags[queue] = hash;
        queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hashes that differ by 1,024 belong to the same set; eight of them get a queue each.
    #[test]
    fn eight_flows_of_a_set_have_queues_of_their_own() {
        let mut ways = Ways::new();
        let mut taken = vec![false; QUEUES as usize];
        let mut place = |hash: u32| {
            let queue = ways.queue(hash, |queue| taken[queue]);
            taken[queue] = true;
            queue
        };
        let hashes: Vec<u32> = (1..9).map(|n| 1_024 * n + 13).collect();
        let queues: Vec<_> = hashes.iter().map(|&hash| place(hash)).collect();
        assert_eq!(queues, [13, 14, 15, 8, 9, 10, 11, 12]);
        // They keep them, and a ninth shares the one that it hashes to.
        assert_eq!(hashes.iter().map(|&hash| place(hash)).collect::<Vec<_>>(), queues);
        assert_eq!(place(9 * 1_024 + 13), 13);
    }
}
