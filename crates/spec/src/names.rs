//! What flows are called, alone and together.

use std::collections::BTreeMap;
use std::sync::Arc;

use narrows_base::stem;

use crate::scenario::Flow;

/// The flows of a scenario by what they are called.
///
/// A name means the flow that has it or, where none does, the flows of an entry of that name with
/// a `count`: `large` means `large-1`, `large-2` and so on.
#[derive(Debug)]
pub struct Names<'a> {
    alone: BTreeMap<&'a str, Arc<[usize]>>,
    together: BTreeMap<&'a str, Arc<[usize]>>,
}

impl<'a> Names<'a> {
    /// Of these flows, whose numbers are their places.
    #[must_use]
    pub fn of(flows: &'a [Flow]) -> Self {
        let mut alone = BTreeMap::new();
        let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, flow) in flows.iter().enumerate() {
            alone.entry(flow.name.as_str()).or_insert_with(|| Arc::from([index]));
            if let Some(stem) = stem(&flow.name) {
                members.entry(stem).or_default().push(index);
            }
        }
        let together = members.into_iter().map(|(stem, flows)| (stem, flows.into())).collect();
        Self { alone, together }
    }

    /// The numbers of the flows that a name means, ascending; none if there is no such flow.
    #[must_use]
    pub fn called(&self, name: &str) -> Option<&Arc<[usize]>> {
        self.alone.get(name).or_else(|| self.together.get(name))
    }
}
