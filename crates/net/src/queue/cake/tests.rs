use super::super::testing::{dropped_bodies, leaving, packet, seven_packets};
use super::*;

fn cake(params: CakeParams) -> Cake<u32> {
    Cake::new(&params, Stream::new(1, "cake"))
}

/// The departures of packets if the queue is polled at each of its deadlines.
fn times(queue: &mut Cake<u32>, from: u64) -> Vec<u64> {
    let (mut now, mut verdicts) = (Time::from_nanos(from), Verdicts::new());
    let mut times = Vec::new();
    while queue.len() > 0 {
        if queue.dequeue(now, &mut verdicts).is_some() {
            times.push(now.as_nanos() / 1_000);
        } else {
            now = queue.next_deadline().expect("packets wait for something");
            queue.on_deadline(now, &mut verdicts);
        }
    }
    times
}

fn cake_with(framing: Framing) -> Cake<u32> {
    let bandwidth = Some(Rate::from_bps(12_112_000));
    cake(CakeParams { bandwidth, framing, ..CakeParams::default() })
}

#[test]
fn flows_take_turns_by_frame_bytes() {
    let mut queue = cake(CakeParams { isolation: Isolation::Flows, ..CakeParams::default() });
    seven_packets(&mut queue);
    assert_eq!(leaving(&mut queue).0, [1, 2, 2, 1, 2, 2, 1]);
    let mut blind = cake(CakeParams { isolation: Isolation::FlowBlind, ..CakeParams::default() });
    seven_packets(&mut blind);
    assert_eq!(leaving(&mut blind).0, [1, 1, 1, 2, 2, 2, 2]);
}

/// 1,514 bytes at 12.112 Mbit/s take a millisecond; an idle time gives no credit.
#[test]
fn the_shaper_lets_packets_go_at_its_rate() {
    let plain = CakeParams::default().framing;
    let mut queue = cake_with(plain);
    for from in [0, 50_000_000] {
        let mut verdicts = Verdicts::new();
        for body in 0..4 {
            queue.enqueue(packet(1, 1_500, body), Time::from_nanos(from), &mut verdicts);
        }
        let us = from / 1_000;
        let expected = [us, us + 1_000, us + 2_000, us + 3_000];
        let found = times(&mut queue, from);
        assert!(found.iter().zip(expected).all(|(a, b)| a.abs_diff(b) <= 1), "{found:?}");
    }
    // 1,500 bytes and 48 are 33 cells: 1.155 times as long.
    let mut cells = cake_with(Framing { overhead: Some(48), cells: Cells::Atm, ..plain });
    for body in 0..3 {
        cells.enqueue(packet(1, 1_500, body), Time::ZERO, &mut Verdicts::new());
    }
    assert_eq!(times(&mut cells, 0)[2], 2 * 33 * 53 * 1_000 / 1_514);
}

/// At 12.112 Mbit/s a quantum is 369 bytes, so a bulk flow has no two packets in a row.
#[test]
fn a_new_flow_goes_first() {
    let mut queue = cake(CakeParams::default());
    let mut verdicts = Verdicts::new();
    for body in 0..5 {
        queue.enqueue(packet(1, 1_500, body), Time::ZERO, &mut verdicts);
    }
    let _ = queue.dequeue(Time::ZERO, &mut verdicts);
    let _ = queue.dequeue(Time::ZERO, &mut verdicts);
    queue.enqueue(packet(2, 100, 0), Time::ZERO, &mut verdicts);
    assert_eq!(leaving(&mut queue).0, [2, 1, 1, 1]);
}

#[test]
fn overflow_drops_from_the_head_of_the_longest() {
    let limit = Bytes::new(10 * PACKET_MEMORY);
    let mut queue = cake(CakeParams { limit, ..CakeParams::default() });
    let mut verdicts = Verdicts::new();
    queue.enqueue(packet(2, 1_500, 100), Time::ZERO, &mut verdicts);
    for body in 0..12 {
        queue.enqueue(packet(1, 1_500, body), Time::ZERO, &mut verdicts);
    }
    assert_eq!(dropped_bodies(&mut verdicts), [0, 1, 2]);
    assert_eq!((queue.len(), queue.backlog()), (10, Bytes::new(15_000)));
}

