//! Packets in pipes, which are links with their lines.

use narrows_base::{Packet, Time};
use narrows_net::{Element as _, Pipe};
use narrows_record::Observer;
use narrows_tcp::Segment;

use super::Engine;
use crate::network::Node;
use crate::sim_tap::SimTap;

impl<O: Observer, T: SimTap> Engine<O, T> {
    /// Hands packets to a pipe; returns whether it was empty.
    #[inline(never)]
    pub(super) fn enter(pipe: &mut Pipe<Segment>, packets: &[Packet<Segment>], at: Time) -> bool {
        let was_empty = pipe.packet_count() == 0;
        pipe.receive_burst(packets, at);
        was_empty
    }

    /// Plans the end of a pipe that packets have entered, and reports their drops.
    #[inline]
    pub(super) fn note_entry(&mut self, id: usize, was_empty: bool) {
        let Node::Pipe(pipe) = &self.network.nodes[id] else { return };
        let has_dropped = pipe.has_dropped();
        // Packets stay in order.
        if was_empty && let Some(end) = self.network.hops[id].only() {
            self.agenda.set(end, pipe.next_deadline());
        }
        if has_dropped {
            self.report_drops(id);
        }
    }

    /// Takes all due packets out of a pipe, which have left its link unseen, and passes them on from
    /// its end.
    pub(super) fn run_pipe(&mut self, id: usize, end: usize, now: Time) {
        while let Node::Pipe(pipe) = &mut self.network.nodes[id] {
            let noted = pipe.is_head_noted();
            let departure = pipe.poll(now);
            let next = pipe.next_deadline();
            let is_last = next.is_none_or(|next| next > now);
            if is_last {
                self.agenda.set(end, next);
            }
            if self.loads_ahead {
                self.load_ahead(id, end);
            }
            if let Some(departure) = &departure {
                let (packet, at) = (&departure.packet, departure.at);
                if noted || self.leaves_link(id, packet, at) {
                    self.hand_on(end, packet, at);
                }
            }
            if is_last {
                return;
            }
        }
    }

    /// Accounts for the packets that have left the link of a pipe, and haven't come out.
    pub(super) fn note_sent(&mut self, id: usize, now: Time) {
        while let Node::Pipe(pipe) = &mut self.network.nodes[id]
            && let Some(sent) = pipe.note_sent(now)
        {
            if !self.leaves_link(id, &sent.packet, sent.at)
                && let Node::Pipe(pipe) = &mut self.network.nodes[id]
            {
                pipe.lose_noted();
            }
        }
    }
}
