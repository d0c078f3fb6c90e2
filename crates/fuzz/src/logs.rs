//! Small qlogs of one transfer, in every form that is read.

/// An event of a transfer, from the server's view.
struct Event {
    time_us: u64,
    sent: bool,
    number: u64,
    frames: Vec<Frame>,
}

enum Frame {
    Stream { id: u64, offset: u64, length: u64 },
    Ack(Vec<(u64, u64)>),
    MaxData(u64),
    MaxStreamData(u64),
}

/// How a form writes a packet.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// Drafts 01 and 02: numbers as strings, the packet's type beside its header.
    Early,
    /// Versions 0.3 and 0.4.
    Middle,
    /// The drafts with a file schema.
    Late,
}

/// Data in rounds of four packets, a loss that is repaired, acknowledgements, limits.
fn transfer() -> Vec<Event> {
    let mut events = Vec::new();
    let (mut number, mut answers) = (0_u64, 0_u64);
    let mut send = |events: &mut Vec<Event>, time_us: u64, offset: u64| {
        let id = if offset < 20_000 { 0 } else { 4 };
        let frames = vec![Frame::Stream { id, offset: offset % 20_000, length: 1_100 }];
        events.push(Event { time_us, sent: true, number, frames });
        number += 1;
    };
    let mut answer = |events: &mut Vec<Event>, time_us: u64, ranges: &[(u64, u64)]| {
        let mut frames = vec![Frame::Ack(ranges.to_vec())];
        if answers % 3 == 0 {
            frames.push(Frame::MaxData(30_000 + 4_000 * answers));
        }
        if answers % 5 == 0 {
            frames.push(Frame::MaxStreamData(15_000 + 4_000 * answers));
        }
        events.push(Event { time_us, sent: false, number: answers, frames });
        answers += 1;
    };
    for round in 0..6 {
        let begin = round * 40_000;
        (0..4).for_each(|n| send(&mut events, begin + n * 300, (4 * round + n) * 1_100));
        let last = 4 * round + 3;
        if round == 3 {
            answer(&mut events, begin + 39_000, &[(0, last - 2), (last, last)]);
            send(&mut events, begin + 39_100, (last - 1) * 1_100);
        } else {
            answer(&mut events, begin + 39_000, &[(0, last)]);
        }
    }
    events
}

