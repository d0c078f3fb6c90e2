//! Reads the parameters of an entry by their declarations in the registry.

use narrows_base::registry::{
    self, Bounds, Info, Parameter, ParameterDefault, Unit, Value, Values,
};

use crate::document::{self, Node, Table};
use crate::inputs::Inputs;
use crate::limits::MAX_VALUE;
use crate::problem::ValueProblem;
use crate::read::trace;
use crate::text::{not_a, one_of, quote};
use crate::units::{SizeUnit, format_duration, parse_duration, parse_rate, parse_size};

/// The exact values of an entry's parameters in a table, by their keys in a scenario; `further` are
/// keys of the table that aren't parameters.
pub(super) fn read_all(
    info: &Info,
    table: &Table,
    further: &[&str],
    inputs: &dyn Inputs,
) -> Result<Values, ValueProblem> {
    values_of(info.parameters, table, further, inputs)
}

fn values_of(
    parameters: &[Parameter],
    table: &Table,
    further: &[&str],
    inputs: &dyn Inputs,
) -> Result<Values, ValueProblem> {
    let mut values = Values::default();
    for entry in &table.0 {
        let known = parameters.iter().find(|parameter| parameter.name == entry.key);
        let Some(parameter) = known else {
            let names = parameters.iter().map(|parameter| parameter.name);
            let remedy = one_of(&entry.key, names.chain(further.iter().copied()));
            return Err(ValueProblem::unknown_key(&entry.key, remedy));
        };
        let value = read(parameter, &entry.node, inputs).map_err(|wrong| wrong.at(&entry.key))?;
        values.insert(parameter.key(), value);
    }
    let missing = |parameter: &&Parameter| {
        parameter.default == ParameterDefault::Required && !values.contains_key(&parameter.key())
    };
    match parameters.iter().find(missing) {
        Some(parameter) => Err(ValueProblem::missing(parameter.name, expectation(parameter))),
        None => Ok(values),
    }
}

/// The entry of a registry named by the `kind` of a table; `what` names its entries.
pub(super) fn kind(
    registry: &[&'static Info],
    table: &Table,
    what: &str,
) -> Result<&'static Info, ValueProblem> {
    let name = table.get("kind").and_then(Node::as_text);
    name.and_then(|name| registry::info(registry, name)).ok_or_else(|| {
        let found = name.map(|name| not_a(name, what));
        let remedy = one_of(name.unwrap_or_default(), registry.iter().map(|info| info.name));
        ValueProblem::value(found.unwrap_or("nothing".into()), remedy).at("kind")
    })
}

/// The problem of a table with keys that are neither `kind` nor a parameter.
pub(super) fn refuse_unknown(info: &Info, table: &Table) -> Result<(), ValueProblem> {
    match table.keys().find(|key| *key != "kind" && info.parameter(key).is_none()) {
        Some(key) => {
            let names = info.parameters.iter().map(|parameter| parameter.name);
            Err(ValueProblem::unknown_key(key, one_of(key, names)))
        }
        None => Ok(()),
    }
}

/// The exact value of a parameter.
pub(super) fn read(
    parameter: &Parameter,
    node: &Node,
    inputs: &dyn Inputs,
) -> Result<Value, ValueProblem> {
    let unfit = || ValueProblem::value(node.describe(), expectation(parameter));
    let within = |number: u64| {
        let fits = parameter.bounds.contains(number) && number <= MAX_VALUE;
        if fits { Ok(number) } else { Err(unfit()) }
    };
    let text = || node.as_text().ok_or_else(unfit);
    match parameter.unit {
        Unit::Packets => {
            within(amount(node, SizeUnit::Packets)?.ok_or_else(unfit)?).map(Value::Whole)
        }
        Unit::Bytes => within(amount(node, SizeUnit::Bytes)?.ok_or_else(unfit)?).map(Value::Whole),
        Unit::Duration => within(parse_duration(text()?)?).map(Value::Whole),
        Unit::Rate => within(parse_rate(text()?)?).map(Value::Whole),
        Unit::Whole => within(node.as_whole().ok_or_else(unfit)?).map(Value::Whole),
        Unit::Share | Unit::Number => {
            let share = parameter.unit == Unit::Share;
            let number = if share { node.as_part() } else { node.as_float() };
            let number = number.map(|number| number + 0.0);
            let fits = |number: &f64| parameter.bounds.hold_number(*number);
            number.filter(fits).map(Value::Number).ok_or_else(unfit)
        }
        Unit::Flag => match node.value {
            document::Value::Flag(flag) => Ok(Value::Flag(flag)),
            _ => Err(unfit()),
        },
        Unit::Word(words) => {
            let word = text()?;
            let known = words.contains(&word);
            if known { Ok(Value::Word(word.into())) } else { Err(unfit()) }
        }
        Unit::Rates => read_steps(node, parse_rate, &unfit, &within),
        Unit::Delays | Unit::Spans => read_steps(node, parse_duration, &unfit, &within),
        Unit::Opportunities => trace::read(text()?, inputs).map(Value::List),
        Unit::Tables(parameters) => tables(parameters, node, &unfit, inputs),
        Unit::Frequency
        | Unit::RateList
        | Unit::Durations
        | Unit::Sizes
        | Unit::Distributed
        | Unit::Quantiles
        | Unit::QuantileFile => {
            unreachable!("{} belongs to a workload, which reads it itself", parameter.name)
        }
    }
}

