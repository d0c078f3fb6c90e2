//! A specification as written: values, each with its position in the text.

mod change;
mod json;
mod node;
mod toml;
mod write;

pub use change::Change;
pub(crate) use change::apply;
pub use node::Node;
pub(crate) use node::{Entry, Table, Value};
pub use write::inline;

use crate::problem::Problems;

impl Node {
    /// The document in a TOML text.
    ///
    /// # Errors
    /// Where the text isn't TOML.
    pub fn from_toml(text: &str) -> Result<Self, Problems> {
        toml::read(text)
    }

    /// The document in a JSON text written by a program; values have no positions.
    ///
    /// # Errors
    /// If the text isn't JSON.
    pub fn from_json(text: &str) -> Result<Self, Problems> {
        json::read(text)
    }

    /// The document as TOML, which reads back as the same values.
    #[must_use]
    pub fn to_toml(&self) -> String {
        write::to_toml(self.table().unwrap_or(&Table::default()))
    }

    /// The value as JSON; values that JSON lacks become texts.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        json::write(self)
    }
}
