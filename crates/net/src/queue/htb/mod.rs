//! HTB: classes with their own rates that borrow what others leave.

mod class;
mod params;
mod turns;

use narrows_base::registry::{Fault, Info, Values};
use narrows_base::{Bytes, Dscp, FlowId, Packet, Stream, Time};

use super::any::Queue;
use super::discipline::QueueDiscipline;
use super::drop_tail::DropTail;
use super::entry::NamedDiscipline;
use super::limit::Limit;
use super::verdicts::Verdicts;
use super::waiting::frame_bytes;
pub use class::Shape;
use class::{Class, Mode};
pub use params::{HtbClass, HtbParams};
use params::{INFO, PRIORITIES};
pub(crate) use params::{SERVICE, single};
use turns::Turn;

/// Where a class gets what it sends from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// Its own rate.
    Leaf = 0,
    /// The rate of the class that all borrow from.
    Root = 1,
}

/// A class without classes below it.
struct Leaf<B> {
    class: Class,
    priority: usize,
    /// Bytes of Ethernet frames that it sends per turn.
    quantum: i64,
    /// Bytes left of its turn, at each level.
    deficit: [i64; 2],
    /// True if the class takes part in the turns: it had packets when last asked.
    active: bool,
    queue: Queue<B>,
}

impl<B> Leaf<B> {
    fn new(of: &HtbClass, r2q: u64, queue: Queue<B>) -> Self {
        Self {
            class: Class::new(of.shape),
            priority: of.priority,
            quantum: of.quantum(r2q).cast_signed(),
            deficit: [0; 2],
            active: false,
            queue,
        }
    }

    /// Returns `true` if the class has a turn at this level and priority.
    fn turns_at(&self, level: Level, priority: usize) -> bool {
        let mode = if level == Level::Leaf { Mode::CanSend } else { Mode::MayBorrow };
        self.active && self.priority == priority && self.class.mode() == mode
    }
}

/// A hierarchical token bucket (Linux `sch_htb.c`) with classes of one level below a class that they
/// borrow from, or with a single class. It is used in front of a faster link.
///
/// Filters aren't modelled: a packet belongs to the class of its flow's DSCP. Nor are deeper
/// hierarchies, the module's parameter `htb_hysteresis`, and `overhead`, `mpu` and `linklayer`.
pub struct Htb<B> {
    leaves: Vec<Leaf<B>>,
    root: Option<Class>,
    /// The class of each DSCP, and that of the others.
    classes: Vec<(Dscp, usize)>,
    default: usize,
    /// The class of each flow whose DSCP isn't the default one.
    flows: Vec<usize>,
    turns: [[Turn; PRIORITIES]; 2],
    /// When a class changes its mode, if nothing could be sent.
    ready: Option<Time>,
}

impl<B> Htb<B> {
    /// Full buckets. Each class has a first-in, first-out queue of this size.
    #[must_use]
    pub fn new(params: &HtbParams, limit: Limit) -> Self {
        let root = Class::new(params.root);
        if params.classes.is_empty() {
            let only = HtbClass::new(params.root);
            return Self { root: None, ..Self::over(&only, params.r2q, DropTail::new(limit)) };
        }
        let leaf = |class: &HtbClass| Leaf::new(class, params.r2q, DropTail::new(limit).into());
        let classes = params.classes.iter().enumerate();
        let named = classes.filter_map(|(number, class)| Some((class.dscp?, number)));
        let default = params.classes.iter().position(|class| class.dscp.is_none());
        Self {
            leaves: params.classes.iter().map(leaf).collect(),
            root: Some(root),
            classes: named.collect(),
            default: default.unwrap_or_default(),
            flows: Vec::new(),
            turns: Default::default(),
            ready: None,
        }
    }

    /// A single class over another discipline.
    #[must_use]
    pub fn over(class: &HtbClass, r2q: u64, queue: impl Into<Queue<B>>) -> Self {
        Self {
            leaves: vec![Leaf::new(class, r2q, queue.into())],
            root: None,
            classes: Vec::new(),
            default: 0,
            flows: Vec::new(),
            turns: Default::default(),
            ready: None,
        }
    }

    fn class_of(&self, flow: FlowId) -> usize {
        self.flows.get(flow.index()).copied().unwrap_or(self.default)
    }

    fn turn(&mut self, level: Level, priority: usize) -> Option<usize> {
        let (leaves, turn) = (&self.leaves, &mut self.turns[level as usize][priority]);
        turn.current(leaves.len(), |leaf| leaves[leaf].turns_at(level, priority))
    }

    fn pass_on(&mut self, level: Level, priority: usize) {
        let (leaves, turn) = (&self.leaves, &mut self.turns[level as usize][priority]);
        turn.pass_on(leaves.len(), |leaf| leaves[leaf].turns_at(level, priority));
    }

    /// Changes a leaf, which may thereby leave the turns that it took part in.
    fn update(&mut self, leaf: usize, change: impl FnOnce(&mut Leaf<B>)) {
        let it = &mut self.leaves[leaf];
        let (mode, active, priority) = (it.class.mode(), it.active, it.priority);
        change(it);
        if !active || (it.active && it.class.mode() == mode) {
            return;
        }
        let leaves = &self.leaves;
        match mode {
            Mode::CanSend => {
                let member =
                    |other: usize| other != leaf && leaves[other].turns_at(Level::Leaf, priority);
                self.turns[0][priority].leave_row(leaf, leaves.len(), member);
            }
            Mode::MayBorrow => self.turns[1][priority].leave_feed(leaf),
            Mode::CantSend => {}
        }
    }

