//! The sending host of real-time media, whose frames complete when the receiver shows them.

use narrows_base::{FlowId, Packet, Time};
use narrows_spec::law::Draws;
use narrows_spec::scenario::Media as Described;
use narrows_tcp::{EcnMode, Segment};

use super::completed::Completed;
use super::stack::{StackReceiver, StackSender, hosts};
use crate::media::{SharedScreen, When, ends, look};

/// A sender of media, and what its receiver shows.
pub(crate) struct Media {
    pub(super) stack: StackSender,
    screen: SharedScreen,
    /// When it acted last.
    now: Time,
}

/// The hosts of a flow of media. `keeps` says whether the path may copy packets.
pub(crate) fn media_hosts(
    flow: FlowId,
    media: &Described,
    (start, stop, ecn): (Time, Option<Time>, EcnMode),
    keeps: bool,
    draws: Draws,
) -> (Media, StackReceiver) {
    let when = When { start, stop, ecn: ecn.of_new_data() };
    let (ends, screen) = ends(media, when, draws);
    let (stack, receiver) = hosts(flow, ecn, keeps, (start, None), ends);
    (Media { stack, screen, now: start }, receiver)
}

impl Media {
    #[inline(never)]
    pub(super) fn poll(&mut self, now: Time) -> Option<Packet<Segment>> {
        self.now = now;
        self.stack.poll(now)
    }

    pub(super) fn take_completed(&mut self) -> Option<Completed> {
        let shown = look(&self.screen).take(self.now)?;
        Some(Completed {
            instance: shown.frame,
            start: shown.captured,
            end: shown.at,
            size: Some(shown.bytes),
            retransmitted: 0,
        })
    }
}
