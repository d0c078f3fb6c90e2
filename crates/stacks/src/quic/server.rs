//! The receiving end: a server that reads everything as it comes.
//!
//! This text is compiled for each QUIC stack; `proto` is its crate.

use narrows_base::{Ecn, Time};
use narrows_tcp::ends::{End, Outgoing, ReceivingEnd};

use super::driver::Driver;
use super::proto::{Connection, Dir, Event, StreamEvent, StreamId};

/// The server of a flow.
pub(super) struct Server {
    driver: Driver,
    bytes: u64,
}

impl Server {
    pub(super) const fn new(driver: Driver) -> Self {
        Self { driver, bytes: 0 }
    }

    fn run(&mut self, now: Time) {
        let bytes = &mut self.bytes;
        self.driver.run(now, &mut |connection, event| match event {
            Some(Event::Stream(StreamEvent::Opened { dir: Dir::Uni })) => {
                while let Some(id) = connection.streams().accept(Dir::Uni) {
                    *bytes += read(connection, id);
                }
            }
            Some(Event::Stream(StreamEvent::Readable { id })) => *bytes += read(connection, id),
            _ => {}
        });
    }
}

/// Reads what has arrived, in any order; returns its length.
fn read(connection: &mut Connection, id: StreamId) -> u64 {
    let mut stream = connection.recv_stream(id);
    // A stream that was reset has nothing to read.
    let Ok(mut chunks) = stream.read(false) else { return 0 };
    let mut bytes = 0;
    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
        bytes += chunk.bytes.len() as u64;
    }
    // Whether the window is to be told is found by the next look for datagrams.
    let _ = chunks.finalize();
    bytes
}

impl End for Server {
    fn receive(&mut self, bytes: &[u8], ecn: Ecn, now: Time) {
        self.driver.receive(bytes, ecn, now);
        self.run(now);
    }

    fn poll(&mut self, now: Time) -> Option<Outgoing> {
        if self.driver.is_due(now) {
            self.run(now);
        }
        self.driver.pop()
    }

    fn next_deadline(&self) -> Option<Time> {
        self.driver.next_deadline()
    }
}

impl ReceivingEnd for Server {
    fn bytes(&self) -> u64 {
        self.bytes
    }
}
