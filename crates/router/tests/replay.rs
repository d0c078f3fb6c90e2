//! A real run through the router, and the same arrivals put through the same link offline.
//!
//! Needs /dev/net/tun and the right to make network namespaces; without them it says so and passes.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration as Span;

use narrows_base::{Duration, Ecn, FlowId, Packet, Rate, Stream, Time};
use narrows_net::config::{self, Choice, Value};
use narrows_net::{Element, Link, Queue, RateProcess};
use narrows_router::{
    Buffer, Clock, Host, Passage, PathConfig, Progress, Recorder, Report, Router,
};

type Row = (Time, Passage, u32, u32);

const SENDER: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
const PORT: u16 = 5000;
const RATE: u64 = 20_000_000;
const BUFFER: u64 = 20_000;
const SIZE: usize = 1_500_000;

fn droptail(loss: f64) -> PathConfig {
    PathConfig {
        rate_bps: RATE,
        buffer: Buffer::Bytes(BUFFER),
        queue: Choice::new("droptail"),
        service: Choice::new("constant"),
        impairments: Vec::new(),
        end_ns: 0,
        loss,
        seed: 1,
        first_port: PORT,
        rtts_ns: vec![10_000_000, 14_000_000],
    }
}

/// Both hosts, or why there are none. A thread of a test can't take a user namespace, so this
/// needs the capabilities.
fn hosts() -> Option<(Host, Host)> {
    let both = Host::new(SENDER).and_then(|sender| Ok((sender, Host::new(RECEIVER)?)));
    both.map_err(|e| eprintln!("skipped: no network namespaces or TUN here: {e}")).ok()
}

/// Sends SIZE bytes in each of two flows.
fn transfer(sender: &Host, receiver: &Host) {
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

/// A discipline with deadlines of its own and with chance.
fn pie() -> PathConfig {
    let known = config::info(config::QUEUES, "pie").expect("pie is known");
    let queue = Choice::with_defaults(known, Rate::from_bps(RATE))
        .set("target_ns", Value::Whole(2_000_000));
    PathConfig { buffer: Buffer::Packets(1000), queue, ..droptail(0.0) }
}

fn real_run(config: &PathConfig) -> Option<Report> {
    let (sender, receiver) = hosts()?;
    config.check().expect("a path");
    let clock = Clock::starting_in(0);
    let record = Recorder::new(config.rtts_ns.len(), true, None);
    let router =
        Router::new((&sender, &receiver), config, clock, Duration::from_millis(10), record);
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    thread::scope(|scope| {
        let running = scope.spawn(|| router.run(&stop, &progress));
        transfer(&sender, &receiver);
        // The last acknowledgements are still on their way.
        thread::sleep(Span::from_millis(50));
        stop.store(true, Ordering::Relaxed);
        Some(running.join().expect("no panic").expect("no failure"))
    })
}

fn only(rows: &[Row], wanted: Passage) -> Vec<Row> {
    rows.iter().copied().filter(|row| row.1 == wanted).collect()
}

/// The same arrivals through a link of its own, polled only once at the end.
fn replay(config: &PathConfig, arrivals: &[Row]) -> (Vec<Row>, Vec<Row>) {
    let random = Stream::new(config.seed, "path/queue");
    let queue: Queue<()> = config::queue(&config.queue, config.limit(), random);
    let rate = RateProcess::constant(Rate::from_bps(RATE));
    let mut link: Link<()> = Link::new(queue, rate);
    for &(at, _, flow, size) in arrivals {
        link.receive(Packet { flow: FlowId(flow), size, ecn: Ecn::NotEct, body: () }, at);
    }
    // Long enough for all that waits; not for ever, since PIE's timer never rests.
    let end = arrivals.last().map_or(Time::ZERO, |row| row.0) + Duration::from_millis(1_000);
    let forwarded = std::iter::from_fn(|| link.poll(end))
        .map(|d| (d.at, Passage::Forwarded, d.packet.flow.0, d.packet.size))
        .collect();
    let dropped = std::iter::from_fn(|| link.take_dropped())
        .map(|d| (d.at, Passage::Dropped, d.packet.flow.0, d.packet.size))
        .collect();
    (forwarded, dropped)
}

#[test]
fn recorded_arrivals_give_the_same_drops_and_departures_offline() {
    for config in [droptail(0.0), pie()] {
        let Some(report) = real_run(&config) else { return };
        let (rows, kind) = (report.record.log(), &config.queue.kind);
        let (forwarded, dropped) = replay(&config, &only(rows, Passage::Arrived));
        assert!(forwarded.len() > 2 * SIZE / 1500, "{kind}");
        assert!(!dropped.is_empty(), "two flows are too much for {kind}");
        assert_eq!(only(rows, Passage::Forwarded), forwarded, "{kind}");
        assert_eq!(only(rows, Passage::Dropped), dropped, "{kind}");
        assert_eq!(report.oversize, 0, "offloads are on");
        assert!(report.lateness.summary().packets > forwarded.len(), "acknowledgements too");
    }
}

#[test]
fn losses_behind_the_queue_spare_packets_without_data() {
    let Some(report) = real_run(&droptail(0.05)) else { return };
    let rows = report.record.log();
    let (forwarded, lost) = (only(rows, Passage::Forwarded), only(rows, Passage::Lost));
    assert!(lost.len() > 20, "{} of {}", lost.len(), forwarded.len());
    assert!(lost.iter().all(|row| row.3 > 100), "{lost:?}");
    assert!(lost.iter().all(|row| forwarded.contains(&(row.0, Passage::Forwarded, row.2, row.3))));
}
