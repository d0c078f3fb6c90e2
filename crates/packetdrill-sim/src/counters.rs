//! Those of the kernel's counters shown by `nstat` that the simulator's receivers have.

use narrows_packetdrill::EndError;
use narrows_tcp::Refusals;

/// Counters of a host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    /// Of the connections that have ended.
    past: Refusals,
    /// Of the present connection.
    pub(crate) present: Refusals,
    /// The counters at the last `nstat` without `-s`.
    history: Refusals,
}

impl Counters {
    /// Ends the present connection, and keeps its counters.
    pub(crate) fn keep(&mut self) {
        self.past = self.sum();
        self.present = Refusals::default();
    }

    fn sum(&self) -> Refusals {
        let (past, present) = (self.past, self.present);
        Refusals {
            beyond_window: past.beyond_window + present.beyond_window,
            zero_window: past.zero_window + present.zero_window,
            no_memory: past.no_memory + present.no_memory,
        }
    }

    /// The lines of `nstat` with these options: counters that have grown since the last time.
    pub(crate) fn nstat(&mut self, options: &[&str]) -> Result<Vec<String>, EndError> {
        if let Some(unknown) = options.iter().find(|option| !["-n", "-s"].contains(option)) {
            return Err(EndError::Unsupported(format!("the command \"nstat {unknown}\"")));
        }
        let (now, before) = (self.sum(), self.history);
        if !options.contains(&"-s") {
            self.history = now;
        }
        let counters = [
            ("TcpExtBeyondWindow", now.beyond_window - before.beyond_window),
            ("TcpExtTCPZeroWindowDrop", now.zero_window - before.zero_window),
            ("TcpExtTCPRcvQDrop", now.no_memory - before.no_memory),
        ];
        let grown = counters.into_iter().filter(|one| one.1 > 0 && !options.contains(&"-n"));
        Ok(grown.map(|(name, count)| format!("{name:<32}{count:<16} 0.0")).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nstat_shows_counters_that_have_grown_since_it_last_ran() {
        let mut counters = Counters::default();
        counters.present.zero_window = 2;
        let one = |lines: Result<Vec<String>, EndError>| lines.map(|lines| lines.concat());
        let shown = "TcpExtTCPZeroWindowDrop         2                0.0".to_owned();
        assert_eq!(one(counters.nstat(&["-s"])), Ok(shown.clone()));
        assert_eq!(one(counters.nstat(&[])), Ok(shown));
        assert_eq!(counters.nstat(&[]), Ok(Vec::new()));
        counters.keep();
        counters.present.zero_window = 3;
        assert_eq!(counters.nstat(&["-n"]), Ok(Vec::new()));
        assert_eq!(counters.nstat(&[]), Ok(Vec::new()));
        assert!(matches!(counters.nstat(&["-z"]), Err(EndError::Unsupported(_))));
    }
}
