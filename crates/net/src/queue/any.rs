//! The queue of a link, with any discipline.

use narrows_base::{Bytes, Dscp, Packet, Time};

use super::discipline::QueueDiscipline;
use super::drop_tail::DropTail;
use super::verdicts::Verdicts;

/// A link's queue: drop-tail without a dynamic call, and any other discipline in a box, where the
/// call costs little compared with its work.
pub enum Queue<B> {
    /// First in, first out; what doesn't fit is dropped.
    DropTail(DropTail<B>),
    /// Active queue management, or a discipline from elsewhere.
    Custom(Box<dyn QueueDiscipline<B> + Send>),
}

impl<B> From<DropTail<B>> for Queue<B> {
    fn from(queue: DropTail<B>) -> Self {
        Self::DropTail(queue)
    }
}

/// Calls the method of the discipline.
macro_rules! forward {
    ($queue:expr, $inner:ident => $call:expr) => {
        match $queue {
            Queue::DropTail($inner) => $call,
            Queue::Custom($inner) => $call,
        }
    };
}

impl<B> QueueDiscipline<B> for Queue<B> {
    #[inline]
    fn enqueue(&mut self, packet: Packet<B>, now: Time, verdicts: &mut Verdicts<B>) {
        forward!(self, queue => queue.enqueue(packet, now, verdicts));
    }

    #[inline]
    fn dequeue(&mut self, now: Time, verdicts: &mut Verdicts<B>) -> Option<Packet<B>> {
        forward!(self, queue => queue.dequeue(now, verdicts))
    }

    #[inline]
    fn backlog(&self) -> Bytes {
        forward!(self, queue => queue.backlog())
    }

    #[inline]
    fn len(&self) -> usize {
        forward!(self, queue => queue.len())
    }

    #[inline]
    fn pass(
        &mut self,
        packet: Packet<B>,
        now: Time,
        verdicts: &mut Verdicts<B>,
    ) -> Option<Packet<B>> {
        forward!(self, queue => queue.pass(packet, now, verdicts))
    }

    #[inline]
    fn next_deadline(&self) -> Option<Time> {
        forward!(self, queue => queue.next_deadline())
    }

    #[inline]
    fn on_deadline(&mut self, due: Time, verdicts: &mut Verdicts<B>) {
        forward!(self, queue => queue.on_deadline(due, verdicts));
    }

    fn count_ahead(&mut self, ahead: Option<&Packet<B>>) {
        forward!(self, queue => queue.count_ahead(ahead));
    }

    fn learn_dscps(&mut self, of_flows: &[Dscp]) {
        forward!(self, queue => queue.learn_dscps(of_flows));
    }
}
