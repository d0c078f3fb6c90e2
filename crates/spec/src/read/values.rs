//! The read values by their keys.

use std::collections::BTreeMap;

use super::element::ReadElement;
use crate::document::Node;
use crate::place::Place;
use crate::scenario::{Impairment, Workload};
use crate::units::Size;

/// A value in its exact form.
#[derive(Clone, Debug)]
pub(crate) enum Read {
    Whole(u64),
    Number(f64),
    Flag(bool),
    Text(String),
    Room(Size),
    Element(ReadElement),
    Impairments(Vec<Impairment>),
    Workload(Workload),
    Names(Vec<String>),
    Options(narrows_base::registry::Values),
    Sysctls(BTreeMap<String, String>),
    Where(Vec<(Place, Node)>),
    /// A number, and whether it is a part of the mean.
    Within(f64, bool),
    /// A value that the study reads itself.
    Raw(Node),
    Table(Values),
    Tables(Vec<Values>),
}

/// The values of a section. Those that are off are missing; the others are present, with their
/// declared kinds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values(pub(crate) BTreeMap<&'static str, Read>);

macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident, $some:ident: $kind:ident -> $type:ty;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $some(&self, key: &str) -> Option<$type> {
            match self.0.get(key) {
                None => None,
                Some(Read::$kind(value)) => Some(value.clone()),
                Some(other) => panic!("{key} is {other:?}: it was declared otherwise"),
            }
        }

        $(#[$doc])*
        #[allow(dead_code, reason = "not every kind is both needed and optional somewhere")]
        pub(crate) fn $name(&self, key: &str) -> $type {
            self.$some(key).expect("what is needed was read")
        }
    )*};
}

impl Values {
    getters! {
        whole, some_whole: Whole -> u64;
        number, some_number: Number -> f64;
        flag, some_flag: Flag -> bool;
        text, some_text: Text -> String;
        room, some_room: Room -> Size;
        element, some_element: Element -> ReadElement;
        impairments, some_impairments: Impairments -> Vec<Impairment>;
        workload, some_workload: Workload -> Workload;
        names, some_names: Names -> Vec<String>;
        options, some_options: Options -> narrows_base::registry::Values;
        sysctls, some_sysctls: Sysctls -> BTreeMap<String, String>;
        wheres, some_wheres: Where -> Vec<(Place, Node)>;
        raw, some_raw: Raw -> Node;
        table, some_table: Table -> Values;
        tables, some_tables: Tables -> Vec<Values>;
    }

    /// A number, and whether it is a part of the mean.
    pub(crate) fn within(&self, key: &str) -> (f64, bool) {
        match self.0.get(key) {
            Some(Read::Within(number, relative)) => (*number, *relative),
            other => panic!("{key} is {other:?}: it was declared otherwise"),
        }
    }
}
