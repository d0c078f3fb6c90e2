//! The contract between a host and the engine.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use narrows_base::{Duration, FlowId, Packet, Time};
use narrows_tcp::{Kind, Segment, Sender, SenderStats, SenderView};

use super::completed_transfer::CompletedTransfer;

/// An end of a flow. It reacts to packets and to time, and never sees the network.
///
/// Unlike an element of the path, it acts at the instant of the call, so it is never advanced late.
/// It may be advanced early, or again at the same instant: then it does nothing.
pub(crate) trait Host {
    /// Takes a packet. The host must be advanced at the same instant.
    fn receive(&mut self, packet: &Packet<Segment>, now: Time);

    /// Does everything that is due at `now`, and adds packets and completions to `out`. Returns an
    /// instant before which the host does nothing by itself, or [`Time::MAX`]. It may lie before the
    /// next deadline, never after it: so timers that never fire need not be rounded to ticks.
    fn advance(&mut self, now: Time, out: &mut HostOutput) -> Time;

    /// When it acts next by itself.
    fn next_deadline(&self) -> Option<Time>;
}

/// The packets and completions from advancing a host.
#[derive(Default)]
pub(crate) struct HostOutput {
    /// The packets that leave, in order.
    pub(crate) packets: Vec<Packet<Segment>>,
    /// Transfers that are complete.
    pub(crate) completed: Vec<CompletedTransfer>,
    /// The connection of the last completed transfer, if the host has discarded it.
    pub(crate) closed: Option<Sender>,
}

/// A host that sends the data of a flow.
pub(crate) trait SendingSide: Host {
    fn flow(&self) -> FlowId;

    /// Stops at `at` instead of as planned: the application writes no more.
    fn stop_at(&mut self, at: Time);

    /// Counters over all connections.
    fn stats(&self) -> SenderStats;

    /// The visible state of the connection; of several, that of the newest one, with window and
    /// packets in flight of all.
    fn view(&self) -> Option<SenderView>;

    /// Shows the named internals of control and workload at `now`.
    fn inspect(&self, now: Time, visit: &mut dyn FnMut(&'static str, f64));

    /// Takes the RTT sample of the last segment, if it gave one.
    fn take_rtt(&mut self) -> Option<Duration>;

    /// The connection, if there is only one.
    fn sender_mut(&mut self) -> Option<&mut Sender> {
        None
    }

    /// Returns whether the flow is completely done.
    fn is_done(&self) -> bool {
        false
    }

    /// Returns whether the flow, or each one of its chain, has a size.
    fn is_sized(&self) -> bool {
        false
    }

    /// The flows that this one accompanies.
    fn while_flows(&self) -> Option<&Arc<[usize]>> {
        None
    }

    /// Starts no further connection.
    fn end_chain(&mut self) {}

    /// The bytes of a packet of the flow on its way in either direction, if the hosts keep them.
    fn payload(&self, kind: &Kind) -> Option<Box<[u8]>> {
        let _ = kind;
        None
    }

    /// A packet of the flow was dropped in either direction.
    fn forget(&self, kind: &Kind) {
        let _ = kind;
    }
}

/// A host that receives the data of a flow.
pub(crate) trait ReceivingSide: Host {
    /// Payload received over all connections, each byte once.
    fn bytes(&self) -> u64;
}
