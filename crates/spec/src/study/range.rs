//! Ranges of values: `{from = "1mbit", to = "1gbit", count = 7, scale = "log"}`.
//!
//! The ends are exact, and so are the values of a `step`. Values between the ends of a `count` and
//! random values are rounded to four significant digits, so that values read well and don't depend
//! on a platform's logarithm.
#![expect(clippy::disallowed_methods, reason = "what the power gives is rounded to four digits")]

use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

use crate::canonical;
use crate::document::{Node, Table, Value};
use crate::exact::{self, Exact};
use crate::limits::MAX_VALUES;
use crate::place::Place;
use crate::problem::{Position, Problem};
use crate::text::one_of;
use crate::units::{Quantity, Size, SizeUnit, format_duration, format_rate, parse_quantity};

const KEYS: [&str; 5] = ["from", "to", "step", "count", "scale"];
const DIGITS: i64 = 4;
const EXAMPLES: &str = "a quantity such as \"10mbit\", \"25ms\" or \"1.75bdp\"";

/// The kind of quantity of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Whole,
    Number,
    Rate,
    Duration,
    Size(SizeUnit),
}

impl Measure {
    fn words(self) -> &'static str {
        match self {
            Self::Whole | Self::Number => "a number",
            Self::Rate => "a rate",
            Self::Duration => "a duration",
            Self::Size(SizeUnit::Bytes) => "a size in bytes",
            Self::Size(SizeUnit::Packets) => "a size in packets",
            Self::Size(SizeUnit::Bdp) => "a size in BDP",
        }
    }

    fn is_whole(self) -> bool {
        !matches!(self, Self::Number | Self::Size(SizeUnit::Bdp))
    }

    /// A number as written in a specification.
    fn spell(self, value: &Exact) -> Value {
        match self {
            Self::Whole => Value::Whole(i128::try_from(value.to_integer()).unwrap_or(i128::MAX)),
            Self::Number => Value::Float(exact::to_f64(value)),
            Self::Rate => Value::Text(format_rate(exact::floor(value))),
            Self::Duration => Value::Text(format_duration(exact::floor(value))),
            Self::Size(unit) => Value::Text(Size { amount: value.clone(), unit }.spell()),
        }
    }
}

/// From `low` to `high` in steps or in `count` values; with neither, values are drawn from it.
#[derive(Clone, Debug)]
pub(super) struct Range {
    low: Exact,
    high: Exact,
    measure: Measure,
    step: Option<Exact>,
    count: Option<u64>,
    log: bool,
    at: Option<Position>,
}

/// Returns `true` if a value of a specification is a range.
pub(super) fn is_range(node: &Node) -> bool {
    node.table().is_some_and(|table| table.has("from"))
}

impl Range {
    /// Reads a range.
    pub(super) fn read(node: &Node, place: &Place) -> Result<Self, Vec<Problem>> {
        let empty = Table::default();
        let table = node.table().unwrap_or(&empty);
        let problems = shape(table, place);
        if !problems.is_empty() {
            return Err(problems);
        }
        let ends =
            ["from", "to", "step"].map(|key| table.get(key).map(|node| (key, quantity(node))));
        let wrong_ends = ends.iter().flatten().filter_map(|(key, end)| {
            let (found, remedy) = end.as_ref().err()?;
            Some(Problem::value(&place.key(key), found, remedy))
        });
        let wrong_ends: Vec<Problem> = wrong_ends.collect();
        if !wrong_ends.is_empty() {
            return Err(wrong_ends);
        }
        let [from, to, step] = ends.map(|end| end.and_then(|(_, end)| end.ok()));
        let (from, to) = (from.expect("it has a beginning"), to.expect("it has an end"));
        let log = table.get("scale").and_then(Node::as_text) == Some("log");
        let measure = match (from.1, to.1) {
            (Measure::Whole, Measure::Number) => to.1,
            _ => from.1,
        };
        let range = Self {
            low: from.0.clone(),
            high: to.0.clone(),
            measure,
            step: step.as_ref().map(|step| step.0.clone()),
            count: table.get("count").and_then(Node::as_whole),
            log,
            at: node.at,
        };
        let all = [Some(("from", from)), Some(("to", to)), step.map(|step| ("step", step))];
        let problems = range.relations(table, all.into_iter().flatten(), place);
        if problems.is_empty() { Ok(range) } else { Err(problems) }
    }

