//! The contract of hosts, tested for every kind: however early and often it is advanced, a host does
//! the same.

use std::collections::VecDeque;

use narrows_base::{Duration, Ecn, FlowId, Packet, Stream, Time};
use narrows_cc::CcConfig;
use narrows_media::MediaSchedule;
use narrows_spec::law::{Draws, Law};
use narrows_spec::scenario::{Media, MediaControl, Workload};
use narrows_tcp::{
    AccEcnSettings, BufferLimits, EcnMode, Kind, MSS, ReceiverConfig, Segment, SenderConfig,
    Sysctls,
};

use super::{Host, HostOutput};
use crate::host::chain::{Chain, ControlFactory, Plan};
use crate::host::datagram::{Datagrams, Sink, Source};
use crate::host::receiving::ReceivingHost;
use crate::host::sending::SendingHost;
use crate::host::stack::hosts as stack_hosts;

const MILLI: u64 = 1_000_000;
const END: Time = Time::from_nanos(4_000 * MILLI);
/// One way, without the time of transmission.
const DELAY: Duration = Duration::from_millis(15);
/// Of a packet of data.
const TRANSMISSION: Duration = Duration::from_micros(1_200);
const QUEUE: usize = 20;

/// When both hosts are advanced besides the instants at which they must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Never, as in the engine: they are woken at the bounds that they return.
    AtBounds,
    /// Never, and they are woken at their exact deadlines.
    AtDeadlines,
    /// At whichever of the two is earlier, and only one of them acts at a time.
    Alone,
    /// Again at the same instant.
    Twice,
    /// Five times at the same instant.
    FiveTimes,
    /// Before they take a packet, unless something is due.
    BeforePackets,
    /// One nanosecond too early.
    JustBefore,
    /// Half-way to the next event.
    Midway,
    /// Every millisecond.
    EveryMillisecond,
    /// At random instants.
    AtRandom,
}

const WAYS: [Way; 10] = [
    Way::AtBounds,
    Way::AtDeadlines,
    Way::Alone,
    Way::Twice,
    Way::FiveTimes,
    Way::BeforePackets,
    Way::JustBefore,
    Way::Midway,
    Way::EveryMillisecond,
    Way::AtRandom,
];

impl Way {
    /// Instants between two events.
    fn between(self, now: Time, next: Time, random: &mut Stream) -> Vec<Time> {
        let span = (next - now).as_nanos();
        let after = |nanos: u64| now + Duration::from_nanos(nanos);
        let mut instants = match self {
            Self::JustBefore => vec![after(span.saturating_sub(1))],
            Self::Midway => vec![after(span / 2)],
            Self::EveryMillisecond => (1..=span / MILLI).map(|n| after(n * MILLI)).collect(),
            Self::AtRandom => (0..3).map(|_| after(random.below(span.max(1)))).collect(),
            _ => Vec::new(),
        };
        instants.retain(|&at| now < at && at < next);
        instants.sort();
        instants
    }

    /// How often they are advanced at one instant.
    fn times(self) -> usize {
        match self {
            Self::Twice => 2,
            Self::FiveTimes => 5,
            _ => 1,
        }
    }
}

/// The way from one end to the other. Data packets wait in a queue, which drops those that don't
/// fit.
#[derive(Default)]
struct Wire {
    packets: VecDeque<(Time, Packet<Segment>)>,
    free: Time,
}

impl Wire {
    fn send(&mut self, packet: Packet<Segment>, now: Time) {
        let is_data = packet.size > 200;
        if is_data && self.packets.iter().filter(|(at, _)| *at > now + DELAY).count() >= QUEUE {
            return;
        }
        self.free = self.free.max(now) + if is_data { TRANSMISSION } else { Duration::ZERO };
        self.packets.push_back((self.free + DELAY, packet));
    }

    fn next(&self) -> Time {
        self.packets.front().map_or(Time::MAX, |&(at, _)| at)
    }
}

/// An end with its wire to the other, and when it must be advanced.
struct End<'a> {
    host: &'a mut dyn Host,
    wire: Wire,
    due: Time,
    log: Vec<String>,
}

impl<'a> End<'a> {
    fn new(host: &'a mut dyn Host) -> Self {
        let due = host.next_deadline().unwrap_or(Time::MAX);
        Self { host, wire: Wire::default(), due, log: Vec::new() }
    }

