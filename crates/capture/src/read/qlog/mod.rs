//! qlog: what an endpoint of QUIC wrote about its packets.
//!
//! Sequences of JSON texts and single documents, of the main schema's drafts 01 and 02 (events as
//! arrays), of 0.3 and 0.4, and of the later drafts that name a `file_schema`. Of the events only
//! packets sent and received count, and the limits of flow control.

mod event;

pub use event::{QuicEvent, QuicFrame, QuicPacket};

use std::io::Read;

use serde_json::Value;

use event::{Clock, Fields};

/// More bytes of a log aren't read.
const MOST_BYTES: u64 = 1 << 30;
/// The character that begins each text of a sequence (RFC 7464).
const SEPARATOR: u8 = 0x1e;

/// One connection as one endpoint logged it.
#[derive(Clone, Debug, Default)]
pub struct QlogTrace {
    /// A number for the connection, the same in the logs of both endpoints if they name it.
    pub connection: u32,
    /// True if the endpoint is the connection's server.
    pub server: bool,
    /// Its packets and limits, in the order of the log.
    pub events: Vec<QuicEvent>,
    /// Events of all kinds.
    pub count: u64,
    /// When the client's first packet, the server's answer and the client's next one passed; none
    /// in a log, whose endpoint knows its round trips.
    pub handshake: Option<[u64; 3]>,
}

/// Returns whether a file that begins with these bytes may be a qlog.
#[must_use]
pub fn begins_like_qlog(begin: &[u8]) -> bool {
    matches!(begin.first(), Some(&(SEPARATOR | b'{')))
}

impl QlogTrace {
    /// Copies the trace without its events.
    fn clone_head(&self) -> Self {
        Self { connection: self.connection, server: self.server, ..Self::default() }
    }
}

/// Reads the traces of a log, and says why it ends early, if it does.
///
/// # Errors
/// If it can't be read, or isn't a qlog.
pub fn read_qlog(input: impl Read) -> Result<(Vec<QlogTrace>, Option<String>), String> {
    let mut bytes = Vec::new();
    input.take(MOST_BYTES).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.first() == Some(&SEPARATOR) {
        return sequence(bytes.split(|&byte| byte == SEPARATOR));
    }
    match serde_json::from_slice::<Value>(&bytes) {
        Ok(document) => whole(&document).map(|traces| (traces, None)),
        // Some programs write a text per line without the separator.
        Err(_) => sequence(bytes.split(|&byte| byte == b'\n')),
    }
}

fn whole(document: &Value) -> Result<Vec<QlogTrace>, String> {
    check(document)?;
    let all = document["traces"].as_array().ok_or("a qlog without traces")?;
    Ok(all.iter().flat_map(traces).collect())
}

/// Returns whether the head of a log says that it is one.
fn check(head: &Value) -> Result<(), String> {
    let named = |key: &str| head[key].as_str().unwrap_or_default().to_owned();
    let (version, schema) = (named("qlog_version"), named("file_schema"));
    let known = !version.is_empty() || schema.starts_with("urn:ietf:params:qlog:");
    known.then_some(()).ok_or_else(|| "JSON without qlog_version or file_schema".into())
}

fn traces(value: &Value) -> Vec<QlogTrace> {
    let mut made = Groups::of(value);
    value["events"].as_array().into_iter().flatten().for_each(|event| made.add(event));
    made.traces()
}

/// The connections of a trace: each `group_id` is one.
struct Groups {
    fields: Fields,
    clock: Clock,
    found: Vec<(String, QlogTrace)>,
}

impl Groups {
    fn of(about: &Value) -> Self {
        let name = connection(about).to_owned();
        let first =
            QlogTrace { connection: hash(&name), server: server(about), ..QlogTrace::default() };
        Self { fields: Fields::of(about), clock: Clock::of(about), found: vec![(name, first)] }
    }

    fn add(&mut self, event: &Value) {
        let group = event["group_id"].as_str().unwrap_or(&self.found[0].0).to_owned();
        let known = self.found.iter().position(|(name, _)| *name == group);
        let at = known.unwrap_or_else(|| {
            let trace = QlogTrace { connection: hash(&group), ..self.found[0].1.clone_head() };
            self.found.push((group, trace));
            self.found.len() - 1
        });
        let trace = &mut self.found[at].1;
        trace.count += 1;
        trace.events.extend(event::read(event, &self.fields, &mut self.clock));
    }

    fn traces(self) -> Vec<QlogTrace> {
        self.found.into_iter().map(|(_, trace)| trace).collect()
    }
}

fn server(trace: &Value) -> bool {
    let point = &trace["vantage_point"];
    let kind = if point["type"] == "network" { &point["flow"] } else { &point["type"] };
    kind == "server"
}

