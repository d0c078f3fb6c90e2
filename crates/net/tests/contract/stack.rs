//! Elements in a row.

use narrows_base::{Packet, Time};
use narrows_net::{Departure, DroppedPacket, Element};

use crate::contract::Body;

/// Elements in a row: each departure is received by the next element at the
/// departure's own time.
pub struct Stack(pub Vec<Box<dyn Element<Body>>>);

impl Stack {
    fn pass_on(&mut self, now: Time) {
        for next in 1..self.0.len() {
            while let Some(departure) = self.0[next - 1].poll(now) {
                self.0[next].receive(departure.packet, departure.at);
            }
        }
    }
}

impl Element<Body> for Stack {
    fn receive(&mut self, packet: Packet<Body>, now: Time) {
        self.0[0].receive(packet, now);
    }

    fn poll(&mut self, now: Time) -> Option<Departure<Body>> {
        self.pass_on(now);
        self.0.last_mut()?.poll(now)
    }

    fn next_deadline(&self) -> Option<Time> {
        self.0.iter().filter_map(|e| e.next_deadline()).min()
    }

    fn take_dropped(&mut self) -> Option<DroppedPacket<Body>> {
        self.0.iter_mut().find_map(|e| e.take_dropped())
    }

    fn packet_count(&self) -> usize {
        self.0.iter().map(|e| e.packet_count()).sum()
    }

    fn copies(&self) -> u64 {
        self.0.iter().map(|e| e.copies()).sum()
    }
}
