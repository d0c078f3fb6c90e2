//! The interface of every queue discipline.

use narrows_base::{Bytes, Dscp, Packet, Time};

use super::verdicts::Verdicts;

/// The order, the drops and the marks of the packets that wait for a link.
///
/// The packet in transmission is no longer in the queue, as in Linux, where it
/// belongs to the device. Every instant is the model's, not that of a late poll. A discipline that
/// needs random numbers owns its stream.
///
/// A link asks for a packet when its transmitter falls idle, after a packet has
/// arrived while it is idle, and after each of the queue's own deadlines.
pub trait QueueDiscipline<B> {
    /// Takes a packet that arrives at `now`. This packet or others may be dropped or marked.
    fn enqueue(&mut self, packet: Packet<B>, now: Time, verdicts: &mut Verdicts<B>);

    /// The packet to transmit from `now` on. Others may be dropped meanwhile, and the packet may be
    /// marked. `None` if nothing is left, or if the rest waits for
    /// [`next_deadline`](Self::next_deadline).
    fn dequeue(&mut self, now: Time, verdicts: &mut Verdicts<B>) -> Option<Packet<B>>;

    /// The bytes that wait.
    fn backlog(&self) -> Bytes;

    /// The packets that wait.
    fn len(&self) -> usize;

    /// Returns `true` if no packet waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes a packet that finds the transmitter idle, and returns the packet to transmit. A
    /// stateless discipline passes it straight on.
    #[inline]
    fn pass(
        &mut self,
        packet: Packet<B>,
        now: Time,
        verdicts: &mut Verdicts<B>,
    ) -> Option<Packet<B>> {
        self.enqueue(packet, now, verdicts);
        self.dequeue(now, verdicts)
    }

    /// When the discipline wants to act without an arrival or a dequeue: a
    /// periodic update (PIE), or packets held back until then (pacing).
    #[inline]
    fn next_deadline(&self) -> Option<Time> {
        None
    }

    /// Acts on the deadline `due`; the next one must be later.
    #[inline]
    fn on_deadline(&mut self, due: Time, verdicts: &mut Verdicts<B>) {
        let _ = (due, verdicts);
    }

    /// Tells which packet was dequeued ahead and still waits, so that it counts as one of the
    /// queue's (Linux `qdisc_peek_dequeued`); none once it has left.
    fn count_ahead(&mut self, ahead: Option<&Packet<B>>) {
        let _ = ahead;
    }

    /// Tells the DSCP of each flow's packets on this link, before the first arrives. Without it, and
    /// for flows beyond, it is 0.
    fn learn_dscps(&mut self, of_flows: &[Dscp]) {
        let _ = of_flows;
    }
}