/// The original connection ID, under the names that drafts gave it.
fn connection(trace: &Value) -> &str {
    let common = &trace["common_fields"];
    let names = [&common["group_id"], &common["ODCID"], &trace["group_id"], &trace["title"]];
    names.into_iter().find_map(Value::as_str).unwrap_or_default()
}

/// FNV-1a.
fn hash(name: &str) -> u32 {
    let add = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    name.bytes().fold(0x811c_9dc5, add)
}

/// A head and then an event per text.
fn sequence<'a>(
    texts: impl Iterator<Item = &'a [u8]>,
) -> Result<(Vec<QlogTrace>, Option<String>), String> {
    let mut texts = texts.filter(|text| !text.trim_ascii().is_empty());
    let first = texts.next().ok_or("an empty qlog")?;
    let head: Value = serde_json::from_slice(first).map_err(|error| format!("no JSON: {error}"))?;
    check(&head)?;
    let mut made = Groups::of(&head["trace"]);
    for (number, text) in (1..).zip(texts) {
        match serde_json::from_slice::<Value>(text) {
            Ok(event) => made.add(&event),
            Err(error) => return Ok((made.traces(), Some(format!("event {number}: {error}")))),
        }
    }
    Ok((made.traces(), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Vec<QlogTrace>, Option<String>), String> {
        read_qlog(text.as_bytes())
    }

    const SENT: &str = r#"{"header":{"packet_type":"1RTT","packet_number":7},"raw":{"length":1200},
        "frames":[{"frame_type":"stream","stream_id":0,"offset":10,"length":1100}]}"#;

    fn packet(events: &[QuicEvent]) -> &QuicPacket {
        match events {
            [QuicEvent::Packet(packet)] => packet,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn all_forms_give_the_same_packet() {
        let sequence = format!(
            "\u{1e}{{\"qlog_version\":\"0.3\",\"trace\":{{\"vantage_point\":{{\"type\":\"server\"}}}}}}\n\
             \u{1e}{{\"time\":2.5,\"name\":\"transport:packet_sent\",\"data\":{SENT}}}\n"
        );
        let later = format!(
            "\u{1e}{{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\",\"trace\":{{\
             \"vantage_point\":{{\"type\":\"server\"}},\"common_fields\":{{\"time_format\":\
             \"relative_to_previous_event\"}}}}}}\n\
             \u{1e}{{\"time\":1,\"name\":\"quic:parameters_set\",\"data\":{{}}}}\n\
             \u{1e}{{\"time\":1.5,\"name\":\"quic:packet_sent\",\"data\":{SENT}}}\n"
        );
        let old = format!(
            "{{\"qlog_version\":\"draft-01\",\"traces\":[{{\"vantage_point\":{{\"type\":\"server\"}},\
             \"event_fields\":[\"relative_time\",\"CATEGORY\",\"EVENT_TYPE\",\"DATA\"],\
             \"events\":[[2.5,\"TRANSPORT\",\"PACKET_SENT\",{SENT}]]}}]}}"
        );
        for text in [sequence, later, old] {
            let (traces, problem) = read(&text).expect("a qlog");
            assert_eq!((traces.len(), problem), (1, None), "{text}");
            assert!(traces[0].server);
            let packet = packet(&traces[0].events);
            assert_eq!((packet.time, packet.number, packet.size), (2_500_000, 7, 1200));
            let stream = QuicFrame::Stream { id: 0, offset: 10, length: 1100 };
            assert_eq!((packet.sent, packet.frames.as_slice()), (true, &[stream][..]));
        }
    }

    #[test]
    fn a_log_that_breaks_off_counts_up_to_there() {
        let text = "\u{1e}{\"qlog_version\":\"0.3\"}\n\u{1e}{\"time\":1,\"name\":\"transport:pack";
        let (traces, problem) = read(text).expect("a qlog");
        assert_eq!(traces[0].count, 0);
        assert!(problem.expect("the end is missing").starts_with("event 1"));
    }

    #[test]
    fn an_impossible_size_counts_as_none() {
        let sent = SENT.replace("1200", "18446744073709551615");
        let text = format!(
            "\u{1e}{{\"qlog_version\":\"0.3\"}}\n\
             \u{1e}{{\"time\":1,\"name\":\"transport:packet_sent\",\"data\":{sent}}}\n"
        );
        let (traces, _) = read(&text).expect("a qlog");
        assert_eq!(packet(&traces[0].events).size, 0);
    }

    #[test]
    fn other_json_is_refused() {
        assert!(read("{\"flows\": []}").is_err());
    }
}
