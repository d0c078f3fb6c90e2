//! The tap of a simulated run.

use narrows_base::Packet;
use narrows_record::Tap;
use narrows_tcp::{Segment, SenderView};

/// A tap of the simulator, which sees packets with their segments, and senders as `ss` and
/// `tcp_probe` show them.
pub trait SimTap: Tap<Packet<Segment>, SenderView> {}

impl<T: Tap<Packet<Segment>, SenderView>> SimTap for T {}
