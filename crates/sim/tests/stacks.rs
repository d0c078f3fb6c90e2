//! Hosts with a transport stack of another project: here one of a few lines, which keeps a fixed
//! window and checks every byte.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;

use narrows_base::registry::{Value, Values, info};
use narrows_base::{Duration, Ecn, FlowId, Heading, Level, Packet, Point, Rate, Time};
use narrows_net::config::{Choice, IMPAIRMENTS, QUEUES};
use narrows_record::{NullObserver, Recorder, Tap};
use narrows_sim::stacks::Connecting;
use narrows_sim::{Controls, Simulation, run_with};
use narrows_spec::scenario::{Direction, EcnMode, Impairment, ImpairmentPlace, Limit, Scenario};
use narrows_tcp::ends::{End, EndCompletion, Ends, Outgoing, ReceivingEnd, SendingEnd};
use narrows_tcp::{Segment, SenderStats, SenderView};

use crate::common::{MILLI, SECOND, bdp, scenario};

const LENGTH: usize = 1_000;
const WINDOW: usize = 60;
/// Datagrams not acknowledged by then are retransmitted.
const RETRY_AFTER: Duration = Duration::from_millis(400);

/// The datagram with this number.
fn payload(number: u64) -> Box<[u8]> {
    let pattern =
        (0..LENGTH - 8).map(|at| u8::try_from((number + at as u64) % 251).expect("a byte"));
    number.to_be_bytes().into_iter().chain(pattern).collect()
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(bytes[..8].try_into().expect("eight bytes"))
}

struct Source {
    start: Time,
    stop: Option<Time>,
    count: u64,
    next: u64,
    flying: BTreeMap<u64, Time>,
    stats: SenderStats,
    marked: u64,
    completed: Option<Time>,
}

impl Source {
    fn of(connecting: &Connecting) -> Self {
        let count = connecting.flow.size_bytes.map_or(u64::MAX, |size| size / LENGTH as u64);
        let start = Time::from_nanos(connecting.flow.start_ns);
        let (stop, stats) = (connecting.flow.stop_ns.map(Time::from_nanos), SenderStats::default());
        let (flying, completed) = (BTreeMap::new(), None);
        Self { start, stop, count, next: 0, flying, stats, marked: 0, completed }
    }

    fn send(&mut self, number: u64, now: Time) -> Option<Outgoing> {
        self.flying.insert(number, now);
        self.stats.sent += 1;
        Some(Outgoing { bytes: payload(number), ecn: Ecn::Ect0 })
    }

    /// The datagram that has been on its way for the longest, and until when to wait for it.
    fn overdue(&self) -> Option<(Time, u64)> {
        self.flying.iter().map(|(&number, &sent)| (sent + RETRY_AFTER, number)).min()
    }

    fn may_send(&self, now: Time) -> bool {
        let on = self.start <= now && self.stop.is_none_or(|stop| now < stop);
        on && self.next < self.count && self.flying.len() < WINDOW
    }
}

impl End for Source {
    fn receive(&mut self, bytes: &[u8], _ecn: Ecn, now: Time) {
        self.marked += u64::from(bytes[8]);
        if self.flying.remove(&number(bytes)).is_some() {
            self.stats.delivered += 1;
            if self.stats.delivered == self.count {
                self.completed = Some(now);
            }
        }
    }

    fn poll(&mut self, now: Time) -> Option<Outgoing> {
        if let Some((_, number)) = self.overdue().filter(|&(due, _)| due <= now) {
            self.stats.lost += 1;
            return self.send(number, now);
        }
        let number = self.next;
        self.next += u64::from(self.may_send(now));
        if number < self.next { self.send(number, now) } else { None }
    }

    fn next_deadline(&self) -> Option<Time> {
        let first = (self.next == 0).then_some(self.start);
        Time::earlier(first, self.overdue().map(|(due, _)| due))
    }
}

impl SendingEnd for Source {
    fn stop_at(&mut self, at: Time) {
        self.stop = Some(at);
    }

    fn take_completed(&mut self) -> Option<EndCompletion> {
        self.completed.take().map(EndCompletion::Flow)
    }

    fn take_rtt(&mut self) -> Option<Duration> {
        None
    }

    fn stats(&self) -> SenderStats {
        self.stats
    }

    fn view(&self) -> Option<SenderView> {
        None
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("toy.marked", f64::from(u32::try_from(self.marked).expect("few")));
    }
}

#[derive(Default)]
struct Sink {
    seen: BTreeSet<u64>,
    waiting: VecDeque<(Time, Box<[u8]>)>,
}

