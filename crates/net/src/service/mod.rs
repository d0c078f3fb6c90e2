//! The services of links.

pub(crate) mod cellular;
pub(crate) mod constant;
mod rate;
pub(crate) mod steps;
pub(crate) mod trace;
mod transmitter;
pub(crate) mod wifi;

use narrows_base::{Packet, Time};

use crate::port::Port;

pub use cellular::{Cellular, CellularParams};
pub use constant::ConstantRate;
pub use rate::RateProcess;
pub use steps::SteppedRate;
pub use trace::{Trace, TraceError};
pub use transmitter::Transmitter;
pub use wifi::{Wifi, WifiParams};

/// A service takes packets from a link's queue and sends them.
///
/// It is idle or has an instant at which it acts next. It acts at exactly that instant, however
/// late its link is polled.
pub trait Service<B> {
    /// When it acts next; `None` while it is idle.
    fn next(&self) -> Option<Time>;

    /// When it acts next, if no packet among the departures leaves at that instant or before
    /// it: then the link has no other reason to wake.
    #[inline]
    fn next_unseen(&self) -> Option<Time> {
        self.next()
    }

    /// Acts at `now`, the instant from [`next`](Self::next): ends the current transmission, and
    /// begins the next.
    fn act(&mut self, now: Time, port: &mut Port<B>);

    /// Begins to serve the queue if it is idle and a packet waits. Called after arrivals and
    /// after the queue's own deadlines.
    fn wake(&mut self, now: Time, port: &mut Port<B>);

    /// Takes a packet that arrives at `now`.
    #[inline]
    fn arrive(&mut self, packet: Packet<B>, now: Time, port: &mut Port<B>) {
        port.enqueue(packet, now);
        self.wake(now, port);
    }

    /// Packets that have left the queue and aren't among the departures yet.
    fn packet_count(&self) -> usize {
        0
    }
}

impl<B, S: Service<B> + ?Sized> Service<B> for Box<S> {
    fn next(&self) -> Option<Time> {
        (**self).next()
    }

    fn next_unseen(&self) -> Option<Time> {
        (**self).next_unseen()
    }

    fn act(&mut self, now: Time, port: &mut Port<B>) {
        (**self).act(now, port);
    }

    fn wake(&mut self, now: Time, port: &mut Port<B>) {
        (**self).wake(now, port);
    }

    fn arrive(&mut self, packet: Packet<B>, now: Time, port: &mut Port<B>) {
        (**self).arrive(packet, now, port);
    }

    fn packet_count(&self) -> usize {
        (**self).packet_count()
    }
}
