//! Reads distributions: a plain quantity (`"1mb"`, `"2s"`), or a table that names one.

use narrows_base::registry::{Bounds, Info};

use crate::document::{Node, Table};
use crate::inputs::Inputs;
use crate::law::tables::{Distribution, Scale};
use crate::law::{CERTAIN, Law};
use crate::limits::{MAX_POINTS, MAX_VALUE};
use crate::problem::ValueProblem;
use crate::read::{parameter, scalar};
use crate::text::quote;
use crate::workloads::DISTRIBUTIONS;

/// The quantity that a distribution describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// Times, in ns.
    Time,
    /// Sizes, in bytes.
    Size,
}

impl Measure {
    fn example(self) -> &'static str {
        match self {
            Self::Time => "2s",
            Self::Size => "1mb",
        }
    }

    fn parse(self, text: &str) -> Result<u64, ValueProblem> {
        match self {
            Self::Time => scalar::duration(text),
            Self::Size => scalar::bytes(text),
        }
    }

    fn read(self, node: &Node) -> Result<u64, ValueProblem> {
        let Some(text) = node.as_text() else {
            return Err(ValueProblem::value(node.describe(), "a text with its unit"));
        };
        let exact = self.parse(text)?;
        if exact > MAX_VALUE {
            return Err(ValueProblem::value(quote(text), "less"));
        }
        Ok(exact)
    }
}

/// Reads the distribution in a text or a table.
pub(super) fn read(
    node: &Node,
    measure: Measure,
    inputs: &dyn Inputs,
) -> Result<Law, ValueProblem> {
    if node.as_text().is_some() {
        return measure.read(node).map(Law::Constant);
    }
    let Some(table) = node.table() else {
        let example = measure.example();
        let kind = format!("{{ kind = \"exponential\", mean = \"{example}\" }}");
        let remedy = format!("\"{example}\", or a distribution such as {kind}");
        return Err(ValueProblem::value(node.describe(), remedy));
    };
    let info = parameter::kind(DISTRIBUTIONS, table, "distribution")?;
    let parts = Parts { info, table, measure, inputs };
    let law = match info.name {
        "exponential" => parts.exponential(),
        "uniform" => parts.uniform(),
        "lognormal" => parts.lognormal(),
        "pareto" => parts.pareto(),
        _ => parts.empirical(),
    }?;
    parameter::refuse_unknown(info, table)?;
    Ok(law)
}

/// The parameters of a distribution.
struct Parts<'a> {
    info: &'static Info,
    table: &'a Table,
    measure: Measure,
    inputs: &'a dyn Inputs,
}

