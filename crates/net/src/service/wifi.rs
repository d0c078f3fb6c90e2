//! Wi-Fi: batches, made by frame aggregation.

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role, Unit, Values};
use narrows_base::{Bytes, Duration, Packet, Rate, Stream, Time};

use super::Service;
use crate::port::Port;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "wifi",
    title: "Wi-Fi batches",
    family: "radio",
    summary: "batches: access to the medium, then waiting packets up to a limit, all at once",
    source: "IEEE 802.11-2020 section 10.23 (EDCA) and 10.12 (A-MPDU); defaults: 802.11ac",
    role: Role::Service,
    parameters: &[
        Parameter::new(
            "phy_rate",
            Unit::Rate,
            ParameterDefault::LinkRate,
            "the rate within a batch",
        )
        .positive(),
        Parameter::duration(
            "access",
            ParameterDefault::us(150),
            "overhead of a batch: waiting, preamble, acknowledgement",
        ),
        Parameter::duration(
            "contention",
            ParameterDefault::us(135),
            "the maximum of a random backoff",
        ),
        Parameter::packets(
            "max_packets",
            ParameterDefault::Whole(64),
            "the most packets in a batch",
        )
        .positive()
        .at_most(100_000),
        Parameter::duration(
            "max_time",
            ParameterDefault::ms(4),
            "no packet is added beyond this duration",
        ),
        Parameter::bytes(
            "overhead",
            ParameterDefault::Whole(40),
            "bytes of each packet besides IP's",
        )
        .at_most(10_000),
    ],
};

/// The parameters of batches. The defaults are those of one Wi-Fi station (802.11ac) without
/// contention; measured values vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WifiParams {
    /// The rate within a batch: 400 Mbit/s.
    pub rate: Rate,
    /// The overhead of a batch: waiting, preamble and acknowledgement, 150 us.
    pub access: Duration,
    /// The maximum of an additional backoff, uniform from zero: 135 us.
    pub contention: Duration,
    /// The most packets in a batch: 64.
    pub max_packets: u32,
    /// No packet is added once the batch takes this long: 4 ms.
    pub max_time: Duration,
    /// Bytes of each packet besides IP's: 40.
    pub overhead: u32,
}

impl WifiParams {
    /// The values of [`INFO`]'s parameters, which were checked.
    pub(crate) fn of(values: &Values) -> Self {
        Self {
            rate: values.rate("phy_rate"),
            access: values.duration("access"),
            contention: values.duration("contention"),
            max_packets: values.packets("max_packets"),
            max_time: values.duration("max_time"),
            overhead: u32::try_from(values.bytes("overhead").get()).expect("bounded"),
        }
    }
}

impl Default for WifiParams {
    fn default() -> Self {
        Self::of(&Values::defaults(&INFO, Rate::from_bps(400_000_000)))
    }
}

#[derive(Clone, Copy, Debug)]
enum MediumState {
    Idle,
    /// A batch will be filled then, with the packets waiting by that time.
    Access(Time),
    /// A batch ends then.
    Sending(Time),
}

/// Packets leave in batches: the service gains access to the medium, takes waiting packets up to a
/// limit, and all of them arrive at the batch's end.
///
/// The packets of the batch being sent are no longer in the queue.
#[derive(Clone, Debug)]
pub struct Wifi<B> {
    params: WifiParams,
    random: Stream,
    state: MediumState,
    /// Packets and bytes of the batch being sent.
    batch: (u64, Bytes),
    /// Room for a batch while it is filled; empty otherwise.
    filling: Vec<Packet<B>>,
}

impl<B> Wifi<B> {
    /// A service that is idle.
    ///
    /// # Panics
    /// If the rate or the number of packets is zero.
    #[must_use]
    pub fn new(params: &WifiParams, random: Stream) -> Self {
        assert!(params.rate.as_bps() > 0, "a link needs a rate above zero");
        assert!(params.max_packets > 0, "a batch needs room for a packet");
        Self {
            params: *params,
            random,
            state: MediumState::Idle,
            batch: (0, Bytes::ZERO),
            filling: Vec::new(),
        }
    }

    /// Begins to wait for the medium if any packet waits.
    fn seek_access(&mut self, now: Time, port: &Port<B>) {
        if port.is_empty() {
            self.state = MediumState::Idle;
            return;
        }
        let mut at = now + self.params.access;
        if !self.params.contention.is_zero() {
            let most = self.params.contention.as_nanos();
            at += Duration::from_nanos(self.random.below(most + 1));
        }
        self.state = MediumState::Access(at);
    }

