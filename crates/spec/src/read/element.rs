//! Reads elements of a path: a kind by its name, and the parameters that its registry lists.

use narrows_base::registry::{Choice, Info, LimitUnit, Values};
use narrows_base::{Bytes, Rate};

use crate::document::{Node, Table, Value};
use crate::exact::{self, Exact};
use crate::inputs::Inputs;
use crate::keys::Elements;
use crate::limits::PACKET_BYTES;
use crate::problem::ValueProblem;
use crate::read::parameter;
use crate::scenario::{Direction, Impairment, ImpairmentPlace, Limit};
use crate::text::{not_a, one_of};
use crate::units::{Size, SizeUnit, parse_size};

/// A kind of element, its given parameters, and the limit of a queue.
#[derive(Clone, Debug)]
pub(crate) struct ReadElement {
    pub(crate) info: &'static Info,
    given: Values,
    pub(crate) limit: Option<Size>,
}

impl ReadElement {
    /// The element as in a scenario: with every parameter, on a link of this rate.
    pub(crate) fn on(&self, rate_bps: u64) -> Choice {
        let mut choice = Choice::with_defaults(self.info, Rate::from_bps(rate_bps));
        let given = self.given.iter();
        choice.parameters.extend(given.map(|(key, value)| (key.clone(), value.clone())));
        choice
    }

    /// The limit of a queue as in a scenario; none if a required one is missing.
    ///
    /// A discipline that counts packets converts bytes to full packets, rounded up.
    pub(crate) fn limit_as(&self, size: Option<&Size>, bdp: &Exact) -> Option<Limit> {
        let room = self.info.limit_unit()?;
        let Some(size) = size else {
            return match room {
                LimitUnit::Packets(packets) => Some(Limit::Packets(packets)),
                LimitUnit::Bytes(bytes) => bytes.map(|bytes| Limit::Bytes(Bytes::new(bytes))),
                LimitUnit::Either => None,
            };
        };
        Some(match (room, size.in_bytes(bdp)) {
            (LimitUnit::Bytes(_), None) => {
                Limit::Bytes(Bytes::new(size.whole().saturating_mul(PACKET_BYTES)))
            }
            (_, None) => Limit::Packets(size.whole()),
            (LimitUnit::Packets(_), Some(bytes)) => Limit::Packets(bytes.div_ceil(PACKET_BYTES)),
            (_, Some(bytes)) => Limit::Bytes(Bytes::new(bytes)),
        })
    }
}

/// An element from a text or a table.
pub(super) fn read(
    node: &Node,
    elements: Elements,
    inputs: &dyn Inputs,
    expects: &str,
) -> Result<ReadElement, ValueProblem> {
    match &node.value {
        Value::Text(name) => {
            let mut table = Table::default();
            table.or_insert("kind", Node::text(name));
            of_table(&table, elements, inputs)
        }
        Value::Table(table) => of_table(table, elements, inputs),
        _ => Err(ValueProblem::value(node.describe(), expects)),
    }
}

/// An element with a direction, before or behind its links.
pub(super) fn impairment(
    node: &Node,
    inputs: &dyn Inputs,
    expects: &str,
) -> Result<Impairment, ValueProblem> {
    let Some(table) = node.table() else {
        return Err(ValueProblem::value(node.describe(), expects));
    };
    let direction = word(table, "direction", &["forward", "backward"])?;
    let at = word(table, "at", &["behind", "before"])?;
    let rest = table.0.iter().filter(|entry| !["direction", "at"].contains(&entry.key.as_str()));
    let element = of_table(&Table(rest.cloned().collect()), Elements::Impairment, inputs)?;
    Ok(Impairment {
        direction: if direction == 0 { Direction::Forward } else { Direction::Backward },
        at: if at == 0 { ImpairmentPlace::Behind } else { ImpairmentPlace::Before },
        element: element.on(0),
    })
}

/// Which of two words is at `key`; the first if none is.
fn word(table: &Table, key: &str, words: &[&str; 2]) -> Result<usize, ValueProblem> {
    let Some(node) = table.get(key) else { return Ok(0) };
    let text = node.as_text().unwrap_or_default();
    words.iter().position(|word| *word == text).ok_or_else(|| {
        ValueProblem::value(node.describe(), one_of(text, words.iter().copied())).at(key)
    })
}

/// The entry named by a table's `kind`, and the place of the name.
pub(super) fn kind_of(
    table: &Table,
    registry: &[&'static Info],
    what: &str,
) -> Result<&'static Info, ValueProblem> {
    let names = || registry.iter().map(|info| info.name);
    let Some(kind) = table.get("kind").filter(|node| node.as_text().is_some()) else {
        let found = table.get("kind").map_or("nothing".into(), Node::describe);
        return Err(ValueProblem::value(found, one_of("", names())).at("kind"));
    };
    let name = kind.as_text().unwrap_or_default();
    registry.iter().copied().find(|info| info.name == name).ok_or_else(|| {
        let found = not_a(name, what);
        let wrong = ValueProblem::value(found, one_of(name, names()));
        // A name alone stands for the table.
        if table.0.len() > 1 { wrong.at("kind") } else { wrong }
    })
}

fn of_table(
    table: &Table,
    elements: Elements,
    inputs: &dyn Inputs,
) -> Result<ReadElement, ValueProblem> {
    let info = kind_of(table, elements.registry(), elements.what())?;
    let mut limit = None;
    let mut rest = Table::default();
    for entry in &table.0 {
        match (entry.key.as_str(), info.limit_unit()) {
            ("kind", _) => {}
            ("limit", Some(room)) => limit = Some(limit_of(&entry.node, room)?),
            _ => rest.0.push(entry.clone()),
        }
    }
    let further: &[&str] = if info.limit_unit().is_some() { &["limit"] } else { &[] };
    let given = parameter::read_all(info, &rest, further, inputs)?;
    Ok(ReadElement { info, given, limit })
}

/// A queue's `limit`; a plain number is in the discipline's own unit.
fn limit_of(node: &Node, room: LimitUnit) -> Result<Size, ValueProblem> {
    let remedy = "a size such as \"250kb\" or \"100pkt\"";
    let unfit = || ValueProblem::value(node.describe(), remedy).at("limit");
    let size = match (&node.value, room) {
        (Value::Text(text), _) => parse_size(text).map_err(|wrong| wrong.at("limit"))?,
        (Value::Whole(_), LimitUnit::Either) => return Err(unfit()),
        (Value::Whole(number), _) => {
            let packets = matches!(room, LimitUnit::Packets(_));
            let unit = if packets { SizeUnit::Packets } else { SizeUnit::Bytes };
            Size { amount: Exact::from_integer((*number).into()), unit }
        }
        _ => return Err(unfit()),
    };
    if size.amount <= exact::whole(0) {
        return Err(ValueProblem::value(node.describe(), "a limit above zero").at("limit"));
    }
    Ok(size)
}
