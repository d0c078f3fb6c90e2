//! Callers of an element: punctual ones, late ones and careless ones.

use narrows_base::{Duration, Stream, Time};
use narrows_net::Element;

use crate::contract::traffic::{Arrival, TICK};
use crate::contract::{Body, Outcome};

/// When a caller polls.
#[derive(Clone, Copy, Debug)]
pub enum Polling {
    /// At every deadline.
    OnTime,
    /// At every deadline, a nanosecond before it, and after every arrival.
    Eager,
    /// After each arrival only, and on time once there are no more.
    AtArrivals,
    /// Late by a random time up to this many ns.
    Late(u64),
    /// At multiples of this many ns.
    Periodic(u64),
    /// Not before the last arrival.
    AtEnd,
}

/// Every way to poll except on time.
pub const OTHERS: [Polling; 9] = [
    Polling::Eager,
    Polling::AtArrivals,
    Polling::Late(1),
    Polling::Late(TICK),
    Polling::Late(50 * TICK),
    Polling::Periodic(TICK),
    Polling::Periodic(77_777),
    Polling::Periodic(100 * TICK),
    Polling::AtEnd,
];

/// Feeds the arrivals to an element and polls it.
///
/// # Errors
/// Names the breach of the calling contract; late results aren't a breach.
pub fn run(
    element: &mut dyn Element<Body>,
    arrivals: &[Arrival],
    polling: Polling,
    seed: u64,
) -> Result<Outcome, String> {
    let mut driver = Driver {
        element,
        polling,
        random: Stream::new(seed, "poller"),
        now: Time::ZERO,
        received: 0,
        out: Outcome::default(),
    };
    for &(at, packet) in arrivals {
        driver.poll_until(at)?;
        driver.now = at;
        driver.element.receive(packet, at);
        driver.received += 1;
        driver.after_arrival()?;
    }
    driver.drain()?;
    // Elements in a row hand their drops back one element after the other.
    driver.out.dropped.sort_by_key(|d| (d.at, d.packet.body));
    Ok(driver.out)
}

struct Driver<'a> {
    element: &'a mut dyn Element<Body>,
    polling: Polling,
    random: Stream,
    /// The caller's clock.
    now: Time,
    received: usize,
    out: Outcome,
}

impl Driver<'_> {
    /// Returns when this caller polls for `deadline` while packets still arrive, if it does.
    fn poll_time(&mut self, deadline: Time) -> Option<Time> {
        let lateness = match self.polling {
            Polling::OnTime | Polling::Eager => 0,
            Polling::AtArrivals | Polling::AtEnd => return None,
            Polling::Late(most) => self.random.below(most + 1),
            Polling::Periodic(period) => period - 1 - (deadline.as_nanos() + period - 1) % period,
        };
        Some(self.now.max(deadline + Duration::from_nanos(lateness)))
    }

    fn poll_until(&mut self, arrival: Time) -> Result<(), String> {
        while let Some(deadline) = self.element.next_deadline() {
            match self.poll_time(deadline) {
                Some(now) if now <= arrival => self.poll_at(now, deadline)?,
                _ => break,
            }
        }
        Ok(())
    }

    fn after_arrival(&mut self) -> Result<(), String> {
        if matches!(self.polling, Polling::Eager | Polling::AtArrivals) {
            self.take_all(self.now)?;
        }
        self.check_conservation()
    }

    fn drain(&mut self) -> Result<(), String> {
        if matches!(self.polling, Polling::AtEnd) {
            self.take_all(self.now + Duration::from_nanos(40 * TICK))?;
        }
        while let Some(deadline) = self.element.next_deadline() {
            let now = self.poll_time(deadline).unwrap_or(deadline);
            self.poll_at(now, deadline)?;
        }
        match self.element.packet_count() {
            0 => Ok(()),
            n => Err(format!("{n} packets stay inside without a deadline")),
        }
    }

    fn poll_at(&mut self, now: Time, deadline: Time) -> Result<(), String> {
        if matches!(self.polling, Polling::Eager) {
            let before = deadline - Duration::from_nanos(1);
            if let Some(early) = self.element.poll(before) {
                return Err(format!("{early:?} left before the deadline {deadline:?}"));
            }
        }
        let first = self.out.departures.len();
        self.take_all(now)?;
        let punctual = self.out.departures[first..].iter().all(|d| d.at == deadline);
        if matches!(self.polling, Polling::OnTime) && !punctual {
            return Err(format!("the deadline {deadline:?} came too late"));
        }
        self.check_conservation()
    }

    fn take_all(&mut self, now: Time) -> Result<(), String> {
        self.now = now;
        while let Some(departure) = self.element.poll(now) {
            if departure.at > now {
                return Err(format!("{departure:?} left too early, at {now:?}"));
            }
            self.out.departures.push(departure);
        }
        while let Some(dropped) = self.element.take_dropped() {
            self.out.dropped.push(dropped);
        }
        match self.element.next_deadline() {
            Some(stuck) if stuck <= now => Err(format!("the deadline stays at {stuck:?}")),
            _ => Ok(()),
        }
    }

    fn check_conservation(&mut self) -> Result<(), String> {
        while let Some(dropped) = self.element.take_dropped() {
            self.out.dropped.push(dropped);
        }
        let (departed, dropped) = (self.out.departures.len(), self.out.dropped.len());
        let held = self.element.packet_count();
        let made = usize::try_from(self.element.copies()).expect("copies are few");
        let received = self.received;
        if received + made == departed + dropped + held {
            return Ok(());
        }
        let entered = format!("{received} arrived and {made} were made");
        Err(format!("{entered}, {departed} departed, {dropped} dropped, {held} inside"))
    }
}
