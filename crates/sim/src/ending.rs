//! Conditions that end a run early, and flows that end with others.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::host::SendingHost;

/// The condition for an early end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StopWhen {
    Never,
    /// Every flow that has a size is done.
    AllSizedDone,
    /// All of these flows are done.
    Done(Arc<[usize]>),
}

/// Flows, and others that run only as long as one of them does.
#[derive(Debug)]
struct Group {
    /// The number that aren't done.
    unfinished: usize,
    companions: Vec<usize>,
}

/// The state of the condition.
#[derive(Debug)]
pub(crate) struct Ending {
    stops: bool,
    /// True for each flow that keeps the run going.
    awaited: Vec<bool>,
    /// The number of such flows.
    unfinished: usize,
    groups: Vec<Group>,
    /// The groups that each flow belongs to, until it is done.
    memberships: Vec<Vec<usize>>,
    is_over: bool,
}

impl Ending {
    pub(crate) fn new<'a>(
        when: &StopWhen,
        hosts: impl ExactSizeIterator<Item = &'a SendingHost>,
    ) -> Self {
        let mut memberships = vec![Vec::new(); hosts.len()];
        let mut awaited = vec![false; hosts.len()];
        let mut groups: Vec<Group> = Vec::new();
        let mut known: BTreeMap<&[usize], usize> = BTreeMap::new();
        for (flow, host) in hosts.enumerate() {
            awaited[flow] = match when {
                StopWhen::Never => false,
                StopWhen::AllSizedDone => host.is_sized(),
                StopWhen::Done(flows) => flows.binary_search(&flow).is_ok(),
            };
            let Some(others) = host.while_flows() else { continue };
            let group = *known.entry(others).or_insert_with(|| {
                others.iter().for_each(|&other| memberships[other].push(groups.len()));
                groups.push(Group { unfinished: others.len(), companions: Vec::new() });
                groups.len() - 1
            });
            groups[group].companions.push(flow);
        }
        let unfinished = awaited.iter().filter(|&&awaited| awaited).count();
        let stops = *when != StopWhen::Never;
        Self { stops, awaited, unfinished, groups, memberships, is_over: false }
    }

    /// Notes that a flow is completely done. Gives the flows that end with it.
    pub(crate) fn is_done(&mut self, flow: usize) -> Vec<usize> {
        if std::mem::take(&mut self.awaited[flow]) {
            self.unfinished -= 1;
        }
        self.is_over |= self.stops && self.unfinished == 0;
        let mut companions = Vec::new();
        for group in std::mem::take(&mut self.memberships[flow]) {
            let group = &mut self.groups[group];
            group.unfinished -= 1;
            if group.unfinished == 0 {
                companions.append(&mut group.companions);
            }
        }
        companions
    }

    /// Ends the run, even if flows aren't done.
    pub(crate) const fn end_now(&mut self) {
        self.is_over = true;
    }

    /// Returns `true` if the run is over.
    #[inline]
    pub(crate) const fn is_over(&self) -> bool {
        self.is_over
    }
}
