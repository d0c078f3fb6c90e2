//! Deficit round robin over flows, of which new ones go first (RFC 8290 section 4.2).

use std::collections::VecDeque;

use narrows_base::Packet;

use super::waiting::frame_bytes;

#[derive(Clone, Copy, Debug, Default)]
struct Credit {
    /// Bytes of Ethernet frames that the flow may still send in its turn.
    deficit: i64,
    /// True if it is in one of the two lists.
    listed: bool,
}

/// The flows that take part, each in one of two lists (Linux's `new_flows` and `old_flows`).
#[derive(Clone, Debug)]
pub(super) struct Turns {
    quantum: i64,
    credits: Vec<Credit>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
}

impl Turns {
    /// For `flows` flows, none of which takes part yet; each may send `quantum` bytes of Ethernet
    /// frames per turn.
    ///
    /// # Panics
    /// If the quantum is zero.
    pub(super) fn new(flows: u32, quantum: u32) -> Self {
        assert!(quantum > 0, "flows can't take turns without a quantum");
        Self {
            quantum: quantum.into(),
            credits: vec![Credit::default(); flows as usize],
            new: VecDeque::new(),
            old: VecDeque::new(),
        }
    }

    /// Lets a flow that has a packet take part, as a new one unless it does already.
    #[inline]
    pub(super) fn join(&mut self, flow: usize) {
        if self.enlist(flow) {
            self.new.push_back(flow);
        }
    }

    /// Lets a flow that has a packet take part as an old one, behind all others.
    #[inline]
    pub(super) fn join_last(&mut self, flow: usize) {
        if self.enlist(flow) {
            self.old.push_back(flow);
        }
    }

    /// Returns whether the flow didn't take part until now.
    #[inline]
    fn enlist(&mut self, flow: usize) -> bool {
        let credit = &mut self.credits[flow];
        let joins = !credit.listed;
        if joins {
            *credit = Credit { deficit: self.quantum, listed: true };
        }
        joins
    }

    /// The flows that take part.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        let new = self.new.len();
        (0..new + self.old.len())
            .map(move |at| if at < new { self.new[at] } else { self.old[at - new] })
    }

    /// The flow at the head of the lists, which may be out of credit.
    pub(super) fn next(&self) -> Option<usize> {
        self.new.front().or(self.old.front()).copied()
    }

    /// Dequeues from the flow whose turn it is and that `take` finds a packet of; those without one
    /// end their turns.
    #[inline]
    pub(super) fn serve<B>(
        &mut self,
        mut take: impl FnMut(usize) -> Option<Packet<B>>,
    ) -> Option<(usize, Packet<B>)> {
        loop {
            let flow = self.current()?;
            if let Some(packet) = take(flow) {
                self.credits[flow].deficit -= frame_bytes(&packet).cast_signed();
                return Some((flow, packet));
            }
            self.end();
        }
    }

    /// The flow whose turn it is: those that are out of credit get a quantum and go behind the
    /// others.
    #[inline]
    fn current(&mut self) -> Option<usize> {
        loop {
            let list = if self.new.is_empty() { &mut self.old } else { &mut self.new };
            let flow = *list.front()?;
            let deficit = &mut self.credits[flow].deficit;
            if *deficit > 0 {
                return Some(flow);
            }
            *deficit += self.quantum;
            list.pop_front();
            self.old.push_back(flow);
        }
    }

    /// Ends the current turn, whose flow has no packet left. A new flow first waits its turn among
    /// the old ones, so that it can't starve them by returning.
    #[inline]
    pub(super) fn end(&mut self) {
        if let Some(flow) = self.new.pop_front() {
            if !self.old.is_empty() {
                return self.old.push_back(flow);
            }
            self.credits[flow].listed = false;
        } else if let Some(flow) = self.old.pop_front() {
            self.credits[flow].listed = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_new_flow_waits_once_behind_the_old_ones() {
        let mut turns = Turns::new(3, 1_514);
        turns.join(0);
        turns.credits[0].deficit = 0;
        assert_eq!(turns.current(), Some(0), "it is alone and got another quantum");
        turns.join(1);
        assert_eq!(turns.current(), Some(1), "a new flow goes first");
        turns.end();
        turns.join(1);
        assert_eq!(turns.current(), Some(0), "it is still among the old ones");
        turns.end();
        assert_eq!(turns.current(), Some(1));
        turns.end();
        assert_eq!(turns.current(), None);
        turns.join(1);
        assert_eq!(turns.current(), Some(1));
    }
}