/// A flow alone keeps its last packet, however long it waited.
#[test]
fn the_last_packet_of_a_flow_is_never_dropped() {
    let mut queue = cake(CakeParams::default());
    let mut verdicts = Verdicts::new();
    for body in 0..40 {
        queue.enqueue(packet(1, 1_500, body), Time::ZERO, &mut verdicts);
    }
    let left: Vec<_> = (0..40)
        .filter_map(|n| {
            queue.dequeue(Time::from_nanos((1_000 + 100 * n) * 1_000_000), &mut verdicts)
        })
        .map(|packet| packet.body)
        .collect();
    assert_eq!(left.last(), Some(&39));
    assert_eq!(left.len() + dropped_bodies(&mut verdicts).len(), 40);
    assert!(left.len() < 30, "{left:?}");
}

/// In ingress mode a drop uses up the rate of the packet.
#[test]
fn drops_count_as_sent_behind_a_bottleneck() {
    let spans = [false, true].map(|ingress| {
        let bandwidth = Some(Rate::from_bps(12_112_000));
        let mut queue = cake(CakeParams { bandwidth, ingress, ..CakeParams::default() });
        for body in 0..300 {
            queue.enqueue(packet(1, 1_500, body), Time::ZERO, &mut Verdicts::new());
        }
        let times = times(&mut queue, 0);
        (times.len() as u64, times[times.len() - 1] / 1_000)
    });
    let [(sent, span), (less, as_long)] = spans;
    assert!(sent < 299 && span.abs_diff(sent - 1) <= 1, "{spans:?}");
    assert!(less < 299 && as_long > less + (299 - less) / 3, "{spans:?}");
}

/// Flow 0 is of the voice tin, flow 1 of the bulk tin, the others of the best-effort tin.
fn with_classes(params: CakeParams) -> Cake<u32> {
    let mut queue = cake(params);
    queue.learn_dscps(&["ef", "cs1"].map(|name| Dscp::from_name(name).unwrap()));
    queue
}

/// How many packets of flows 0, 1 and 2 leave within `ms` if each has plenty.
fn shares(queue: &mut Cake<u32>, ms: u64) -> [usize; 3] {
    let (mut now, mut verdicts) = (Time::ZERO, Verdicts::new());
    let mut counts = [0; 3];
    for (flow, body) in (0..3).flat_map(|flow| (0..2_000).map(move |body| (flow, body))) {
        queue.enqueue(packet(flow, 1_500, body), now, &mut verdicts);
    }
    while now < Time::from_nanos(ms * 1_000_000) {
        if let Some(packet) = queue.dequeue(now, &mut verdicts) {
            counts[packet.flow.0 as usize] += 1;
        } else {
            now = queue.next_deadline().expect("the shaper holds packets");
            queue.on_deadline(now, &mut verdicts);
        }
    }
    counts
}

/// At 16 frames/ms the voice tin goes first with up to 4, the bulk tin has 1, the rest is for best
/// effort. COBALT's signals are far off: the RTT is long.
#[test]
fn tins_have_their_shares_of_the_bandwidth() {
    let (bandwidth, rtt) = (Some(Rate::from_bps(16 * 12_112_000)), Duration::from_millis(4_000));
    let mut queue = with_classes(CakeParams { bandwidth, rtt, ..CakeParams::default() });
    let [voice, bulk, rest] = shares(&mut queue, 100);
    assert!(voice.abs_diff(400) <= 8 && bulk.abs_diff(100) <= 8, "{voice} {bulk} {rest}");
    assert!(rest.abs_diff(1_100) <= 12, "{voice} {bulk} {rest}");
    let diffserv = Diffserv::BestEffort;
    let mut one = with_classes(CakeParams { bandwidth, rtt, diffserv, ..CakeParams::default() });
    let equal = shares(&mut one, 100);
    assert!(equal.iter().all(|count| count.abs_diff(533) <= 12), "{equal:?}");
}

/// Without a shaper the tins take turns by their quanta: 1,024 bytes, 64 and 256.
#[test]
fn tins_take_turns_where_nothing_is_shaped() {
    let mut queue = with_classes(CakeParams::default());
    let mut verdicts = Verdicts::new();
    for (flow, body) in (0..3).flat_map(|flow| (0..500).map(move |body| (flow, body))) {
        queue.enqueue(packet(flow, 1_500, body), Time::ZERO, &mut verdicts);
    }
    let mut counts = [0_usize; 3];
    for _ in 0..420 {
        let packet = queue.dequeue(Time::ZERO, &mut verdicts).unwrap();
        counts[packet.flow.0 as usize] += 1;
    }
    let [voice, bulk, rest] = counts;
    assert!(
        rest.abs_diff(320) <= 3 && voice.abs_diff(80) <= 3 && bulk.abs_diff(20) <= 3,
        "{counts:?}"
    );
}
