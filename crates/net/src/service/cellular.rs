//! Cellular networks: slots, at a rate that may depend on the backlog.

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role, Unit, Values};
use narrows_base::{Bytes, Duration, Packet, Rate, Time};

use super::Service;
use crate::port::Port;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "cellular",
    title: "Cellular slots",
    family: "radio",
    summary: "slots, each with a grant of bytes that may depend on the backlog",
    source: "3GPP TS 36.211 section 4 (subframes), TS 36.321 section 5.4.5 (buffer status)",
    role: Role::Service,
    parameters: &[
        Parameter::duration("slot", ParameterDefault::ms(1), "from one grant to the next")
            .at_least(crate::queue::SHORTEST_PERIOD),
        Parameter::new(
            "min_rate",
            Unit::Rate,
            ParameterDefault::Off,
            "the rate at an empty queue, growing to the link's; if none, always the link's",
        )
        .positive(),
        Parameter::bytes(
            "full_backlog",
            ParameterDefault::Whole(100_000),
            "the backlog needed for the full rate",
        )
        .positive(),
    ],
};

/// The parameters of grants. The defaults are a full rate of 50 Mbit/s in slots of 1 ms (LTE's
/// subframe, 3GPP TS 36.211 section 4), whatever the backlog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellularParams {
    /// The rate at a full backlog: 50 Mbit/s.
    pub rate: Rate,
    /// From one slot to the next: 1 ms.
    pub slot: Duration,
    /// The rate at an empty backlog; in between, it grows in proportion to the backlog. Equal to
    /// `rate` if none.
    pub min_rate: Option<Rate>,
    /// The backlog above which the rate is the full one: 100 kB.
    pub full_backlog: Bytes,
}

impl CellularParams {
    /// The values of [`INFO`]'s parameters, which were checked, on a link of this rate.
    pub(crate) fn of(values: &Values, rate: Rate) -> Self {
        Self {
            rate,
            slot: values.duration("slot"),
            min_rate: values.some_rate("min_rate").map(|least| least.min(rate)),
            full_backlog: values.bytes("full_backlog"),
        }
    }
}

impl Default for CellularParams {
    fn default() -> Self {
        let rate = Rate::from_bps(50_000_000);
        Self::of(&Values::defaults(&INFO, rate), rate)
    }
}

/// Packets leave at the ends of slots.
///
/// At each multiple of the slot's length the scheduler reads the backlog and grants the bytes that
/// the rate earns in a slot. Packets leave in order as far as the grant reaches. One that doesn't
/// fit is sent in part (RLC segmentation), and a grant that is left when nothing waits is lost. A
/// packet that arrives as a slot ends has missed it.
///
/// A packet sent in part is no longer in the queue.
#[derive(Clone, Debug)]
pub struct Cellular<B> {
    params: CellularParams,
    /// The next slot's end, if anything waits.
    next: Option<Time>,
    /// The packet sent in part, and the rest of it, in bits times ns.
    head: Option<(Packet<B>, u128)>,
}

/// Bits times ns (a rate in bit/s times a time in ns) in a byte.
const PER_BYTE: u128 = 8_000_000_000;

impl<B> Cellular<B> {
    /// A service that is idle.
    ///
    /// # Panics
    /// If a rate, the slot or the full backlog is zero, or the least rate above the full one.
    #[must_use]
    pub fn new(params: &CellularParams) -> Self {
        assert!(!params.slot.is_zero(), "slots need a length above zero");
        assert!(params.full_backlog > Bytes::ZERO, "a full backlog is above zero");
        let least = params.min_rate.unwrap_or(params.rate);
        assert!(least.as_bps() > 0 && least <= params.rate, "0 < min_rate <= rate is needed");
        Self { params: *params, next: None, head: None }
    }

    /// The grant of a slot that ends now with this backlog, in bits times ns.
    fn grant(&self, backlog: Bytes) -> u128 {
        let head = self.head.as_ref().map_or(0, |head| head.1.div_ceil(PER_BYTE));
        let waiting = u128::from(backlog.get()) + head;
        let full = u128::from(self.params.full_backlog.get());
        let most = u128::from(self.params.rate.as_bps());
        let least = self.params.min_rate.map_or(most, |rate| u128::from(rate.as_bps()));
        let rate = least + (most - least) * waiting.min(full) / full;
        rate * u128::from(self.params.slot.as_nanos())
    }

