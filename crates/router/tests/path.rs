//! The path without a clock and without devices.

use narrows_base::{Ecn, FlowId, Packet, Rate, Time};
use narrows_net::Limit;
use narrows_net::config::{self, Choice, Value};
use narrows_net::path::{Direction, Impairment, ImpairmentPlace, LinkConfig, PathConfig};
use narrows_router::{Crossing, ForwardedPacket, PathEvent, RouterPath, Side};

const MS: u64 = 1_000_000;
const RATE: Rate = Rate::from_bps(12_000_000);

fn config() -> PathConfig {
    PathConfig {
        rate_bps: RATE.as_bps(),
        rtt_ns: 20 * MS,
        buffer: Limit::Packets(1),
        queue: Choice::new("droptail"),
        service: Choice::new("constant"),
        loss: 0.0,
        impairments: Vec::new(),
        links: Vec::new(),
        reverse: None,
    }
}

/// Two flows over this path.
fn path(config: PathConfig) -> RouterPath {
    let rtts_ns = vec![20 * MS, 7 * MS];
    // The second flow's program converses beside its data.
    let data_ports = vec![None, Some(30_001)];
    crossing(config, rtts_ns, data_ports, Vec::new())
}

fn crossing(
    path: PathConfig,
    rtts_ns: Vec<u64>,
    data_ports: Vec<Option<u16>>,
    links: Vec<Option<Vec<String>>>,
) -> RouterPath {
    let (seed, end_ns, first_port) = (1, 0, 5000);
    let reverse = vec![false; rtts_ns.len()];
    RouterPath::new(&Crossing {
        path,
        seed,
        end_ns,
        first_port,
        rtts_ns,
        reverse,
        data_ports,
        links,
        dscps: Vec::new(),
    })
}

fn packet(flow: u32) -> Packet<ForwardedPacket> {
    Packet { flow: FlowId(flow), size: 1500, ecn: Ecn::NotEct, body: vec![0; 1500].into() }
}

/// Everything that comes out until `until`, polled at the deadlines only.
fn outcome(path: &mut RouterPath, until: u64) -> Vec<(Side, u64, u32)> {
    let mut out = Vec::new();
    while let Some(at) = path.next_deadline().filter(|at| at.as_nanos() <= until) {
        while let Some((side, departure)) = path.poll(at, &mut |_, _, _| ()) {
            out.push((side, departure.at.as_nanos(), departure.packet.flow.0));
        }
    }
    out
}

#[test]
fn a_packet_takes_its_transmission_and_half_its_round_trip() {
    let mut path = path(config());
    for flow in [0, 1] {
        path.send(packet(flow), Time::ZERO, &mut |_, _, _| ());
    }
    path.reply(packet(1), Time::ZERO, &mut |_, _, _| ());
    // 1 ms of transmission each; the other half of 7 ms on the way back.
    let expected = [
        (Side::Sender, 7 * MS / 2, 1),
        (Side::Receiver, 2 * MS + 7 * MS / 2, 1),
        (Side::Receiver, MS + 10 * MS, 0),
    ];
    assert_eq!(outcome(&mut path, 100 * MS), expected);
}

#[test]
fn packets_without_room_are_reported() {
    let (mut path, mut events) = (path(config()), Vec::new());
    for flow in [0, 1, 0] {
        path.send(packet(flow), Time::ZERO, &mut |at, passage, packet: &Packet<_>| {
            events.push((at, passage, packet.flow.0));
        });
    }
    let arrived = [0, 1, 0].map(|flow| (Time::ZERO, PathEvent::Arrived, flow));
    let dropped = (Time::ZERO, PathEvent::Dropped, 0);
    assert_eq!(events, [arrived[0], arrived[1], arrived[2], dropped]);
    assert_eq!(path.queue().counters.dropped_packets, 1);
}

#[test]
fn marks_reach_the_header() {
    let mut queue =
        Choice::with_defaults(config::info(config::QUEUES, "codel").expect("codel"), RATE);
    queue = queue.set("ce_threshold_ns", Value::Whole(0));
    let config = PathConfig { queue, buffer: Limit::Packets(100), ..config() };
    config.check().expect("a path");
    let mut path = path(config);
    for _ in 0..3 {
        let mut capable = packet(0);
        capable.ecn = Ecn::Ect0;
        capable.body[..2].copy_from_slice(&[0x45, 2]);
        path.send(capable, Time::ZERO, &mut |_, _, _| ());
    }
    let mut classes = Vec::new();
    while let Some(at) = path.next_deadline() {
        while let Some((_, departure)) = path.poll(at, &mut |_, _, _| ()) {
            classes.push(departure.packet.body[1]);
        }
    }
    // The first found the link idle.
    assert_eq!(classes, [2, 3, 3]);
    assert_eq!(path.queue().counters.marked_packets, 2);
}

