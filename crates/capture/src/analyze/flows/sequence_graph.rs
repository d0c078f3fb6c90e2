//! The data of time-sequence graphs.

/// The most points of one flow, and of all; beyond that, every other one of a kind is dropped.
const MOST_OF_FLOW: usize = 30_000;
const MOST: usize = 600_000;
/// Flows with fewer points than this keep them all.
const FEW: usize = 32;

/// The kind of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// Data sent for the first time.
    Data,
    /// Data retransmitted.
    Again,
    /// Data that came late.
    OutOfOrder,
    /// Everything below was acknowledged.
    Ack,
    /// The end of the receiver's window.
    Window,
    /// Selectively acknowledged.
    Sack,
}

impl MarkKind {
    /// The name in the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Again => "retransmission",
            Self::OutOfOrder => "out_of_order",
            Self::Ack => "ack",
            Self::Window => "window",
            Self::Sack => "sack",
        }
    }
}

/// A range of numbers at an instant; numbers count from the flow's first byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GraphPoint {
    pub(crate) time: u64,
    pub(crate) flow: u32,
    pub(crate) kind: MarkKind,
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

#[derive(Clone, Debug, Default)]
struct FlowPoints {
    points: Vec<GraphPoint>,
    /// One in this many points is kept, for data, acknowledgements and windows.
    every: [u32; 6],
    seen: [u32; 6],
}

impl FlowPoints {
    fn thin(&mut self) {
        let mut seen = [0u32; 6];
        for every in &mut self.every {
            *every = (*every).max(1).saturating_mul(2);
        }
        self.points.retain(|point| {
            seen[point.kind as usize] += 1;
            seen[point.kind as usize] % 2 == 1
        });
    }
}

/// The points of every flow.
#[derive(Clone, Debug)]
pub(crate) struct SequenceGraph {
    flows: Vec<FlowPoints>,
    total: usize,
    most_of_flow: usize,
}

impl Default for SequenceGraph {
    fn default() -> Self {
        Self { flows: Vec::new(), total: 0, most_of_flow: MOST_OF_FLOW }
    }
}

impl SequenceGraph {
    pub(crate) fn add(&mut self, point: GraphPoint) {
        let index = point.flow as usize;
        if index >= self.flows.len() {
            self.flows.resize_with(index + 1, FlowPoints::default);
        }
        let lines = &mut self.flows[index];
        let kind = point.kind as usize;
        lines.seen[kind] = lines.seen[kind].wrapping_add(1);
        if !lines.seen[kind].is_multiple_of(lines.every[kind].max(1)) {
            return;
        }
        if self.total >= MOST && self.most_of_flow <= FEW {
            lines.every[kind] = 2;
            return;
        }
        lines.points.push(point);
        self.total += 1;
        if lines.points.len() > self.most_of_flow {
            self.total -= lines.points.len();
            lines.thin();
            self.total += lines.points.len();
        }
        if self.total > MOST {
            self.most_of_flow = (self.most_of_flow / 2).max(FEW);
            let few = self.most_of_flow;
            self.flows
                .iter_mut()
                .filter(|lines| lines.points.len() > few)
                .for_each(FlowPoints::thin);
            self.total = self.flows.iter().map(|lines| lines.points.len()).sum();
        }
    }

    /// The points of a flow, and whether there were more.
    pub(crate) fn of(&self, flow: u32) -> (&[GraphPoint], bool) {
        self.flows.get(flow as usize).map_or((&[], false), |lines| {
            (&lines.points, lines.every.iter().any(|&every| every > 1))
        })
    }
}
