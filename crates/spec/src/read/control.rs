//! Reads the name of a flow's control, and its options.

use narrows_base::registry::{Info, Value, Values, nearest};
use narrows_cc::CONTROLS;

use crate::document::{self, Node, Table};
use crate::inputs::Inputs;
use crate::problem::{ProblemKind, ValueProblem};
use crate::read::{parameter, scalar};
use crate::scenario::NO_CONTROL;
use crate::stacks::Stack;
use crate::text::{one_of, quote};

const OWN: &str = "a module and a class in it, such as \"mymodule:MyControl\"";

/// Returns `true` for an own control: a name of a module and a class in Python, of a file in Rust,
/// or of a program for a kernel.
#[must_use]
pub fn is_own(cca: &str) -> bool {
    cca.contains(':') || is_file(cca)
}

/// Returns `true` for the name of a file: in Rust, an eBPF program for a kernel (C source or
/// compiled), or the C source of a kernel module.
fn is_file(cca: &str) -> bool {
    [".rs", ".c", ".o"].iter().any(|end| cca.len() > end.len() && cca.ends_with(end))
}

/// The name of a control.
pub(super) fn name(
    node: &Node,
    inputs: &dyn Inputs,
    expects: &str,
) -> Result<String, ValueProblem> {
    let Some(name) = node.as_text() else {
        return Err(ValueProblem::value(node.describe(), expects));
    };
    if is_file(name) {
        return Ok(name.into());
    }
    if is_own(name) {
        let well_formed = name.split_once(':').is_some_and(|(module, class)| {
            module.split('.').chain(class.split('.')).all(is_identifier)
        });
        return if well_formed {
            Ok(name.into())
        } else {
            Err(ValueProblem::value(quote(name), OWN))
        };
    }
    if name == NO_CONTROL {
        return Ok(name.into());
    }
    if let Some(module) = name.strip_suffix(".py") {
        let remedy = format!("\"{module}:NAME\", with the name of its class,");
        return Err(ValueProblem::value(quote(name), remedy));
    }
    let known = || CONTROLS.iter().map(|entry| entry.info.name);
    if known().any(|known| known == name) || inputs.knows(name) {
        return Ok(name.into());
    }
    let found = format!("{}, which is not a congestion control", quote(name));
    let remedy = match ALIASES.iter().find(|alias| name.eq_ignore_ascii_case(alias.0)) {
        Some((_, today)) => quote(today),
        None => several(name, &|part| known().any(|known| known == part))
            .unwrap_or_else(|| one_of(name, known())),
    };
    Err(ValueProblem::value(found, remedy))
}

/// Names that other programs and documents have for controls, and ours.
const ALIASES: &[(&str, &str)] =
    &[("newreno", "reno"), ("new_reno", "reno"), ("new-reno", "reno"), ("bbr1", "bbr")];

/// The remedy for the names of several controls in one text, such as "reno,cubic".
fn several(name: &str, known: &dyn Fn(&str) -> bool) -> Option<String> {
    let parts: Vec<&str> = name.split(',').map(str::trim).collect();
    let all = parts.len() > 1 && parts.iter().all(|part| known(part));
    let list = parts.iter().map(|part| quote(part)).collect::<Vec<_>>().join(", ");
    all.then(|| format!("a [[flows]] for each, or in a study a list, cca = [{list}],"))
}

fn is_identifier(text: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.chars().all(part) && text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The options of the control called `cca`, by their keys in a scenario, and their problems. An own
/// control checks its options itself; an unknown control is already reported, together with its
/// options. A stack of another project has its own options instead.
pub(super) fn options(
    cca: &str,
    stack: Option<&Stack>,
    table: &Table,
    inputs: &dyn Inputs,
) -> (Values, Vec<ValueProblem>) {
    let (mut options, mut wrong) = (Values::default(), Vec::new());
    let info = stack.map_or_else(|| narrows_cc::info(cca), |stack| Some(stack.options));
    if info.is_none() && !is_own(cca) && !inputs.knows(cca) {
        return (options, wrong);
    }
    for entry in &table.0 {
        let read = scalar::single(&entry.node, PLAIN).and_then(|()| match info {
            _ if is_own(cca) => Ok((entry.key.clone(), plain(&entry.node)?)),
            Some(info) => option(info, &entry.key, &entry.node, inputs),
            None => Err(unknown(cca, &entry.key, &[])),
        });
        match read {
            Ok((key, value)) => drop(options.insert(key, value)),
            Err(error) => wrong.push(error.at(&entry.key)),
        }
    }
    (options, wrong)
}

const PLAIN: &str = "a number, true, false or a text such as \"200ms\"";

/// A value that only its control can check.
fn plain(node: &Node) -> Result<Value, ValueProblem> {
    match &node.value {
        document::Value::Flag(flag) => Ok(Value::Flag(*flag)),
        document::Value::Text(text) => Ok(Value::Word(text.clone())),
        _ => {
            let number = scalar::finite(node).map(Value::Number);
            number.ok_or_else(|| ValueProblem::value(node.describe(), PLAIN))
        }
    }
}

fn option(
    info: &Info,
    name: &str,
    node: &Node,
    inputs: &dyn Inputs,
) -> Result<(String, Value), ValueProblem> {
    if let Some(today) = node.as_float().and_then(|number| info.respell(name, number)) {
        return Err(ValueProblem::value(node.describe(), format!("`{today}`")));
    }
    let names: Vec<&str> = info.parameters.iter().map(|parameter| parameter.name).collect();
    let parameter = info.parameter(name).ok_or_else(|| unknown(info.name, name, &names))?;
    Ok((parameter.key(), parameter::read(parameter, node, inputs)?))
}

fn unknown(cca: &str, name: &str, known: &[&str]) -> ValueProblem {
    let found = format!("{}, which is not an option of {cca}", quote(name));
    let owners = CONTROLS.iter().filter(|entry| entry.info.parameter(name).is_some());
    let owners: Vec<&str> = owners.map(|entry| entry.info.name).collect();
    let remedy = match nearest(name, known.iter().copied()) {
        Some(close) => quote(close),
        None if owners.is_empty() && known.is_empty() => "no options".into(),
        None if owners.is_empty() => format!("one of its options, {},", known.join(", ")),
        None => format!("a control that has it, {},", owners.join(" or ")),
    };
    ValueProblem { kind: ProblemKind::UnknownKey, ..ValueProblem::value(found, remedy) }
}