#[test]
fn a_queue_that_cannot_be_is_named() {
    let wrong = PathConfig { queue: Choice::new("dairy"), ..config() };
    assert!(
        wrong
            .check()
            .expect_err("no such queue")
            .to_string()
            .starts_with("queue.kind: found dairy")
    );
}

fn impairment(
    direction: Direction,
    at: ImpairmentPlace,
    kind: &str,
    values: &[(&str, Value)],
) -> Impairment {
    let info = config::info(config::IMPAIRMENTS, kind).expect("a known impairment");
    let element = values
        .iter()
        .fold(Choice::with_defaults(info, RATE), |e, (key, value)| e.set(key, value.clone()));
    Impairment { direction, at, element }
}

#[test]
fn impairments_stand_on_both_ways() {
    let always = [("probability", Value::Number(1.0))];
    let later = [("delay_ns", Value::Whole(5 * MS))];
    let mut path = path(PathConfig {
        impairments: vec![
            impairment(Direction::Forward, ImpairmentPlace::Behind, "duplicate", &always),
            impairment(Direction::Forward, ImpairmentPlace::Before, "netem", &later),
            impairment(Direction::Backward, ImpairmentPlace::Behind, "netem", &later),
        ],
        ..config()
    });
    path.send(packet(0), Time::ZERO, &mut |_, _, _| ());
    path.reply(packet(1), Time::ZERO, &mut |_, _, _| ());
    let twice = (Side::Receiver, 5 * MS + MS + 10 * MS, 0);
    let expected = [(Side::Sender, 5 * MS + 7 * MS / 2, 1), twice, twice];
    assert_eq!(outcome(&mut path, 100 * MS), expected);
}

#[test]
fn the_link_may_change_its_rate() {
    let info = config::info(config::SERVICES, "steps").expect("steps are known");
    let halved = Value::Pairs(vec![(MS, RATE.as_bps() / 2)]);
    let service = Choice::with_defaults(info, RATE).set("rates", halved);
    let mut path = path(PathConfig { service, ..config() });
    for _ in 0..2 {
        path.send(packet(0), Time::ZERO, &mut |_, _, _| ());
    }
    // 1 ms for the first packet, 2 ms for the second.
    let expected = [11, 13].map(|ms| (Side::Receiver, ms * MS, 0));
    assert_eq!(outcome(&mut path, 100 * MS), expected);
}

/// A TCP packet with payload; the sender's port is the source on its way to the receiver.
fn data(flow: u32, source: u16, destination: u16) -> Packet<ForwardedPacket> {
    let mut body = vec![0; 100];
    (body[0], body[9], body[32]) = (0x45, 6, 0x50);
    body[20..22].copy_from_slice(&source.to_be_bytes());
    body[22..24].copy_from_slice(&destination.to_be_bytes());
    Packet { flow: FlowId(flow), size: 100, ecn: Ecn::NotEct, body: body.into() }
}

#[test]
fn neither_random_loss_nor_impairments_befall_what_programs_say_to_each_other() {
    let info = config::info(config::IMPAIRMENTS, "loss").expect("loss");
    let lossy = Choice::with_defaults(info, RATE).set("probability", Value::Number(1.0));
    for (loss, impaired) in
        [(1.0, [].as_slice()), (0.0, [Direction::Forward, Direction::Backward].as_slice())]
    {
        let impairment = |&direction| Impairment {
            direction,
            at: ImpairmentPlace::Before,
            element: lossy.clone(),
        };
        let impairments = impaired.iter().map(impairment).collect();
        let buffer = Limit::Packets(10);
        let mut path = path(PathConfig { loss, impairments, buffer, ..config() });
        path.send(data(0, 40_000, 5000), Time::ZERO, &mut |_, _, _| ());
        path.send(data(1, 30_001, 5001), Time::ZERO, &mut |_, _, _| ());
        path.send(data(1, 40_000, 5001), Time::ZERO, &mut |_, _, _| ());
        path.reply(data(1, 5001, 40_000), Time::ZERO, &mut |_, _, _| ());
        let reached: Vec<_> =
            outcome(&mut path, 100 * MS).iter().map(|row| (row.0, row.2)).collect();
        assert_eq!(reached, [(Side::Sender, 1), (Side::Receiver, 1)], "loss {loss}");
    }
}

/// A link of 6 Mbit/s, 2 ms a packet.
fn slow_link(name: &str) -> LinkConfig {
    LinkConfig {
        name: name.into(),
        rate_bps: 6_000_000,
        buffer: Limit::Packets(1),
        queue: Choice::new("droptail"),
        service: Choice::new("constant"),
    }
}

