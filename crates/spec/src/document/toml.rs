//! Reads a document from a TOML text.

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};

use super::node::{Node, Table, TableEntry, Value};
use crate::place::Place;
use crate::problem::{Position, Problem, ProblemKind, Problems};
use crate::text::quote;

/// The document in `text`.
pub(super) fn read(text: &str) -> Result<Node, Problems> {
    let lines = Lines::new(text);
    match DeTable::parse(text) {
        Ok(table) => Ok(lines.table(table.into_inner(), Some(Position { line: 1, column: 1 }))),
        Err(error) => {
            let start = error.span().map_or(0, |span| span.start);
            let at = lines.position(start);
            let (found, remedy) = lines.explain(error.message().trim(), start, at.line);
            let mut problem = Problem::new(ProblemKind::Syntax, Place::default(), found, remedy);
            problem.at = Some(at);
            Err(problem.into())
        }
    }
}

/// A text with the offsets at which its lines begin, and those of all bytes that begin no character.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
    continuations: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let ends = text.match_indices('\n').map(|(end, _)| end + 1);
        let inside = |(at, &byte): (usize, &u8)| (byte & 0xC0 == 0x80).then_some(at);
        Self {
            text,
            starts: std::iter::once(0).chain(ends).collect(),
            continuations: text.as_bytes().iter().enumerate().filter_map(inside).collect(),
        }
    }

    fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|&start| start <= offset);
        // Counted with two searches, as a line may have a million values.
        let inside = |end: usize| self.continuations.partition_point(|&at| at < end);
        let start = self.starts[line - 1];
        let column = offset - start - (inside(offset) - inside(start)) + 1;
        Position { line, column }
    }

    /// An error of the parser in words, and its remedy.
    fn explain(&self, message: &str, start: usize, line: usize) -> (String, String) {
        let text = self.text.lines().nth(line - 1).unwrap_or("").trim();
        if self.text.trim_start().starts_with('{') {
            let remedy = "TOML, such as a line [path] and below it rate = \"80mbit\",";
            return (format!("no TOML, but JSON ({message})"), remedy.into());
        }
        if message == "duplicate key" {
            let rest = self.text.get(start..).unwrap_or("");
            let end = rest.find(|c: char| !(c.is_alphanumeric() || "_-\"'".contains(c)));
            let key = rest[..end.unwrap_or(rest.len())].trim_matches(['"', '\'']);
            return (format!("{} for the second time", quote(key)), "each key once".into());
        }
        if let Some(name) = text.strip_prefix('[').filter(|_| message.starts_with("unclosed")) {
            let name = name.trim_matches(['[', ']', ' ']);
            let closed =
                if text.starts_with("[[") { format!("[[{name}]]") } else { format!("[{name}]") };
            return (format!("no TOML ({message})"), quote(&closed));
        }
        (format!("no TOML ({message})"), self.hint(line))
    }

    /// A hint for the most common mistake: a quantity without quotes.
    fn hint(&self, line: usize) -> String {
        let text = self.text.lines().nth(line - 1).unwrap_or("");
        let text = text.split('#').next().unwrap_or("");
        let word = |text: &str| {
            let plain = |c: char| c.is_alphanumeric() || "_.+-".contains(c);
            !text.is_empty() && text.chars().all(plain)
        };
        let pair = text.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
        match pair.filter(|(key, value)| word(key) && word(value)) {
            Some((key, value)) => format!("{key} = \"{value}\""),
            None => "a line like rate = \"80mbit\"".into(),
        }
    }

    fn table(&self, table: DeTable<'_>, at: Option<Position>) -> Node {
        let entry = |(key, value): (Spanned<_>, Spanned<DeValue<'_>>)| {
            let at = Some(self.position(key.span().start));
            let key: std::borrow::Cow<'_, str> = key.into_inner();
            TableEntry { key: key.into_owned(), at, node: self.node(value, at) }
        };
        Node { value: Value::Table(Table(table.into_iter().map(entry).collect())), at }
    }

    /// A value; `key` is the position of its key.
    fn node(&self, value: Spanned<DeValue<'_>>, key: Option<Position>) -> Node {
        let at = Some(self.position(value.span().start));
        let value = match value.into_inner() {
            // Tables made by dotted keys begin at their key.
            DeValue::Table(table) => return self.table(table, key.max(at)),
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Integer(number) => {
                match i128::from_str_radix(number.as_str(), number.radix()) {
                    Ok(whole) => Value::Whole(whole),
                    Err(_) => Value::Other("a huge number", number.to_string()),
                }
            }
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(float) => Value::Float(float),
                Err(_) => Value::Other("a number", number.to_string()),
            },
            DeValue::Boolean(flag) => Value::Flag(flag),
            DeValue::Datetime(date) => Value::Other("a date or a time", date.to_string()),
            DeValue::Array(list) => {
                Value::List(list.into_iter().map(|value| self.node(value, None)).collect())
            }
        };
        Node { value, at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(document: &Node, place: &str, of_key: bool) -> (usize, usize) {
        let at = document.position(&Place::parse(place).unwrap(), of_key).unwrap();
        (at.line, at.column)
    }

    #[test]
    fn every_value_has_its_place() {
        let text = "name = \"ä\" # x\n\n[path]\n  rate = \"8mbit\"\nqueue = { kind = \"pie\" }\n\n\
                    [[flows]]\ncca = \"bbr\"\n[[flows]]\ncca = [\"a\", \"ü\", \"c\"]\na.b = 3\n";
        let document = read(text).unwrap();
        assert_eq!(at(&document, "name", false), (1, 8));
        assert_eq!(at(&document, "path.rate", false), (4, 10));
        assert_eq!(at(&document, "path.rate", true), (4, 3));
        assert_eq!(at(&document, "path.queue.kind", false), (5, 18));
        assert_eq!(at(&document, "path.rtt", false).0, 3);
        assert_eq!(at(&document, "flows[1].cca[2]", false), (10, 18));
        assert_eq!(at(&document, "flows[1].a.b", false), (11, 7));
        assert_eq!(at(&document, "run", false), (1, 1));
    }

    #[test]
    fn broken_toml_is_reported_with_its_position() {
        let problem = |text: &str| read(text).unwrap_err().0.remove(0);
        let unquoted = problem("[path]\nrate = 80mbit\n");
        assert_eq!(unquoted.at.unwrap().line, 2);
        assert_eq!(unquoted.remedy, "rate = \"80mbit\"");
        assert_eq!(problem("a = 1\na = 2").at.unwrap().line, 2);
        let twice = problem("[path]\nrate = \"1mbit\"\n\"rate\" = \"2mbit\"");
        assert_eq!(
            (twice.found.as_str(), twice.at.unwrap().line),
            ("\"rate\" for the second time", 3)
        );
        assert_eq!(problem("a = 1\n[path]\n[path]").found, "\"path\" for the second time");
        assert_eq!(problem("[path\nrate = 1").remedy, "\"[path]\"");
        assert_eq!(problem("[[flows]\ncca = \"bbr\"").remedy, "\"[[flows]]\"");
        assert!(problem(" {\"path\": {}}").found.contains("but JSON"));
        assert!(problem("x = \"\0\"").found.starts_with("no TOML"));
        for text in ["x = [[[".to_owned(), format!("x = {}", "[".repeat(5000)), "a.".repeat(9999)] {
            assert!(problem(&text).found.starts_with("no TOML"), "{text:.20}");
        }
    }

    #[test]
    fn numbers_of_any_length_are_reported() {
        let document = read(&format!("a = {}\nb = 1e999999999\nc = 0x_f", "9".repeat(401)));
        assert!(document.is_err(), "an underscore needs digits around it");
        let document = read(&format!("a = {}\nb = 1e999999999\nc = 0xf", "9".repeat(401))).unwrap();
        let found: Vec<_> = document.leaves().iter().map(|leaf| leaf.1.describe()).collect();
        assert_eq!(found, ["a huge number", "inf", "15"]);
    }
}
