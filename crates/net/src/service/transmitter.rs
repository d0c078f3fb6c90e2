//! One packet after the other.

use narrows_base::{Bytes, Packet, Rate, Time};

use super::Service;
use super::constant::ConstantRate;
use super::rate::RateProcess;
use crate::port::Port;

/// A serialiser sends one packet after the other, each for as long as the rate needs.
///
/// A transmission starts at the packet's arrival or at the end of the transmission before
/// it, whichever is later, so that a late caller never causes a wrong rate.
/// The packet in transmission isn't in the queue; it is among the departures, since the end
/// of a transmission is known when it starts.
#[derive(Clone, Debug)]
pub struct Transmitter {
    rate: RateProcess,
    transmission: Option<Transmission>,
}

/// The packet in transmission.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    end: Time,
    size: Bytes,
}

impl Transmitter {
    /// An idle transmitter.
    #[must_use]
    pub const fn new(rate: RateProcess) -> Self {
        Self { rate, transmission: None }
    }

    /// A transmitter at a constant rate, of which a packet of this size occupies the last
    /// transmission, if there is one.
    pub(crate) fn sending(rate: ConstantRate, size: Option<Bytes>) -> Self {
        let end = rate.end();
        Self { rate: rate.into(), transmission: size.map(|size| Transmission { end, size }) }
    }

    /// Its rate, if that is constant.
    pub(crate) const fn constant_rate(&self) -> Option<&ConstantRate> {
        match &self.rate {
            RateProcess::Constant(rate) => Some(rate),
            RateProcess::Steps(_) | RateProcess::Trace(_) => None,
        }
    }

    /// Changes the rate at `now`, even in the midst of a packet; false if a trace dictates it.
    pub(crate) fn change_rate<B>(&mut self, now: Time, rate: Rate, port: &mut Port<B>) -> bool {
        let Some(end) = self.rate.change(now, rate) else { return false };
        if let Some(transmission) = &mut self.transmission {
            transmission.end = end;
            port.depart_instead(end);
        }
        true
    }

    #[inline]
    fn start<B>(&mut self, packet: Packet<B>, start: Time, port: &mut Port<B>) {
        let end = self.rate.transmit(start, packet.bytes());
        self.transmit_until(end, packet, port);
    }

    /// Starts after an idle time, however short.
    #[inline]
    fn start_from_idle<B>(&mut self, packet: Packet<B>, start: Time, port: &mut Port<B>) {
        let end = self.rate.transmit_from_idle(start, packet.bytes());
        self.transmit_until(end, packet, port);
    }

    #[inline]
    fn transmit_until<B>(&mut self, end: Time, packet: Packet<B>, port: &mut Port<B>) {
        self.transmission = Some(Transmission { end, size: packet.bytes() });
        port.depart(end, packet);
    }
}

impl<B> Service<B> for Transmitter {
    #[inline]
    fn next(&self) -> Option<Time> {
        self.transmission.map(|transmission| transmission.end)
    }

    /// A transmission's end is the instant of a departure.
    #[inline]
    fn next_unseen(&self) -> Option<Time> {
        None
    }

    /// Ends the transmission and starts the next one there.
    #[inline]
    fn act(&mut self, _: Time, port: &mut Port<B>) {
        let Some(Transmission { end, size }) = self.transmission.take() else { return };
        port.count_forwarded(1, size);
        if let Some(packet) = port.dequeue(end) {
            self.start(packet, end, port);
        }
    }

    fn wake(&mut self, now: Time, port: &mut Port<B>) {
        if self.transmission.is_some() {
            return;
        }
        if let Some(packet) = port.dequeue(now) {
            self.start_from_idle(packet, now, port);
        }
    }

    #[inline(always)] // a packet is copied with every call
    fn arrive(&mut self, packet: Packet<B>, now: Time, port: &mut Port<B>) {
        if self.transmission.is_some() {
            port.enqueue(packet, now);
        } else if let Some(packet) = port.pass(packet, now) {
            self.start_from_idle(packet, now, port);
        }
    }
}