/// Tables, each with all its parameters.
fn tables(
    parameters: &[Parameter],
    node: &Node,
    unfit: &dyn Fn() -> ValueProblem,
    inputs: &dyn Inputs,
) -> Result<Value, ValueProblem> {
    let document::Value::List(nodes) = &node.value else { return Err(unfit()) };
    let one = |(place, node): (usize, &Node)| {
        let table = node.table().ok_or_else(unfit)?;
        let given =
            values_of(parameters, table, &[], inputs).map_err(|wrong| wrong.at_index(place))?;
        let defaults = parameters.iter().filter_map(|p| Some((p.key(), p.default(0)?)));
        let mut values: Values = defaults.collect();
        values.extend(given.0);
        Ok(values.0)
    };
    let tables = nodes.iter().enumerate().map(one).collect::<Result<Vec<_>, ValueProblem>>()?;
    if tables.is_empty() { Err(unfit()) } else { Ok(Value::Tables(tables)) }
}

/// Packets or bytes: a plain number, or a text with the unit.
fn amount(node: &Node, unit: SizeUnit) -> Result<Option<u64>, ValueProblem> {
    let Some(text) = node.as_text() else { return Ok(node.as_whole()) };
    let size = parse_size(text)?;
    Ok((size.unit == unit).then(|| size.whole()))
}

/// A table of ascending times, each with a value.
fn read_steps(
    node: &Node,
    parse: fn(&str) -> Result<u64, ValueProblem>,
    unfit: &dyn Fn() -> ValueProblem,
    within: &dyn Fn(u64) -> Result<u64, ValueProblem>,
) -> Result<Value, ValueProblem> {
    let mut pairs = Vec::new();
    for entry in &node.table().ok_or_else(unfit)?.0 {
        let value = parse(entry.node.as_text().ok_or_else(unfit)?)?;
        pairs.push((parse_duration(&entry.key)?, within(value)?));
    }
    pairs.sort_unstable();
    if pairs.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(ValueProblem::value("a time twice", "each time once"));
    }
    Ok(Value::Pairs(pairs))
}

/// The expected value of a parameter, in words.
pub(super) fn expectation(parameter: &Parameter) -> String {
    match (parameter.unit, parameter.bounds) {
        (Unit::Packets, _) => "a number of packets, such as 100 or \"100pkt\",".into(),
        (Unit::Bytes, _) => "a number of bytes, such as \"30kb\",".into(),
        (Unit::Duration, Bounds::Whole { least, most, step }) => duration(least, most, step),
        (Unit::Rate, _) => "a rate above zero with its unit, such as \"80mbit\",".into(),
        (Unit::Flag, _) => "true or false".into(),
        (Unit::Word(words), _) => format!("one of {}", words.join(", ")),
        (Unit::Opportunities, _) => "the path of a trace in mahimahi's format".into(),
        (Unit::Tables(parameters), _) => {
            let names: Vec<_> = parameters.iter().map(|parameter| parameter.name).collect();
            format!("a list of tables with {}", names.join(", "))
        }
        (Unit::Rates, _) => "a table of times and rates, such as { \"10s\" = \"40mbit\" },".into(),
        (Unit::Delays, _) => "a table of times and delays, such as { \"10s\" = \"40ms\" },".into(),
        (Unit::Spans, _) => {
            "a table of times and durations, such as { \"10s\" = \"500ms\" },".into()
        }
        (_, Bounds::Number { least: 0.0, most: f64::MAX }) => "a number that isn't negative".into(),
        (_, Bounds::Number { least, most }) => format!("a number from {least} to {most}"),
        (_, Bounds::Whole { least, most, step: 1 }) => {
            format!("a whole number from {least} to {most}")
        }
        (_, Bounds::Whole { least, most, step }) => {
            format!("a multiple of {step} from {least} to {most}")
        }
    }
}

fn duration(least: u64, most: u64, step: u64) -> String {
    let [low, high, step_of] = [least, most, step].map(|ns| quote(&format_duration(ns)));
    let steps = if step > 1 { format!(" in steps of {step_of}") } else { String::new() };
    match (least, most) {
        (0 | 1, u64::MAX) => "a duration with its unit, such as \"5ms\",".into(),
        (_, u64::MAX) => format!("a duration of at least {low}{steps}"),
        _ => format!("a duration from {low} to {high}{steps}"),
    }
}