impl End for Sink {
    fn receive(&mut self, bytes: &[u8], ecn: Ecn, now: Time) {
        let number = number(bytes);
        assert_eq!(bytes, &*payload(number), "the bytes that were sent");
        self.seen.insert(number);
        let mark = u8::from(ecn == Ecn::Ce);
        self.waiting.push_back((now, number.to_be_bytes().into_iter().chain([mark]).collect()));
    }

    fn poll(&mut self, _now: Time) -> Option<Outgoing> {
        let (_, bytes) = self.waiting.pop_front()?;
        Some(Outgoing { bytes, ecn: Ecn::NotEct })
    }

    fn next_deadline(&self) -> Option<Time> {
        self.waiting.front().map(|&(at, _)| at)
    }
}

impl ReceivingEnd for Sink {
    fn bytes(&self) -> u64 {
        (self.seen.len() * LENGTH) as u64
    }
}

fn controls() -> Controls {
    let make = |connecting: &Connecting| -> Ends {
        (Box::new(Source::of(connecting)), Box::new(Sink::default()))
    };
    Controls::new().with_stack("quinn", make)
}

/// The toy beside CUBIC, on a path that loses, copies and drops.
fn case() -> Scenario {
    let mut case = scenario(10, 40, bdp(10, 40, 100), &["cubic", "cubic"]);
    case.flows[1].stack = Some("quinn".into());
    case.run.duration_ns = 5 * SECOND;
    case.run.warmup_ns = SECOND;
    case.run.record = Level::Packets;
    case.path.loss = 0.01;
    case
}

fn impairment(kind: &str, direction: Direction) -> Impairment {
    let entry = info(IMPAIRMENTS, kind).expect("a known impairment");
    let element = Choice::with_defaults(entry, Rate::from_bps(1));
    let element = element.set("probability", Value::Number(0.05));
    Impairment { direction, at: ImpairmentPlace::Behind, element }
}

fn record(case: &Scenario) -> Recorder {
    let mut recorder = Recorder::new(case.run.record, Time::from_nanos(case.run.warmup_ns));
    let mut go_on = |_, _| ControlFlow::Continue(());
    let mut tap = narrows_record::NullTap;
    run_with(case, &controls(), &mut recorder, &mut tap, &mut go_on).expect("it runs");
    recorder
}

#[test]
fn every_byte_arrives_whatever_the_path_does_to_datagrams() {
    for kinds in [&[][..], &["loss"], &["duplicate"], &["loss", "duplicate"]] {
        let mut case = case();
        for kind in kinds {
            for direction in [Direction::Forward, Direction::Backward] {
                case.path.impairments.push(impairment(kind, direction));
            }
        }
        case.flows[1].size_bytes = Some(500 * LENGTH as u64);
        let mut run = Simulation::new(case, controls(), NullObserver).expect("it runs");
        run.run_until(Time::ZERO + Duration::from_secs(5));
        let flow = run.flow(1);
        assert_eq!(flow.received.get(), 500 * LENGTH as u64, "{kinds:?}");
        assert_eq!((flow.delivered, flow.sent - flow.lost), (500, 500), "{kinds:?}");
        assert!(flow.dropped > 0 && flow.lost > 0, "{kinds:?}: something is lost");
        run.finish(); // counts every packet
    }
}

#[test]
fn a_run_with_a_stack_repeats_itself_also_in_steps() {
    let case = case();
    let whole = record(&case).digest();
    assert_eq!(whole, record(&case).digest());
    let recorder = Recorder::new(case.run.record, Time::from_nanos(case.run.warmup_ns));
    let mut steps = Simulation::new(case, controls(), recorder).expect("it runs");
    for at in [3, 700, 701, 2_345, 5_000] {
        steps.run_until(Time::from_nanos(at * MILLI));
    }
    assert_eq!(steps.finish().2.digest(), whole);
}

#[test]
fn a_stop_ends_it_and_a_size_completes_it() {
    let mut case = case();
    case.path.loss = 0.0;
    case.flows[1].stop_ns = Some(SECOND);
    let mut run = Simulation::new(case.clone(), controls(), NullObserver).expect("it runs");
    run.run_until(Time::from_nanos(2 * SECOND));
    let sent = run.flow(1).sent;
    run.run_until(Time::from_nanos(4 * SECOND));
    assert!(sent > 0 && run.flow(1).sent == sent);

    case.flows[1].stop_ns = None;
    case.flows[1].size_bytes = Some(100 * LENGTH as u64);
    case.run.stop_when = Some("all".into());
    let mut run = Simulation::new(case, controls(), NullObserver).expect("it runs");
    run.run_until(Time::from_nanos(4 * SECOND));
    assert!(run.is_over() && run.now() < Time::from_nanos(SECOND));
}