    fn advance(&mut self, now: Time, way: Way) {
        for _ in 0..way.times() {
            let mut out = HostOutput::default();
            let bound = self.host.advance(now, &mut out);
            let deadline = self.host.next_deadline().unwrap_or(Time::MAX);
            assert!(bound <= deadline, "{way:?}: at {now:?} it rests until after {deadline:?}");
            self.due = if way == Way::AtDeadlines { deadline } else { bound };
            for packet in out.packets {
                self.log.push(format!("{now:?} {packet:?}"));
                self.wire.send(packet, now);
            }
            self.log.extend(out.completed.iter().map(|done| format!("{now:?} {done:?}")));
        }
    }

    fn take(&mut self, packet: &Packet<Segment>, now: Time, way: Way) {
        let is_early = self.host.next_deadline().is_none_or(|due| due > now);
        if way == Way::BeforePackets && is_early {
            self.advance(now, way);
        }
        self.host.receive(packet, now);
        self.advance(now, way);
    }
}

/// Runs two hosts; returns what they send and complete.
fn run(sender: &mut dyn Host, receiver: &mut dyn Host, way: Way) -> [Vec<String>; 2] {
    let mut ends = [End::new(sender), End::new(receiver)];
    let mut random = Stream::new(1, "ways");
    let mut now = Time::ZERO;
    loop {
        let next = ends.iter().map(|end| end.due.min(end.wire.next())).min().expect("two ends");
        if next > END {
            return ends.map(|end| end.log);
        }
        for at in way.between(now, next, &mut random) {
            ends.iter_mut().for_each(|end| end.advance(at, way));
        }
        now = next;
        for from in 0..2 {
            while ends[from].wire.next() <= now {
                let (_, packet) = ends[from].wire.packets.pop_front().expect("one is due");
                ends[1 - from].take(&packet, now, way);
            }
        }
        for end in &mut ends {
            if end.due <= now || way != Way::Alone {
                end.advance(now, way);
            }
        }
    }
}

fn chain(size: Option<u64>, repeats: bool) -> Chain {
    let profile = narrows_tcp::profile("linux-6.12").expect("a known profile");
    let plan = Plan {
        start: Time::from_nanos(3 * MILLI),
        stop: Some(Time::from_nanos(3_000 * MILLI)),
        repeat_gap: repeats.then(|| Duration::from_millis(20)),
        while_flows: None,
        deadline_ns: None,
    };
    let config = SenderConfig {
        flow: FlowId(0),
        mss: MSS,
        initial_cwnd: 10,
        sysctls: Sysctls::default(),
        profile,
        fq: true,
        line_rate: None,
        timer_lateness: Duration::ZERO,
        limits: BufferLimits::Raised,
        notsent_lowat: None,
        size,
        closes: true,
        ecn: EcnMode::Off,
        gso: false,
        instance: 0,
        note_lost: false,
        metrics: None,
    };
    let factory: ControlFactory = Box::new(move |_| {
        Box::new(move |_, rtt, initial_cwnd| {
            let config = CcConfig {
                mss: MSS,
                initial_cwnd,
                initial_rtt: Some(rtt),
                profile: &profile.cc,
                random: Stream::new(1, "cc"),
                options: &narrows_base::registry::Values::default(),
            };
            narrows_cc::build("bbr", config).expect("a known control")
        })
    });
    Chain::new(plan, config, factory)
}

fn receiver(side_by_side: bool) -> ReceivingHost {
    let profile = narrows_tcp::profile("linux-6.12").expect("a known profile");
    let config = ReceiverConfig {
        flow: FlowId(0),
        profile,
        limits: BufferLimits::Raised,
        gro: Duration::from_micros(50),
        ecn: EcnMode::Off,
        accurate_ecn: AccEcnSettings::default(),
        window_clamp: None,
        instance: 0,
        socket: None,
    };
    ReceivingHost::new(config, side_by_side)
}

const DRAWS: Draws<'static> = Draws { seed: 1, flow: "flow" };

fn tcp(chain: Chain, workload: Option<&Workload>) -> (SendingHost, ReceivingHost) {
    let is_parallel = matches!(workload, Some(Workload::Arrivals { .. } | Workload::Web { .. }));
    (SendingHost::new(chain, workload, DRAWS), receiver(is_parallel))
}

fn datagrams(workload: &Workload) -> (SendingHost, ReceivingHost) {
    let what = Datagrams::of(Some(workload)).expect("datagrams");
    let (plan, ..) = chain(None, false).into_parts();
    let ecn = EcnMode::Off.of_new_data();
    let source = Source::new(FlowId(0), ecn, what, &plan);
    (SendingHost::other(source), ReceivingHost::other(Sink::new(FlowId(0), ecn, what)))
}

