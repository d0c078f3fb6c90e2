//! The description of the point where a file was captured.

use narrows_base::Point;

/// The interface description block of a file, which names the point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Name of the point.
    pub name: String,
    /// Its location.
    pub description: String,
    /// The most bytes kept of a packet; 0 for no limit.
    pub snaplen: u32,
}

impl Interface {
    /// The interface at a point of the path.
    #[must_use]
    pub fn at(point: Point, snaplen: u32) -> Self {
        let description = match point {
            Point::Sender => "at the senders: what they send and what reaches them",
            Point::BeforeQueue => "at the bottleneck, on the senders' side: before the queue",
            Point::AfterQueue => "at the bottleneck, on the receivers' side: after the queue",
            Point::Receiver => "at the receivers: what reaches them and what they send",
        };
        Self { name: point.name().to_owned(), description: description.to_owned(), snaplen }
    }
}

/// The name of a point's file.
#[must_use]
pub fn file_name(point: Point) -> String {
    format!("{}.pcapng", point.name())
}
