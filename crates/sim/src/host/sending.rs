//! The sending side of a flow.

use std::ops::{Deref, DerefMut};

use narrows_base::{Duration, Packet, Time};
use narrows_spec::law::Draws;
use narrows_spec::player::Player;
use narrows_spec::scenario::Workload;
use narrows_tcp::{Kind, Segment};

use super::app::App;
use super::chain::Chain;
use super::contract::{Host, HostOutput, SendingSide};
use super::open_loop::OpenLoopSender;
use super::session::Session;
use super::web::Web;

/// The sending side of a flow. A chain, the most frequent kind, is stored in place, any other kind
/// in a box. Calls for every packet of a chain are inlined into the event loop; all others go
/// through [`SendingSide`].
#[repr(u8)] // for the same reason as `Node`
pub(crate) enum SendingHost {
    /// One connection, or several in a row.
    Chain(Chain),
    Other(Box<dyn SendingSide + Send>),
}

impl SendingHost {
    /// The host for a flow with this plan and workload; `draws` makes the random
    /// stream of each quantity.
    pub(crate) fn new(chain: Chain, workload: Option<&Workload>, draws: Draws) -> Self {
        let Some(workload) = workload else { return Self::Chain(chain) };
        match workload {
            Workload::Arrivals { gap_ns, size_bytes } => {
                let (gap, size) = (draws.of(gap_ns, "gap"), draws.of(size_bytes, "size"));
                Self::other(OpenLoopSender::new(chain, gap, size))
            }
            Workload::OnOff { on_ns, first_ns, off_ns } => {
                let (on, off) = (draws.of(on_ns, "on"), draws.of(off_ns, "off"));
                Self::other(Session::new(chain, App::on_off(on, *first_ns, off)))
            }
            Workload::Requests { think_ns, size_bytes } => {
                let (think, size) = (draws.of(think_ns, "think"), draws.of(size_bytes, "size"));
                Self::other(Session::new(chain, App::requests(think, size)))
            }
            Workload::Video { bitrate_bps, chunk_ns, start_ns, buffer_ns } => {
                let player = Player::of(vec![*bitrate_bps], *chunk_ns, *start_ns, *buffer_ns);
                Self::other(Session::new(chain, App::Video(player)))
            }
            Workload::AdaptiveVideo { bitrates_bps, chunk_ns, start_ns, buffer_ns } => {
                let player = Player::of(bitrates_bps.clone(), *chunk_ns, *start_ns, *buffer_ns);
                Self::other(Session::new(chain, App::Video(player)))
            }
            Workload::Web { .. } => Self::other(Web::new(chain, workload, draws)),
            Workload::Udp { .. } | Workload::Ping { .. } | Workload::Media(_) => {
                unreachable!("datagrams have a source instead of a connection")
            }
        }
    }

    /// A host of a kind other than a chain.
    pub(crate) fn other(host: impl SendingSide + Send + 'static) -> Self {
        Self::Other(Box::new(host))
    }

    #[inline]
    pub(crate) fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        match self {
            Self::Chain(chain) => chain.receive(packet, now),
            Self::Other(host) => host.receive(packet, now),
        }
    }

    #[inline]
    pub(crate) fn advance(&mut self, now: Time, out: &mut HostOutput) -> Time {
        match self {
            Self::Chain(chain) => chain.advance(now, out),
            Self::Other(host) => host.advance(now, out),
        }
    }

    /// Begins to load the connection that the next packet belongs to, if there is only one.
    pub(crate) fn prefetch(&self) {
        if let Self::Chain(chain) = self {
            chain.prefetch();
        }
    }

    /// Begins to load the data that the connection points to, for the next segment, or a timer.
    pub(crate) fn prefetch_further(&self, next: Option<&Kind>) {
        if let Self::Chain(chain) = self {
            chain.prefetch_further(next);
        }
    }

    #[inline]
    pub(crate) fn take_rtt(&mut self) -> Option<Duration> {
        match self {
            Self::Chain(chain) => chain.take_rtt(),
            Self::Other(host) => host.take_rtt(),
        }
    }
}

impl Deref for SendingHost {
    type Target = dyn SendingSide + Send;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Chain(chain) => chain,
            Self::Other(host) => &**host,
        }
    }
}

impl DerefMut for SendingHost {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Chain(chain) => chain,
            Self::Other(host) => &mut **host,
        }
    }
}