fn frame(frame: &Frame, form: Form) -> String {
    match (frame, form) {
        (Frame::Stream { id, offset, length }, Form::Early) => format!(
            r#"{{"frame_type":"stream","id":"{id}","offset":"{offset}","length":"{length}"}}"#
        ),
        (Frame::Stream { id, offset, length }, Form::Middle) => format!(
            r#"{{"frame_type":"stream","stream_id":{id},"offset":{offset},"length":{length}}}"#
        ),
        (Frame::Stream { id, offset, length }, Form::Late) => format!(
            r#"{{"frame_type":"stream","stream_id":{id},"offset":{offset},"raw":{{"payload_length":{length}}}}}"#
        ),
        (Frame::Ack(ranges), form) => {
            let range = |&(first, last): &(u64, u64)| match form {
                Form::Early => format!(r#"["{first}","{last}"]"#),
                Form::Late if first == last => format!("[{first}]"),
                _ => format!("[{first},{last}]"),
            };
            let ranges: Vec<String> = ranges.iter().map(range).collect();
            format!(r#"{{"frame_type":"ack","acked_ranges":[{}]}}"#, ranges.join(","))
        }
        (Frame::MaxData(most), _) => format!(r#"{{"frame_type":"max_data","maximum":{most}}}"#),
        (Frame::MaxStreamData(most), _) => {
            format!(r#"{{"frame_type":"max_stream_data","stream_id":0,"maximum":{most}}}"#)
        }
    }
}

fn packet(event: &Event, form: Form) -> String {
    let frames: Vec<String> = event.frames.iter().map(|one| frame(one, form)).collect();
    let (number, frames) = (event.number, frames.join(","));
    match form {
        Form::Early => format!(
            r#"{{"packet_type":"1RTT","header":{{"packet_number":"{number}","packet_size":1200}},"frames":[{frames}]}}"#
        ),
        _ => format!(
            r#"{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"raw":{{"length":1200}},"frames":[{frames}]}}"#
        ),
    }
}

/// The transfer's events as the sender logged them or, if it isn't the server, as its peer did.
fn lines(form: Form, server: bool, relative: bool) -> Vec<String> {
    let mut before = 0;
    let line = |event: Event| {
        let sent = event.sent == server;
        let name = if sent { "packet_sent" } else { "packet_received" };
        let time = if relative { event.time_us - before } else { event.time_us };
        before = event.time_us;
        let data = packet(&event, form);
        let ms = format!("{}.{:03}", time / 1000, time % 1000);
        match form {
            Form::Early => format!(r#"[{time},"transport","{name}",{data}]"#),
            Form::Middle => format!(r#"{{"time":{ms},"name":"transport:{name}","data":{data}}}"#),
            Form::Late => format!(r#"{{"time":{ms},"name":"quic:{name}","data":{data}}}"#),
        }
    };
    transfer().into_iter().map(line).collect()
}

const LIMITS: &str = r#"{"time":0,"name":"quic:parameters_set","data":{"initiator":"remote","initial_max_data":30000,"initial_max_stream_data_bidi_local":15000}}"#;

fn document(head: &str, trace: &str, events: &[String]) -> Vec<u8> {
    let events = events.join(",\n");
    format!("{{{head},\"traces\":[{{{trace},\"events\":[\n{events}\n]}}]}}").into_bytes()
}

fn sequence(head: &str, events: &[String]) -> Vec<u8> {
    let texts = [head.to_owned()].into_iter().chain(events.iter().cloned());
    texts.map(|text| format!("\u{1e}{text}\n")).collect::<String>().into_bytes()
}

fn late(server: bool) -> Vec<u8> {
    let side = if server { "server" } else { "client" };
    let head = format!(
        r#"{{"file_schema":"urn:ietf:params:qlog:file:sequential","serialization_format":"application/qlog+json-seq","trace":{{"vantage_point":{{"type":"{side}"}},"event_schemas":["urn:ietf:params:qlog:events:quic-13"],"common_fields":{{"group_id":"a1b2","time_format":"relative_to_epoch","reference_time":{{"clock_type":"monotonic","epoch":"unknown"}}}}}}}}"#
    );
    let events = [vec![LIMITS.to_owned()], lines(Form::Late, server, false)].concat();
    sequence(&head, &events)
}

/// A log in each form, and two logs of one connection.
pub fn logs() -> Vec<Vec<u8>> {
    let server = r#""vantage_point":{"type":"server"}"#;
    let early = document(
        r#""qlog_version":"draft-01""#,
        &format!(
            r#"{server},"configuration":{{"time_units":"us"}},"common_fields":{{"group_id":"a1"}},"event_fields":["relative_time","category","event","data"]"#
        ),
        &lines(Form::Early, true, false),
    );
    let middle = document(
        r#""qlog_version":"0.3","qlog_format":"JSON""#,
        &format!(r#"{server},"common_fields":{{"ODCID":"a1","time_format":"delta"}}"#),
        &lines(Form::Middle, true, true),
    );
    let stream = sequence(
        &format!(
            r#"{{"qlog_version":"0.4","qlog_format":"JSON-SEQ","trace":{{{server},"common_fields":{{"time_format":"relative","reference_time":0}}}}}}"#
        ),
        &lines(Form::Middle, true, false),
    );
    // Two connections in one trace.
    let grouped = lines(Form::Late, true, true).into_iter().enumerate().map(|(number, line)| {
        format!(r#"{{"group_id":"{}",{}"#, if number % 7 == 0 { "a" } else { "b" }, &line[1..])
    });
    let contained = document(
        r#""file_schema":"urn:ietf:params:qlog:file:contained","serialization_format":"application/qlog+json""#,
        &format!(
            r#"{server},"event_schemas":["urn:ietf:params:qlog:events:quic-13"],"common_fields":{{"time_format":"relative_to_previous_event"}}"#
        ),
        &grouped.collect::<Vec<_>>(),
    );
    let (one, other) = (late(true), late(false));
    let both = [&one[..], crate::capture::BETWEEN, &other[..]].concat();
    vec![early, middle, stream, contained, one, other, both]
}

#[cfg(test)]
mod tests {
    use super::*;
    use narrows_capture::analyze::{AnalysisOptions, analyze_contents};

    #[test]
    fn every_form_tells_of_the_same_transfer() {
        let mut seeds = logs();
        seeds.pop();
        for (number, seed) in seeds.iter().enumerate() {
            let found = analyze_contents(&[("log", seed)], &AnalysisOptions::default());
            let flows = found.expect("a qlog").summary.flows;
            let packets: u64 = flows.iter().map(|flow| flow.packets).sum();
            assert_eq!(packets, 25, "seed {number}");
        }
    }
}
