//! Random arrivals, with many packets at one instant and at round ones.

use narrows_base::{Ecn, FlowId, Packet, Stream, Time};

use crate::contract::Body;

/// The transmission time of a full packet at [`crate::contract::elements::RATE`], in ns:
/// arrivals on this grid meet ends of transmissions.
pub const TICK: u64 = 12_000;

/// A packet and when it arrives.
pub type Arrival = (Time, Packet<Body>);

/// 300 packets in bursts, at a load from light to twice the rate.
pub fn arrivals(seed: u64) -> Vec<Arrival> {
    let mut random = Stream::new(seed, "arrivals");
    let grid = [1, TICK / 4, TICK][pick(&mut random, 3)];
    let spread = TICK * (1 + random.below(8)) / grid;
    let full_only = random.chance(0.5);
    let mut now = TICK;
    (0..300)
        .map(|number| {
            if !random.chance(0.6) {
                now += grid * random.below(spread + 1);
            }
            if random.chance(0.02) {
                now += 100 * TICK;
            }
            (Time::from_nanos(now), packet(&mut random, number, full_only))
        })
        .collect()
}

fn packet(random: &mut Stream, number: Body, full_only: bool) -> Packet<Body> {
    let size = if full_only { 1_500 } else { 40 + u32::try_from(random.below(1_461)).unwrap() };
    let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][pick(random, 4)];
    let flow = FlowId(u32::try_from(random.below(4)).unwrap());
    Packet { flow, size, ecn, body: number }
}

/// A random index below `count`.
pub fn pick(random: &mut Stream, count: u64) -> usize {
    usize::try_from(random.below(count)).unwrap()
}