    /// Takes the packets that fit into a batch that starts at `start`.
    fn fill(&mut self, start: Time, port: &mut Port<B>) {
        let mut packets = std::mem::take(&mut self.filling);
        let (mut air, mut bytes) = (Duration::ZERO, Bytes::ZERO);
        let mut on_air = Bytes::ZERO;
        while packets.len() < self.params.max_packets as usize && air < self.most_air(&packets) {
            let Some(packet) = port.dequeue(start) else { break };
            bytes += packet.bytes();
            on_air += packet.bytes() + Bytes::new(u64::from(self.params.overhead));
            air = self.params.rate.time_to_send(on_air);
            packets.push(packet);
        }
        self.batch = (packets.len() as u64, bytes);
        self.state =
            if packets.is_empty() { MediumState::Idle } else { MediumState::Sending(start + air) };
        packets.drain(..).for_each(|packet| port.depart(start + air, packet));
        self.filling = packets;
    }

    /// The first packet always fits.
    fn most_air(&self, packets: &[Packet<B>]) -> Duration {
        if packets.is_empty() { Duration::MAX } else { self.params.max_time }
    }
}

impl<B> Service<B> for Wifi<B> {
    fn next(&self) -> Option<Time> {
        match self.state {
            MediumState::Idle => None,
            MediumState::Access(at) | MediumState::Sending(at) => Some(at),
        }
    }

    fn act(&mut self, now: Time, port: &mut Port<B>) {
        match self.state {
            MediumState::Idle => {}
            MediumState::Access(_) => self.fill(now, port),
            MediumState::Sending(_) => {
                port.count_forwarded(self.batch.0, self.batch.1);
                self.seek_access(now, port);
            }
        }
    }

    fn wake(&mut self, now: Time, port: &mut Port<B>) {
        if matches!(self.state, MediumState::Idle) {
            self.seek_access(now, port);
        }
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Ecn, FlowId};

    use super::*;
    use crate::{DropTail, Element as _, Limit, ServedLink};

    /// Departures in us of packets of 1,000 bytes that arrive then.
    fn departures(params: WifiParams, arrivals: &[u64]) -> Vec<u64> {
        let queue = DropTail::new(Limit::Packets(1_000));
        let mut link = ServedLink::with(queue, Wifi::new(&params, Stream::new(1, "batch")));
        for &micros in arrivals {
            let packet = Packet { flow: FlowId(0), size: 1_000, ecn: Ecn::NotEct, body: () };
            link.receive(packet, Time::from_nanos(micros * 1_000));
        }
        let left = std::iter::from_fn(|| link.poll(Time::from_nanos(1_000_000_000)));
        left.map(|d| d.at.as_nanos() / 1_000).collect()
    }

    /// 10 us for a packet, 100 us for access.
    fn params() -> WifiParams {
        WifiParams {
            rate: Rate::from_bps(800_000_000),
            access: Duration::from_micros(100),
            contention: Duration::ZERO,
            overhead: 0,
            ..WifiParams::default()
        }
    }

    #[test]
    fn packets_waiting_at_access_leave_together() {
        // The first two by 100 us; the third comes as they are sent.
        assert_eq!(departures(params(), &[0, 50, 110, 115]), [120, 120, 240, 240]);
    }

    #[test]
    fn a_batch_is_limited_in_packets_and_in_time() {
        let few = WifiParams { max_packets: 3, ..params() };
        assert_eq!(departures(few, &[0; 4]), [130, 130, 130, 240]);
        let short = WifiParams { max_time: Duration::from_micros(15), ..params() };
        assert_eq!(departures(short, &[0; 3]), [120, 120, 230]);
    }

    #[test]
    fn contention_is_uniform() {
        let contended = WifiParams { contention: Duration::from_micros(100), ..params() };
        let arrivals: Vec<_> = (0..1_000).map(|n| n * 300).collect();
        let waits: Vec<_> = departures(contended, &arrivals)
            .iter()
            .zip(&arrivals)
            .map(|(l, a)| l - a - 110)
            .collect();
        let mean = waits.iter().sum::<u64>() / 1_000;
        assert!(waits.iter().all(|&w| w <= 100) && (45..55).contains(&mean), "{mean}");
    }
}
