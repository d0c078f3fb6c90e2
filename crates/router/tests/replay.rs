//! A real run through the router, and the same arrivals put through the same link offline.
//!
//! Needs /dev/net/tun and the right to make network namespaces; without them it says so and passes.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration as Span;

use narrows_base::{Bytes, Duration, Ecn, FlowId, Packet, Rate, Stream, Time};
use narrows_net::Limit;
use narrows_net::config::{self, Choice, Value};
use narrows_net::path::PathConfig;
use narrows_net::{Element, Link, Queue, RateProcess};
use narrows_router::{
    Clock, Crossing, HostNamespace, HostPair, PathEvent, PathRecorder, Report, Router,
    RouterProgress,
};

type Row = (Time, PathEvent, u32, u32);

const SENDER: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
const PORT: u16 = 5000;
const RATE: u64 = 20_000_000;
const BUFFER: u64 = 20_000;
const SIZE: usize = 1_500_000;

fn droptail(loss: f64) -> Crossing {
    let path = PathConfig {
        rate_bps: RATE,
        rtt_ns: 10_000_000,
        buffer: Limit::Bytes(Bytes::new(BUFFER)),
        queue: Choice::new("droptail"),
        service: Choice::new("constant"),
        loss,
        impairments: Vec::new(),
        links: Vec::new(),
        reverse: None,
    };
    let rtts_ns = vec![10_000_000, 14_000_000];
    let data_ports = vec![None; rtts_ns.len()];
    let (reverse, links) = (vec![false; rtts_ns.len()], Vec::new());
    Crossing {
        path,
        seed: 1,
        end_ns: 0,
        first_port: PORT,
        rtts_ns,
        reverse,
        data_ports,
        links,
        dscps: Vec::new(),
    }
}

/// Both hosts, or why there are none. A thread of a test can't take a user namespace, so this
/// needs the capabilities.
fn hosts() -> Option<HostPair> {
    let both = HostNamespace::new(SENDER, false)
        .and_then(|sender| Ok((sender, HostNamespace::new(RECEIVER, false)?)))
        .map(|(sender, receiver)| HostPair { sender, receiver, flows: vec![0, 1] });
    both.map_err(|e| eprintln!("skipped: no network namespaces or TUN here: {e}")).ok()
}

/// Sends SIZE bytes in each of two flows.
fn transfer(sender: &HostNamespace, receiver: &HostNamespace) {
    let listeners = receiver
        .enter(|| (0..2).map(|i| TcpListener::bind((RECEIVER, PORT + i))).collect())
        .expect("free ports");
    let listeners: Vec<TcpListener> = listeners;
    thread::scope(|scope| {
        for (i, listener) in (0..).zip(&listeners) {
            scope.spawn(move || {
                let mut data = Vec::new();
                let (mut connection, _) = listener.accept().expect("a connection");
                connection.read_to_end(&mut data).expect("data");
                assert_eq!(data.len(), SIZE);
            });
            scope.spawn(move || {
                let send = || TcpStream::connect((RECEIVER, PORT + i))?.write_all(&[7; SIZE]);
                sender.enter(send).expect("the path carries TCP");
            });
        }
    });
}

/// PIE has its own deadlines, draws random numbers and soon drops. Its room is so small that slow
/// start fills it anyway: on a busy machine the hosts may be too slow for the controller.
fn pie() -> Crossing {
    let known = config::info(config::QUEUES, "pie").expect("pie is known");
    let queue = Choice::with_defaults(known, Rate::from_bps(RATE))
        .set("target_ns", Value::Whole(2_000_000))
        .set("alpha", Value::Whole(32));
    let mut crossing = droptail(0.0);
    crossing.path = PathConfig { buffer: Limit::Packets(40), queue, ..crossing.path };
    crossing
}

fn real_run(crossing: &Crossing) -> Option<Report> {
    let pair = [hosts()?];
    crossing.path.check().expect("a path");
    let clock = Clock::starting_in(0);
    let record = PathRecorder::new(crossing.rtts_ns.len(), true, None);
    let router = Router::new(&pair, crossing, clock, Duration::from_millis(10), record);
    let (stop, progress) = (AtomicBool::new(false), RouterProgress::default());
    thread::scope(|scope| {
        let running = scope.spawn(|| router.run(&stop, &progress));
        transfer(&pair[0].sender, &pair[0].receiver);
        // The last acknowledgements are still on their way.
        thread::sleep(Span::from_millis(50));
        stop.store(true, Ordering::Relaxed);
        Some(running.join().expect("no panic").expect("no failure"))
    })
}

fn only(rows: &[Row], wanted: PathEvent) -> Vec<Row> {
    rows.iter().copied().filter(|row| row.1 == wanted).collect()
}

/// Puts the same arrivals through another link, which is polled only once, at the end.
fn replay(crossing: &Crossing, arrivals: &[Row]) -> (Vec<Row>, Vec<Row>) {
    let random = Stream::new(crossing.seed, "path/queue");
    let queue: Queue<()> = config::queue(&crossing.path.queue, crossing.path.buffer, random);
    let rate = RateProcess::constant(Rate::from_bps(RATE));
    let mut link: Link<()> = Link::new(queue, rate);
    for &(at, _, flow, size) in arrivals {
        link.receive(Packet { flow: FlowId(flow), size, ecn: Ecn::NotEct, body: () }, at);
    }
    // Long enough for all that waits; not for ever, since PIE's timer never rests.
    let end = arrivals.last().map_or(Time::ZERO, |row| row.0) + Duration::from_millis(1_000);
    let forwarded = std::iter::from_fn(|| link.poll(end))
        .map(|d| (d.at, PathEvent::Forwarded, d.packet.flow.0, d.packet.size))
        .collect();
    let dropped = std::iter::from_fn(|| link.take_dropped())
        .map(|d| (d.at, PathEvent::Dropped, d.packet.flow.0, d.packet.size))
        .collect();
    (forwarded, dropped)
}

#[test]
fn recorded_arrivals_give_the_same_drops_and_departures_offline() {
    for crossing in [droptail(0.0), pie()] {
        let Some(report) = real_run(&crossing) else { return };
        let (rows, kind) = (report.record.log(), &crossing.path.queue.kind);
        let (forwarded, dropped) = replay(&crossing, &only(rows, PathEvent::Arrived));
        assert!(forwarded.len() > 2 * SIZE / 1500, "{kind}");
        assert!(!dropped.is_empty(), "two flows are too much for {kind}");
        assert_eq!(only(rows, PathEvent::Forwarded), forwarded, "{kind}");
        assert_eq!(only(rows, PathEvent::Dropped), dropped, "{kind}");
        assert_eq!(report.oversize, 0, "offloads are on");
        assert!(report.lateness.summary().packets > forwarded.len(), "acknowledgements too");
    }
}

#[test]
fn losses_behind_the_queue_spare_packets_without_data() {
    let Some(report) = real_run(&droptail(0.05)) else { return };
    let rows = report.record.log();
    let (forwarded, lost) = (only(rows, PathEvent::Forwarded), only(rows, PathEvent::Lost));
    assert!(lost.len() > 20, "{} of {}", lost.len(), forwarded.len());
    assert!(lost.iter().all(|row| row.3 > 100), "{lost:?}");
    assert!(lost.iter().all(|row| forwarded.contains(&(
        row.0,
        PathEvent::Forwarded,
        row.2,
        row.3
    ))));
}