impl Parts<'_> {
    fn exponential(&self) -> Result<Law, ValueProblem> {
        make_law(Distribution::Exponential { mean: self.quantity("mean")? })
    }

    fn uniform(&self) -> Result<Law, ValueProblem> {
        let (low, high) = (self.quantity("min")?, self.quantity("max")?);
        self.ascending(low, high)?;
        Ok(Law::Points(vec![(0, low), (CERTAIN, high)]))
    }

    fn lognormal(&self) -> Result<Law, ValueProblem> {
        let sigma = self.number("sigma")?;
        let scale = match (self.table.has("median"), self.table.has("mean")) {
            (true, false) => Scale::Median(self.quantity("median")?),
            (false, true) => Scale::Mean(self.quantity("mean")?),
            _ => {
                let remedy = "either `median` or `mean`";
                return Err(ValueProblem::value("both or neither", remedy).at("median"));
            }
        };
        make_law(Distribution::Lognormal { scale, sigma })
    }

    fn pareto(&self) -> Result<Law, ValueProblem> {
        let (min, shape) = (self.quantity("min")?, self.number("shape")?);
        let max = self.table.has("max").then(|| self.quantity("max")).transpose()?;
        self.ascending(min, max.unwrap_or(min))?;
        make_law(Distribution::Pareto { min, shape, max })
    }

    fn empirical(&self) -> Result<Law, ValueProblem> {
        match (self.table.get("file"), self.table.get("points")) {
            (None, Some(points)) => {
                self.rows(points).and_then(|rows| cdf(&rows)).map_err(|wrong| wrong.at("points"))
            }
            (Some(file), None) => {
                self.file(file).and_then(|rows| cdf(&rows)).map_err(|wrong| wrong.at("file"))
            }
            _ => {
                Err(ValueProblem::value("both or neither", "either `file` or `points`").at("file"))
            }
        }
    }

    fn ascending(&self, low: u64, high: u64) -> Result<(), ValueProblem> {
        if low <= high {
            return Ok(());
        }
        let found = self.table.get("max").map_or_else(String::new, Node::describe);
        Err(ValueProblem::value(found, "at least `min`").at("max"))
    }

    /// Reads a quantity above zero.
    fn quantity(&self, key: &str) -> Result<u64, ValueProblem> {
        let example = self.measure.example();
        let Some(node) = self.table.get(key) else {
            return Err(ValueProblem::missing(key, format!("a quantity such as \"{example}\"")));
        };
        match self.measure.read(node).map_err(|wrong| wrong.at(key))? {
            0 => Err(ValueProblem::value(node.describe(), "more than zero").at(key)),
            exact => Ok(exact),
        }
    }

    /// Reads a plain number above the registry's minimum and up to its maximum.
    fn number(&self, key: &str) -> Result<f64, ValueProblem> {
        let Some(Bounds::Number { least, most }) = self.info.parameter(key).map(|p| p.bounds)
        else {
            unreachable!("{key} is a number")
        };
        let node = self.table.get(key);
        let number = node.and_then(Node::as_float).filter(|n| *n > least && *n <= most);
        number.ok_or_else(|| {
            let found = node.map_or("nothing".into(), Node::describe);
            ValueProblem::value(found, format!("a number above {least} and of at most {most}"))
                .at(key)
        })
    }

    /// Reads rows of value and share from a text file: `20kb 0.5`.
    fn file(&self, node: &Node) -> Result<Vec<(u64, u64)>, ValueProblem> {
        let Some(name) = node.as_text() else {
            let remedy = "the path of a file, such as \"sizes.txt\",";
            return Err(ValueProblem::value(node.describe(), remedy));
        };
        let remedy = "a readable text file of at most 1 MB beside the specification";
        let text = self.inputs.file(name).map_err(|found| ValueProblem::value(found, remedy))?;
        if text.len() > LONGEST_FILE {
            return Err(ValueProblem::value(quote(name), remedy));
        }
        let parts = |line: &str| -> Vec<String> {
            let line = line.split('#').next().unwrap_or("");
            let split = line.split(|c: char| c == ',' || c.is_whitespace());
            split.filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        let rows: Vec<_> = text.lines().map(parts).filter(|row| !row.is_empty()).collect();
        check_count(rows.len())?;
        let row = |(index, row): (usize, &Vec<String>)| match row.as_slice() {
            [value, share] => self.row(index + 1, value, share.parse().ok(), &quote(share)),
            _ => Err(incomplete(index + 1)),
        };
        rows.iter().enumerate().map(row).collect()
    }

    /// Reads rows of value and share from a list of lists.
    fn rows(&self, node: &Node) -> Result<Vec<(u64, u64)>, ValueProblem> {
        let rows = node.list().ok_or_else(|| {
            let remedy = format!("1 to {MAX_POINTS} pairs of a value and a share");
            ValueProblem::value(node.describe(), remedy)
        })?;
        check_count(rows.len())?;
        let row = |(index, row): (usize, &Node)| match row.list() {
            Some([value, share]) => {
                let text = value.as_text().map_or_else(|| value.describe(), str::to_owned);
                self.row(index + 1, &text, share.as_float(), &share.describe())
            }
            _ => Err(incomplete(index + 1)),
        };
        rows.iter().enumerate().map(row).collect()
    }

    /// Reads a pair: a share in units of 2^-32, and the value that this share of draws doesn't exceed.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share is from 0 to 1"
    )]
    fn row(
        &self,
        number: usize,
        value: &str,
        share: Option<f64>,
        written: &str,
    ) -> Result<(u64, u64), ValueProblem> {
        let value = self.measure.parse(value).map_err(|wrong| {
            ValueProblem::value(format!("{} in pair {number}", wrong.found), wrong.remedy)
        })?;
        let share = share.filter(|share| (0.0..=1.0).contains(share));
        let share = share.ok_or_else(|| {
            ValueProblem::value(format!("a share of {written} in pair {number}"), PAIR)
        })?;
        Ok(((share * CERTAIN as f64).round_ties_even() as u64, value))
    }
}

/// The most bytes in a file of pairs.
const LONGEST_FILE: usize = 1_000_000;
const PAIR: &str = "a value and the share of draws that don't exceed it, from 0 to 1";

fn incomplete(number: usize) -> ValueProblem {
    ValueProblem::value(format!("pair {number} without two parts"), PAIR)
}

fn check_count(rows: usize) -> Result<(), ValueProblem> {
    let remedy = || format!("1 to {MAX_POINTS} pairs of a value and a share");
    match rows {
        1..=MAX_POINTS => Ok(()),
        _ => Err(ValueProblem::value(format!("{rows} pairs"), remedy())),
    }
}

fn make_law(distribution: Distribution) -> Result<Law, ValueProblem> {
    let found = "a distribution with values beyond 10^15";
    distribution.law().ok_or_else(|| ValueProblem::value(found, "a lighter tail, or a `max`,"))
}

/// Makes an empirical distribution, linear between its points.
#[expect(clippy::cast_precision_loss, reason = "only a message shows it")]
fn cdf(rows: &[(u64, u64)]) -> Result<Law, ValueProblem> {
    let mut points = rows.to_vec();
    if points[0].0 > 0 {
        points.insert(0, (0, points[0].1));
    }
    let last = points[points.len() - 1].0;
    if last != CERTAIN {
        let found = format!("a last share of {}", last as f64 / CERTAIN as f64);
        return Err(ValueProblem::value(found, "1 at the end"));
    }
    let falls = |pair: &[(u64, u64)]| pair[0].0 >= pair[1].0 || pair[0].1 > pair[1].1;
    match points.windows(2).position(falls) {
        Some(index) => {
            let found = format!("a pair ({}) that doesn't ascend", index + 2);
            Err(ValueProblem::value(found, "values and shares in ascending order"))
        }
        None => Ok(Law::Points(points)),
    }
}
