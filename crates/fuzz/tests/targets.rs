//! Each target with mutated seeds: no panic, no hang.
//!
//! Every case has a number. `NARROWS_FUZZ_SECONDS` is for how long all of them go on together,
//! `NARROWS_FUZZ_CASES` how many cases each has at least, `NARROWS_FUZZ_FIRST` the number of the
//! first; with a target's name as the filter they find a case again.

use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use narrows_base::Stream;
use narrows_fuzz::{TARGETS, target};

/// Cases that every run of the tests does.
const CASES: u64 = 300;
/// A case that takes longer hangs, whatever else the machine does: usual are milliseconds.
const LONGEST: Duration = Duration::from_secs(120);

#[expect(clippy::disallowed_methods, reason = "what a person asks for; no run depends on it")]
fn number_from_environment(name: &str) -> Option<u64> {
    Some(std::env::var(name).ok()?.parse().expect("a whole number"))
}

#[expect(clippy::disallowed_methods, reason = "no run depends on it")]
fn now() -> Instant {
    Instant::now()
}

fn throw(name: &str) {
    let (target, seeds) = (target(name), (target(name).seeds)());
    for seed in &seeds {
        (target.run)(seed);
    }
    let first = number_from_environment("NARROWS_FUZZ_FIRST").unwrap_or(0);
    let least = first + number_from_environment("NARROWS_FUZZ_CASES").unwrap_or(CASES);
    let share = number_from_environment("NARROWS_FUZZ_SECONDS").unwrap_or(0) / TARGETS.len() as u64;
    let (began, mut number) = (now(), first);
    while number < least || began.elapsed().as_secs() < share {
        let mut random = Stream::new(number, name);
        let seed = random.below(seeds.len() as u64);
        let bytes = (target.mutate)(&seeds[usize::try_from(seed).expect("few")], &mut random);
        let one = now();
        let again = format!("NARROWS_FUZZ_FIRST={number} NARROWS_FUZZ_CASES=1 finds it again");
        assert!(catch_unwind(|| (target.run)(&bytes)).is_ok(), "{name} {number}: {again}");
        assert!(one.elapsed() < LONGEST, "{name} {number} took {:?}: {again}", one.elapsed());
        number += 1;
    }
    println!("{name}: {} inputs from number {first} on", number - first);
}

#[test]
fn specifications_never_panic() {
    throw("specification");
}

#[test]
fn captures_never_panic() {
    throw("capture");
}

#[test]
fn qlogs_never_panic() {
    throw("qlog");
}

#[test]
fn controls_never_panic() {
    throw("control");
}

#[test]
fn queues_never_panic() {
    throw("queue");
}
