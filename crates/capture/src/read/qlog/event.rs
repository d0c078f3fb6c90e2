//! The events of a qlog that say what passed.

use serde_json::Value;

/// UDP carries no larger packets: a log that says so says nothing.
const LONGEST_PACKET: u64 = 65_535;
/// More ranges of a frame than any program sends.
const MOST_RANGES: usize = 4096;

/// The content of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum QuicEvent {
    /// A packet was sent or received.
    Packet(QuicPacket),
    /// The receiver of the data allows this many bytes from the beginning.
    InitialLimits {
        /// True if the log's endpoint set them: they limit the other end's data.
        own: bool,
        /// Bytes of all streams together.
        data: Option<u64>,
        /// Bytes of a stream, the largest of the kinds.
        stream: Option<u64>,
    },
}

/// A packet of application data.
#[derive(Clone, Debug, PartialEq)]
pub struct QuicPacket {
    /// Nanoseconds from the log's reference.
    pub time: u64,
    /// True if the log's endpoint sent it, false if it received it.
    pub sent: bool,
    /// Its number.
    pub number: u64,
    /// Bytes of the QUIC packet; zero if the log doesn't say.
    pub size: u64,
    /// The frames that matter.
    pub frames: Vec<QuicFrame>,
    /// A packet of the other endpoint that had reached its sender, by its spin bit; none in a log.
    pub heard: Option<u64>,
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuicFrame {
    /// Data of a stream.
    Stream {
        /// Which.
        id: u64,
        /// Its first byte.
        offset: u64,
        /// How many.
        length: u64,
    },
    /// First and last number of ranges of packets that arrived.
    Ack(Vec<(u64, u64)>),
    /// The bytes allowed on all streams together.
    MaxData(u64),
    /// A stream, and the bytes allowed on it.
    MaxStreamData(u64, u64),
}

/// The columns of drafts whose events are arrays.
pub(super) struct Fields(Vec<String>);

impl Fields {
    pub(super) fn of(trace: &Value) -> Self {
        let names = trace["event_fields"].as_array().into_iter().flatten();
        Self(names.filter_map(Value::as_str).map(str::to_lowercase).collect())
    }

    fn find<'a>(&self, row: &'a [Value], names: &[&str]) -> &'a Value {
        let at = self.0.iter().position(|field| names.contains(&field.as_str()));
        at.and_then(|at| row.get(at)).unwrap_or(&Value::Null)
    }
}

/// The time of events, in the unit and relation that the trace states.
pub(super) struct Clock {
    ns: f64,
    from_previous: bool,
    time: f64,
}

impl Clock {
    pub(super) fn of(trace: &Value) -> Self {
        let format = trace["common_fields"]["time_format"].as_str().unwrap_or_default();
        let unit = trace["configuration"]["time_units"].as_str().unwrap_or("ms");
        Self {
            ns: if unit == "us" { 1e3 } else { 1e6 },
            from_previous: matches!(format, "delta" | "relative_to_previous_event"),
            time: 0.0,
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded above")]
    fn read(&mut self, time: f64) -> u64 {
        self.time = if self.from_previous { self.time + time } else { time };
        (self.time * self.ns).round().clamp(0.0, 9e18) as u64
    }
}

/// Reads an event; none if it doesn't matter.
pub(super) fn read(event: &Value, fields: &Fields, clock: &mut Clock) -> Option<QuicEvent> {
    let (time, name, data) = match event.as_array() {
        Some(row) => {
            let name = fields.find(row, &["event", "event_type", "name"]);
            let data = fields.find(row, &["data"]);
            (fields.find(row, &["relative_time", "time", "delta_time"]), name, data)
        }
        None => (&event["time"], &event["name"], &event["data"]),
    };
    let time = clock.read(real(time)?);
    let name = name.as_str()?.to_lowercase();
    match name.rsplit(':').next()? {
        "packet_sent" => packet(time, true, data),
        "packet_received" => packet(time, false, data),
        "parameters_set" | "transport_parameters" => limits(data),
        _ => None,
    }
}

/// Only packets of the application's number space count: others carry no streams.
fn packet(time: u64, sent: bool, data: &Value) -> Option<QuicEvent> {
    let header = &data["header"];
    let kind = header["packet_type"].as_str().or_else(|| data["packet_type"].as_str())?;
    if !matches!(kind.to_lowercase().as_str(), "1rtt" | "0rtt") {
        return None;
    }
    let sizes = [&data["raw"]["length"], &header["packet_size"], &data["packet_size"]];
    let size = sizes.into_iter().find_map(whole);
    let frames = data["frames"].as_array().into_iter().flatten();
    Some(QuicEvent::Packet(QuicPacket {
        time,
        sent,
        number: whole(&header["packet_number"])?,
        size: size.filter(|&size| size <= LONGEST_PACKET).unwrap_or(0),
        frames: frames.filter_map(frame).collect(),
        heard: None,
    }))
}

fn frame(value: &Value) -> Option<QuicFrame> {
    let number = |key: &str| whole(&value[key]);
    match value["frame_type"].as_str()?.to_lowercase().as_str() {
        "stream" => Some(QuicFrame::Stream {
            id: number("stream_id").or_else(|| number("id"))?,
            offset: number("offset").unwrap_or(0),
            length: number("length").or_else(|| whole(&value["raw"]["payload_length"]))?,
        }),
        "ack" => {
            let ranges = value["acked_ranges"].as_array()?.iter().take(MOST_RANGES);
            Some(QuicFrame::Ack(ranges.filter_map(range).collect()))
        }
        "max_data" => Some(QuicFrame::MaxData(number("maximum")?)),
        "max_stream_data" => {
            Some(QuicFrame::MaxStreamData(number("stream_id")?, number("maximum")?))
        }
        _ => None,
    }
}

/// First and last of a range; a single number stands for both.
fn range(value: &Value) -> Option<(u64, u64)> {
    let pair = value.as_array()?;
    let first = whole(pair.first()?)?;
    let last = pair.get(1).map_or(Some(first), whole)?;
    (first <= last).then_some((first, last))
}

fn limits(data: &Value) -> Option<QuicEvent> {
    let own = data["owner"] != "remote" && data["initiator"] != "remote";
    let stream = ["bidi_local", "bidi_remote", "uni"];
    let stream = stream.map(|kind| whole(&data[format!("initial_max_stream_data_{kind}")]));
    let (data, stream) = (whole(&data["initial_max_data"]), stream.into_iter().flatten().max());
    (data.is_some() || stream.is_some()).then_some(QuicEvent::InitialLimits { own, data, stream })
}

/// A whole number, which some drafts write as a string.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

fn real(value: &Value) -> Option<f64> {
    let number = value.as_f64().or_else(|| value.as_str()?.parse().ok())?;
    number.is_finite().then_some(number)
}
