//! The real-time loop.

use std::io::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use narrows_base::{Duration, Heading, Time};
use narrows_linux::{clock, process};

use crate::config::Crossing;
use crate::device::{Device, LARGEST};
use crate::frame::{ForwardedPacket, payload};
use crate::host::HostNamespace;
use crate::lateness::Lateness;
use crate::path::{RouterPath, Side};
use crate::ports::Ports;
use crate::record::PathRecorder;
use crate::spin::Spin;
use crate::sys;

/// The longest sleep, which bounds the delay of a stop.
const NAP: Duration = Duration::from_millis(10);
/// Packets taken from one host before due packets are released.
const BATCH: usize = 16;
/// Without offloads no packet is larger.
const FULL_PACKET: usize = 1500;

/// CLOCK_MONOTONIC relative to an instant; zero before it.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    zero: u64,
}

/// The progress of a router, for other threads.
#[derive(Debug, Default)]
pub struct RouterProgress {
    now: AtomicU64,
    forwarded: AtomicU64,
}

/// The results of a router.
pub struct Report {
    /// Samples, counters and the packet log.
    pub record: PathRecorder,
    /// How late packets were released.
    pub lateness: Lateness,
    /// How long packets may have waited in a device while the router neither polled nor slept.
    pub taking: Lateness,
    /// Packets larger than 1500 bytes, which only hosts with offloads send.
    pub oversize: u64,
    /// The processor to which the loop was pinned, if any.
    pub processor: Option<usize>,
}

/// A sending and a receiving host, with the numbers of the flows between them.
pub struct HostPair {
    /// The sending host.
    pub sender: HostNamespace,
    /// The receiving host.
    pub receiver: HostNamespace,
    /// The flows.
    pub flows: Vec<u32>,
}

/// Pairs of hosts, the path between them, and the records.
pub struct Router<'a> {
    pairs: &'a [HostPair],
    /// The flows of each pair, by their ports.
    ports: Vec<Ports>,
    /// The pair of each flow.
    pair_of: Vec<usize>,
    clock: Clock,
    path: RouterPath,
    report: Report,
    sample_every: Duration,
    next_sample: Time,
    spin: Spin,
    /// The latest time at which each pair's devices (the sender's, the receiver's) are known to have
    /// been empty, in ns.
    empty_ns: Vec<[u64; 2]>,
    buffer: Vec<u8>,
    /// Buffers of released packets, for reuse.
    spare: Vec<ForwardedPacket>,
}

impl Clock {
    /// A clock that reaches zero `nanos` from now.
    #[must_use]
    pub fn starting_in(nanos: u64) -> Self {
        Self { zero: clock::monotonic_ns() + nanos }
    }

    /// A clock that is zero at this value of CLOCK_MONOTONIC, in ns.
    ///
    /// # Errors
    /// If that is over.
    pub fn starting_at(zero: u64) -> Result<Self> {
        match clock::monotonic_ns().saturating_sub(zero) {
            0 => Ok(Self { zero }),
            late => Err(Error::other(format!("this host was ready {} ms late", late / 1_000_000))),
        }
    }

    /// CLOCK_MONOTONIC at zero, in ns.
    #[must_use]
    pub const fn zero_ns(self) -> u64 {
        self.zero
    }

    fn now(self) -> Time {
        Time::from_nanos(clock::monotonic_ns().saturating_sub(self.zero))
    }
}

impl RouterProgress {
    /// Nanoseconds since time 0 and packets forwarded by the link.
    #[must_use]
    pub fn read(&self) -> (u64, u64) {
        (self.now.load(Ordering::Relaxed), self.forwarded.load(Ordering::Relaxed))
    }
}

impl<'a> Router<'a> {
    /// A router between pairs of hosts that samples the queue every `sample_every` into `record`.
    ///
    /// # Panics
    /// If the path is impossible or the interval empty.
    #[must_use]
    pub fn new(
        pairs: &'a [HostPair],
        crossing: &Crossing,
        clock: Clock,
        sample_every: Duration,
        record: PathRecorder,
    ) -> Self {
        assert!(!sample_every.is_zero(), "samples need an interval above zero");
        let mut pair_of = vec![0; crossing.rtts_ns.len()];
        for (number, pair) in pairs.iter().enumerate() {
            pair.flows.iter().for_each(|&flow| pair_of[flow as usize] = number);
        }
        Self {
            pairs,
            ports: pairs.iter().map(|pair| Ports::of(crossing, &pair.flows)).collect(),
            pair_of,
            clock,
            path: RouterPath::new(crossing),
            report: Report {
                record,
                lateness: Lateness::default(),
                taking: Lateness::default(),
                oversize: 0,
                processor: None,
            },
            sample_every,
            next_sample: Time::ZERO,
            spin: Spin::new(),
            empty_ns: vec![[clock::monotonic_ns(); 2]; pairs.len()],
            buffer: vec![0; LARGEST],
            spare: Vec::new(),
        }
    }

