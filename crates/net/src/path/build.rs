//! Builds a path's elements and their rows from its configuration.

use std::collections::BTreeMap;

use narrows_base::{Dscp, Duration, Stream, Time};

use super::config::{Direction, FIRST_LINK, ImpairmentPlace, PathConfig};
use super::element::PathElement;
use crate::config::{self, AckHooks, LinkChoice};
use crate::impairment::loss::RandomLoss;
use crate::line::Line;

/// The elements of a path and the order in which packets meet them.
///
/// Elements are numbered in the order links, impairments, lines. A link has no length: half of a
/// flow's round trip is a line behind the last element of a direction, the other half is on the
/// reverse path. Flows of equal delay share their lines.
pub struct Path<B> {
    /// The elements, by their numbers. The first one is the first link.
    pub elements: Vec<PathElement<B>>,
    /// Decides which packets of data are lost behind the last link forward.
    pub loss: RandomLoss,
    /// The names of the forward links.
    names: Vec<String>,
    forward: Row,
    backward: Row,
}

/// The elements of one direction, by number.
#[derive(Default)]
struct Row {
    before: Vec<usize>,
    links: Vec<usize>,
    behind: Vec<usize>,
    /// Each flow's line.
    lines: Vec<usize>,
}

/// Further conditions for building a path.
pub struct Conditions<'a, B> {
    /// Seed of all random streams.
    pub seed: u64,
    /// The end of periodic events.
    pub end: Time,
    /// Two-way delay of each flow without queueing.
    pub round_trips: &'a [Duration],
    /// How acknowledgements are recognised and merged.
    pub acks: AckHooks<B>,
    /// The DSCP of each flow's packets on the links forward and backward, see [`dscps`].
    pub dscps: [Vec<Dscp>; 2],
}

/// The DSCP of each flow's packets in either direction, from that of its data and whether it is
/// reversed. Its acknowledgements have none, as those of Linux's receivers by default
/// (`tcp_reflect_tos`).
pub fn dscps(flows: impl Iterator<Item = (Dscp, bool)>) -> [Vec<Dscp>; 2] {
    let none = Dscp::default();
    let both = |(dscp, reverse)| if reverse { (none, dscp) } else { (dscp, none) };
    let (forward, backward) = flows.map(both).unzip();
    [forward, backward]
}

impl<B: Clone + Send + 'static> Path<B> {
    /// Builds a checked path without packets in flight.
    ///
    /// # Panics
    /// If it wasn't.
    #[must_use]
    pub fn new(config: &PathConfig, around: &Conditions<'_, B>) -> Self {
        let mut path = Self {
            elements: Vec::new(),
            loss: RandomLoss::new(config.loss, Stream::new(around.seed, "path/loss")),
            names: Vec::new(),
            forward: Row::default(),
            backward: Row::default(),
        };
        path.add_links(config, around.seed, &around.dscps);
        path.add_impairments(config, around);
        path.forward.lines = path.add_lines(around.round_trips.iter().map(|&rtt| rtt / 2));
        path.backward.lines = path.add_lines(around.round_trips.iter().map(|&rtt| rtt - rtt / 2));
        path
    }

    fn add(&mut self, element: PathElement<B>) -> usize {
        self.elements.push(element);
        self.elements.len() - 1
    }

    fn add_link(&mut self, parts: LinkChoice<'_>, seed: u64, name: &str, dscps: &[Dscp]) -> usize {
        let mut link = config::link(parts, seed, name);
        if dscps.iter().any(|&dscp| dscp != Dscp::default()) {
            link.learn_dscps(dscps);
        }
        self.add(link.into())
    }

    fn add_links(&mut self, config: &PathConfig, seed: u64, [there, back]: &[Vec<Dscp>; 2]) {
        let first = self.add_link(config.first_link(), seed, "path", there);
        self.forward.links.push(first);
        self.names.push(FIRST_LINK.into());
        for link in &config.links {
            let id = self.add_link(link.choice(), seed, &format!("link/{}", link.name), there);
            self.forward.links.push(id);
            self.names.push(link.name.clone());
        }
        if let Some(link) = &config.reverse {
            let id = self.add_link(link.choice(), seed, &format!("link/{}", link.name), back);
            self.backward.links.push(id);
        }
    }

    fn add_impairments(&mut self, config: &PathConfig, around: &Conditions<'_, B>) {
        for (index, impairment) in config.impairments.iter().enumerate() {
            let random = Stream::new(around.seed, &format!("path/impairment/{index}"));
            let element = config::impairment(&impairment.element, random, around.end, &around.acks);
            let id = self.add(PathElement::Impairment(element));
            let row = self.at_mut(impairment.direction);
            match impairment.at {
                ImpairmentPlace::Before => row.before.push(id),
                ImpairmentPlace::Behind => row.behind.push(id),
            }
        }
    }

    /// One line for each distinct delay; returns each flow's.
    fn add_lines(&mut self, delays: impl Iterator<Item = Duration>) -> Vec<usize> {
        let mut lines: BTreeMap<Duration, usize> = BTreeMap::new();
        let mut line_of = |delay| {
            *lines.entry(delay).or_insert_with(|| self.add(PathElement::Line(Line::new(delay))))
        };
        delays.map(&mut line_of).collect()
    }
}

impl<B> Path<B> {
    const fn at(&self, direction: Direction) -> &Row {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Backward => &self.backward,
        }
    }

    const fn at_mut(&mut self, direction: Direction) -> &mut Row {
        match direction {
            Direction::Forward => &mut self.forward,
            Direction::Backward => &mut self.backward,
        }
    }

    /// The links of a direction, in the order in which packets meet them.
    #[must_use]
    pub fn links(&self, direction: Direction) -> &[usize] {
        &self.at(direction).links
    }

    /// The elements that all flows pass in a direction, without their lines: the impairments before
    /// the links, the links, and the impairments behind them.
    #[must_use]
    pub fn row(&self, direction: Direction) -> Vec<usize> {
        let row = self.at(direction);
        row.before.iter().chain(&row.links).chain(&row.behind).copied().collect()
    }

    /// The line at the end of a flow's route.
    #[must_use]
    pub fn line(&self, direction: Direction, flow: usize) -> usize {
        self.at(direction).lines[flow]
    }

    /// The elements that a flow passes in a direction: the row and its line, but only those forward
    /// links that `only` names, if it names any.
    #[must_use]
    pub fn route(&self, direction: Direction, flow: usize, only: Option<&[String]>) -> Vec<usize> {
        let named = |link: usize, names: &[String]| names.contains(&self.names[link]);
        let forward = |id: usize| self.forward.links.iter().position(|&link| link == id);
        let mut way = self.row(direction);
        if let Some(names) = only {
            way.retain(|&id| forward(id).is_none_or(|link| named(link, names)));
        }
        way.push(self.line(direction, flow));
        way
    }
}
