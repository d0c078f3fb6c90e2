//! A sender and a receiver across a channel that loses, delays, reorders and
//! duplicates: whatever it does, a transfer completes and the counters agree.

use std::collections::BTreeMap;

use narrows_base::registry::Values;
use narrows_base::{Duration, Ecn, FlowId, Stream, Time};
use narrows_cc::CcConfig;
use narrows_tcp::{
    AccEcnSettings, BufferLimits, EcnMode, Kind, MSS, PROFILES, Receiver, ReceiverConfig, Segment,
    Sender, SenderConfig, Sysctls, TcpProfile,
};
use proptest::prelude::*;

/// More events than any of these transfers needs.
const MOST_EVENTS: u32 = 1_000_000;

#[derive(Clone, Debug)]
struct ChannelCase {
    profile: usize,
    control: &'static str,
    size: u64,
    fq: bool,
    limits: BufferLimits,
    /// For how long the receiver's card collects packets.
    gro_us: u64,
    rtt_us: u64,
    /// Packets that the bottleneck sends in a second, and those that may wait for it.
    packets_per_sec: u64,
    buffer: u64,
    data_loss: f64,
    ack_loss: f64,
    reordered: f64,
    duplicated: f64,
    /// How both ends use ECN, and which part of the packets that can be is marked.
    ecn: EcnMode,
    marked: f64,
    gso: bool,
    seed: u64,
}

fn cases() -> impl Strategy<Value = ChannelCase> {
    let host = (
        0..PROFILES.len(),
        prop_oneof![Just("reno"), Just("cubic"), Just("bbr"), Just("dctcp")],
        prop_oneof![1u64..5_000, 1u64..2_000_000],
        any::<bool>(),
        prop_oneof![
            Just(BufferLimits::Stock),
            Just(BufferLimits::Raised),
            Just(BufferLimits::Unlimited)
        ],
        prop_oneof![Just(0u64), 1u64..1_000],
    );
    let path = (500u64..100_000, 200u64..50_000, 2u64..200);
    let chance = |most: f64| prop_oneof![Just(0.0), 0.0..most];
    let faults = (chance(0.3), chance(0.3), chance(0.3), chance(0.1), any::<u64>());
    let mode = prop_oneof![
        2 => Just(EcnMode::Off),
        1 => Just(EcnMode::Classic),
        1 => Just(EcnMode::Dctcp),
        1 => Just(EcnMode::Accurate),
        1 => Just(EcnMode::L4s)
    ];
    let marks = (mode, chance(0.9), prop_oneof![3 => Just(false), 1 => Just(true)]);
    (host, path, faults, marks).prop_map(|(host, path, faults, (ecn, marked, gso))| {
        let (profile, control, size, fq, limits, gro_us) = host;
        let (rtt_us, packets_per_sec, buffer) = path;
        let (data_loss, ack_loss, reordered, duplicated, seed) = faults;
        ChannelCase {
            profile,
            control,
            size,
            fq,
            limits,
            gro_us,
            rtt_us,
            packets_per_sec,
            buffer,
            data_loss,
            ack_loss,
            reordered,
            duplicated,
            ecn,
            marked,
            gso,
            seed,
        }
    })
}

/// Where a segment is going.
#[derive(Clone, Copy, Debug, PartialEq)]
enum To {
    Sender,
    Receiver,
}

struct Channel {
    case: ChannelCase,
    random: Stream,
    /// Arrivals by time, and by order of departure at the same time.
    arrivals: BTreeMap<(Time, u64), (To, Segment, Ecn)>,
    departures: u64,
    /// When the bottleneck is free again.
    free: Time,
}

impl Channel {
    fn new(case: &ChannelCase) -> Self {
        let random = Stream::new(case.seed, "channel");
        let arrivals = BTreeMap::new();
        Self { case: case.clone(), random, arrivals, departures: 0, free: Time::ZERO }
    }

