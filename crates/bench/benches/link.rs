//! Measures the cost of a link alone per packet; the budget is 30 ns.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use narrows_base::{Bytes, Duration, Ecn, FlowId, Packet, Rate, Stream, Time};
use narrows_net::{DropTail, Element, Filter, Jitter, Limit, Line, Link, RandomLoss, RateProcess};

const PACKETS: u64 = 10_000;
const GAP: Duration = Duration::from_micros(150);

/// As large as a segment of the simulator.
type Body = [u64; 5];

fn link() -> Link<Body> {
    let queue = DropTail::new(Limit::Bytes(Bytes::new(437_500)));
    let rate = RateProcess::constant(Rate::from_bps(80_000_000));
    Link::new(queue, rate)
}

/// Hands over packets at a fixed gap and polls at each deadline, as the
/// simulator does.
fn carry(element: &mut impl Element<Body>, gap: Duration) -> u64 {
    let mut checksum = 0;
    for n in 0..PACKETS {
        let now = Time::ZERO + gap * n;
        while let Some(due) = element.next_deadline().filter(|&due| due <= now) {
            checksum += element.poll(due).map_or(0, |d| d.packet.body[0]);
        }
        let packet = Packet { flow: FlowId(0), size: 1500, ecn: Ecn::NotEct, body: [n; 5] };
        element.receive(packet, now);
        while let Some(dropped) = element.take_dropped() {
            checksum += dropped.packet.body[0];
        }
    }
    checksum
}

fn bench<E: Element<Body>>(c: &mut Criterion, name: &str, gap: Duration, make: impl Fn() -> E) {
    let mut group = c.benchmark_group("net");
    group.throughput(Throughput::Elements(PACKETS));
    group.bench_function(name, |b| {
        b.iter_batched_ref(&make, |element| black_box(carry(element, gap)), BatchSize::LargeInput);
    });
    group.finish();
}

fn benches(c: &mut Criterion) {
    bench(c, "link, half loaded", GAP * 2, link);
    bench(c, "link, standing queue, 5 % dropped", GAP * 19 / 20, link);
    bench(c, "line", GAP, || Line::new(Duration::from_millis(25)));
    bench(c, "jitter", GAP, || Jitter::new(GAP * 10, Stream::new(1, "jitter")));
    bench(c, "random loss", GAP, || Filter::new(RandomLoss::new(0.01, Stream::new(1, "loss"))));
}

criterion_group!(all, benches);
criterion_main!(all);
