//! What every kind of link can say of itself.

use narrows_base::{Bytes, Time};

use crate::{BatchLink, Counters, Element, Link, SlottedLink};

/// A link with a queue, whatever its way of sending.
pub trait Medium<B>: Element<B> {
    /// Settles everything that is due at or before `now`.
    fn catch_up(&mut self, now: Time);

    /// The counters, as of the last instant that the link has reached.
    fn counters(&self) -> Counters;

    /// The bytes that wait, without what is being sent.
    fn backlog(&self) -> Bytes;

    /// The packets that wait, without what is being sent.
    fn backlog_packets(&self) -> usize;

    /// The packets inside.
    fn held(&self) -> usize;
}

macro_rules! medium {
    ($($link:ident),*) => {
        $(impl<B> Medium<B> for $link<B> {
            fn catch_up(&mut self, now: Time) {
                Self::catch_up(self, now);
            }

            fn counters(&self) -> Counters {
                Self::counters(self)
            }

            fn backlog(&self) -> Bytes {
                Self::backlog(self)
            }

            fn backlog_packets(&self) -> usize {
                Self::backlog_packets(self)
            }

            fn held(&self) -> usize {
                Self::held(self)
            }
        })*
    };
}
medium!(BatchLink, Link, SlottedLink);
