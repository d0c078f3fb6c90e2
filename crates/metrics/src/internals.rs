//! The internals that workloads report.

use std::collections::BTreeMap;

use arrow_schema::ArrowError;

use crate::tables::RunTables;

/// The internals of workloads.
const INTERNALS: [&str; 11] = [
    "stalls",
    "stalled_s",
    "startup_s",
    "playout_buffer_s",
    "freezes",
    "frozen_s",
    "lost_frames",
    "rate_changes",
    "encoded_bytes",
    "open_transfers",
    "late_transfers",
];

/// Internals of the workloads of flows, each with its samples (time in s, value) in order of time.
#[derive(Debug, Default)]
pub(crate) struct Internals(BTreeMap<(u32, &'static str), Vec<(f64, f64)>>);

impl Internals {
    pub(crate) fn of(tables: &impl RunTables) -> Result<Self, ArrowError> {
        let mut found = Self::default();
        tables.each("internals", &["flow", "name", "time_s", "value"], &mut |rows| {
            let (flows, names) = (rows.numbers("flow")?, rows.texts("name")?);
            let (times, values) = (rows.numbers("time_s")?, rows.numbers("value")?);
            for row in 0..rows.len() {
                let name = names.value(row);
                if let Some(&name) = INTERNALS.iter().find(|one| **one == name) {
                    let samples = found.0.entry((flows.key(row), name)).or_default();
                    samples.push((times.at(row), values.at(row)));
                }
            }
            Ok(())
        })?;
        for samples in found.0.values_mut() {
            samples.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        }
        Ok(found)
    }

    /// The samples of an internal.
    pub(crate) fn samples(&self, flow: u32, name: &'static str) -> &[(f64, f64)] {
        self.0.get(&(flow, name)).map_or(&[], Vec::as_slice)
    }

    /// The last value.
    pub(crate) fn last(&self, flow: u32, name: &'static str) -> Option<f64> {
        self.samples(flow, name).last().map(|&(_, value)| value)
    }
}
