//! Queue disciplines: which packet goes next, and which doesn't go at all.

mod codel;
mod control_law;
mod docsis_pie;
mod drop_tail;
mod dualpi2;
mod entry;
mod flow_hash;
mod fq;
mod fq_codel;
mod pie;
mod red;
mod red_average;
mod registry;
pub(crate) mod tbf;
mod verdicts;
mod waiting;

use narrows_base::{Bytes, Packet, Time};

pub use codel::{CoDel, CoDelParams};
pub use control_law::SquareRoot;
pub use docsis_pie::{DocsisPie, DocsisPieParams};
pub use drop_tail::{DropTail, Limit};
pub use dualpi2::{DualPi2, DualPi2Params};
pub(crate) use entry::SHORTEST_PERIOD;
pub use fq::{Fq, FqParams};
pub use fq_codel::{FqCoDel, FqCoDelParams};
pub use pie::{Pie, PieParams};
pub use red::{Red, RedParams};
pub use registry::{QUEUES, fits, queue};
pub use tbf::{Tbf, TbfParams};
pub use verdicts::Verdicts;

/// The order, the drops and the marks of the packets that wait for a link.
///
/// The packet in transmission is no longer in the queue, as in Linux, where it
/// belongs to the device. Every instant is the one that the model dictates, not
/// that of a late poll. A discipline that needs chance owns its random stream.
///
/// A link asks for a packet when its transmitter falls idle, after a packet has
/// arrived while it is idle, and after each of the queue's own deadlines.
pub trait QueueDiscipline<B> {
    /// Takes a packet that arrives at `now`. It or others may be dropped or
    /// marked.
    fn enqueue(&mut self, packet: Packet<B>, now: Time, verdicts: &mut Verdicts<B>);

    /// The packet to transmit from `now` on. Others may be dropped on the way,
    /// the packet may be marked. `None` if nothing is left, or if what is left
    /// waits for [`next_deadline`](Self::next_deadline).
    fn dequeue(&mut self, now: Time, verdicts: &mut Verdicts<B>) -> Option<Packet<B>>;

    /// The bytes that wait.
    fn backlog(&self) -> Bytes;

    /// The packets that wait.
    fn len(&self) -> usize;

    /// Whether no packet waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes a packet that finds the transmitter idle, and gives the packet to
    /// transmit. A discipline with no state to keep passes it straight on.
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
}

/// A link's queue: drop-tail without a dynamic call, and any other discipline
/// behind a box, where the call is little beside what it does.
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

macro_rules! boxed {
    ($($discipline:ident),*) => {
        $(impl<B: Send + 'static> From<$discipline<B>> for Queue<B> {
            fn from(queue: $discipline<B>) -> Self {
                Self::Custom(Box::new(queue))
            }
        })*
    };
}
boxed!(CoDel, DocsisPie, DualPi2, Fq, FqCoDel, Pie, Red, Tbf);

/// Calls the method of whichever discipline it is.
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
}
