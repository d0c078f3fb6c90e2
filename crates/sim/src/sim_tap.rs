//! Who looks into a run.

use narrows_base::Packet;
use narrows_record::Tap;
use narrows_tcp::{Segment, SenderView};

/// What can look into a run of the simulator: the packets with their segments, the
/// senders as `ss` and `tcp_probe` show them.
pub trait SimTap: Tap<Packet<Segment>, SenderView> {}

impl<T: Tap<Packet<Segment>, SenderView>> SimTap for T {}
