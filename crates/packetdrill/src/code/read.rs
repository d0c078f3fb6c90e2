//! Reads words into statements.

use super::word::{Word, WordKind};
use crate::error::{ScriptError, ScriptPosition};

#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// A condition, and what to say if it doesn't hold.
    Assert(Expression, Option<Expression>),
    /// A name gets a value.
    Assign(String, Expression),
    /// Writes values.
    Print(Vec<Expression>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    pub at: ScriptPosition,
    pub term: Term,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    Integer(i64),
    Text(String),
    Name(String),
    Tuple(Vec<Expression>),
    /// `-`, `+`, `~` or `not`.
    Unary(&'static str, Box<Expression>),
    Binary(&'static str, Box<Expression>, Box<Expression>),
    /// `a <= b < c`: the first value, then comparisons with the next ones.
    Chain(Box<Expression>, Vec<(&'static str, Expression)>),
}

/// Binary operators from the weakest to the strongest, but for comparisons, `and`, `or`, `not`.
const LEVELS: [&[&str]; 6] =
    [&["|"], &["^"], &["&"], &["<<", ">>"], &["+", "-"], &["*", "//", "/", "%"]];
const COMPARISONS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];
const ASSIGNMENTS: [(&str, &str); 4] = [("+=", "+"), ("-=", "-"), ("*=", "*"), ("//=", "//")];

/// Reads all statements.
pub fn statements(words: &[Word]) -> Result<Vec<Statement>, ScriptError> {
    let mut reader = Reader { words, next: 0 };
    let mut found = Vec::new();
    loop {
        while reader.peek().kind == WordKind::Break {
            reader.next += 1;
        }
        if reader.peek().kind == WordKind::End {
            return Ok(found);
        }
        found.push(reader.statement()?);
        if !matches!(reader.peek().kind, WordKind::Break | WordKind::End) {
            return Err(reader.refuse("the end of the statement: \";\" or a new line"));
        }
    }
}

struct Reader<'a> {
    words: &'a [Word],
    next: usize,
}

impl Reader<'_> {
    fn peek(&self) -> &Word {
        &self.words[self.next]
    }

    fn refuse(&self, needed: &str) -> ScriptError {
        let word = self.peek();
        let found = match &word.kind {
            WordKind::Name(name) => format!("\"{name}\""),
            WordKind::Integer(value) => format!("\"{value}\""),
            WordKind::Text(text) => format!("the text \"{text}\""),
            WordKind::Operator(operator) => format!("\"{operator}\""),
            WordKind::Break => "the end of the statement".to_owned(),
            WordKind::End => "the end of the code".to_owned(),
        };
        ScriptError::new(word.at, found, needed)
    }

    fn accept(&mut self, choices: &[&'static str]) -> Option<&'static str> {
        let WordKind::Operator(operator) = self.peek().kind else { return None };
        let found = choices.iter().copied().find(|&choice| choice == operator);
        self.next += usize::from(found.is_some());
        found
    }

    fn accept_name(&mut self, name: &str) -> bool {
        let found = matches!(&self.peek().kind, WordKind::Name(known) if known == name);
        self.next += usize::from(found);
        found
    }

    fn statement(&mut self) -> Result<Statement, ScriptError> {
        if self.accept_name("assert") {
            let condition = self.expression()?;
            let message = match self.accept(&[","]) {
                Some(_) => Some(self.expression()?),
                None => None,
            };
            return Ok(Statement::Assert(condition, message));
        }
        let error = self.refuse("assert, print(...) or an assignment");
        let at = self.peek().at;
        if self.accept_name("print") {
            self.accept(&["("]).ok_or_else(|| self.refuse("\"(\""))?;
            return Ok(Statement::Print(self.values()?.0));
        }
        let WordKind::Name(name) = self.peek().kind.clone() else { return Err(error) };
        self.next += 1;
        if self.accept(&["="]).is_some() {
            return Ok(Statement::Assign(name, self.expression()?));
        }
        let known =
            ASSIGNMENTS.iter().find_map(|&(sign, operator)| self.accept(&[sign]).map(|_| operator));
        let Some(operator) = known else { return Err(error) };
        let left = Box::new(Expression { at, term: Term::Name(name.clone()) });
        let right = Box::new(self.expression()?);
        Ok(Statement::Assign(name, Expression { at, term: Term::Binary(operator, left, right) }))
    }

    /// Values up to ")", and whether a comma is among them.
    fn values(&mut self) -> Result<(Vec<Expression>, bool), ScriptError> {
        let (mut found, mut comma) = (Vec::new(), false);
        while self.accept(&[")"]).is_none() {
            found.push(self.expression()?);
            if self.accept(&[","]).is_some() {
                comma = true;
            } else {
                self.accept(&[")"]).ok_or_else(|| self.refuse("\")\""))?;
                break;
            }
        }
        Ok((found, comma))
    }

    fn expression(&mut self) -> Result<Expression, ScriptError> {
        self.logic("or", |reader| reader.logic("and", Self::negation))
    }

    fn logic(
        &mut self,
        operator: &'static str,
        part: impl Fn(&mut Self) -> Result<Expression, ScriptError>,
    ) -> Result<Expression, ScriptError> {
        let mut left = part(self)?;
        while self.accept_name(operator) {
            let right = part(self)?;
            let at = left.at;
            left = Expression { at, term: Term::Binary(operator, Box::new(left), Box::new(right)) };
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Expression, ScriptError> {
        let at = self.peek().at;
        if self.accept_name("not") {
            let term = Term::Unary("not", Box::new(self.negation()?));
            return Ok(Expression { at, term });
        }
        let first = self.level(0)?;
        let mut chain = Vec::new();
        while let Some(operator) = self.accept(&COMPARISONS) {
            chain.push((operator, self.level(0)?));
        }
        if chain.is_empty() {
            return Ok(first);
        }
        Ok(Expression { at, term: Term::Chain(Box::new(first), chain) })
    }

    fn level(&mut self, level: usize) -> Result<Expression, ScriptError> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        while let Some(operator) = self.accept(operators) {
            let right = self.level(level + 1)?;
            let at = right.at;
            left = Expression { at, term: Term::Binary(operator, Box::new(left), Box::new(right)) };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expression, ScriptError> {
        let at = self.peek().at;
        if let Some(operator) = self.accept(&["-", "+", "~"]) {
            return Ok(Expression { at, term: Term::Unary(operator, Box::new(self.unary()?)) });
        }
        if self.accept(&["("]).is_some() {
            let (mut values, comma) = self.values()?;
            return match values.pop() {
                Some(only) if !comma => Ok(only),
                last => {
                    values.extend(last);
                    Ok(Expression { at, term: Term::Tuple(values) })
                }
            };
        }
        let term = match self.peek().kind.clone() {
            WordKind::Integer(value) => Term::Integer(value),
            WordKind::Text(text) => Term::Text(text),
            WordKind::Name(name) => Term::Name(name),
            _ => return Err(self.refuse("a value")),
        };
        self.next += 1;
        Ok(Expression { at, term })
    }
}