    /// Problems between the ends and the step.
    fn relations(
        &self,
        table: &Table,
        ends: impl Iterator<Item = (&'static str, (Exact, Measure))>,
        place: &Place,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        let given = |key: &str| table.get(key).map_or_else(String::new, Node::describe);
        for (key, (_, other)) in ends {
            if other.words() != self.measure.words() {
                let found = format!("{}, {}", given(key), other.words());
                let remedy = format!("{}, as `from`,", self.measure.words());
                problems.push(Problem::value(&place.key(key), found, remedy));
            }
        }
        if self.high <= self.low {
            problems.push(Problem::value(
                &place.key("to"),
                given("to"),
                "an end above the beginning",
            ));
        }
        if self.log && !self.low.is_positive() {
            problems.push(Problem::value(
                &place.key("from"),
                given("from"),
                "a beginning above zero",
            ));
        }
        if self.step.as_ref().is_some_and(|step| !step.is_positive()) {
            problems.push(Problem::value(&place.key("step"), given("step"), "a step above zero"));
        } else if problems.is_empty() && self.steps() > MAX_VALUES {
            let found = format!("{} values", self.steps());
            problems.push(Problem::value(
                &place.key("step"),
                found,
                format!("at most {MAX_VALUES}"),
            ));
        }
        problems
    }

    /// How many values the steps give.
    fn steps(&self) -> u64 {
        let steps = |step: &Exact| exact::floor(&((&self.high - &self.low) / step));
        self.step.as_ref().map_or(0, |step| steps(step).saturating_add(1))
    }

    /// The values as written in a specification; empty if they are to be drawn.
    pub(super) fn values(&self) -> Vec<Node> {
        let exact: Vec<Exact> = if let Some(step) = &self.step {
            (0..self.steps()).map(|index| &self.low + exact::whole(index) * step).collect()
        } else if let Some(count) = self.count {
            (0..count).map(|index| self.between(&exact::ratio(index, count - 1))).collect()
        } else {
            return Vec::new();
        };
        let mut values: Vec<Exact> = Vec::new();
        for value in exact {
            // They ascend, so equal ones are adjacent.
            if values.last() != Some(&value) {
                values.push(value);
            }
        }
        values.iter().map(|value| self.node(value)).collect()
    }

    /// The value at `part` of the way, from 0 to 1.
    pub(super) fn at(&self, part: f64) -> Node {
        let part = BigRational::from_float(part).expect("it is finite");
        self.node(&self.between(&part))
    }

    fn node(&self, value: &Exact) -> Node {
        Node { value: self.measure.spell(value), at: self.at }
    }

    fn between(&self, part: &Exact) -> Exact {
        if part.is_zero() {
            return self.low.clone();
        }
        if part.is_one() {
            return self.high.clone();
        }
        let value = if self.log {
            let ratio = exact::to_f64(&(&self.high / &self.low));
            let value = exact::to_f64(&self.low) * ratio.powf(exact::to_f64(part));
            BigRational::from_float(value).unwrap_or_else(|| self.high.clone())
        } else {
            &self.low + part * (&self.high - &self.low)
        };
        round(&value, self.measure.is_whole()).clamp(self.low.clone(), self.high.clone())
    }
}

fn round(value: &Exact, whole: bool) -> Exact {
    let Some(magnitude) = exact::magnitude(value) else { return value.clone() };
    let digits = DIGITS - 1 - magnitude;
    exact::round(value, if whole { digits.min(0) } else { digits })
}

/// Problems with keys, and values that aren't quantities.
fn shape(table: &Table, place: &Place) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut tell = |key: &str, found: String, remedy: String| {
        problems.push(Problem::value(&place.key(key), found, remedy));
    };
    for key in table.keys().filter(|key| !KEYS.contains(key)) {
        tell(key, "an unknown key".into(), one_of(key, KEYS));
    }
    if !table.has("to") {
        tell("to", "nothing".into(), "the end of the range".into());
    }
    if table.has("step") && table.has("count") {
        tell("step", "both a step and a count".into(), "one of the two".into());
    }
    if let Some(count) = table.get("count")
        && !count.as_whole().is_some_and(|count| (2..=MAX_VALUES).contains(&count))
    {
        tell("count", count.describe(), format!("a whole number from 2 to {MAX_VALUES}"));
    }
    match table.get("scale").map(|node| (node, node.as_text())) {
        Some((_, Some("log"))) if table.has("step") => {
            tell("step", "a step on a logarithmic scale".into(), "a count".into());
        }
        None | Some((_, Some("linear" | "log"))) => {}
        Some((node, _)) => tell("scale", node.describe(), "\"linear\" or \"log\"".into()),
    }
    problems
}

/// A number or a quantity with its unit; the error is what was found, and the remedy.
fn quantity(node: &Node) -> Result<(Exact, Measure), (String, String)> {
    let whole = |number: u64| exact::whole(number);
    match &node.value {
        Value::Whole(number) => Ok((Exact::from_integer((*number).into()), Measure::Whole)),
        Value::Float(number) if number.is_finite() => {
            let exact = exact::parse_number(&canonical::float(*number));
            Ok((exact.expect("it was written"), Measure::Number))
        }
        Value::Text(text) => match parse_quantity(text) {
            Ok(Quantity::Rate(rate)) => Ok((whole(rate), Measure::Rate)),
            Ok(Quantity::Duration(duration)) => Ok((whole(duration), Measure::Duration)),
            Ok(Quantity::Size(size)) => Ok((size.amount.clone(), Measure::Size(size.unit))),
            Err(wrong) if wrong.remedy.starts_with("a positive") => {
                Err((wrong.found, wrong.remedy))
            }
            Err(wrong) => Err((wrong.found, EXAMPLES.into())),
        },
        _ => {
            let remedy = "a number, or a quantity such as \"10mbit\" or \"25ms\",";
            Err((node.describe(), remedy.into()))
        }
    }
}
