//! The receiving end: a server that reads everything as it comes.

use narrows_base::{Ecn, Time};
use narrows_tcp::ends::{End, Outgoing, ReceivingEnd};

use super::driver::Driver;
use super::stack::{Event, Stack};

/// The server of a flow.
pub(super) struct Server<S> {
    driver: Driver<S>,
    bytes: u64,
}

impl<S: Stack> Server<S> {
    pub(super) const fn new(driver: Driver<S>) -> Self {
        Self { driver, bytes: 0 }
    }

    fn run(&mut self, now: Time) {
        let bytes = &mut self.bytes;
        self.driver.run(now, |stack, event| match event {
            Some(Event::Opened) => {
                while let Some(stream) = stack.accept() {
                    *bytes += stack.read(stream);
                }
            }
            Some(Event::Readable(stream)) => *bytes += stack.read(stream),
            _ => {}
        });
    }
}

impl<S: Stack> End for Server<S> {
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

impl<S: Stack> ReceivingEnd for Server<S> {
    fn bytes(&self) -> u64 {
        self.bytes
    }
}
