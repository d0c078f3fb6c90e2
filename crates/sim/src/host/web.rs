//! A sender that serves web pages: objects that depend on one another, over several connections or
//! over one.

use std::collections::VecDeque;

use narrows_base::{Duration, FlowId, Packet, Stream, Time};
use narrows_spec::law::{Draw, Draws};
use narrows_spec::open_transfers;
use narrows_spec::scenario::Workload;
use narrows_tcp::{Segment, Sender, SenderConfig, SenderStats, SenderView};

use super::chain::{Chain, ControlFactory};
use super::completed_transfer::CompletedTransfer;
use super::contract::{Host, HostOutput, SendingSide};
use super::open_loop::view_of_all;

/// The objects of a page.
struct Page {
    html: Draw,
    object: Draw,
    /// Objects besides the first.
    objects: usize,
    /// Levels of objects: each refers to those of the next.
    levels: usize,
    /// Draws the object that refers to another.
    references: Stream,
}

/// One object of a page.
struct Object {
    size: u64,
    /// The object that refers to it; none for the first.
    referrer: Option<usize>,
}

impl Page {
    /// Draws the objects of the next page; referrers come before those that they refer to.
    fn draw(&mut self) -> Vec<Object> {
        let html = Object { size: self.html.next().max(1), referrer: None };
        let mut objects = vec![html];
        for number in 0..self.objects {
            let size = self.object.next().max(1);
            let referrer = Some(self.referrer(number));
            objects.push(Object { size, referrer });
        }
        objects
    }

    /// The object that refers to object `number` of the levels: one of the level before it.
    fn referrer(&mut self, number: usize) -> usize {
        let first_of = |level: usize| (level * self.objects).div_ceil(self.levels);
        let level = number * self.levels / self.objects;
        if level == 0 {
            return 0;
        }
        let (first, end) = (first_of(level - 1), first_of(level));
        let drawn = self.references.below((end - first).max(1) as u64);
        // With fewer objects than levels a level may be empty: then it is the object before.
        number.min(1 + first + usize::try_from(drawn).expect("a page has fewer objects"))
    }
}

/// A connection, with the objects that it carries in order.
struct Connection {
    sender: Sender,
    /// Bytes written so far.
    written: u64,
    /// The objects under way, and what is acknowledged when each is done.
    carried: VecDeque<(usize, u64)>,
}

impl Connection {
    fn carry(&mut self, number: usize, size: u64, now: Time) {
        self.written += size;
        self.carried.push_back((number, self.written));
        self.sender.write(Some(size), now);
    }

    /// The next object that has arrived.
    fn next_arrived(&mut self) -> Option<usize> {
        let acked = self.sender.acked_bytes();
        let &(number, end) = self.carried.front()?;
        (acked >= end).then(|| {
            self.carried.pop_front();
            number
        })
    }
}

/// A page under way.
struct PageLoad {
    start: Time,
    objects: Vec<Object>,
    /// The number of the first connection.
    first: u32,
    connections: Vec<Connection>,
    /// Objects that wait for a connection.
    waiting: VecDeque<usize>,
    /// Objects that haven't arrived.
    missing: usize,
}

/// Serves one page after another.
pub(crate) struct Web {
    config: SenderConfig,
    factory: ControlFactory,
    page: Page,
    think: Draw,
    /// Most connections at a time.
    connections: usize,
    /// True if a connection carries several objects at a time (HTTP/2).
    multiplexed: bool,
    next_page: Option<Time>,
    stop: Option<Time>,
    deadline_ns: Option<u64>,
    load: Option<PageLoad>,
    /// Pages before this one.
    number: u32,
    completed: Option<CompletedTransfer>,
    /// Counters of finished connections.
    past: SenderStats,
    rtt: Option<Duration>,
}

impl Web {
    /// Serves the pages of a workload.
    ///
    /// # Panics
    /// If it isn't one of web pages.
    pub(super) fn new(chain: Chain, workload: &Workload, draws: Draws) -> Self {
        let Workload::Web { html_bytes, objects, object_bytes, levels, connections, think_ns } =
            workload
        else {
            unreachable!("a workload of web pages")
        };
        let (plan, config, factory) = chain.into_parts();
        let count = |number: u64| usize::try_from(number).expect("the scenario was checked");
        let page = Page {
            html: draws.of(html_bytes, "html"),
            object: draws.of(object_bytes, "size"),
            objects: count(*objects),
            levels: count(*levels),
            references: Stream::new(draws.seed, &format!("workload/{}/references", draws.flow)),
        };
        Self {
            config: SenderConfig { size: Some(0), closes: false, note_lost: false, ..config },
            factory,
            page,
            think: draws.of(think_ns, "think"),
            connections: count(*connections),
            multiplexed: *connections == 1,
            next_page: Some(plan.start),
            stop: plan.stop,
            deadline_ns: plan.deadline_ns,
            load: None,
            number: 0,
            completed: None,
            past: SenderStats::default(),
            rtt: None,
        }
    }

    /// Requests the next page.
    fn begin(&mut self, now: Time) {
        self.next_page = None;
        let objects = self.page.draw();
        let (first, missing) = (self.config.instance, objects.len());
        let waiting = VecDeque::from([0]);
        let connections = Vec::new();
        self.load = Some(PageLoad { start: now, objects, first, connections, waiting, missing });
        self.hand_out(now);
    }

