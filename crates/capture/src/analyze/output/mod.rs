//! The output of an analysis: the tables of a run and a summary.

mod summary;
mod tables;

use narrows_record::Table;

use super::flows::FinishedFlows;
use super::input::FileReport;
use super::units::seconds;

pub use summary::{Others, Summary};

/// The result of an analysis.
#[derive(Debug)]
pub struct Analysis {
    /// The summary in words and numbers.
    pub summary: Summary,
    /// The tables that a run has, and `sequence`.
    pub tables: Vec<Table>,
}

pub(crate) fn outcome(
    mut found: FinishedFlows,
    files: Vec<FileReport>,
    extra: Vec<String>,
) -> Analysis {
    let mut others = Others {
        connections_without_data: found.unlisted.silent,
        evicted: found.unlisted.evicted,
        flows: found.unlisted.flows,
        payload_bytes: found.unlisted.payload,
        packets: found.unlisted.packets,
    };
    let talks = found.leave_out_conversations();
    found.find_shared();
    let (flows, payload) = found.keep_largest();
    others.flows += flows;
    others.payload_bytes += payload;
    let mut tables = vec![
        tables::flow_samples(&found.rows, |row| found.drops_until(row)),
        tables::internals(),
        tables::completions(&found.done),
        tables::distributions(&found.done),
        tables::sequence(&found.points),
        tables::causes(&found.done),
    ];
    if let Some(listed) = &found.packets {
        let at = |flow: u32| found.done[flow as usize].report.vantage == "receiver";
        tables.push(tables::packets(listed, at));
    }
    let mut summary = Summary {
        origin_unix_s: found.origin.map(seconds),
        duration_s: seconds(found.end),
        sample_interval_ns: found.interval,
        flows: found.done.into_iter().map(|done| done.report).collect(),
        others,
        files,
        clocks: Vec::new(),
        notes: Vec::new(),
    };
    summary.notes = summary::notes(&summary, found.backwards, found.thinned);
    let talk = |name| format!("{name} isn't a flow: on this connection iperf3 controls its test");
    summary.notes.extend(talks.into_iter().map(talk));
    summary.notes.extend(extra);
    Analysis { summary, tables }
}
