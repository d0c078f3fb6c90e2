//! Connections over which the two programs of iperf3 talk about a test.

use std::collections::BTreeSet;

use super::table::FinishedFlow;
use crate::analyze::report::FlowReport;

/// The length of the cookie that an iperf3 client sends first on each connection of a test: 36
/// characters and a zero.
const COOKIE: u64 = 37;

/// The ids of the flows in which the programs of iperf3 talk, and of lone cookies.
///
/// Its client first opens a connection on which both talk until the test is over, and then those
/// for the data, to the same port. It begins each with a cookie. Captures often lack the content of
/// packets, so a cookie is known by its length.
pub(super) fn conversations(flows: &[FinishedFlow]) -> BTreeSet<u32> {
    let reports = || flows.iter().map(|done| &done.report);
    let cookies: Vec<_> = reports().filter(|flow| flow.first_bytes == COOKIE).collect();
    let mut found = BTreeSet::new();
    for talk in &cookies {
        let answers = |other: &&FlowReport| {
            (&other.source, &other.destination) == (&talk.destination, &talk.source)
        };
        let data: Vec<_> = cookies.iter().filter(|data| is_tested(talk, data)).collect();
        let Some(answer) = reports().find(answers).filter(|_| !data.is_empty()) else { continue };
        found.extend([talk.id, answer.id]);
        // Where the server sends the data, the client sends nothing else.
        let lone = data.iter().filter(|flow| flow.payload_bytes == COOKIE);
        found.extend(lone.map(|flow| flow.id));
    }
    found
}

/// Returns true if a connection began during a conversation, between the same hosts and to the same
/// port.
fn is_tested(talk: &FlowReport, data: &FlowReport) -> bool {
    let host = |end: &str| end.rsplit_once(':').map(|(host, _)| host.to_owned());
    data.destination == talk.destination
        && data.source != talk.source
        && host(&data.source) == host(&talk.source)
        && talk.start_s < data.start_s
        && data.start_s < talk.end_s
}