fn media(control: MediaControl) -> (SendingHost, ReceivingHost) {
    let described = Media {
        control,
        min_bps: 150_000,
        max_bps: 2_500_000,
        fps: 30,
        packet_bytes: 1_200,
        reaction_ns: 100 * MILLI,
        deviation_ppm: Law::Constant(0),
        key_frame: 1,
        jitter_buffer_ns: 0,
        feedback_ns: 100 * MILLI,
    };
    let when = MediaSchedule { start: Time::ZERO, stop: None, ecn: Ecn::NotEct };
    let ends = narrows_media::ends(&described, when, DRAWS);
    let times = (when.start, None);
    let (sender, receiver) = stack_hosts(FlowId(0), EcnMode::Off, true, times, ends);
    (SendingHost::other(sender), ReceivingHost::other(receiver))
}

/// Both hosts of every kind of flow.
fn hosts(kind: &str) -> (SendingHost, ReceivingHost) {
    let of = |milliseconds: u64| Law::Constant(milliseconds * MILLI);
    let (size, gap) = (Law::Constant(60_000), of(40));
    let without_size = || chain(None, false);
    match kind {
        "chain" => tcp(without_size(), None),
        "repeated" => tcp(chain(Some(100_000), true), None),
        "arrivals" => {
            tcp(without_size(), Some(&Workload::Arrivals { gap_ns: gap, size_bytes: size }))
        }
        "on_off" => tcp(
            without_size(),
            Some(&Workload::OnOff { on_ns: of(200), first_ns: None, off_ns: of(300) }),
        ),
        "requests" => {
            tcp(without_size(), Some(&Workload::Requests { think_ns: gap, size_bytes: size }))
        }
        "video" => {
            let (chunk_ns, start_ns, buffer_ns) = (500 * MILLI, 500 * MILLI, 2_000 * MILLI);
            let bitrate_bps = 3_000_000;
            tcp(
                without_size(),
                Some(&Workload::Video { bitrate_bps, chunk_ns, start_ns, buffer_ns }),
            )
        }
        "web" => {
            let (html_bytes, object_bytes, think_ns) = (size.clone(), size, gap);
            let (objects, levels, connections) = (10, 3, 4);
            let page =
                Workload::Web { html_bytes, objects, object_bytes, levels, connections, think_ns };
            tcp(without_size(), Some(&page))
        }
        "udp" => datagrams(&Workload::Udp { rate_bps: 7_000_000, size_bytes: 1_200, burst: 3 }),
        "ping" => datagrams(&Workload::Ping { interval_ns: 5 * MILLI, size_bytes: 56 }),
        "nada" => media(MediaControl::Nada),
        "scream" => media(MediaControl::Scream),
        _ => unreachable!("{kind}"),
    }
}

fn run_kind(kind: &str, way: Way) -> [Vec<String>; 2] {
    let (mut sender, mut receiver) = hosts(kind);
    let receiver: &mut dyn Host = match &mut receiver {
        ReceivingHost::One(one) => one,
        ReceivingHost::Other(host) => &mut **host,
    };
    run(&mut *sender, receiver, way)
}

#[test]
fn a_host_does_the_same_however_early_and_often_it_is_advanced() {
    for kind in [
        "chain", "repeated", "arrivals", "on_off", "requests", "video", "web", "udp", "ping",
        "nada", "scream",
    ] {
        let expected = run_kind(kind, Way::AtBounds);
        assert!(expected[0].len() > 100, "{kind}: {} packets", expected[0].len());
        for way in WAYS {
            let done = run_kind(kind, way);
            for (found, expected) in done.iter().zip(&expected) {
                let first = found.iter().zip(expected).find(|(found, expected)| found != expected);
                assert!(first.is_none(), "{kind}, {way:?}: {first:?}");
                assert_eq!(found.len(), expected.len(), "{kind}, {way:?}");
            }
        }
    }
}

#[test]
fn packets_of_a_host_come_after_those_already_in_the_output() {
    let (mut sender, _) = hosts("udp");
    let (_, mut sink) = hosts("ping");
    let mut out = HostOutput::default();
    sender.advance(Time::from_nanos(3 * MILLI), &mut out);
    let first = out.packets.clone();
    let ping = {
        let (mut pinger, _) = hosts("ping");
        let mut out = HostOutput::default();
        pinger.advance(Time::from_nanos(3 * MILLI), &mut out);
        out.packets[0]
    };
    sink.receive(&ping, Time::from_nanos(4 * MILLI));
    sink.advance(Time::from_nanos(4 * MILLI), &mut out);
    assert_eq!((first.len(), out.packets.len()), (3, 4));
    assert!(matches!(out.packets[3].body.kind, Kind::Echo(_)));
}
