//! Changes of the path in the course of a run.

use narrows_base::{Duration, Rate, Time};
use narrows_net::{ChangingLine, CopyLine};

use super::Network;
use super::node::Node;

impl Network {
    /// Changes the rate of the link with this number in the tables, even in the midst of a packet.
    ///
    /// # Panics
    /// If the link has its own service; that was checked.
    pub(crate) fn change_rate(&mut self, link: usize, rate: Rate, now: Time) {
        let id = self.links[link];
        let changed = match &mut self.nodes[id] {
            Node::Link(link) => link.change_rate(now, rate),
            _ => false,
        };
        assert!(changed, "the rate of link {link} can't be changed: it wasn't checked");
    }

    /// Changes the two-way delay of flows without their own. Packets on the way keep theirs.
    pub(crate) fn change_round_trip(&mut self, rtt: Duration) {
        let halves = [rtt / 2, rtt - rtt / 2];
        for (id, half) in self.common_lines.into_iter().flatten().zip(halves) {
            self.change_line(id, half);
        }
    }

    fn change_line(&mut self, id: usize, delay: Duration) {
        let taken = std::mem::replace(&mut self.nodes[id], Node::Line(CopyLine::new(delay)));
        let mut line = match taken {
            Node::Line(line) => ChangingLine::from(line),
            Node::ChangingLine(line) => line,
            _ => unreachable!("a line's number names a line"),
        };
        line.change(delay);
        self.nodes[id] = Node::ChangingLine(line);
    }

    /// Changes the loss behind the last link forward.
    pub(crate) fn change_loss(&mut self, probability: f64) {
        self.loss.change(probability);
        self.lossy = probability > 0.0;
    }
}