    /// The packet whose turn it is, and the rest of it.
    fn take_head(&mut self, now: Time, port: &mut Port<B>) -> Option<(Packet<B>, u128)> {
        self.head.take().or_else(|| {
            let packet = port.dequeue(now)?;
            let size = u128::from(packet.size) * PER_BYTE;
            Some((packet, size))
        })
    }
}

impl<B> Service<B> for Cellular<B> {
    fn next(&self) -> Option<Time> {
        self.next
    }

    /// Sends as far as the grant of the slot that ends now reaches.
    fn act(&mut self, now: Time, port: &mut Port<B>) {
        let mut grant = self.grant(port.backlog());
        while let Some((packet, missing)) = self.take_head(now, port) {
            if missing > grant {
                self.head = Some((packet, missing - grant));
                break;
            }
            grant -= missing;
            port.count_forwarded(1, packet.bytes());
            port.depart(now, packet);
        }
        let more = self.head.is_some() || !port.is_empty();
        self.next = more.then(|| now + self.params.slot);
    }

    /// Waits for the first slot that ends after `now`, unless it already waits for one.
    fn wake(&mut self, now: Time, port: &mut Port<B>) {
        if self.next.is_none() && !port.is_empty() {
            let after = now - Time::ZERO + Duration::from_nanos(1);
            self.next = Some(Time::ZERO + after.round_up_to(self.params.slot));
        }
    }

    fn packet_count(&self) -> usize {
        usize::from(self.head.is_some())
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Ecn, FlowId};

    use super::*;
    use crate::{DropTail, Element as _, Limit, ServedLink};

    /// Departures in ms of packets of 1,000 bytes that arrive at these us.
    fn departures(params: CellularParams, arrivals: &[u64]) -> Vec<u64> {
        let mut link =
            ServedLink::with(DropTail::new(Limit::Packets(10_000)), Cellular::new(&params));
        for &micros in arrivals {
            let packet = Packet { flow: FlowId(0), size: 1_000, ecn: Ecn::NotEct, body: () };
            link.receive(packet, Time::from_nanos(micros * 1_000));
        }
        let left = std::iter::from_fn(|| link.poll(Time::from_nanos(100_000_000_000)));
        left.map(|d| d.at.as_nanos() / 1_000_000).collect()
    }

    /// 16 Mbit/s are two packets a slot.
    fn params() -> CellularParams {
        CellularParams { rate: Rate::from_bps(16_000_000), ..CellularParams::default() }
    }

    #[test]
    fn packets_leave_together_at_the_ends_of_slots() {
        assert_eq!(departures(params(), &[0, 0, 0, 0, 0]), [1, 1, 2, 2, 3]);
        assert_eq!(departures(params(), &[999, 1_000, 7_001]), [1, 2, 8]);
    }

    /// 12 Mbit/s are one and a half packets a slot.
    #[test]
    fn a_packet_that_doesnt_fit_keeps_what_has_passed() {
        let params = CellularParams { rate: Rate::from_bps(12_000_000), ..params() };
        assert_eq!(departures(params, &[0; 6]), [1, 2, 2, 3, 4, 4]);
        let slow = CellularParams { rate: Rate::from_bps(1_000_000), ..params };
        assert_eq!(departures(slow, &[0; 2]), [8, 16]);
    }

    /// The rest of a slot is lost when nothing waits.
    #[test]
    fn an_idle_slot_earns_nothing() {
        assert_eq!(departures(params(), &[0, 5_500, 5_500, 5_500]), [1, 6, 6, 7]);
    }

    #[test]
    fn in_the_long_run_the_rate_is_the_full_one() {
        let odd = CellularParams { rate: Rate::from_bps(7_777_777), ..params() };
        let last = *departures(odd, &[0; 5_000]).last().unwrap();
        assert_eq!(last, 40_000_000_000u64.div_ceil(7_777_777));
    }

    /// From 4 to 12 Mbit/s at ten packets: with eleven waiting 1.5 packets a slot at
    /// first, then less and less.
    #[test]
    fn the_rate_depends_on_what_waits() {
        let params = CellularParams {
            rate: Rate::from_bps(12_000_000),
            min_rate: Some(Rate::from_bps(4_000_000)),
            full_backlog: Bytes::new(10_000),
            ..params()
        };
        let left = departures(params, &[0; 11]);
        // Grants in packets: 1.5, then 0.5 + 0.1 of what waits: 9.5 gives 1.45 and so on.
        assert_eq!(left, [1, 2, 3, 3, 4, 5, 6, 7, 8, 10, 12]);
    }
}
