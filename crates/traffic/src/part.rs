//! The ends of flows on one host of a network, in its own namespace.

use std::io::{Error, Result};

use narrows_base::Point;
use narrows_linux::clock::{monotonic_ns, sleep_until};
use narrows_linux::events::Epoll;

use crate::capture::Capture;
use crate::config::{Part, TrafficConfig};
use crate::diag::Sockets;
use crate::flow::{FlowPrograms, OwnSockets, RunningFlow};
use crate::iperf;
use crate::receiver::FlowReceiver;
use crate::run::{TrafficRun, end_captures, flow, open_queue, packet_file};
use crate::stop::StopFiles;

/// How long a receiver stays after the end, so that the sender's last sample still finds a
/// connection: longer than the difference of two hosts' clocks.
const STAY_NS: u64 = 1_000_000_000;

/// Does this host's part of a run and writes its results.
///
/// # Errors
/// If time 0 has passed, a congestion control is missing, or a connection breaks.
pub fn run(config: &TrafficConfig) -> Result<()> {
    let (Some(part), Some(zero)) = (&config.part, config.zero_ns) else {
        return Err(Error::other("a run without namespaces needs part and zero_ns"));
    };
    let numbers = 0..config.scenario.flows.len();
    let flows = numbers.map(|i| ends(config, part, i)).collect::<Result<_>>()?;
    let point = if part.sends.is_empty() { Point::Receiver } else { Point::Sender };
    let captured = packet_file(config, point, zero)?;
    let until = config.notes_packets_until().filter(|_| !part.sends.is_empty());
    let noted =
        until.map(|until| Capture::start(&config.sender_device, until, zero)).transpose()?;
    let queue = open_queue(config)?;
    let late = monotonic_ns().saturating_sub(zero);
    if late > 0 {
        return Err(Error::other(format!("this host was ready {} ms late", late / 1_000_000)));
    }
    let mut run = TrafficRun::new(config, flows, Epoll::new()?, zero);
    run.queue = queue;
    run.own_sockets = open_own_sockets(config, part)?;
    run.stop = config.stop.clone().map(|file| StopFiles::new(file, &config.out));
    run.until_done()?;
    let stays_until = monotonic_ns() + STAY_NS;
    run.write()?;
    noted.map_or(Ok(()), |noted| noted.write(&config.out))?;
    end_captures(config, [captured, None])?;
    run.finish()?;
    if part.receives.is_empty() {
        return Ok(());
    }
    sleep_until(stays_until)
}

/// This host's sockets, if another program's connections are observed.
fn open_own_sockets(config: &TrafficConfig, part: &Part) -> Result<Option<OwnSockets>> {
    let others = config.iperf3.iter().any(Option::is_some);
    let Some(address) = config.sender.filter(|_| others) else { return Ok(None) };
    let peers = part.sends.iter().chain(&part.receives).map(|(&flow, &peer)| (flow, peer));
    Ok(Some(OwnSockets { sockets: Sockets::open()?, address, peers: peers.collect() }))
}

fn ends<'a>(config: &'a TrafficConfig, part: &Part, index: usize) -> Result<RunningFlow<'a>> {
    let described = &config.scenario.flows[index];
    let receives = part.receives.contains_key(&index);
    if part.sends.contains_key(&index) && config.iperf3_of(index).is_some() {
        return flow(config, index, None);
    }
    if let Some(iperf3) = config.iperf3_of(index).filter(|_| receives) {
        let served = iperf::serve(iperf3, config.port(index)?, &config.out)?;
        return Ok(RunningFlow::new(described, FlowPrograms::Iperf3Server(Box::new(served))));
    }
    let receiver =
        receives.then(|| FlowReceiver::start(config.port(index)?, described)).transpose()?;
    if part.sends.contains_key(&index) {
        return flow(config, index, receiver);
    }
    Ok(RunningFlow::new(described, FlowPrograms::Elsewhere(receiver)))
}
