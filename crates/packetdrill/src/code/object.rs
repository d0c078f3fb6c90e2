//! Values, and the names that have them.

use std::collections::BTreeMap;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Object {
    /// An integer; comparisons give 0 or 1.
    Integer(i64),
    /// A text.
    Text(String),
    /// Several values.
    Tuple(Vec<Object>),
}

/// The value in the words of `print`.
pub fn text(value: &Object) -> String {
    match value {
        Object::Integer(value) => value.to_string(),
        Object::Text(text) => text.clone(),
        Object::Tuple(parts) => {
            format!("({})", parts.iter().map(text).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Names and their values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variables(pub(super) BTreeMap<String, Object>);

impl Variables {
    /// Sets a name to an integer.
    pub fn set(&mut self, name: &str, value: i64) {
        self.0.insert(name.to_owned(), Object::Integer(value));
    }

    /// The constants of `TCP_INFO`.
    #[must_use]
    pub fn constants() -> Self {
        let mut variables = Self::default();
        let states = [
            "TCP_ESTABLISHED",
            "TCP_SYN_SENT",
            "TCP_SYN_RECV",
            "TCP_FIN_WAIT1",
            "TCP_FIN_WAIT2",
            "TCP_TIME_WAIT",
            "TCP_CLOSE",
            "TCP_CLOSE_WAIT",
            "TCP_LAST_ACK",
            "TCP_LISTEN",
            "TCP_CLOSING",
        ];
        (1..).zip(states).for_each(|(value, name)| variables.set(name, value));
        let congestion =
            ["TCP_CA_Open", "TCP_CA_Disorder", "TCP_CA_CWR", "TCP_CA_Recovery", "TCP_CA_Loss"];
        (0..).zip(congestion).for_each(|(value, name)| variables.set(name, value));
        let options =
            ["TIMESTAMPS", "SACK", "WSCALE", "ECN", "ECN_SEEN", "SYN_DATA", "USEC_TS", "TFO_CHILD"];
        let option =
            |(bit, name): (u32, &str)| variables.set(&format!("TCPI_OPT_{name}"), 1 << bit);
        (0..).zip(options).for_each(option);
        variables
    }
}
