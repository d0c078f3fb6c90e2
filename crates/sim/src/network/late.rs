//! Which links may be polled late.
//!
//! A link catches up at the instants that its own model dictates, however late it is polled, and a
//! line delays every packet of a link equally. So a link with only lines behind it needs no turn
//! for each packet: it is polled when the first packet that it has sent comes out of its line. If
//! there is only one line, and the link is drop-tail at a constant rate, both become a pipe.

use std::collections::BTreeSet;

use narrows_base::{Duration, Time};
use narrows_net::Pipe;

use super::node::Node;
use super::{Hop, Network};

impl Network {
    /// Lets links be polled late where it can't be observed, that is, not where each packet is
    /// observed.
    pub(crate) fn allow_lateness(&mut self) {
        self.poll_slack.fill(Duration::ZERO);
        // Links that share a random stream must take turns.
        if self.lossy && self.links.len() > 1 {
            return;
        }
        let fed = self.fed_by_one();
        for at in 0..self.links.len() {
            let link = self.links[at];
            self.poll_slack[link] = self.delay_behind(link, &fed).unwrap_or_default();
        }
    }

    /// Makes pipes of links and their lines where that can't be observed, as above.
    pub(crate) fn join_links(&mut self) {
        if self.lossy && self.links.len() > 1 {
            return;
        }
        let fed = self.fed_by_one();
        for at in 0..self.links.len() {
            self.join_link(self.links[at], &fed);
        }
    }

    fn join_link(&mut self, id: usize, fed: &[bool]) {
        let (Node::Link(link), Some(end)) = (&self.nodes[id], self.hops[id].only()) else { return };
        let Some(Node::Line(line)) = self.nodes.get(end).filter(|_| fed[end]) else { return };
        if let Some(pipe) = Pipe::of(link, line) {
            self.nodes[id] = Node::Pipe(pipe);
            self.nodes[end] = Node::PipeEnd(id);
        }
    }

    /// Makes links and lines of all pipes, as of `now`; returns the lines.
    pub(crate) fn split_pipes(&mut self, now: Time) -> Vec<usize> {
        let is_end = |&id: &usize| matches!(self.nodes[id], Node::PipeEnd(_));
        let ends: Vec<usize> = (0..self.nodes.len()).filter(is_end).collect();
        for &end in &ends {
            self.split_pipe(end, now);
        }
        ends
    }

    fn split_pipe(&mut self, end: usize, now: Time) {
        let Node::PipeEnd(id) = self.nodes[end] else { return };
        let Node::Pipe(mut pipe) = std::mem::replace(&mut self.nodes[id], Node::PipeEnd(id)) else {
            unreachable!("the number at the end of a pipe names a pipe");
        };
        pipe.catch_up(now);
        let (link, line) = pipe.split();
        (self.nodes[id], self.nodes[end]) = (Node::Link(link), Node::Line(line));
    }

    /// The shortest line behind a link; none if there is another element, too, or if another
    /// element leads to the same line, whose packets must arrive in order.
    fn delay_behind(&self, link: usize, fed: &[bool]) -> Option<Duration> {
        let Node::Link(_) = &self.nodes[link] else { return None };
        let delay = |id: usize| match &self.nodes[id] {
            Node::Line(line) if fed[id] => Some(line.delay()),
            _ => None,
        };
        let delays: Option<Vec<_>> = self.behind(link).into_iter().map(delay).collect();
        delays?.into_iter().min()
    }

    /// The elements that packets can reach from an element.
    fn behind(&self, id: usize) -> BTreeSet<usize> {
        match &self.hops[id] {
            Hop::Computed { first, mask: 0 } => [*first].into(),
            Hop::Computed { first, .. } => (*first..first + self.senders.len()).collect(),
            Hop::ByFlow(next) => next.iter().copied().collect::<BTreeSet<_>>(),
        }
        .into_iter()
        .filter(|&next| next < self.nodes.len())
        .collect()
    }

    /// Returns, for each element, whether packets reach it from only one other.
    fn fed_by_one(&self) -> Vec<bool> {
        let mut feeders = vec![0_usize; self.nodes.len()];
        for id in 0..self.nodes.len() {
            self.behind(id).into_iter().for_each(|next| feeders[next] += 1);
        }
        feeders.into_iter().map(|count| count == 1).collect()
    }
}