    /// Hands waiting objects to connections that take one.
    fn hand_out(&mut self, now: Time) {
        let Some(load) = &mut self.load else { return };
        while let Some(&number) = load.waiting.front() {
            let multiplexed = self.multiplexed;
            let takes = |c: &Connection| multiplexed || c.carried.is_empty();
            let index = match load.connections.iter().position(takes) {
                Some(index) => index,
                None if load.connections.len() < self.connections => {
                    let make = (self.factory)(self.config.instance);
                    let sender = Sender::connect(self.config, make, now);
                    self.config.instance += 1;
                    let carried = VecDeque::new();
                    load.connections.push(Connection { sender, written: 0, carried });
                    load.connections.len() - 1
                }
                None => return,
            };
            load.waiting.pop_front();
            load.connections[index].carry(number, load.objects[number].size, now);
        }
    }

    /// The page is complete: its connections end, and the next page is planned.
    fn complete(&mut self, now: Time) {
        let Some(load) = self.load.take() else { return };
        let stats = load.connections.iter().map(|one| one.sender.stats());
        let stats = stats.fold(SenderStats::default(), |sum, one| sum + one);
        self.past = self.past + stats;
        self.completed = Some(CompletedTransfer {
            instance: self.number,
            start: load.start,
            end: now,
            size: Some(load.objects.iter().map(|object| object.size).sum()),
            retransmitted: stats.retransmitted,
        });
        self.number += 1;
        let next = now + Duration::from_nanos(self.think.next());
        self.next_page = Some(next).filter(|&at| self.stop.is_none_or(|stop| at < stop));
    }

    /// Requests no further object; lost data are still repaired.
    fn end(&mut self, now: Time) {
        (self.stop, self.next_page) = (None, None);
        if let Some(load) = &mut self.load {
            load.waiting.clear();
            load.connections.iter_mut().for_each(|one| one.sender.stop(now));
        }
    }

    fn connections(&self) -> impl Iterator<Item = &Connection> {
        self.load.iter().flat_map(|load| &load.connections)
    }
}

impl Host for Web {
    fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        let Some(load) = &mut self.load else { return };
        let Some(index) = packet.body.instance.checked_sub(load.first) else { return };
        let Some(connection) = load.connections.get_mut(index as usize) else { return };
        connection.sender.receive(&packet.body, packet.ecn, now);
        self.rtt = connection.sender.take_rtt().or(self.rtt);
        let mut has_arrived = false;
        while let Some(number) = connection.next_arrived() {
            has_arrived = true;
            load.missing -= 1;
            let referred = |(_, object): &(usize, &Object)| object.referrer == Some(number);
            let known = load.objects.iter().enumerate().filter(referred).map(|(index, _)| index);
            load.waiting.extend(known);
        }
        if load.missing == 0 {
            self.complete(now);
        } else if has_arrived {
            self.hand_out(now);
        }
    }

    fn advance(&mut self, now: Time, out: &mut HostOutput) -> Time {
        if self.stop.is_some_and(|stop| stop <= now) {
            self.end(now);
        }
        if self.next_page.is_some_and(|at| at <= now) {
            self.begin(now);
        }
        let connections = self.load.iter_mut().flat_map(|load| &mut load.connections);
        let next = connections.map(|one| one.sender.advance(now, &mut out.packets)).min();
        out.completed.extend(self.completed.take());
        let next_act = Time::earlier(self.next_page, self.stop);
        Time::earlier(next, next_act).unwrap_or(Time::MAX)
    }

    fn next_deadline(&self) -> Option<Time> {
        let senders = self.connections().filter_map(|one| one.sender.next_deadline()).min();
        Time::earlier(senders, Time::earlier(self.next_page, self.stop))
    }
}

impl SendingSide for Web {
    fn flow(&self) -> FlowId {
        self.config.flow
    }

    fn stop_at(&mut self, at: Time) {
        self.stop = Some(at);
    }

    fn stats(&self) -> SenderStats {
        self.connections().fold(self.past, |sum, one| sum + one.sender.stats())
    }

    fn view(&self) -> Option<SenderView> {
        view_of_all(self.connections().map(|one| &one.sender))
    }

    #[expect(clippy::cast_precision_loss, reason = "for the recorder: 53 bits are enough")]
    fn inspect(&self, now: Time, visit: &mut dyn FnMut(&'static str, f64)) {
        let (open, missing) =
            self.load.as_ref().map_or((0, 0), |load| (load.connections.len(), load.missing));
        visit("open_connections", open as f64);
        visit("missing_objects", missing as f64);
        let age = self.load.as_ref().map(|load| now.saturating_since(load.start).as_nanos());
        open_transfers::inspect(age.into_iter(), self.deadline_ns, visit);
    }

    fn take_rtt(&mut self) -> Option<Duration> {
        self.rtt.take()
    }
}

#[cfg(test)]
mod tests {
    use narrows_spec::law::Law;

    use super::*;

    fn page(objects: usize, levels: usize) -> Page {
        let draws = Draws { seed: 1, flow: "web" };
        let one = |bytes, name| draws.of(&Law::Constant(bytes), name);
        let (html, object) = (one(50_000, "html"), one(9_000, "size"));
        Page { html, object, objects, levels, references: Stream::new(1, "references") }
    }

    #[test]
    fn objects_are_referred_to_by_the_level_before_them() {
        let objects = page(30, 3).draw();
        assert_eq!((objects.len(), objects[0].size, objects[30].size), (31, 50_000, 9_000));
        let referrer = |number: usize| objects[number].referrer.expect("one");
        assert!((1..=10).all(|number| referrer(number) == 0));
        assert!((11..=20).all(|number| (1..=10).contains(&referrer(number))));
        assert!((21..=30).all(|number| (11..=20).contains(&referrer(number))));
    }

    #[test]
    fn a_page_may_have_fewer_objects_than_levels_or_none() {
        assert_eq!(page(0, 2).draw().len(), 1);
        let objects = page(2, 5).draw();
        assert!(objects[1..].iter().enumerate().all(|(i, o)| o.referrer.is_some_and(|r| r <= i)));
    }
}
