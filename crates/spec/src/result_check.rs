//! Checks of results, and the rule for enough trials.

use crate::canonical;
use crate::document::Node;
use crate::keys::{TAKES_OF_CONDITIONS, TAKES_OF_NUMBERS};
use crate::place::Place;
use crate::problem::{Problem, ProblemKind};
use crate::read::Values;

/// A bound on a metric or a series, within which the mean over all trials has to lie.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultCheck {
    /// A column of the table `summary`, if it isn't about a series.
    pub metric: Option<String>,
    /// The number taken from a series.
    pub taken: Option<SeriesNumber>,
    /// The mean may not be lower.
    pub at_least: Option<f64>,
    /// The mean may not be higher.
    pub at_most: Option<f64>,
    /// Only where these places have these values; a list means any.
    pub wheres: Vec<(Place, Node)>,
}

/// A number that is taken from a series within a period.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesNumber {
    /// The series, and what may be asked about it.
    pub condition: Condition,
    /// The way it is taken: a word of [`TAKES_OF_NUMBERS`] or [`TAKES_OF_CONDITIONS`].
    pub take: String,
    /// How the values of a class's flows become one.
    pub over: Option<String>,
    /// The length of the windows over which the series is averaged.
    pub window_ns: Option<u64>,
    /// Begin of the period; the warm-up if none.
    pub from_ns: Option<u64>,
    /// End of the period.
    pub to_ns: Option<u64>,
    /// The period begins once this has happened.
    pub after: Option<Condition>,
    /// The period ends once this happens.
    pub until: Option<Condition>,
    /// The period lasts at most this long.
    pub lasting_ns: Option<u64>,
    /// The period lasts at most this many two-way delays of the path.
    pub lasting_rtts: Option<f64>,
    /// Samples at which this doesn't hold are left out.
    pub holding: Option<Condition>,
}

/// A condition on the samples of a series; without `is`, `above` and `below` it is a series only.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The class, flow or link and the column or internal.
    pub series: String,
    /// It has one of these values.
    pub is: Option<Vec<String>>,
    /// It is higher.
    pub above: Option<f64>,
    /// It is lower.
    pub below: Option<f64>,
    /// The occurrence that counts, from 1.
    pub nth: u64,
}

/// Trials continue until half of the 95 % interval of a metric's mean is within a bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Until {
    /// A column of the table `summary`.
    pub metric: String,
    /// The bound, in the metric's own unit or as a fraction of the mean.
    pub within: f64,
    /// True if `within` is a fraction of the mean.
    pub relative: bool,
    /// There are at most this many.
    pub max_trials: u64,
}

