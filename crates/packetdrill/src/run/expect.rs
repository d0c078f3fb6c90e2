//! Takes what the end sends for a packet that the script expects.

use super::Player;
use super::compare::{self, ExpectedPacket};
use super::describe::describe;
use super::timing::{EventDue, seconds};
use crate::end::{EndError, Transmission};
use crate::packet::{IpPacket, Payload, Tcp, TcpFlags, TcpOption};

/// How long after its time a packet is waited for.
const GRACE_NS: i64 = 2_000_000_000;
/// How long a packet is waited for that may come at any time.
const LONGEST_NS: i64 = 600_000_000_000;

impl Player<'_> {
    /// The end must send this packet now, whole or as several that make it up.
    pub(super) fn expect(&mut self, expected: &IpPacket, due: EventDue) -> Result<(), EndError> {
        let Payload::Tcp(wanted) = &expected.payload else {
            let message = "only TCP packets of the end can be expected".to_owned();
            return Err(EndError::Unsupported(message));
        };
        let (sent, mut tcp) = self.collect(expected, wanted, due)?;
        self.map_timestamps(wanted, &mut tcp);
        let actual = IpPacket { ip: sent.packet.ip, payload: Payload::Tcp(tcp.clone()) };
        let tick = self.script.options.timestamp_tick_ns;
        let tolerance = self.clock.timestamp_tolerance(due);
        let wanted = ExpectedPacket { ip: expected.ip, tcp: wanted, tick, tolerance };
        let difference = compare::difference(&wanted, &actual, &tcp)
            .or_else(|| (!sent.zeros).then(|| "a payload that isn't zeros".to_owned()));
        if let Some(difference) = difference {
            return Err(mismatch(&difference, expected, &actual, sent.at));
        }
        self.clock.check(due, sent.at, "packet").map_err(|error| match error {
            EndError::Failed(message) => mismatch(&message, expected, &actual, sent.at),
            other => other,
        })
    }

    /// Packets of the end until they have the expected length together, as one.
    fn collect(
        &mut self,
        expected: &IpPacket,
        wanted: &Tcp,
        due: EventDue,
    ) -> Result<(Transmission, Tcp), EndError> {
        let mut merged: Option<(Transmission, Tcp)> = None;
        loop {
            let (sent, tcp) = self.next_packet(wanted, due).map_err(|error| match error {
                EndError::Failed(message) => {
                    EndError::Failed(format!("{message}\n  expected {}", describe(expected)))
                }
                other => other,
            })?;
            let next = match merged.take() {
                None => (sent, tcp),
                Some((before, part)) => {
                    if let Some(difference) = compare::fragment(&part, &tcp, wanted.len) {
                        let actual = IpPacket { ip: sent.packet.ip, payload: Payload::Tcp(tcp) };
                        return Err(mismatch(&difference, expected, &actual, sent.at));
                    }
                    let zeros = before.zeros && sent.zeros;
                    (Transmission { zeros, ..sent }, merge(&part, tcp))
                }
            };
            let len = next.1.len;
            if len >= wanted.len || self.script.options.strict_segments {
                if len == wanted.len {
                    return Ok(next);
                }
                let actual = IpPacket { ip: next.0.packet.ip, payload: Payload::Tcp(next.1) };
                let difference = format!("{len} bytes, not {}", wanted.len);
                return Err(mismatch(&difference, expected, &actual, next.0.at));
            }
            merged = Some(next);
        }
    }

    /// The next packet of the end, with the script's sequence numbers.
    fn next_packet(
        &mut self,
        wanted: &Tcp,
        due: EventDue,
    ) -> Result<(Transmission, Tcp), EndError> {
        let now = self.end.now();
        let deadline = if due.any { now + LONGEST_NS } else { due.end.max(now) + GRACE_NS };
        let Some(sent) = self.end.next_packet(deadline)? else {
            return Err(EndError::Failed(format!("no packet until {} s", seconds(deadline))));
        };
        let Payload::Tcp(wire) = &sent.packet.payload else {
            let found = describe(&sent.packet);
            return Err(EndError::Failed(format!("another packet: {found}")));
        };
        self.connection.learn(wanted, wire);
        let mut tcp = wire.clone();
        self.connection.to_script(&mut tcp);
        Ok((sent, tcp))
    }

    fn map_timestamps(&mut self, wanted: &Tcp, actual: &mut Tcp) {
        let timestamp = |options: &Option<Vec<TcpOption>>| {
            options.iter().flatten().find_map(|option| match option {
                TcpOption::Timestamp { val, .. } => Some(*val),
                _ => None,
            })
        };
        let (Some(script), Some(wire)) = (timestamp(&wanted.options), timestamp(&actual.options))
        else {
            return;
        };
        let translated = self.connection.timestamp_to_script(script, wire);
        for option in actual.options.iter_mut().flatten() {
            if let TcpOption::Timestamp { val, .. } = option {
                *val = translated;
            }
        }
    }
}

/// Two packets in a row as one: the header of the last, but where it begins and its CWR.
fn merge(first: &Tcp, last: Tcp) -> Tcp {
    let cwr = if first.flags.has(TcpFlags::CWR) { TcpFlags::CWR } else { TcpFlags::default() };
    let flags = last.flags.without(TcpFlags::CWR).with(cwr);
    Tcp { seq: first.seq, len: first.len + last.len, flags, ..last }
}

fn mismatch(difference: &str, expected: &IpPacket, actual: &IpPacket, at: i64) -> EndError {
    EndError::Failed(format!(
        "{difference}\n  expected {}\n  sent     {} at {} s",
        describe(expected),
        describe(actual),
        seconds(at)
    ))
}
