//! System calls, as a script writes them.

use crate::error::ScriptPosition;

/// A system call with its expected result.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The call's name.
    pub name: String,
    /// Where the name is.
    pub at: ScriptPosition,
    /// The arguments in their order.
    pub arguments: Vec<Argument>,
    /// The expected result.
    pub result: CallResult,
    /// When a call that blocks returns, in ns; relative if its start is.
    pub returns_ns: Option<i64>,
}

/// An expected result.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    /// The value; `None` for "...", which is any.
    pub value: Option<i64>,
    /// The name of an error, such as "EAGAIN".
    pub errno: Option<String>,
}

/// An argument, or a part of one, with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// Where it is.
    pub at: ScriptPosition,
    /// The value.
    pub value: CallValue,
}

/// A value in a system call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallValue {
    /// "...", which leaves the value open.
    Ellipsis,
    /// A number.
    Integer(i64),
    /// A constant, such as `SOL_SOCKET`.
    Word(String),
    /// A text.
    Text(String),
    /// Constants joined by "|".
    Or(Vec<Argument>),
    /// Between brackets: what a pointer points to.
    List(Vec<Argument>),
    /// Between braces: the members of a structure, with their names where they have some.
    Members(Vec<(Option<String>, Argument)>),
    /// A function of the language, such as `htons(8080)`.
    Apply(String, Vec<Argument>),
}

impl Argument {
    /// The member of that name.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Argument> {
        let CallValue::Members(members) = &self.value else { return None };
        members.iter().find(|(known, _)| known.as_deref() == Some(name)).map(|found| &found.1)
    }
}
