//! The real-time loop.

use std::io::Result;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use narrows_base::{Duration, Time};

use crate::config::Crossing;
use crate::frame::{Frame, classify};
use crate::lateness::Lateness;
use crate::spin::Spin;
use crate::{Host, Path, Recorder, Side, sys};

/// The longest sleep, which bounds the delay of a stop.
const NAP: Duration = Duration::from_millis(10);
/// Packets taken from one host before due packets are released.
const BATCH: usize = 16;
const LARGEST: usize = 65_536;
/// Without offloads no packet is larger.
const FULL_PACKET: usize = 1500;

/// CLOCK_MONOTONIC relative to an instant; zero before it.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    zero: u64,
}

/// The progress of a router, for other threads.
#[derive(Debug, Default)]
pub struct Progress {
    now: AtomicU64,
    forwarded: AtomicU64,
}

/// The results of a router.
pub struct Report {
    /// Samples, counters and the packet log.
    pub record: Recorder,
    /// How late packets were released.
    pub lateness: Lateness,
    /// How long packets may have waited in a device while the router neither polled nor slept.
    pub taking: Lateness,
    /// Packets larger than 1500 bytes; with offloads off there are none.
    pub oversize: u64,
    /// The processor to which the loop was pinned, if any.
    pub processor: Option<usize>,
}

/// Two hosts, the path between them, and the records.
pub struct Router<'a> {
    sender: &'a Host,
    receiver: &'a Host,
    crossing: &'a Crossing,
    clock: Clock,
    path: Path,
    report: Report,
    sample_every: Duration,
    next_sample: Time,
    spin: Spin,
    /// The latest time at which each device (the sender's, the receiver's) is known to have been
    /// empty, in ns.
    empty_ns: [u64; 2],
    buffer: Vec<u8>,
    /// Buffers of released packets, for reuse.
    spare: Vec<Frame>,
}

impl Clock {
    /// A clock that reaches zero `nanos` from now.
    #[must_use]
    pub fn starting_in(nanos: u64) -> Self {
        Self { zero: sys::monotonic_ns() + nanos }
    }

    /// CLOCK_MONOTONIC at zero, in ns.
    #[must_use]
    pub const fn zero_ns(self) -> u64 {
        self.zero
    }

    fn now(self) -> Time {
        Time::from_nanos(sys::monotonic_ns().saturating_sub(self.zero))
    }
}

impl Progress {
    /// Nanoseconds since time 0 and packets forwarded by the link.
    #[must_use]
    pub fn read(&self) -> (u64, u64) {
        (self.now.load(Ordering::Relaxed), self.forwarded.load(Ordering::Relaxed))
    }
}

impl<'a> Router<'a> {
    /// A router between two hosts that samples the queue every `sample_every` into `record`.
    ///
    /// # Panics
    /// If the path is impossible or the interval empty.
    #[must_use]
    pub fn new(
        hosts: (&'a Host, &'a Host),
        crossing: &'a Crossing,
        clock: Clock,
        sample_every: Duration,
        record: Recorder,
    ) -> Self {
        assert!(!sample_every.is_zero(), "samples need an interval above zero");
        Self {
            sender: hosts.0,
            receiver: hosts.1,
            crossing,
            clock,
            path: Path::new(crossing),
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
            empty_ns: [sys::monotonic_ns(); 2],
            buffer: vec![0; LARGEST],
            spare: Vec::new(),
        }
    }

    /// Carries packets until `stop`.
    ///
    /// # Errors
    /// If a device fails.
    pub fn run(mut self, stop: &AtomicBool, progress: &Progress) -> Result<Report> {
        sys::exact_timers();
        self.report.processor = sys::pin();
        while !stop.load(Ordering::Relaxed) {
            self.take(Side::Sender)?;
            self.take(Side::Receiver)?;
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

    fn host(&self, side: Side) -> &'a Host {
        match side {
            Side::Sender => self.sender,
            Side::Receiver => self.receiver,
        }
    }

    /// Puts a host's packets on the path. One that is read late arrives late.
    fn take(&mut self, side: Side) -> Result<()> {
        let port = match side {
            Side::Sender => |(_, destination)| destination,
            Side::Receiver => |(source, _)| source,
        };
        let flows = self.crossing.rtts_ns.len();
        let looked = sys::monotonic_ns();
        let late = looked.saturating_sub(self.empty_ns[side as usize]);
        for _ in 0..BATCH {
            let tun = self.host(side).tun();
            let Some(read) = sys::read_packet(tun, &mut self.buffer)? else {
                self.empty_ns[side as usize] = looked;
                break;
            };
            self.report.taking.push(late);
            let mut frame = self.spare.pop().unwrap_or_default();
            frame.extend_from_slice(read);
            let packet = classify(frame, self.crossing.first_port, flows, port);
            self.report.oversize += u64::from(packet.body.len() > FULL_PACKET);
            let now = self.now();
            let record = &mut self.report.record;
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
            sys::write_packet(self.host(side).tun(), &departure.packet.body)?;
            if side == Side::Sender {
                self.report.record.returned(now, &departure.packet);
            }
            self.report.lateness.push(now.saturating_since(departure.at).as_nanos());
            let mut frame = departure.packet.body;
            frame.clear();
            self.spare.push(frame);
        }
    }

    /// Sleeps until a packet arrives or a deadline is near.
    fn wait(&mut self, progress: &Progress) -> Result<()> {
        let now = self.now();
        let due = self.path.next_deadline().unwrap_or(Time::MAX).min(self.next_sample);
        let gap = due.saturating_since(now);
        let ahead = self.spin.ahead(now.as_nanos(), sys::thread_cpu_ns);
        if gap <= ahead {
            return Ok(());
        }
        progress.now.store(now.as_nanos(), Ordering::Relaxed);
        let forwarded = self.path.queue().counters.forwarded_packets;
        progress.forwarded.store(forwarded, Ordering::Relaxed);
        let nap = gap.saturating_sub(ahead).min(NAP).as_nanos();
        sys::wait_readable([self.sender.tun(), self.receiver.tun()], nap)?;
        // A packet wakes the router; the wake-up latency shows in the releases, which use timers.
        self.empty_ns = [sys::monotonic_ns(); 2];
        Ok(())
    }
}
