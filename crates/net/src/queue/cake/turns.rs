//! Whose turn it is in CAKE: deficit round robin over three lists (DRR++).

use std::collections::VecDeque;

use narrows_base::Stream;

/// Where a flow stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// In no list.
    #[default]
    Out,
    /// New: it goes first as long as its credit lasts.
    Sparse,
    /// Among the bulk flows, for its credit's sake, but without a packet and not counted as one.
    SparseWaiting,
    Bulk,
    /// Without packets, until what COBALT remembers of it has faded.
    Decaying,
}

#[derive(Clone, Copy, Debug, Default)]
struct Credit {
    place: Place,
    deficit: i64,
}

/// The flows of a tin in their lists.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    quantum: u64,
    /// True if a host's bulk flows share one quantum. All flows here are of one pair of hosts.
    by_host: bool,
    random: Stream,
    credits: Vec<Credit>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    decaying: VecDeque<usize>,
    sparse: u64,
    bulk: u64,
}

impl Turns {
    pub(super) fn new(flows: usize, quantum: u64, by_host: bool, random: Stream) -> Self {
        Self {
            quantum,
            by_host,
            random,
            credits: vec![Credit::default(); flows],
            new: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            sparse: 0,
            bulk: 0,
        }
    }

    /// Returns `true` if the flow is in a list, so that its queue is its own.
    pub(super) fn holds(&self, flow: usize) -> bool {
        self.credits[flow].place != Place::Out
    }

    /// Returns `true` if a flow may have packets.
    pub(super) const fn busy(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// The number of bulk flows.
    pub(super) const fn bulk(&self) -> u64 {
        self.bulk
    }

    /// The flows that may have packets.
    pub(super) fn active(&self) -> impl Iterator<Item = usize> {
        self.new.iter().chain(&self.old).copied()
    }

    /// The quantum, divided among the host's bulk flows. It is rounded at random, as in the kernel
    /// (`cake_get_flow_quantum`).
    fn credit(&mut self) -> i64 {
        let load = if self.by_host { self.bulk.max(1) } else { 1 };
        let noise = self.random.next_u64() & 0xffff;
        ((self.quantum * (65_535 / load) + noise) >> 16).cast_signed()
    }

    /// Gives a flow a turn when a packet arrives for it.
    pub(super) fn join(&mut self, flow: usize) {
        match self.credits[flow].place {
            Place::Out | Place::Decaying => {
                self.decaying.retain(|&other| other != flow);
                self.new.push_back(flow);
                self.sparse += 1;
                self.credits[flow] = Credit { place: Place::Sparse, deficit: self.credit() };
            }
            Place::SparseWaiting => self.become_bulk(flow),
            Place::Sparse | Place::Bulk => {}
        }
    }

    fn become_bulk(&mut self, flow: usize) {
        self.credits[flow].place = Place::Bulk;
        self.sparse -= 1;
        self.bulk += 1;
    }

    /// The flow whose turn it is. With `decaying`, one of those goes first, which only lets it
    /// fade. Flows without credit go behind the others; `waits` says whether one has packets.
    pub(super) fn current(
        &mut self,
        mut decaying: bool,
        waits: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        loop {
            let flow = self.first(decaying)?;
            decaying = false;
            if self.credits[flow].deficit > 0 {
                return Some(flow);
            }
            if self.credits[flow].place == Place::Sparse {
                if waits(flow) {
                    self.become_bulk(flow);
                } else {
                    self.credits[flow].place = Place::SparseWaiting;
                }
            }
            self.credits[flow].deficit += self.credit();
            self.take_out(flow);
            self.old.push_back(flow);
        }
    }

    fn first(&self, decaying: bool) -> Option<usize> {
        let fading = self.decaying.front();
        let first = if decaying { fading } else { None };
        first.or(self.new.front()).or(self.old.front()).or(fading).copied()
    }

    /// Removes a flow from the list that it is first in.
    fn take_out(&mut self, flow: usize) {
        for list in [&mut self.new, &mut self.old, &mut self.decaying] {
            if list.front() == Some(&flow) {
                list.pop_front();
                return;
            }
        }
    }

    pub(super) fn spend(&mut self, flow: usize, bytes: u64) {
        self.credits[flow].deficit -= bytes.cast_signed();
    }

    /// Ends the turn of a flow without packets; unless it is `at_rest` it goes on fading.
    pub(super) fn end(&mut self, flow: usize, at_rest: bool) {
        self.take_out(flow);
        match self.credits[flow].place {
            Place::Bulk => self.bulk -= 1,
            Place::Sparse | Place::SparseWaiting => self.sparse -= 1,
            Place::Out | Place::Decaying => {}
        }
        self.credits[flow].place = if at_rest { Place::Out } else { Place::Decaying };
        if !at_rest {
            self.decaying.push_back(flow);
        }
    }
}
