//! Counts each flow's packets in the network, and checks that none vanishes.

use narrows_base::{Bytes, FlowId, Packet, prefetch};
use narrows_tcp::Segment;

/// One flow's packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowAccount {
    /// IP bytes of data that left the last link of their route.
    pub(crate) wire: Bytes,
    /// Data packets that left it.
    pub(crate) forwarded: u64,
    /// Data packets dropped or lost on the path.
    pub(crate) dropped: u64,
}

/// All packets of a run.
#[derive(Debug)]
pub(crate) struct Accounts {
    pub(crate) flows: Vec<FlowAccount>,
    /// Packets that hosts sent.
    pub(crate) entered: u64,
    /// Packets that reached a host.
    pub(crate) delivered: u64,
    dropped: u64,
    losses: Losses,
}

/// Data packets that elements of the path dropped since the warm-up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Losses {
    /// By the element's number.
    elements: Vec<u64>,
    /// Data packets lost behind the path's last link.
    path: u64,
}

impl Accounts {
    pub(crate) fn new(flows: usize, elements: usize) -> Self {
        let flows = vec![FlowAccount::default(); flows];
        let losses = Losses { elements: vec![0; elements], path: 0 };
        Self { flows, entered: 0, delivered: 0, dropped: 0, losses }
    }

    /// Begins to load the account of a flow.
    pub(crate) fn prefetch(&self, flow: FlowId) {
        prefetch(&self.flows[flow.index()]);
    }

    #[inline]
    pub(crate) fn count_forwarded(&mut self, packet: &Packet<Segment>, data_packets: u64) {
        let account = &mut self.flows[packet.flow.index()];
        account.wire += packet.bytes();
        account.forwarded += data_packets;
    }

    /// Counts a packet that an element dropped, or the path behind its last link. Flows and elements
    /// count data packets alone, as senders do.
    pub(crate) fn count_dropped(&mut self, packet: &Packet<Segment>, element: Option<usize>) {
        let data_packets = packet.body.data_packets();
        self.flows[packet.flow.index()].dropped += data_packets;
        self.dropped += 1;
        let losses = &mut self.losses;
        *element.map_or(&mut losses.path, |id| &mut losses.elements[id]) += data_packets;
    }

    /// Ends the warm-up: earlier drops of elements don't count.
    pub(crate) fn begin_losses(&mut self) {
        self.losses.elements.fill(0);
        self.losses.path = 0;
    }

    /// Data packets that the element has dropped since the warm-up.
    pub(crate) fn dropped_by(&self, element: usize) -> u64 {
        self.losses.elements[element]
    }

    /// Data packets lost behind the path's last link since the warm-up.
    pub(crate) fn lost_by_path(&self) -> u64 {
        self.losses.path
    }

    /// Data packets that left the bottleneck, of all flows.
    pub(crate) fn data_packets(&self) -> u64 {
        self.flows.iter().map(|flow| flow.forwarded).sum()
    }

    /// Checks that every packet that a host sent or an element made has arrived, was dropped or is
    /// still in flight.
    ///
    /// # Panics
    /// If not, since the run's results can't be trusted.
    pub(crate) fn assert_conserved(&self, made: u64, held: u64) {
        assert_eq!(
            self.entered + made,
            self.delivered + self.dropped + held,
            "packets sent + copies ({made}) = arrived ({}) + dropped ({}) + in the network ({held})",
            self.delivered,
            self.dropped,
        );
    }
}
