//! The sending side of a flow.

use std::sync::Arc;

use narrows_base::{Duration, FlowId, Packet, Time};
use narrows_spec::law::Draws;
use narrows_spec::player::Player;
use narrows_spec::scenario::Workload;
use narrows_tcp::{Segment, Sender, SenderStats, SenderView};

use super::app::App;
use super::chain::Chain;
use super::completed::Completed;
use super::crowd::Crowd;
use super::datagram::Source;
use super::session::Session;
use super::stack::StackSender;
use super::web::Web;

/// The sending side of a flow. The code of sessions and crowds is never inlined: a chain is the
/// usual host, and the event loop around it stays small.
#[expect(clippy::large_enum_variant, reason = "a chain is the busiest: no pointer to it")]
#[repr(u8)] // as of `Node`
pub(crate) enum SendingHost {
    /// One connection, or one after another.
    Chain(Chain),
    /// One connection with pauses.
    Session(Box<Session>),
    /// Connections side by side.
    Crowd(Box<Crowd>),
    /// Web pages, each over connections of its own.
    Web(Box<Web>),
    /// Datagrams without a connection.
    Source(Box<Source>),
    /// A transport stack of another project, or real-time media.
    Stack(Box<StackSender>),
}

impl SendingHost {
    /// The host for a flow with this plan and workload; `draws` makes the random
    /// stream of one of its quantities.
    pub(crate) fn new(chain: Chain, workload: Option<&Workload>, draws: Draws) -> Self {
        let Some(workload) = workload else { return Self::Chain(chain) };
        match workload {
            Workload::Arrivals { gap_ns, size_bytes } => {
                let (gap, size) = (draws.of(gap_ns, "gap"), draws.of(size_bytes, "size"));
                Self::Crowd(Box::new(Crowd::new(chain, gap, size)))
            }
            Workload::OnOff { on_ns, first_ns, off_ns } => {
                let (on, off) = (draws.of(on_ns, "on"), draws.of(off_ns, "off"));
                Self::Session(Box::new(Session::new(chain, App::on_off(on, *first_ns, off))))
            }
            Workload::Requests { think_ns, size_bytes } => {
                let (think, size) = (draws.of(think_ns, "think"), draws.of(size_bytes, "size"));
                Self::Session(Box::new(Session::new(chain, App::requests(think, size))))
            }
            Workload::Video { bitrate_bps, chunk_ns, start_ns, buffer_ns } => {
                let player = Player::of(vec![*bitrate_bps], *chunk_ns, *start_ns, *buffer_ns);
                Self::Session(Box::new(Session::new(chain, App::Video(player))))
            }
            Workload::AdaptiveVideo { bitrates_bps, chunk_ns, start_ns, buffer_ns } => {
                let player = Player::of(bitrates_bps.clone(), *chunk_ns, *start_ns, *buffer_ns);
                Self::Session(Box::new(Session::new(chain, App::Video(player))))
            }
            Workload::Web { .. } => Self::Web(Box::new(Web::new(chain, workload, draws))),
            Workload::Udp { .. } | Workload::Ping { .. } | Workload::Media(_) => {
                unreachable!("datagrams have a source instead of a connection")
            }
        }
    }

    #[inline]
    pub(crate) fn flow(&self) -> FlowId {
        match self {
            Self::Chain(chain) => chain.flow(),
            Self::Session(session) => session.flow(),
            Self::Crowd(crowd) => crowd.flow(),
            Self::Web(web) => web.flow(),
            Self::Source(source) => source.flow(),
            Self::Stack(stack) => stack.flow(),
        }
    }

