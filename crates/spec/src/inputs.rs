//! External inputs of a specification: the files and the own controls that it names.

use std::collections::BTreeMap;

use narrows_base::registry::Values;
use serde::Serialize;

/// Supplied by the reader of a specification; the crate itself doesn't access files.
pub trait Inputs {
    /// The text of a file beside the specification.
    ///
    /// # Errors
    /// Says what was found instead, such as `"a.trace" (no such file)`.
    fn file(&self, name: &str) -> Result<String, String>;

    /// The source of the control called `module:Class`, if it can be made with these options.
    ///
    /// # Errors
    /// Lists the faults of the control or its options.
    fn control(&self, name: &str, options: &Values) -> Result<Module, Vec<ControlFault>>;

    /// The directory of the specification, if the programs that it names may run.
    ///
    /// # Errors
    /// Says what was found and what would be right, if they may not.
    fn directory(&self) -> Result<String, (String, String)> {
        Err(("a program".into(), "a back end with a real kernel".into()))
    }

    /// Returns `true` if the back end has a control of this name that the simulator lacks.
    fn knows(&self, _control: &str) -> bool {
        false
    }
}

/// The module of an own control, which becomes part of the scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Module {
    /// The name of its file.
    pub file: String,
    /// Its text.
    pub text: String,
}

/// The problem of an own control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlFault {
    /// True if the options of the control are wrong, not its code.
    pub of_options: bool,
    /// The value found.
    pub found: String,
    /// The value that would be right.
    pub remedy: String,
}

/// Files from a table, without own controls.
#[derive(Clone, Debug, Default)]
pub struct Files(pub BTreeMap<String, String>);

impl Inputs for Files {
    fn file(&self, name: &str) -> Result<String, String> {
        let missing = || format!("{}, which wasn't given", crate::text::quote(name));
        self.0.get(name).cloned().ok_or_else(missing)
    }

    /// Files of a table are in no directory; whether programs run is for the back end to say.
    fn directory(&self) -> Result<String, (String, String)> {
        Ok(".".into())
    }

    fn control(&self, name: &str, _options: &Values) -> Result<Module, Vec<ControlFault>> {
        let found = format!("{}, a control written in Python", crate::text::quote(name));
        let remedy = "a control of the simulator".into();
        Err(vec![ControlFault { of_options: false, found, remedy }])
    }
}
