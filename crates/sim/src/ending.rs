//! What ends a run before its time, and which flows end with another one.

use crate::host::SendingHost;

/// What ends a run before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopWhen {
    Never,
    /// Every flow that has a size is done.
    AllSizedDone,
    /// This flow is done.
    Done(usize),
}

/// How near the end is.
#[derive(Debug)]
pub(crate) struct Ending {
    when: StopWhen,
    /// Whether each flow keeps the run going.
    awaited: Vec<bool>,
    /// How many do.
    left: usize,
    /// The flows that run beside each one, only as long as it does.
    companions: Vec<Vec<usize>>,
    come: bool,
}

impl Ending {
    pub(crate) fn new<'a>(
        when: StopWhen,
        hosts: impl ExactSizeIterator<Item = &'a SendingHost>,
    ) -> Self {
        let mut companions = vec![Vec::new(); hosts.len()];
        let mut awaited = vec![false; hosts.len()];
        for (flow, host) in hosts.enumerate() {
            awaited[flow] = match when {
                StopWhen::Never => false,
                StopWhen::AllSizedDone => host.is_sized(),
                StopWhen::Done(one) => flow == one,
            };
            if let Some(other) = host.while_flow() {
                companions[other].push(flow);
            }
        }
        let left = awaited.iter().filter(|&&awaited| awaited).count();
        Self { when, awaited, left, companions, come: false }
    }

    /// A flow has done all that it will ever do.
    pub(crate) fn is_done(&mut self, flow: usize) {
        if std::mem::take(&mut self.awaited[flow]) {
            self.left -= 1;
        }
        self.come |= self.left == 0 && self.when != StopWhen::Never;
    }

    /// Takes the flows that end with this one.
    pub(crate) fn companions(&mut self, flow: usize) -> Vec<usize> {
        std::mem::take(&mut self.companions[flow])
    }

    /// Whether the run is over.
    #[inline]
    pub(crate) const fn has_come(&self) -> bool {
        self.come
    }
}