    fn carry(&mut self, to: To, segment: Segment, now: Time) {
        let mut ecn = if let Kind::Data(data) = &segment.kind { data.ecn } else { Ecn::NotEct };
        if ecn.is_capable() && self.random.chance(self.case.marked) {
            ecn = Ecn::Ce;
        }
        let loss = if to == To::Receiver { self.case.data_loss } else { self.case.ack_loss };
        if self.random.chance(loss) {
            return;
        }
        let copies = if self.random.chance(self.case.duplicated) { 2 } else { 1 };
        for _ in 0..copies {
            let Some(left) = self.leave(to, now) else { continue };
            let mut delay = Duration::from_micros(self.case.rtt_us / 2);
            if self.random.chance(self.case.reordered) {
                delay += Duration::from_micros(self.random.below(self.case.rtt_us));
            }
            self.departures += 1;
            self.arrivals.insert((left + delay, self.departures), (to, segment, ecn));
        }
    }

    /// When a segment leaves the bottleneck, unless its queue is full.
    fn leave(&mut self, to: To, now: Time) -> Option<Time> {
        if to == To::Sender {
            return Some(now);
        }
        let each = Duration::from_nanos(1_000_000_000 / self.case.packets_per_sec);
        if self.free.saturating_since(now) > each * self.case.buffer {
            return None;
        }
        self.free = self.free.max(now) + each;
        Some(self.free)
    }
}

struct World {
    sender: Sender,
    receiver: Receiver,
    channel: Channel,
    /// Payload that the receive window allows so far, in bytes.
    edge: u64,
    acked: u32,
    next: u32,
    now: Time,
}

impl World {
    fn new(case: &ChannelCase) -> Self {
        let profile: &'static TcpProfile = &PROFILES[case.profile];
        let config = SenderConfig {
            flow: FlowId(0),
            mss: MSS,
            initial_cwnd: 10,
            sysctls: Sysctls::default(),
            profile,
            fq: case.fq,
            line_rate: None,
            timer_lateness: Duration::ZERO,
            limits: case.limits,
            notsent_lowat: None,
            size: Some(case.size),
            ecn: case.ecn,
            gso: case.gso,
            instance: 0,
            closes: false,
            note_lost: false,
            metrics: None,
        };
        let (name, seed) = (case.control, case.seed);
        let make = Box::new(move |_, rtt, initial_cwnd| {
            let config = CcConfig {
                mss: MSS,
                initial_cwnd,
                initial_rtt: Some(rtt),
                profile: &profile.cc,
                random: Stream::new(seed, "control"),
                options: &Values::default(),
            };
            narrows_cc::build(name, config).expect("a known control")
        });
        let gro = Duration::from_micros(case.gro_us);
        let receiver = ReceiverConfig {
            flow: FlowId(0),
            profile,
            limits: case.limits,
            gro,
            ecn: case.ecn,
            accurate_ecn: AccEcnSettings::default(),
            window_clamp: None,
            instance: 0,
            socket: None,
        };
        Self {
            sender: Sender::connect(config, make, Time::ZERO),
            receiver: Receiver::new(receiver),
            channel: Channel::new(case),
            edge: 0,
            acked: 0,
            next: 0,
            now: Time::ZERO,
        }
    }

    /// Runs until the last byte is acknowledged.
    fn run(&mut self) {
        for _ in 0..MOST_EVENTS {
            self.flush();
            if self.sender.is_done() {
                return;
            }
            let arrival = self.channel.arrivals.keys().next().map(|&(at, _)| at);
            let due = [self.sender.next_deadline(), self.receiver.next_deadline(), arrival];
            let next = due.into_iter().flatten().min().expect("someone will act");
            self.now = self.now.max(next);
            if arrival == Some(next) {
                self.arrive();
            }
        }
        panic!("not done after {:?}", self.now);
    }

    fn arrive(&mut self) {
        let (_, (to, segment, ecn)) = self.channel.arrivals.pop_first().expect("an arrival");
        match to {
            To::Receiver => self.receiver.receive(&segment, ecn, self.now),
            To::Sender => {
                match &segment.kind {
                    Kind::SynAck { window, .. } => self.edge = self.edge.max(u64::from(*window)),
                    Kind::Ack(ack) => {
                        self.acked = self.acked.max(ack.ack);
                        let offered = u64::from(ack.ack) * u64::from(MSS) + u64::from(ack.window);
                        self.edge = self.edge.max(offered);
                    }
                    _ => {}
                }
                let cwnd = self.view().0;
                self.sender.receive(&segment, ecn, self.now);
                self.send(cwnd);
            }
        }
    }

