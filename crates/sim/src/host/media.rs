//! The sending host of real-time media, whose frames complete when the receiver shows them.

use narrows_base::{Duration, FlowId, Packet, Time};
use narrows_spec::law::Draws;
use narrows_spec::scenario::Media as Described;
use narrows_tcp::{EcnMode, Kind, Segment, SenderStats, SenderView};

use super::completed::Completed;
use super::contract::{Host, Out, SendingSide};
use super::stack::{StackReceiver, StackSender, hosts};
use crate::media::{SharedScreen, When, ends, look};

/// A sender of media, and what its receiver shows.
pub(crate) struct Media {
    stack: StackSender,
    screen: SharedScreen,
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
    (Media { stack, screen }, receiver)
}

impl Host for Media {
    fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        self.stack.receive(packet, now);
    }

    fn advance(&mut self, now: Time, out: &mut Out) -> Time {
        let is_due = self.stack.is_due(now);
        let next = self.stack.advance(now, out);
        if is_due {
            let shown = std::iter::from_fn(|| look(&self.screen).take(now));
            out.completed.extend(shown.map(|shown| Completed {
                instance: shown.frame,
                start: shown.captured,
                end: shown.at,
                size: Some(shown.bytes),
                retransmitted: 0,
            }));
        }
        next
    }

    fn next_deadline(&self) -> Option<Time> {
        self.stack.next_deadline()
    }
}

impl SendingSide for Media {
    fn flow(&self) -> FlowId {
        self.stack.flow()
    }

    fn stop_at(&mut self, at: Time) {
        self.stack.stop_at(at);
    }

    fn stats(&self) -> SenderStats {
        self.stack.stats()
    }

    fn view(&self) -> Option<SenderView> {
        self.stack.view()
    }

    fn inspect(&self, now: Time, visit: &mut dyn FnMut(&'static str, f64)) {
        self.stack.inspect(now, visit);
    }

    fn take_rtt(&mut self) -> Option<Duration> {
        self.stack.take_rtt()
    }

    fn payload(&self, kind: &Kind) -> Option<Box<[u8]>> {
        self.stack.payload(kind)
    }

    fn forget(&self, kind: &Kind) {
        self.stack.forget(kind);
    }
}