#[test]
fn marks_arrive_only_if_the_flow_uses_ecn() {
    let marked = |ecn| {
        let mut case = case();
        let codel = info(QUEUES, "codel").expect("a known queue");
        let codel = Choice::with_defaults(codel, Rate::from_bps(10_000_000));
        case.path.buffer = Limit::Packets(1_000);
        case.path.queue = codel.set("ecn", Value::Flag(true));
        case.flows[1].ecn = ecn;
        let mut run = Simulation::new(case, controls(), NullObserver).expect("it runs");
        run.run_until(Time::from_nanos(5 * SECOND));
        let mut marked = None;
        run.inspect(1, &mut |_, value| marked = Some(value));
        marked.expect("it shows them")
    };
    assert!(marked(EcnMode::Classic) > 0.0);
    assert!(marked(EcnMode::Off) < 0.5);
}

/// Counts the packets with bytes at each point.
#[derive(Default)]
struct Bytes(BTreeMap<String, u64>);

impl Tap<Packet<Segment>, SenderView> for Bytes {
    fn wants_packets(&self) -> bool {
        true
    }

    fn wants_senders(&self) -> bool {
        false
    }

    fn packet(&mut self, _: Point, _: Heading, _: Time, packet: &Packet<Segment>) {
        assert_eq!(packet.flow, FlowId(0), "only TCP's packets have no bytes");
    }

    fn packet_of_bytes(
        &mut self,
        point: Point,
        heading: Heading,
        _: Time,
        packet: &Packet<Segment>,
        bytes: &[u8],
    ) {
        assert_eq!(packet.size as usize, 28 + bytes.len(), "the headers of IP and UDP");
        *self.0.entry(format!("{point:?} {heading:?} {}", bytes.len())).or_default() += 1;
    }

    fn packet_lost(&mut self, _: FlowId, _: Time, _: u32) {}

    fn sender(&mut self, _: FlowId, _: Time, _: &SenderView) {}
}

#[test]
fn a_tap_sees_the_bytes_at_every_point() {
    let mut tap = Bytes::default();
    let mut go_on = |_, _| ControlFlow::Continue(());
    run_with(&case(), &controls(), &mut NullObserver, &mut tap, &mut go_on).expect("it runs");
    let counted: Vec<_> = tap.0.keys().map(String::as_str).collect();
    let expected = [
        "AfterQueue In 9",
        "AfterQueue Out 1000",
        "BeforeQueue In 1000",
        "BeforeQueue Out 9",
        "Receiver In 1000",
        "Receiver Out 9",
        "Sender In 9",
        "Sender Out 1000",
    ];
    assert_eq!(counted, expected);
    assert_eq!(tap.0["Sender Out 1000"], tap.0["BeforeQueue In 1000"]);
    assert!(tap.0["Receiver In 1000"] < tap.0["AfterQueue Out 1000"], "the path loses some");
}

#[test]
fn features_that_a_stack_or_this_build_lacks_are_refused() {
    let refused = |change: &dyn Fn(&mut Scenario), controls: Controls| {
        let mut case = case();
        change(&mut case);
        let error = Simulation::new(case, controls, NullObserver).err().expect("it is refused");
        error.to_string()
    };
    let text = refused(&|_| {}, Controls::new());
    assert!(text.contains("flows[1].stack") && text.contains("which this build lacks"), "{text}");
    let text = refused(&|case| case.flows[1].cca = "vegas".into(), controls());
    assert!(text.contains("\"vegas\", which quinn lacks"), "{text}");
    let text = refused(&|case| case.flows[1].stack = Some("quin".into()), controls());
    assert!(text.contains("not a stack") && text.contains("\"quinn\""), "{text}");
    let text = refused(&|case| case.flows[1].ecn = EcnMode::L4s, controls());
    assert!(text.contains("flows[1].ecn") && text.contains("\"classic\""), "{text}");
    let options: Values = [("segments".to_owned(), Value::Whole(65))].into_iter().collect();
    let text = refused(&|case| case.flows[1].options = options.clone(), controls());
    assert!(text.contains("flows[1].options.segments") && text.contains("64"), "{text}");
    let text = refused(&|case| case.flows[1].repeat_gap_ns = Some(1), controls());
    assert!(text.contains("flows[1].repeat_gap") && text.contains("without `stack`"), "{text}");
}