    /// Window and packets in flight.
    fn view(&self) -> (u32, u32) {
        self.sender.view().map_or((0, 0), |view| (view.cwnd, view.in_flight))
    }

    /// Lets both ends send what they have. A timer may send a loss probe, one packet beyond
    /// the window (`tcp_send_loss_probe`) even when more is in flight than a window allows
    /// that has just shrunk at the end of a recovery (`tcp_end_cwnd_reduction`).
    fn flush(&mut self) {
        let (cwnd, in_flight) = self.view();
        self.send(cwnd.max(in_flight) + 1);
        let mut packets = Vec::new();
        self.receiver.advance(self.now, &mut packets);
        for packet in packets {
            self.channel.carry(To::Sender, packet.body, self.now);
        }
    }

    /// Takes what the sender sends; `most` may be in flight if its window hasn't grown.
    fn send(&mut self, most: u32) {
        let mut sent = false;
        let mut packets = Vec::new();
        self.sender.advance(self.now, &mut packets);
        for segment in packets.into_iter().map(|packet| packet.body) {
            if let Kind::Data(data) = &segment.kind {
                sent = true;
                let end = u64::from(data.seq) * u64::from(MSS) + u64::from(data.len);
                let alone = data.seq == self.acked;
                assert!(end <= self.edge || alone, "{} is beyond the receive window", data.seq);
                assert_eq!(data.retransmission, data.seq < self.next, "packet {}", data.seq);
                self.next = self.next.max(data.seq + u32::from(data.count));
            }
            self.channel.carry(To::Receiver, segment, self.now);
        }
        if let Some(view) = self.sender.view().filter(|_| sent) {
            let most = most.max(view.cwnd);
            assert!(view.in_flight <= most, "{} in flight, window {most}", view.in_flight);
            // With fq more of it may wait in the host's queue.
            let left = view.in_flight <= 2 * (self.next - self.acked);
            assert!(left || self.channel.case.fq, "more than was sent");
        }
    }

    fn check(&self, size: u64) {
        let (sender, receiver) = (self.sender.stats(), self.receiver.stats());
        let packets = size.div_ceil(u64::from(MSS));
        assert_eq!(receiver.bytes, size, "each byte once");
        assert_eq!(receiver.packets - receiver.duplicates, packets);
        assert_eq!(sender.sent - sender.retransmitted, packets);
        assert!(sender.delivered >= packets);
        // A count of three bits misleads after an ACK that was overtaken.
        let is_exact = !self.channel.case.ecn.counts();
        assert!(!is_exact || sender.delivered_ce <= sender.delivered);
        assert!(sender.delivered <= packets + sender.retransmitted, "only copies count beyond");
        let view = self.sender.view().expect("a connection");
        assert_eq!(view.in_flight, 0);
        assert!(view.cwnd > 0);
    }
}

proptest! {
    // The same cases every time, so that a failure is one of a change.
    #![proptest_config(ProptestConfig {
        cases: 4000,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_transfer_completes(case in cases()) {
        let mut world = World::new(&case);
        world.run();
        world.check(case.size);
    }
}

/// Without faults nothing is sent twice and no timer fires.
#[test]
fn a_clean_path_needs_no_retransmission() {
    for profile in 0..PROFILES.len() {
        for control in ["reno", "cubic", "bbr"] {
            let case = ChannelCase {
                profile,
                control,
                size: 1_000_000,
                fq: false,
                limits: BufferLimits::Raised,
                gro_us: 0,
                rtt_us: 20_000,
                packets_per_sec: 5_000,
                buffer: 100_000,
                data_loss: 0.0,
                ack_loss: 0.0,
                reordered: 0.0,
                duplicated: 0.0,
                ecn: EcnMode::Off,
                marked: 0.0,
                gso: false,
                seed: 1,
            };
            let mut world = World::new(&case);
            world.run();
            world.check(case.size);
            let stats = world.sender.stats();
            assert_eq!((stats.retransmitted, stats.lost, stats.timeouts), (0, 0, 0), "{control}");
        }
    }
}
