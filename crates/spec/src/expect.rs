//! Expectations of results, and the rule for enough trials.

use crate::canonical;
use crate::document::Node;
use crate::place::Place;
use crate::problem::{Problem, ProblemKind};
use crate::read::Values;

/// A bound on a metric: the mean over the trials of every combination must keep it.
#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    /// A column of the table `summary`.
    pub metric: String,
    /// The mean may not be lower.
    pub at_least: Option<f64>,
    /// The mean may not be higher.
    pub at_most: Option<f64>,
    /// Only where these places have these values; a list means any.
    pub wheres: Vec<(Place, Node)>,
}

/// Trials continue until half of the 95 % interval of a metric's mean is within a bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Until {
    /// A column of the table `summary`.
    pub metric: String,
    /// In the metric's own unit, or a part of the mean.
    pub within: f64,
    /// Whether it is a part of the mean.
    pub relative: bool,
    /// There are at most this many.
    pub max_trials: u64,
}

impl Expect {
    pub(crate) fn new(values: &Values) -> Self {
        Self {
            metric: values.text("metric"),
            at_least: values.some_number("at_least"),
            at_most: values.some_number("at_most"),
            wheres: values.wheres("where"),
        }
    }

    /// A problem of the expectation itself.
    pub(crate) fn problem(&self, place: &Place) -> Option<Problem> {
        let wrong = |found: String, remedy: &str| {
            Some(Problem::new(ProblemKind::Relation, place.clone(), found, remedy))
        };
        match (self.at_least, self.at_most) {
            (None, None) => wrong("no bound".into(), "`at_least`, `at_most` or both"),
            (Some(low), Some(high)) if low > high => {
                let (low, high) = (canonical::float(low), canonical::float(high));
                let found = format!("at least {low}, at most {high}");
                wrong(found, "`at_least` no higher than `at_most`")
            }
            _ => None,
        }
    }
}

impl Until {
    pub(crate) fn new(values: &Values) -> Self {
        let (within, relative) = values.within("within");
        let (metric, max_trials) = (values.text("metric"), values.whole("max_trials"));
        Self { metric, within, relative, max_trials }
    }
}
