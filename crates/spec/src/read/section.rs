//! Reads a table by the declaration of its section.

use std::collections::BTreeMap;

use narrows_base::registry::{Values as Options, nearest};

use super::values::{Read, Values};
use crate::document::{Node, Table, Value};
use crate::inputs::Inputs;
use crate::keys::{Key, KeyDefault, KeyKind, SPECIFICATION, SWEEP, Section};
use crate::limits::MAX_ARGUMENT;
use crate::place::Place;
use crate::problem::{Problem, ProblemKind, ValueProblem};
use crate::programs::HERE;
use crate::read::{control, element, scalar, workload};
use crate::stacks::stack;
use crate::text::{one_of, quote};

/// Reads sections, and gathers their problems.
pub(crate) struct Reader<'a> {
    pub(crate) inputs: &'a dyn Inputs,
    pub(crate) problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(inputs: &'a dyn Inputs) -> Self {
        Self { inputs, problems: Vec::new() }
    }

    /// The values of a section; those with problems are missing.
    pub(crate) fn section(
        &mut self,
        section: &'static Section,
        table: &Table,
        place: &Place,
    ) -> Values {
        let mut values = Values::default();
        for key in section.keys {
            if let Some(value) = self.key(key, table, place) {
                values.0.insert(key.name, value);
            }
        }
        for name in table.keys().filter(|name| section.key(name).is_none()) {
            self.unknown(section, name, place);
        }
        values
    }

    fn key(&mut self, key: &'static Key, table: &Table, place: &Place) -> Option<Read> {
        let here = place.key(key.name);
        let Some(node) = table.get(key.name) else {
            return self.absent(key, &here);
        };
        match key.kind {
            KeyKind::Table(inner) => {
                let Some(found) = node.table() else { return self.unfit(key, node, &here) };
                Some(Read::Table(self.section(inner, found, &here)))
            }
            KeyKind::Tables(inner) => self.tables(inner, key, node, &here),
            KeyKind::Options => self.options(table, key, node, &here),
            KeyKind::Impairments => self.impairments(key, node, &here),
            KeyKind::Names(..) => self.names(key, node, &here),
            KeyKind::Command => self.command(key, node, &here),
            KeyKind::Sysctls => self.sysctls(key, node, &here),
            KeyKind::Where => self.places(key, node, &here),
            KeyKind::Zip | KeyKind::Axes | KeyKind::Cases => Some(Read::Raw(node.clone())),
            _ => {
                let read = self.single(key, node);
                self.or_problem(read, &here)
            }
        }
    }

    fn single(&self, key: &'static Key, node: &Node) -> Result<Read, ValueProblem> {
        let expects = || key.kind.expects(key.name);
        scalar::single(node, &expects())?;
        match key.kind {
            KeyKind::Element(elements) => {
                element::read(node, elements, self.inputs, &expects()).map(Read::Element)
            }
            KeyKind::Workload => workload::read(node, self.inputs, &expects()).map(Read::Workload),
            KeyKind::Control => control::name(node, self.inputs, &expects()).map(Read::Text),
            kind => scalar::read(kind, node, key.name),
        }
    }

    /// The default of a key, if it has one.
    fn absent(&mut self, key: &'static Key, here: &Place) -> Option<Read> {
        let node = match key.default {
            KeyDefault::Off => return None,
            KeyDefault::Required => {
                let remedy = key.kind.expects(key.name);
                let kind = ProblemKind::Missing;
                self.problems.push(Problem::new(kind, here.clone(), "nothing", remedy));
                return None;
            }
            KeyDefault::Text(text) => Node::text(text),
            KeyDefault::Whole(number) => Node::new(Value::Whole(number.into())),
            KeyDefault::Number(number) => Node::new(Value::Float(number)),
            KeyDefault::Flag(flag) => Node::new(Value::Flag(flag)),
            KeyDefault::Empty => {
                return Some(match key.kind {
                    KeyKind::Table(section) => {
                        Read::Table(self.section(section, &Table::default(), here))
                    }
                    KeyKind::Tables(_) => Read::Tables(Vec::new()),
                    KeyKind::Impairments => Read::Impairments(Vec::new()),
                    KeyKind::Options => Read::Options(Options::default()),
                    KeyKind::Where => Read::Where(Vec::new()),
                    KeyKind::Axes => Read::Raw(Node::new(Value::Table(Table::default()))),
                    _ => Read::Raw(Node::new(Value::List(Vec::new()))),
                });
            }
        };
        Some(self.single(key, &node).expect("defaults can be read"))
    }

    fn tables(
        &mut self,
        section: &'static Section,
        key: &'static Key,
        node: &Node,
        here: &Place,
    ) -> Option<Read> {
        let mut unfit = |node: &Node, what: &str, place: &Place| {
            let wrong = ValueProblem::value(node.describe(), format!("{what}, [[{here}]],"));
            self.problems.push(wrong.problem(place));
        };
        let Some(list) = node.list() else {
            unfit(node, "a list of tables", here);
            return None;
        };
        list.iter()
            .enumerate()
            .filter(|entry| entry.1.table().is_none())
            .for_each(|(index, entry)| unfit(entry, "a table", &here.index(index)));
        if list.is_empty() && key.default == KeyDefault::Required {
            let remedy = format!("at least one [[{}]] table", key.name);
            let place = here.clone();
            self.problems.push(Problem::new(ProblemKind::Missing, place, "no flow", remedy));
        }
        let mut found = Vec::new();
        for (index, entry) in list.iter().enumerate() {
            let place = here.index(index);
            if let Some(table) = entry.table() {
                found.push(self.section(section, table, &place));
            }
        }
        Some(Read::Tables(found))
    }

    fn options(
        &mut self,
        flow: &Table,
        key: &'static Key,
        node: &Node,
        here: &Place,
    ) -> Option<Read> {
        let Some(table) = node.table() else { return self.unfit(key, node, here) };
        let cca = flow.get("cca").and_then(Node::as_text).unwrap_or_default();
        let stack = flow.get("stack").and_then(Node::as_text).and_then(stack);
        let (options, wrong) = control::options(cca, stack, table, self.inputs);
        self.problems.extend(wrong.into_iter().map(|wrong| wrong.problem(here)));
        Some(Read::Options(options))
    }

    fn impairments(&mut self, key: &'static Key, node: &Node, here: &Place) -> Option<Read> {
        let Some(list) = node.list() else { return self.unfit(key, node, here) };
        let mut found = Vec::new();
        for (index, entry) in list.iter().enumerate() {
            let expects = key.kind.expects(key.name);
            let read = scalar::single(entry, &expects)
                .and_then(|()| element::impairment(entry, self.inputs, &expects));
            found.extend(self.or_problem(read, &here.index(index)));
        }
        Some(Read::Impairments(found))
    }

    fn names(&mut self, key: &'static Key, node: &Node, here: &Place) -> Option<Read> {
        let Some(list) = node.list() else { return self.unfit(key, node, here) };
        let mut names = Vec::new();
        for (index, entry) in list.iter().enumerate() {
            let read = scalar::single(entry, &KeyKind::Name.expects(""))
                .and_then(|()| scalar::read(KeyKind::Name, entry, key.name));
            match self.or_problem(read, &here.index(index)) {
                Some(Read::Text(name)) => names.push(name),
                _ => continue,
            }
        }
        Some(Read::Names(names))
    }

    /// A program and its arguments, with the specification's directory filled in.
    fn command(&mut self, key: &'static Key, node: &Node, here: &Place) -> Option<Read> {
        let Some(list) = node.list() else { return self.unfit(key, node, here) };
        let words: Option<Vec<_>> = list.iter().map(Node::as_text).collect();
        let fits = |word: &&str| word.len() <= MAX_ARGUMENT && !word.contains('\0');
        let Some(words) = words.filter(|words| words.iter().all(fits)) else {
            let found = "a list with something other than short texts";
            let wrong = ValueProblem::value(found, key.kind.expects(key.name));
            return self.or_problem(Err(wrong), here);
        };
        if words.first().is_none_or(|program| program.is_empty()) {
            let wrong = ValueProblem::value("no program", key.kind.expects(key.name));
            return self.or_problem(Err(wrong), here);
        }
        let directory = self.inputs.directory();
        let directory = directory.map_err(|(found, remedy)| ValueProblem::value(found, remedy));
        let directory = self.or_problem(directory, here)?;
        Some(Read::Names(words.iter().map(|word| word.replace(HERE, &directory)).collect()))
    }

    fn sysctls(&mut self, key: &'static Key, node: &Node, here: &Place) -> Option<Read> {
        let Some(table) = node.table() else { return self.unfit(key, node, here) };
        let mut found = BTreeMap::new();
        for entry in &table.0 {
            match scalar::sysctl(&entry.key, &entry.node) {
                Ok(value) => drop(found.insert(entry.key.clone(), value)),
                Err(wrong) => self.problems.push(wrong.at(&entry.key).problem(here)),
            }
        }
        Some(Read::Sysctls(found))
    }

    fn places(&mut self, key: &'static Key, node: &Node, here: &Place) -> Option<Read> {
        let Some(table) = node.table() else { return self.unfit(key, node, here) };
        let mut found = Vec::new();
        for entry in &table.0 {
            match Place::parse(&entry.key) {
                Some(place) => found.push((place, entry.node.clone())),
                None => {
                    let remedy = "a place such as path.buffer or flows[0].cca";
                    let wrong = ValueProblem::value(quote(&entry.key), remedy);
                    self.problems.push(wrong.problem(here));
                }
            }
        }
        Some(Read::Where(found))
    }

    fn unfit(&mut self, key: &'static Key, node: &Node, here: &Place) -> Option<Read> {
        let wrong = ValueProblem::value(node.describe(), key.kind.expects(key.name));
        self.problems.push(wrong.problem(here));
        None
    }

    fn or_problem<T>(&mut self, read: Result<T, ValueProblem>, here: &Place) -> Option<T> {
        read.map_err(|wrong| self.problems.push(wrong.problem(here))).ok()
    }

    fn unknown(&mut self, section: &'static Section, name: &str, place: &Place) {
        let here = place.key(name);
        if name == "sweep" && place.0.is_empty() {
            let found = "a table that makes a sweep (here one combination counts)";
            let kind = ProblemKind::UnknownKey;
            self.problems.push(Problem::new(kind, here, found, "no such table"));
            return;
        }
        let remedy = known_key(section, name);
        self.problems.push(Problem::new(ProblemKind::UnknownKey, here, "an unknown key", remedy));
    }
}

/// Suggests the key that was probably meant, the table that has it, or all keys.
fn known_key(section: &'static Section, name: &str) -> String {
    let unlike = nearest(name, section.names()).is_none();
    if unlike && section.title == SWEEP.title {
        let first = name.split('.').next().unwrap_or_default();
        if SPECIFICATION.key(first).is_some() {
            return format!("`sweep.axes.{name}`");
        }
    } else if unlike {
        for outer in SPECIFICATION.keys {
            let (KeyKind::Table(inner) | KeyKind::Tables(inner)) = outer.kind else { continue };
            if inner.title != section.title && inner.key(name).is_some() {
                return format!("`{}.{name}`", outer.name);
            }
        }
    }
    one_of(name, section.names())
}