/// A relation between keys that doesn't hold: the key, if it is one, what was found, a remedy.
type BrokenRelation = (&'static str, String, String);

/// Keys that say more about a series.
const OF_SERIES: &[&str] = &[
    "take",
    "over",
    "is",
    "above",
    "below",
    "window",
    "from",
    "to",
    "after",
    "until",
    "lasting",
    "lasting_rtts",
    "while",
];

impl ResultCheck {
    /// The check, and its problem if it has one.
    pub(crate) fn new(values: &Values, place: &Place, samples: bool) -> (Self, Option<Problem>) {
        let check = Self {
            metric: values.some_text("metric"),
            taken: values.some_text("series").map(|series| SeriesNumber::new(values, series)),
            at_least: values.some_number("at_least"),
            at_most: values.some_number("at_most"),
            wheres: values.wheres("where"),
        };
        let problem = check.wrong(values, samples).map(|(key, found, remedy)| {
            let here = if key.is_empty() { place.clone() } else { place.key(key) };
            Problem::new(ProblemKind::Relation, here, found, remedy)
        });
        (check, problem)
    }

    fn wrong(&self, values: &Values, samples: bool) -> Option<BrokenRelation> {
        let subject = match (&self.metric, &self.taken) {
            (None, None) => Some(("", "no metric".into(), "`metric` or `series`".into())),
            (Some(_), Some(_)) => {
                let found = "a metric and a series".into();
                Some(("series", found, "one of the two".into()))
            }
            (Some(_), None) => {
                let more = OF_SERIES.iter().find(|key| values.0.contains_key(**key));
                more.map(|key| (*key, "beside `metric`".into(), "it beside `series`".into()))
            }
            (None, Some(_)) if !samples => {
                let remedy = "`metric`, or run.record = \"samples\"".into();
                Some(("series", "a series of a run that records none".into(), remedy))
            }
            (None, Some(taken)) => taken.wrong(),
        };
        subject.or_else(|| bounds(self.at_least, self.at_most))
    }
}

fn bounds(low: Option<f64>, high: Option<f64>) -> Option<BrokenRelation> {
    match (low, high) {
        (None, None) => Some(("", "no bound".into(), "`at_least`, `at_most` or both".into())),
        (Some(low), Some(high)) if low > high => {
            let (low, high) = (canonical::float(low), canonical::float(high));
            let found = format!("at least {low}, at most {high}");
            Some(("", found, "`at_least` no higher than `at_most`".into()))
        }
        _ => None,
    }
}

impl SeriesNumber {
    fn new(values: &Values, series: String) -> Self {
        let table = |key| values.some_table(key).map(|inner| Condition::new(&inner));
        Self {
            condition: Condition { nth: 1, ..Condition::of(values, series) },
            take: values.some_text("take").unwrap_or_default(),
            over: values.some_text("over"),
            window_ns: values.some_whole("window"),
            from_ns: values.some_whole("from"),
            to_ns: values.some_whole("to"),
            after: table("after"),
            until: table("until"),
            lasting_ns: values.some_whole("lasting"),
            lasting_rtts: values.some_number("lasting_rtts"),
            holding: table("while"),
        }
    }

    fn wrong(&self) -> Option<BrokenRelation> {
        let asks = self.condition.asks();
        let words = |known: &[&str]| format!("one of {}", known.join(", "));
        if self.take.is_empty() {
            let known = if asks { TAKES_OF_CONDITIONS } else { TAKES_OF_NUMBERS };
            return Some(("take", "nothing".into(), words(known)));
        }
        let needs = TAKES_OF_CONDITIONS.contains(&self.take.as_str());
        if needs && !asks {
            let found = format!("\"{}\" of a series without a condition", self.take);
            return Some(("take", found, "`is`, `above` or `below`, too".into()));
        }
        if asks && !needs {
            let found = format!("\"{}\" of a condition", self.take);
            return Some(("take", found, words(TAKES_OF_CONDITIONS)));
        }
        if self.lasting_rtts.is_some_and(|rtts| rtts <= 0.0) {
            let found = canonical::float(self.lasting_rtts.unwrap_or_default());
            return Some(("lasting_rtts", found, "a number above zero".into()));
        }
        if let (Some(from), Some(to)) = (self.from_ns, self.to_ns)
            && from >= to
        {
            return Some(("to", "no later than `from`".into(), "a later time".into()));
        }
        let periods = [("after", &self.after), ("until", &self.until), ("while", &self.holding)];
        let named = periods.iter().filter_map(|(key, one)| one.as_ref().map(|one| (*key, one)));
        named.chain([("", &self.condition)]).find_map(|(key, one)| one.wrong(key))
    }
}

impl Condition {
    fn new(values: &Values) -> Self {
        let series = values.some_text("series").unwrap_or_default();
        Self { nth: values.some_whole("nth").unwrap_or(1), ..Self::of(values, series) }
    }

    fn of(values: &Values, series: String) -> Self {
        let (is, above) = (values.some_names("is"), values.some_number("above"));
        Self { series, is, above, below: values.some_number("below"), nth: 1 }
    }

    /// Returns `true` if the condition asks anything about the series.
    fn asks(&self) -> bool {
        self.is.is_some() || self.above.is_some() || self.below.is_some()
    }

    fn wrong(&self, key: &'static str) -> Option<BrokenRelation> {
        if self
            .series
            .rsplit_once('.')
            .is_none_or(|(owner, name)| owner.is_empty() || name.is_empty())
        {
            let remedy = "a class, flow or link and a column, such as \"bbr.cwnd\"";
            let key = if key.is_empty() { "series" } else { key };
            return Some((key, format!("the series \"{}\"", self.series), remedy.into()));
        }
        if !key.is_empty() && !self.asks() {
            return Some((key, "a series alone".into(), "`is`, `above` or `below`, too".into()));
        }
        if self.is.is_some() && (self.above.is_some() || self.below.is_some()) {
            return Some((key, "texts and a number".into(), "`is`, or `above` and `below`".into()));
        }
        None
    }
}

impl Until {
    pub(crate) fn new(values: &Values) -> Self {
        let (within, relative) = values.within("within");
        let (metric, max_trials) = (values.text("metric"), values.whole("max_trials"));
        Self { metric, within, relative, max_trials }
    }
}