    /// Lets classes change their modes whose time has come.
    fn change_modes(&mut self, level: Level, now: Time) {
        let due = |class: &Class| class.next_change().is_some_and(|at| at <= now);
        if level == Level::Root {
            if let Some(root) = self.root.as_mut().filter(|root| due(root)) {
                root.change(now);
            }
            return;
        }
        for leaf in 0..self.leaves.len() {
            if due(&self.leaves[leaf].class) {
                self.update(leaf, |leaf| leaf.class.change(now));
            }
        }
    }

    /// The next packet at a level and a priority (`htb_dequeue_tree`).
    fn dequeue_at(
        &mut self,
        level: Level,
        priority: usize,
        now: Time,
        verdicts: &mut Verdicts<B>,
    ) -> Option<Packet<B>> {
        // Each class is asked at most once, and may then be found empty.
        for _ in 0..2 * self.leaves.len() {
            let number = self.turn(level, priority)?;
            let leaf = &mut self.leaves[number];
            if leaf.queue.is_empty() {
                self.update(number, |leaf| leaf.active = false);
                continue;
            }
            if let Some(packet) = leaf.queue.dequeue(now, verdicts) {
                self.charge(number, level, frame_bytes(&packet), now);
                return Some(packet);
            }
            self.pass_on(level, priority);
        }
        None
    }

    /// A class sent a frame of `bytes` at `now`.
    fn charge(&mut self, number: usize, level: Level, bytes: u64, now: Time) {
        let leaf = &mut self.leaves[number];
        let (priority, quantum) = (leaf.priority, leaf.quantum);
        let deficit = &mut leaf.deficit[level as usize];
        *deficit -= bytes.cast_signed();
        if *deficit < 0 {
            *deficit += quantum;
            self.pass_on(level, priority);
        }
        self.update(number, |leaf| leaf.active = !leaf.queue.is_empty());
        self.update(number, |leaf| leaf.class.charge(bytes, level == Level::Root, now));
        if let Some(root) = &mut self.root {
            root.charge(bytes, false, now);
        }
    }

    fn may_send(&self, level: Level) -> bool {
        level == Level::Leaf || self.root.as_ref().is_some_and(|root| root.mode() == Mode::CanSend)
    }

    /// When a class next changes its mode by itself.
    fn next_change(&self) -> Option<Time> {
        self.leaves
            .iter()
            .map(|leaf| &leaf.class)
            .chain(&self.root)
            .filter_map(Class::next_change)
            .min()
    }
}

impl<B> QueueDiscipline<B> for Htb<B> {
    fn enqueue(&mut self, packet: Packet<B>, now: Time, verdicts: &mut Verdicts<B>) {
        let number = self.class_of(packet.flow);
        let leaf = &mut self.leaves[number];
        leaf.queue.enqueue(packet, now, verdicts);
        leaf.active |= !leaf.queue.is_empty();
    }

    fn dequeue(&mut self, now: Time, verdicts: &mut Verdicts<B>) -> Option<Packet<B>> {
        self.ready = None;
        if self.is_empty() {
            return None;
        }
        for level in [Level::Leaf, Level::Root] {
            self.change_modes(level, now);
            if !self.may_send(level) {
                continue;
            }
            for priority in 0..PRIORITIES {
                let packet = self.dequeue_at(level, priority, now, verdicts);
                if packet.is_some() {
                    return packet;
                }
            }
        }
        self.ready = self.next_change();
        None
    }

    fn backlog(&self) -> Bytes {
        self.leaves.iter().map(|leaf| leaf.queue.backlog()).sum()
    }

    fn len(&self) -> usize {
        self.leaves.iter().map(|leaf| leaf.queue.len()).sum()
    }

    fn next_deadline(&self) -> Option<Time> {
        let inner = self.leaves.iter().filter_map(|leaf| leaf.queue.next_deadline());
        inner.chain(self.ready).min()
    }

    fn on_deadline(&mut self, due: Time, verdicts: &mut Verdicts<B>) {
        self.ready = self.ready.filter(|&ready| ready > due);
        for leaf in &mut self.leaves {
            if leaf.queue.next_deadline().is_some_and(|inner| inner <= due) {
                leaf.queue.on_deadline(due, verdicts);
            }
        }
    }

    fn learn_dscps(&mut self, of_flows: &[Dscp]) {
        let class = |dscp: &Dscp| {
            let named = self.classes.iter().find(|class| class.0 == *dscp);
            named.map_or(self.default, |class| class.1)
        };
        self.flows = of_flows.iter().map(class).collect();
    }
}

impl NamedDiscipline for HtbParams {
    const INFO: &'static Info = &INFO;

    type Discipline<B: Send + 'static> = Htb<B>;

    fn fits(values: &Values, _: Limit) -> Result<(), Fault> {
        Self::fit(values)
    }

    fn build<B: Send + 'static>(values: &Values, limit: Limit, _: Stream) -> Htb<B> {
        Htb::new(&Self::of(values), limit)
    }
}

#[cfg(test)]
mod tests;
