//! The captures of a run at the points of its path.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::IpAddr;
use std::path::Path;

use narrows_base::{FlowId, Heading, Packet, Point, Time};
use narrows_pcapng::{Interface, PcapngWriter, file_name};
use narrows_record::Tap;
use narrows_tcp::{Segment, SenderView};

use super::addresses::{IpVersion, ends};
use super::headers::MAX_HEADERS;
use super::wire::{FlowInfo, Wire};

/// Options of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureOptions {
    /// Bytes of each packet to keep, or its headers if none.
    pub snaplen: Option<u32>,
    /// The version of the IP headers.
    pub version: IpVersion,
    /// The comment in the files.
    pub comment: String,
}

/// A finished file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureFile {
    /// Its name in the directory.
    pub file: String,
    /// Packets, or events.
    pub records: u64,
}

/// Captures at every point, one file each. Memory doesn't grow with the packets.
#[derive(Debug)]
pub struct Captures<W: Write> {
    wire: Wire,
    /// In the order of [`Point::ALL`].
    files: Vec<PcapngWriter<W>>,
    snaplen: Option<usize>,
    frame: Vec<u8>,
    trouble: Option<io::Error>,
}

impl Captures<BufWriter<File>> {
    /// Makes the files `sender.pcapng` and so on in `directory`, which must exist.
    ///
    /// # Errors
    /// If a file can't be written.
    pub fn create(
        directory: &Path,
        options: &CaptureOptions,
        flows: &[FlowInfo],
    ) -> io::Result<Self> {
        let open = |point: Point| {
            let file = File::create(directory.join(file_name(point)))?;
            Ok(BufWriter::with_capacity(1 << 18, file))
        };
        Self::new(open, options, flows)
    }
}

impl<W: Write> Captures<W> {
    /// Begins a capture at every point, into the output that `open` returns for it.
    ///
    /// # Errors
    /// If an output can't be written.
    pub fn new(
        open: impl Fn(Point) -> io::Result<W>,
        options: &CaptureOptions,
        flows: &[FlowInfo],
    ) -> io::Result<Self> {
        let headers = u32::try_from(MAX_HEADERS).expect("100 bytes");
        let begin = |point| -> io::Result<PcapngWriter<W>> {
            let interface = Interface::at(point, options.snaplen.unwrap_or(headers));
            let mut file = PcapngWriter::new(open(point)?, &options.comment, &interface)?;
            file.names(&names(options.version, flows))?;
            Ok(file)
        };
        Ok(Self {
            wire: Wire::new(options.version, flows),
            files: Point::ALL.into_iter().map(begin).collect::<io::Result<_>>()?,
            snaplen: options.snaplen.map(|bytes| bytes as usize),
            frame: Vec::with_capacity(1 << 11),
            trouble: None,
        })
    }

    /// Completes the files.
    ///
    /// # Errors
    /// The first error of the whole capture.
    pub fn finish(self) -> io::Result<Vec<(CaptureFile, W)>> {
        if let Some(error) = self.trouble {
            return Err(error);
        }
        let end = |(point, file): (Point, PcapngWriter<W>)| {
            let written = CaptureFile { file: file_name(point), records: file.packets() };
            Ok((written, file.finish(0)?))
        };
        Point::ALL.into_iter().zip(self.files).map(end).collect()
    }

    fn write(
        &mut self,
        point: Point,
        heading: Heading,
        at: Time,
        packet: &Packet<Segment>,
        bytes: &[u8],
    ) -> io::Result<()> {
        let headers = self.wire.packet(packet);
        let length = headers.len();
        headers.encode(bytes, &mut self.frame);
        let most = self.snaplen.map_or(self.frame.len() - bytes.len(), |most| length.min(most));
        self.frame.resize(most, 0);
        let length = u32::try_from(length).expect("packets are at most 64 KiB");
        self.files[point as usize].packet(at, heading, &self.frame, length)
    }
}

impl<W: Write> Tap<Packet<Segment>, SenderView> for Captures<W> {
    fn wants_packets(&self) -> bool {
        true
    }

    fn wants_senders(&self) -> bool {
        false
    }

    fn packet(&mut self, point: Point, heading: Heading, at: Time, packet: &Packet<Segment>) {
        self.packet_of_bytes(point, heading, at, packet, &[]);
    }

    fn packet_of_bytes(
        &mut self,
        point: Point,
        heading: Heading,
        at: Time,
        packet: &Packet<Segment>,
        bytes: &[u8],
    ) {
        if self.trouble.is_some() {
            return;
        }
        if heading == Heading::Out && matches!(point, Point::Sender | Point::Receiver) {
            self.wire.departs(packet.flow, &packet.body);
        }
        self.trouble = self.write(point, heading, at, packet, bytes).err();
    }

    fn packet_lost(&mut self, _flow: FlowId, _at: Time, _seq: u32) {}

    fn sender(&mut self, _flow: FlowId, _at: Time, _view: &SenderView) {}
}

fn names(version: IpVersion, flows: &[FlowInfo]) -> Vec<(IpAddr, String)> {
    let both = |(index, flow): (usize, &FlowInfo)| {
        let id = FlowId(u32::try_from(index).expect("flows fit 32 bits"));
        let ends = ends(version, id, 0);
        let name = |end: &str| format!("{}.{end}", flow.name);
        [(ends.sender.into(), name("sender")), (ends.receiver.into(), name("receiver"))]
    };
    flows.iter().enumerate().flat_map(both).collect()
}