#[test]
fn flows_cross_the_links_that_they_name() {
    let (links, reverse) = (vec![slow_link("second")], Some(slow_link("back")));
    let config = PathConfig { links, reverse, ..config() };
    config.check().expect("a path");
    let only = vec![None, Some(vec!["second".to_owned()])];
    let mut path = crossing(config, vec![20 * MS; 2], Vec::new(), only);
    let mut events = Vec::new();
    for flow in [0, 1, 1, 1] {
        path.send(packet(flow), Time::ZERO, &mut |at, event, packet: &Packet<_>| {
            events.push((at, event, packet.flow.0));
        });
    }
    // Flow 1 doesn't meet the first link: one of its packets is sent, one waits, one is dropped.
    assert_eq!(events, [(Time::ZERO, PathEvent::Arrived, 0), (Time::ZERO, PathEvent::Dropped, 1)]);
    path.reply(packet(0), Time::ZERO, &mut |_, _, _| ());
    path.reply(packet(1), Time::ZERO, &mut |_, _, _| ());
    // Half of 20 ms on each way, behind 2 ms for each packet that crosses a slow link.
    let expected = [
        (Side::Receiver, 12 * MS, 1),
        (Side::Sender, 12 * MS, 0),
        (Side::Receiver, 14 * MS, 1),
        (Side::Sender, 14 * MS, 1),
    ];
    let reached = outcome(&mut path, 100 * MS);
    assert_eq!(&reached[..4], expected);
    let forwarded: Vec<_> = path.queues().map(|queue| queue.counters.forwarded_packets).collect();
    assert_eq!(forwarded.len(), 3);
    assert_eq!((forwarded[0], forwarded[2]), (1, 2));
}

#[test]
fn links_that_lead_into_one_do_so_in_the_order_of_time() {
    let shared = LinkConfig { buffer: Limit::Packets(9), ..slow_link("shared") };
    let links = vec![slow_link("second"), shared];
    let config = PathConfig { links, buffer: Limit::Packets(9), ..config() };
    config.check().expect("a path");
    let over = |first: &str| Some(vec![first.to_owned(), "shared".to_owned()]);
    let only = vec![over("bottleneck"), over("second")];
    let mut path = crossing(config, vec![20 * MS; 2], Vec::new(), only);
    for flow in [0, 0, 0, 1] {
        path.send(packet(flow), Time::ZERO, &mut |_, _, _| ());
    }
    // Polled late, when the first link has sent three packets and the second one.
    path.catch_up(Time::from_nanos(9 * MS), &mut |_, _, _| ());
    let reached = outcome(&mut path, 100 * MS);
    // 1 ms a packet of the first link, 2 ms of the others, half of 20 ms.
    let expected = [(13, 0), (15, 0), (17, 1), (19, 0)];
    assert_eq!(reached, expected.map(|(at, flow)| (Side::Receiver, at * MS, flow)));
}

#[test]
fn data_the_other_way_is_counted_behind_the_link_back() {
    let back = LinkConfig {
        name: "back".into(),
        rate_bps: RATE.as_bps(),
        buffer: Limit::Packets(1),
        queue: Choice::new("droptail"),
        service: Choice::new("constant"),
    };
    let path = PathConfig { reverse: Some(back), ..config() };
    let (rtts_ns, reverse) = (vec![20 * MS; 2], vec![false, true]);
    let mut path = RouterPath::new(&Crossing {
        path,
        seed: 1,
        end_ns: 0,
        first_port: 5000,
        rtts_ns,
        reverse,
        data_ports: vec![None, None],
        links: Vec::new(),
        dscps: Vec::new(),
    });
    let mut events = Vec::new();
    let mut witness = |at: Time, event, packet: &Packet<_>| {
        if !matches!(event, PathEvent::Arrived | PathEvent::Forwarded) {
            events.push((at.as_nanos(), event, packet.flow.0));
        }
    };
    // The link back has room for two; forward only flow 0 has data.
    for flow in [1, 1, 1, 0] {
        path.reply(packet(flow), Time::ZERO, &mut witness);
    }
    for flow in [0, 1] {
        path.send(packet(flow), Time::ZERO, &mut witness);
    }
    path.catch_up(Time::from_nanos(5 * MS), &mut witness);
    events.sort_by_key(|&(at, _, flow)| (at, flow));
    let expected = [
        (0, PathEvent::Dropped, 1),
        (MS, PathEvent::Crossed, 0),
        (MS, PathEvent::Crossed, 1),
        (2 * MS, PathEvent::Crossed, 1),
    ];
    assert_eq!(events, expected);
}
