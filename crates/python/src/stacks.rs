//! The transport stacks of other projects that this build has.

use std::path::Path;

#[cfg(feature = "stacks")]
mod built {
    pub use narrows_stacks::{Keys, with_stacks};
}

#[cfg(not(feature = "stacks"))]
mod built {
    use narrows_sim::Controls;

    /// No secrets.
    #[derive(Clone, Debug, Default)]
    pub struct Keys(());

    impl Keys {
        pub fn text(&self) -> String {
            String::new()
        }
    }

    pub fn with_stacks(controls: Controls, _keys: &Keys) -> Controls {
        controls
    }
}

pub use built::{Keys, with_stacks};

/// The file with the secrets of a run's connections.
const FILE: &str = "keys.log";

/// Writes the secrets of a run beside its captures, if there are any; returns the file's name and
/// its lines.
pub fn write_keys(keys: &Keys, directory: &Path) -> std::io::Result<Option<(String, u64)>> {
    let text = keys.text();
    if text.is_empty() {
        return Ok(None);
    }
    std::fs::write(directory.join(FILE), &text)?;
    Ok(Some((FILE.to_owned(), text.lines().count() as u64)))
}
