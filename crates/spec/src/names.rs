//! The names of flows and of groups of flows.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::scenario::Flow;

/// The flows of a scenario by name.
///
/// A name means the flow that has it or, where none does, the flows of an entry of that name with
/// a `count`: `large` means `large-1`, `large-2` and so on.
#[derive(Debug)]
pub struct Names<'a> {
    alone: BTreeMap<&'a str, Arc<[usize]>>,
    together: BTreeMap<&'a str, Arc<[usize]>>,
}

impl<'a> Names<'a> {
    /// Collects these flows; their numbers are their places.
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
    pub fn flow_numbers(&self, name: &str) -> Option<&Arc<[usize]>> {
        self.alone.get(name).or_else(|| self.together.get(name))
    }
}

/// The common part of names such as `large-2`: `large`; none if the name has another form.
fn stem(name: &str) -> Option<&str> {
    let (stem, number) = name.rsplit_once('-')?;
    let counts = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
    (counts && !number.is_empty() && !stem.is_empty()).then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn a_number_at_the_end_is_one_of_several() {
        assert_eq!(stem("large-12"), Some("large"));
        assert_eq!(stem("web-server-2"), Some("web-server"));
        for name in ["large", "large-", "large-x2", "-2", "large-02", "large-0"] {
            assert_eq!(stem(name), None, "{name}");
        }
    }
}