    /// Carries packets until `stop`.
    ///
    /// # Errors
    /// If a device fails.
    pub fn run(mut self, stop: &AtomicBool, progress: &RouterProgress) -> Result<Report> {
        process::exact_timers();
        self.report.processor = sys::pin();
        while !stop.load(Ordering::Relaxed) {
            for pair in 0..self.pairs.len() {
                self.take(pair, Side::Sender)?;
                self.take(pair, Side::Receiver)?;
            }
            self.release()?;
            self.wait(progress)?;
        }
        let now = self.now();
        self.catch_up(now);
        self.report.record.sample(now, &self.path);
        Ok(self.report)
    }

    /// The current time, after taking the samples due before it.
    fn now(&mut self) -> Time {
        let now = self.clock.now();
        while self.next_sample <= now {
            let at = self.next_sample;
            self.catch_up(at);
            self.report.record.sample(at, &self.path);
            self.next_sample = at + self.sample_every;
        }
        now
    }

    fn catch_up(&mut self, at: Time) {
        let record = &mut self.report.record;
        self.path.catch_up(at, &mut |at, event, packet| record.packet(at, event, packet));
    }

    fn device(&self, pair: usize, side: Side) -> &'a Device {
        let pair = &self.pairs[pair];
        match side {
            Side::Sender => pair.sender.packets(),
            Side::Receiver => pair.receiver.packets(),
        }
    }

    /// Puts a host's packets on the path. One that is read late arrives late.
    fn take(&mut self, pair: usize, side: Side) -> Result<()> {
        let device = self.device(pair, side);
        let looked = clock::monotonic_ns();
        let late = looked.saturating_sub(self.empty_ns[pair][side as usize]);
        for _ in 0..BATCH {
            let Some(read) = device.read(&mut self.buffer)? else {
                self.empty_ns[pair][side as usize] = looked;
                break;
            };
            self.report.taking.push(late);
            let mut frame = self.spare.pop().unwrap_or_default();
            frame.extend_from_slice(read);
            let packet = self.ports[pair].classify(frame, side);
            self.report.oversize += u64::from(packet.body.len() > FULL_PACKET);
            let now = self.now();
            let record = &mut self.report.record;
            record.at_host(side, Heading::Out, now, &packet.body);
            record.count_sent(side, now, &packet);
            match side {
                Side::Sender => {
                    self.path.send(packet, now, &mut |at, event, packet| {
                        record.packet(at, event, packet);
                    });
                }
                Side::Receiver => {
                    self.path.reply(packet, now, &mut |at, event, packet| {
                        record.packet(at, event, packet);
                    });
                }
            }
        }
        Ok(())
    }

    /// Releases due packets and notes their lateness.
    fn release(&mut self) -> Result<()> {
        loop {
            let now = self.now();
            let record = &mut self.report.record;
            let due = self.path.poll(now, &mut |at, event, packet| {
                record.packet(at, event, packet);
            });
            let Some((side, departure)) = due else { return Ok(()) };
            let pair = self.pair_of[departure.packet.flow.index()];
            self.device(pair, side).write(&departure.packet.body)?;
            if self.path.is_data(side, &departure.packet) {
                self.report.record.count_delay(now, &departure.packet);
            }
            if side == Side::Sender {
                self.report.record.note_return(now, &departure.packet);
            } else {
                let packet = &departure.packet;
                self.report.record.receives(packet.flow, payload(&packet.body));
            }
            self.report.record.at_host(side, Heading::In, now, &departure.packet.body);
            self.report.lateness.push(now.saturating_since(departure.at).as_nanos());
            let mut frame = departure.packet.body;
            frame.clear();
            self.spare.push(frame);
        }
    }

    /// Sleeps until a packet arrives or a deadline is near.
    fn wait(&mut self, progress: &RouterProgress) -> Result<()> {
        let now = self.now();
        let due = self.path.next_deadline().unwrap_or(Time::MAX).min(self.next_sample);
        let gap = due.saturating_since(now);
        let ahead = self.spin.time_to_spin(now.as_nanos(), clock::thread_cpu_ns);
        if gap <= ahead {
            return Ok(());
        }
        progress.now.store(now.as_nanos(), Ordering::Relaxed);
        let forwarded = self.path.queue().counters.forwarded_packets;
        progress.forwarded.store(forwarded, Ordering::Relaxed);
        let nap = gap.saturating_sub(ahead).min(NAP).as_nanos();
        let hosts = self.pairs.iter().flat_map(|pair| [&pair.sender, &pair.receiver]);
        sys::wait_readable(hosts.map(|host| host.packets().descriptor()), nap)?;
        // A packet wakes the router; the wake-up latency shows in the releases, which use timers.
        self.empty_ns.fill([clock::monotonic_ns(); 2]);
        Ok(())
    }
}
