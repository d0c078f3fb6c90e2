//! The calling contract, held against every element by seeded random tests.
//!
//! A failure names its seed. To replay it alone:
//! `NARROWS_SEED=123 cargo test -p narrows-net --test all`.

mod drive;
mod elements;
mod late_poll;
mod link_model;
mod link_queue;
mod pipe;
mod queues;
mod stack;
mod test_queues;
mod traffic;
mod wrong;

use narrows_base::{Ecn, FlowId, Packet, Time};
use narrows_net::{Departure, DroppedPacket};

/// The body of a test packet is its number.
type Body = u64;

/// The packets that came out of an element.
#[derive(Clone, Debug, Default, PartialEq)]
struct Outcome {
    departures: Vec<Departure<Body>>,
    dropped: Vec<DroppedPacket<Body>>,
}

/// Seeds that once needed thought, run before all others. At 1, transmissions
/// end in the very nanosecond of a queue's timer, and swapping the two changes
/// the drops. At 67, a test link was polled with a clock that went back.
const PINNED: [u64; 2] = [1, 67];

/// The seeds of a test: the pinned ones and `count` others, or the one to replay.
fn seeds(count: u64) -> Vec<u64> {
    match option_env!("NARROWS_SEED") {
        Some(seed) => vec![seed.parse().expect("NARROWS_SEED is a whole number")],
        None => PINNED.into_iter().chain(1_000..1_000 + count).collect(),
    }
}

fn packet(number: Body, size: u32) -> Packet<Body> {
    Packet { flow: FlowId(0), size, ecn: Ecn::NotEct, body: number }
}

const fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}
