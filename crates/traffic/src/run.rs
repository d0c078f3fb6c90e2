//! The loop: starts, stops, writes and samples, until the end.

use std::io::{Error, Result};
use std::net::SocketAddrV4;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use crate::capture::Capture;
use crate::config::Config;
use crate::output::Output;
use crate::queue::QueueReader;
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::sys;

/// Time between the set-up and time 0 of the run, ns.
const LEAD_NS: u64 = 10_000_000;

/// How often the file `progress` is written: the time so far and the packets forwarded.
const PROGRESS_NS: u64 = 500_000_000;

struct Run<'a> {
    config: &'a Config,
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    queue: Option<QueueReader>,
    epoll: OwnedFd,
    output: Output,
    /// CLOCK_MONOTONIC at time 0 of the run.
    zero: u64,
    /// When the file `progress` is due again.
    next_progress: u64,
}

/// Does the whole run and writes its results.
///
/// The file `zero_ns` holds CLOCK_MONOTONIC at time 0, `progress` how far the run is.
///
/// # Errors
/// If a namespace, device or congestion control is missing, or a connection breaks.
pub fn run(config: &Config) -> Result<()> {
    sys::enter_namespace(&config.namespaces.receiver)?;
    set_sysctls(config)?;
    let ports = (0..config.flows.len()).map(|i| port(config, i));
    let receivers = ports.map(|p| Receiver::start(p?)).collect::<Result<_>>()?;
    let queue = open_queue(config)?;
    sys::enter_namespace(&config.namespaces.sender)?;
    set_sysctls(config)?;
    let epoll = sys::epoll()?;
    let zero = config.zero_ns.unwrap_or_else(|| sys::monotonic_ns() + LEAD_NS);
    sys::segmentation_offload_off(&config.sender_device)?;
    let capture = match config.capture_ns {
        0 => None,
        until => Some(Capture::start(&config.sender_device, until, zero)?),
    };
    let mut senders = Vec::new();
    for (i, flow) in config.flows.iter().enumerate() {
        let to = SocketAddrV4::new(config.receiver, port(config, i)?);
        senders.push(Sender::new(flow.clone(), to));
    }
    let output = Output::default();
    let mut run = Run { config, senders, receivers, queue, epoll, output, zero, next_progress: 0 };
    run.until_done()?;
    run.output.write(&config.out)?;
    std::fs::write(config.out.join("zero_ns"), zero.to_string())?;
    capture.map_or(Ok(()), |c| c.write(&config.out))
}

/// Leaves this thread in the router's namespace, if there is a queue to read.
fn open_queue(config: &Config) -> Result<Option<QueueReader>> {
    let (Some(router), Some(device)) = (&config.namespaces.router, &config.bottleneck_device)
    else {
        return Ok(None);
    };
    sys::enter_namespace(router)?;
    QueueReader::open(device).map(Some)
}

/// In the current namespace.
fn set_sysctls(config: &Config) -> Result<()> {
    for (name, value) in &config.sysctls {
        let path = Path::new("/proc/sys").join(name);
        let wrong = |e| Error::other(format!("{}: {e}", path.display()));
        std::fs::write(&path, value).map_err(wrong)?;
    }
    Ok(())
}

fn port(config: &Config, flow: usize) -> Result<u16> {
    let flow = u16::try_from(flow).map_err(Error::other)?;
    config.first_port.checked_add(flow).ok_or_else(|| Error::other("too many flows"))
}

impl Run<'_> {
    fn now(&self) -> u64 {
        sys::monotonic_ns().saturating_sub(self.zero)
    }

    fn until_done(&mut self) -> Result<()> {
        self.sleep_until_zero()?;
        let mut next_sample = 0;
        loop {
            let now = self.now();
            if now >= next_sample {
                self.sample(next_sample)?;
                next_sample = self.sample_after(next_sample);
            }
            for (i, sender) in self.senders.iter_mut().enumerate() {
                sender.act(now, &self.epoll, i as u64)?;
            }
            if now >= self.config.duration_ns || self.should_stop() {
                return self.last_sample(now, next_sample);
            }
            let wake = self.senders.iter().filter_map(Sender::deadline).fold(next_sample, u64::min);
            let timeout = wake.saturating_sub(self.now());
            for (token, events) in sys::wait(self.epoll.as_raw_fd(), timeout)? {
                self.event(token, events)?;
            }
        }
    }

    fn sleep_until_zero(&self) -> Result<()> {
        let left = self.zero.saturating_sub(sys::monotonic_ns());
        sys::wait(self.epoll.as_raw_fd(), left).map(drop)
    }

    /// Multiples of the interval, the warm-up and the end.
    fn sample_after(&self, t: u64) -> u64 {
        let regular = (t / self.config.sample_ns + 1) * self.config.sample_ns;
        let extra = [self.config.warmup_ns, self.config.duration_ns];
        extra.into_iter().filter(|e| *e > t).fold(regular, u64::min)
    }

    fn sample(&mut self, at: u64) -> Result<()> {
        for (i, (sender, receiver)) in self.senders.iter().zip(&self.receivers).enumerate() {
            self.output.flow(at, i, &sender.sample(), receiver.arrived());
        }
        let Some(queue) = &self.queue else { return Ok(()) };
        let counters = queue.read()?;
        self.output.queue(at, &counters);
        if at >= self.next_progress {
            self.next_progress = at + PROGRESS_NS;
            let progress = format!("{at} {}\n", counters.packets);
            std::fs::write(self.config.out.join("progress"), progress)?;
        }
        Ok(())
    }

    /// The row at the end, unless the regular one has just been written.
    fn last_sample(&mut self, now: u64, next_sample: u64) -> Result<()> {
        if next_sample > self.config.duration_ns { Ok(()) } else { self.sample(now) }
    }

    fn event(&mut self, token: u64, events: i32) -> Result<()> {
        let i = usize::try_from(token).map_err(Error::other)?;
        let now = self.now();
        if let Some(completion) = self.senders[i].ready(now, events, &self.epoll, token)? {
            self.output.completion(i, &completion);
        }
        // Also when another flow ended: a chain may have waited for it.
        for i in 0..self.senders.len() {
            let may = self.may_repeat(i);
            self.senders[i].repeat(may);
        }
        Ok(())
    }

    fn may_repeat(&self, i: usize) -> bool {
        let name = self.senders[i].config().while_flow.as_deref();
        name.is_none_or(|name| !self.is_done(name))
    }

    fn is_done(&self, name: &str) -> bool {
        self.senders.iter().any(|s| s.config().name == name && s.is_done())
    }

    fn should_stop(&self) -> bool {
        match self.config.stop_when.as_deref() {
            None => false,
            Some("all") => {
                let mut sized = self.senders.iter().filter(|s| s.config().size_bytes.is_some());
                sized.all(Sender::is_done)
            }
            Some(name) => self.is_done(name),
        }
    }
}
