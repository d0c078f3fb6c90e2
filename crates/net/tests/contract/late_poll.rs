//! Polling late changes nothing; packets are conserved and keep their order.

use narrows_base::Ecn;
use narrows_net::{Departure, DropReason, Element};

use crate::contract::drive::{OTHERS, Polling, run};
use crate::contract::elements::{ElementKind, KINDS, element};
use crate::contract::queues::Discipline;
use crate::contract::traffic::arrivals;
use crate::contract::wrong::{self, Mistake};
use crate::contract::{Body, Outcome, seeds};

/// Feeds the arrivals of `seed` to an element from `make`, polled in every way. Returns the
/// outcome, or how the element broke the contract.
fn violation(make: impl Fn() -> Box<dyn Element<Body>>, seed: u64) -> Result<Outcome, String> {
    let arrivals = arrivals(seed);
    let expected = run(&mut *make(), &arrivals, Polling::OnTime, seed)
        .map_err(|broken| format!("polled on time: {broken}"))?;
    for polling in OTHERS {
        let found = run(&mut *make(), &arrivals, polling, seed)
            .map_err(|broken| format!("polled {polling:?}: {broken}"))?;
        compare("departures", &expected.departures, &found.departures, polling)?;
        compare("drops", &expected.dropped, &found.dropped, polling)?;
    }
    Ok(expected)
}

fn compare<T: PartialEq + std::fmt::Debug>(
    what: &str,
    expected: &[T],
    found: &[T],
    polling: Polling,
) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    let n = expected.iter().zip(found).take_while(|(a, b)| a == b).count();
    let (on_time, late) = (expected.get(n), found.get(n));
    Err(format!("{what} differ at {n}: {on_time:?} on time, {late:?} polled {polling:?}"))
}

fn check_contract(kind: ElementKind, count: u64) {
    for seed in seeds(count) {
        let outcome = violation(|| element(kind, seed), seed)
            .unwrap_or_else(|broken| panic!("{kind:?}, seed {seed}: {broken}"));
        for pair in outcome.departures.windows(2) {
            let in_order = pair[0].packet.body < pair[1].packet.body || !kind.keeps_order();
            let kept = pair[0].at <= pair[1].at && in_order;
            assert!(kept, "{kind:?}, seed {seed}: {pair:?} left out of order");
        }
    }
}

#[test]
fn every_element_keeps_the_contract() {
    for kind in KINDS {
        check_contract(kind, 150);
    }
}

#[test]
fn random_stacks_keep_the_contract() {
    check_contract(ElementKind::Stack, 1_000);
    check_contract(ElementKind::OrderedStack, 1_000);
}

/// With many seeds every discipline drops or marks early, and overflows.
#[test]
fn every_discipline_drops_or_marks() {
    for kind in KINDS.into_iter().filter(|kind| matches!(kind, ElementKind::Link(_))) {
        let (mut early, mut overflow) = (0, 0);
        for seed in 0..200 {
            let arrivals = arrivals(seed);
            let out = run(&mut *element(kind, seed), &arrivals, Polling::OnTime, seed).unwrap();
            let reason = |why| out.dropped.iter().filter(|d| d.reason == why).count();
            let marked = out.departures.iter().filter(|d| d.packet.ecn == Ecn::Ce).count();
            let came_marked = arrivals.iter().filter(|a| a.1.ecn == Ecn::Ce).count();
            early += usize::from(reason(DropReason::Early) > 0 || marked > came_marked);
            overflow += usize::from(reason(DropReason::Overflow) > 0);
        }
        let never_early = matches!(kind, ElementKind::Link(Discipline::Tbf));
        assert!(
            (early > 25 || never_early) && overflow > 40,
            "{kind:?}: {early} and {overflow} of 200"
        );
    }
}

/// Checks the check: it finds mistakes that a link can make.
#[test]
fn mistakes_are_found() {
    for mistake in [Mistake::StartsWhenPolled, Mistake::StampsThePoll, Mistake::AdmitsStale] {
        let tried = seeds(50);
        let found =
            tried.iter().filter(|&&seed| violation(|| wrong::link(mistake, seed), seed).is_err());
        let found = found.count();
        assert!(found * 10 >= tried.len() * 9, "{mistake:?}: {found} of {}", tried.len());
    }
}

/// Without a mistake the model link keeps the contract.
#[test]
fn no_mistake_is_found_where_there_is_none() {
    for seed in seeds(50) {
        violation(|| wrong::link(Mistake::None, seed), seed)
            .unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
    }
}

/// The random arrivals cause early drops and marks, overflow, and arrivals at the instant of a
/// departure.
#[test]
fn random_arrivals_cause_drops_marks_overflow_and_ties() {
    let (mut early, mut marked, mut overflow, mut ties) = (0, 0, 0, 0);
    for seed in 0..100 {
        let arrivals = arrivals(seed);
        let outcome =
            |kind| run(&mut *element(kind, seed), &arrivals, Polling::OnTime, seed).unwrap();
        let (managed, drop_tail) =
            (outcome(ElementKind::ManagedLink), outcome(ElementKind::DropTailLink));
        let unmarked = |d: &&Departure<Body>| arrivals.iter().any(|a| a.1 == d.packet);
        early += managed.dropped.iter().filter(|d| d.reason == DropReason::Early).count();
        marked += managed.departures.len() - managed.departures.iter().filter(unmarked).count();
        overflow += drop_tail.dropped.len();
        let tied = |d: &&Departure<Body>| arrivals.iter().any(|a| a.0 == d.at);
        ties += drop_tail.departures.iter().filter(tied).count();
    }
    let reached = [early, marked, overflow, ties];
    assert!(reached.iter().all(|&n| n > 500), "{reached:?}");
}
