//! How long the hosts' programs waited for a processor while they had something to do.

use std::collections::BTreeMap;
use std::fs;
use std::io::Result;
use std::path::Path;

use serde::Serialize;

/// The times of one thread, or of several together (`/proc/PID/schedstat`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Waits {
    /// Time on a processor, ns.
    pub ran_ns: u64,
    /// Time ready to run and without a processor, ns.
    pub waited_ns: u64,
    /// How often it got a processor.
    pub turns: u64,
}

impl Waits {
    fn plus(self, other: Self) -> Self {
        Self {
            ran_ns: self.ran_ns + other.ran_ns,
            waited_ns: self.waited_ns + other.waited_ns,
            turns: self.turns + other.turns,
        }
    }

    fn since(self, before: Self) -> Self {
        Self {
            ran_ns: self.ran_ns.saturating_sub(before.ran_ns),
            waited_ns: self.waited_ns.saturating_sub(before.waited_ns),
            turns: self.turns.saturating_sub(before.turns),
        }
    }
}

/// Follows this process and the programs that it started.
#[derive(Default)]
pub struct WaitTimes {
    first: BTreeMap<u32, Waits>,
    last: BTreeMap<u32, Waits>,
    pressure_ns: Option<(u64, u64)>,
}

impl WaitTimes {
    /// Reads the times of these processes; one that ends between two readings keeps the last.
    pub fn read(&mut self, processes: impl Iterator<Item = u32>) {
        for process in processes {
            if let Some(waits) = of_process(process) {
                self.first.entry(process).or_insert(waits);
                self.last.insert(process, waits);
            }
        }
        if let Some(now) = pressure_ns() {
            let (first, _) = self.pressure_ns.unwrap_or((now, now));
            self.pressure_ns = Some((first, now));
        }
    }

    /// Writes `waits.json`: the totals, and for how long some program of the whole machine had to
    /// wait.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn write(&self, directory: &Path) -> Result<()> {
        let each = self.last.iter().map(|(process, last)| last.since(self.first[process]));
        let totals = serde_json::json!({
            "hosts": each.fold(Waits::default(), Waits::plus),
            "pressure_ns": self.pressure_ns.map(|(first, last)| last - first),
        });
        fs::write(directory.join("waits.json"), totals.to_string())
    }
}

/// All threads of a process together; none if it is gone or the kernel doesn't count.
fn of_process(process: u32) -> Option<Waits> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let each = threads
        .flatten()
        .filter_map(|thread| parse(&fs::read_to_string(thread.path().join("schedstat")).ok()?));
    Some(each.fold(Waits::default(), Waits::plus))
}

/// The three numbers of a `schedstat` (Documentation/scheduler/sched-stats.rst).
fn parse(text: &str) -> Option<Waits> {
    let mut numbers = text.split_whitespace().map(|word| word.parse().ok());
    let mut next = || numbers.next().flatten();
    Some(Waits { ran_ns: next()?, waited_ns: next()?, turns: next()? })
}

/// For how long at least one thread of the machine had to wait (Documentation/accounting/psi.rst).
fn pressure_ns() -> Option<u64> {
    let text = fs::read_to_string("/proc/pressure/cpu").ok()?;
    let total = text.lines().find(|line| line.starts_with("some"))?.rsplit_once("total=")?.1;
    Some(total.parse::<u64>().ok()? * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_schedstat_is_three_numbers() {
        let waits = Waits { ran_ns: 12, waited_ns: 345, turns: 6 };
        assert_eq!(parse("12 345 6\n"), Some(waits));
        assert_eq!(parse("12 345"), None);
        assert_eq!(parse("0 0 x"), None);
    }

    #[test]
    fn waits_before_the_first_reading_do_not_count() {
        let mut watch = WaitTimes::default();
        let own = std::process::id();
        watch.read([own, u32::MAX].into_iter());
        assert_eq!(watch.first.keys().collect::<Vec<_>>(), [&own]);
        watch.first.insert(own, Waits { ran_ns: 5, waited_ns: 7, turns: 1 });
        watch.last.insert(own, Waits { ran_ns: 25, waited_ns: 10, turns: 4 });
        let did = watch.last[&own].since(watch.first[&own]);
        assert_eq!(did, Waits { ran_ns: 20, waited_ns: 3, turns: 3 });
    }
}
