//! The summary in words and numbers.

use serde::Serialize;

use crate::analyze::datagrams::lines;
use crate::analyze::input::{FileReport, kinds};
use crate::analyze::path::ClockReport;
use crate::analyze::report::FlowReport;

/// Notes on pings and UDP of a file that also has TCP; all of them are in its report.
const MOST_LINES: usize = 6;

/// Counts that don't belong to reported flows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Others {
    /// Connections that carried no data.
    pub connections_without_data: u64,
    /// Connections that were closed to make room and may appear again.
    pub evicted: u64,
    /// Flows that aren't in the tables.
    pub flows: u64,
    /// Their payload.
    pub payload_bytes: u64,
    /// Packets that should be listed, but aren't.
    pub packets: u64,
}

/// The summary in words and numbers.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Each file.
    pub files: Vec<FileReport>,
    /// Their clocks, if several show the same flows.
    pub clocks: Vec<ClockReport>,
    /// The instant of time 0, in s since 1970.
    pub origin_unix_s: Option<f64>,
    /// The time from the first segment to the last.
    pub duration_s: f64,
    /// The interval between two rows of `flow_samples`, in ns.
    pub sample_interval_ns: u64,
    /// The flows, in the order of their ids in the tables.
    pub flows: Vec<FlowReport>,
    /// Counts that don't belong to reported flows.
    pub others: Others,
    /// Caveats.
    pub notes: Vec<String>,
}

pub(super) fn notes(summary: &Summary, backwards: u64, thinned: bool) -> Vec<String> {
    let mut notes = Vec::new();
    for file in &summary.files {
        let path = &file.path;
        if let Some(problem) = &file.problem {
            notes.push(format!("{path} breaks off at {problem}; everything before it counts"));
        }
        if file.dropped_by_host > 0 {
            let dropped = file.dropped_by_host;
            notes.push(format!("{path}: the capturing host dropped {dropped} frames"));
        }
        if let Some(events) = file.qlog_events {
            notes.push(format!(
                "{path}: a qlog with {events} events; stream bytes count as payload, and addresses \
                 are made up"
            ));
        }
        let others = kinds(file);
        if !others.is_empty() {
            notes.push(format!("{path}: passed over {others}"));
        }
        match file.decrypted {
            Some([0, 0]) | None => {}
            Some([0, encrypted]) => notes.push(format!(
                "{path}: the key log opens none of {encrypted} packets of QUIC: they are of other \
                 connections, of a later part, or were cut off"
            )),
            Some([decrypted, encrypted]) => notes.push(format!(
                "{path}: decrypted {decrypted} packets of QUIC, {encrypted} not; stream bytes count as \
                 payload"
            )),
        }
        let most = if file.segments == 0 { usize::MAX } else { MOST_LINES };
        let datagrams = lines(
            &file.pings,
            &file.quic,
            &file.udp,
            file.decrypted.is_some_and(|[open, _]| open > 0),
        )
        .into_iter()
        .take(most);
        notes.extend(datagrams.map(|line| format!("{path}: {line}")));
        if file.options_cut > 0 {
            let cut = file.options_cut;
            notes.push(format!("{path}: the options of {cut} segments were cut off"));
        }
        if file.untimed > 0 {
            let untimed = file.untimed;
            notes.push(format!("{path}: {untimed} frames without a time took that of the last"));
        }
    }
    let others = &summary.others;
    let counted = [
        (backwards, "segments came earlier than the one before"),
        (others.connections_without_data, "connections carried no data"),
        (others.evicted, "connections were closed to make room and may count twice"),
        (others.flows, "smaller flows aren't in the tables"),
        (others.packets, "packets aren't listed: there are too many"),
    ];
    for (count, what) in counted.into_iter().filter(|(count, _)| *count > 0) {
        notes.push(format!("{count} {what}"));
    }
    if thinned {
        notes.push("the time-sequence graphs show only some of the packets".to_owned());
    }
    notes
}