    #[inline]
    pub(crate) fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        match self {
            Self::Chain(chain) => chain.receive(packet, now),
            Self::Session(session) => session.receive(packet, now),
            Self::Crowd(crowd) => crowd.receive(packet, now),
            Self::Web(web) => web.receive(packet, now),
            Self::Source(source) => source.receive(packet, now),
            Self::Stack(stack) => stack.receive(packet, now),
        }
    }

    #[inline(always)]
    pub(crate) fn poll(&mut self, now: Time) -> Option<Packet<Segment>> {
        // As in `take_completed`.
        if let Self::Chain(chain) = self {
            return chain.poll(now);
        }
        self.poll_others(now)
    }

    /// All packets to send at `now`; if there are any, their room must be given back with
    /// [`Self::reuse`]. `None` if they must be polled one by one.
    #[inline(always)]
    pub(crate) fn take_burst(&mut self, now: Time) -> Option<Vec<Packet<Segment>>> {
        match self {
            Self::Chain(chain) => chain.take_burst(now),
            _ => None,
        }
    }

    /// Takes back the room of a burst, which has left.
    #[inline(always)]
    pub(crate) fn reuse(&mut self, room: Vec<Packet<Segment>>) {
        if let Self::Chain(chain) = self
            && let Some(sender) = chain.sender_mut()
        {
            sender.reuse(room);
        }
    }

    #[inline(never)]
    fn poll_others(&mut self, now: Time) -> Option<Packet<Segment>> {
        match self {
            Self::Chain(chain) => chain.poll(now),
            Self::Session(session) => session.poll(now),
            Self::Crowd(crowd) => crowd.poll(now),
            Self::Web(web) => web.poll(now),
            Self::Source(source) => source.poll(now),
            Self::Stack(stack) => stack.poll(now),
        }
    }

    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        match self {
            Self::Chain(chain) => chain.next_deadline(),
            Self::Session(session) => session.next_deadline(),
            Self::Crowd(crowd) => crowd.next_deadline(),
            Self::Web(web) => web.next_deadline(),
            Self::Source(source) => source.next_deadline(),
            Self::Stack(stack) => stack.end().next_deadline(),
        }
    }

    /// An instant after `now`, once everything due is done, and not after the next deadline, which
    /// is cheaper to compute.
    #[inline]
    pub(crate) fn deadline_bound(&self, now: Time) -> Option<Time> {
        match self {
            Self::Chain(chain) => chain.deadline_bound(now),
            Self::Session(session) => session.next_deadline(),
            Self::Crowd(crowd) => crowd.next_deadline(),
            Self::Web(web) => web.next_deadline(),
            Self::Source(source) => source.next_deadline(),
            Self::Stack(stack) => stack.end().next_deadline(),
        }
    }

    /// Whether a burst waited for this instant or an earlier one, so that the host is certainly due.
    #[inline]
    pub(crate) fn is_paced(&self, now: Time) -> bool {
        match self {
            Self::Chain(chain) => chain.sender().is_some_and(|sender| sender.is_paced(now)),
            _ => false,
        }
    }

    /// An instant before which nothing happens by itself, or [`Time::MAX`]; `None` unless a glance
    /// shows that nothing is due at `now`, and that there is no completion to take.
    #[inline(always)]
    pub(crate) fn rests_until(&self, now: Time) -> Option<Time> {
        match self {
            Self::Chain(chain) => chain.rests_until(now),
            _ => None,
        }
    }

    /// Takes completed transfers one at a time, and plans the next.
    #[inline]
    pub(crate) fn take_completed(&mut self) -> Option<Completed> {
        // The usual kind first, small enough to be compiled into the engine's loop.
        if let Self::Chain(chain) = self {
            return chain.take_completed();
        }
        self.take_completed_of_others()
    }

    #[inline(never)]
    fn take_completed_of_others(&mut self) -> Option<Completed> {
        match self {
            Self::Chain(chain) => chain.take_completed(),
            Self::Session(session) => session.take_completed(),
            Self::Crowd(crowd) => crowd.take_completed(),
            Self::Web(web) => web.take_completed(),
            Self::Source(_) => None,
            Self::Stack(stack) => stack.take_completed(),
        }
    }

    /// The connection, if there is only one.
    #[inline]
    pub(crate) fn sender_mut(&mut self) -> Option<&mut Sender> {
        match self {
            Self::Chain(chain) => chain.sender_mut(),
            Self::Session(session) => session.sender_mut(),
            Self::Crowd(_) | Self::Web(_) | Self::Source(_) | Self::Stack(_) => None,
        }
    }

    /// Takes the RTT sample of the last segment, if it gave one.
    #[inline]
    pub(crate) fn take_rtt(&mut self) -> Option<Duration> {
        match self {
            Self::Crowd(crowd) => crowd.take_rtt(),
            Self::Web(web) => web.take_rtt(),
            Self::Source(source) => source.take_rtt(),
            Self::Stack(stack) => stack.end_mut().take_rtt(),
            host => host.sender_mut().and_then(Sender::take_rtt),
        }
    }

    /// The visible state of the connection; for a crowd, that of the youngest one, with window and
    /// packets in flight of all.
    pub(crate) fn view(&self) -> Option<SenderView> {
        match self {
            Self::Chain(chain) => chain.sender().and_then(Sender::view),
            Self::Session(session) => session.sender().and_then(Sender::view),
            Self::Crowd(crowd) => crowd.view(),
            Self::Web(web) => web.view(),
            Self::Source(source) => source.view(),
            Self::Stack(stack) => stack.end().view(),
        }
    }

    /// Shows the named internals of control and workload at `now`.
    pub(crate) fn inspect(&self, now: Time, visit: &mut dyn FnMut(&'static str, f64)) {
        match self {
            Self::Chain(chain) => {
                if let Some(sender) = chain.sender() {
                    sender.inspect(visit);
                }
            }
            Self::Session(session) => session.inspect(now, visit),
            Self::Crowd(crowd) => crowd.inspect(now, visit),
            Self::Web(web) => web.inspect(now, visit),
            Self::Source(_) => {}
            Self::Stack(stack) => stack.end().inspect(visit),
        }
    }

    /// Counters over all connections.
    pub(crate) fn stats(&self) -> SenderStats {
        match self {
            Self::Chain(chain) => chain.stats(),
            Self::Session(session) => session.stats(),
            Self::Crowd(crowd) => crowd.stats(),
            Self::Web(web) => web.stats(),
            Self::Source(source) => source.stats(),
            Self::Stack(stack) => stack.end().stats(),
        }
    }

    /// Whether the flow is completely done.
    pub(crate) fn is_done(&self) -> bool {
        match self {
            Self::Chain(chain) => chain.is_done(),
            Self::Stack(stack) => stack.is_done(),
            _ => false,
        }
    }

    /// Whether the flow, or each one of its chain, has a size.
    pub(crate) fn is_sized(&self) -> bool {
        match self {
            Self::Chain(chain) => chain.is_sized(),
            Self::Stack(stack) => stack.is_sized(),
            _ => false,
        }
    }

    /// The flows that this one accompanies.
    pub(crate) fn while_flows(&self) -> Option<&Arc<[usize]>> {
        match self {
            Self::Chain(chain) => chain.while_flows(),
            _ => None,
        }
    }

    /// Stops at `now`: the application writes no more.
    pub(crate) fn stop(&mut self, now: Time) {
        match self {
            Self::Chain(chain) => chain.stop_at(now),
            Self::Session(session) => session.stop_at(now),
            Self::Crowd(crowd) => crowd.stop_at(now),
            Self::Web(web) => web.stop_at(now),
            Self::Source(source) => source.stop_at(now),
            Self::Stack(stack) => stack.end_mut().stop_at(now),
        }
    }

    /// Its stack of another project, if it has one.
    pub(crate) fn stack(&self) -> Option<&StackSender> {
        match self {
            Self::Stack(stack) => Some(stack),
            _ => None,
        }
    }

    /// Starts no further connection.
    pub(crate) fn end_chain(&mut self) {
        if let Self::Chain(chain) = self {
            chain.end_chain();
        }
    }
}
