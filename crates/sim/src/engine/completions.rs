//! Completions of transfers and flows, and what ends with them.

use narrows_base::{Bytes, FlowId};
use narrows_record::{Completion, Event, EventKind, Observer};

use super::Engine;
use crate::host::CompletedTransfer;
use crate::sim_tap::SimTap;

impl<O: Observer, T: SimTap> Engine<O, T> {
    /// Reports the transfers that a sender has completed.
    #[cold]
    pub(super) fn complete(&mut self, id: usize) {
        for done in std::mem::take(&mut self.out.completed) {
            self.complete_one(id - self.network.senders[0], done);
        }
    }

    fn complete_one(&mut self, flow: usize, done: CompletedTransfer) {
        if let Some(size) = done.size {
            let completion = Completion {
                flow: FlowId(u32::try_from(flow).expect("flows fit 32 bits")),
                instance: done.instance,
                start: done.start,
                size: Bytes::new(size),
                retransmitted: done.retransmitted,
            };
            self.observer.offer(done.end, EventKind::Completion, || Event::Completion(completion));
        }
        if self.network.sender(flow).is_done() {
            self.flow_done(flow);
        }
    }

    /// Ends the chains that run beside a flow that is done, those that run beside these, and
    /// perhaps the run.
    fn flow_done(&mut self, flow: usize) {
        let mut ending = self.ending.is_done(flow);
        while let Some(other) = ending.pop() {
            let host = self.network.sender_mut(other);
            host.end_chain();
            if host.is_done() {
                ending.append(&mut self.ending.is_done(other));
            }
            let id = self.network.senders[other];
            self.agenda.set(id, self.network.nodes[id].next_deadline());
        }
    }
}
