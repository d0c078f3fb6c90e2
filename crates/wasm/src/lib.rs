//! The simulator for WebAssembly: the text of a specification in, the digest of its first trial
//! out. `make wasm` builds it for wasm32-unknown-unknown and runs it in Node.
//!
//! Whoever calls it writes the text at the address that `text(length)` gives, calls `run()`,
//! and reads as many bytes as that says at the address that `answer()` gives.

#![allow(unsafe_code, reason = "exported names; no pointer is followed here")]

use std::cell::RefCell;
use std::ops::ControlFlow;

use narrows_base::Time;
use narrows_record::{Level, Recorder};
use narrows_spec::{Files, Node, Source};

thread_local! {
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Where a text of this length goes.
#[unsafe(no_mangle)]
pub extern "C" fn text(length: usize) -> *mut u8 {
    TEXT.with_borrow_mut(|text| {
        *text = vec![0; length];
        text.as_mut_ptr()
    })
}

/// Runs the first trial; the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn run() -> usize {
    let said = TEXT.with_borrow(|text| digest(&String::from_utf8_lossy(text)));
    ANSWER.with_borrow_mut(|answer| {
        *answer = said.unwrap_or_else(|problems| problems);
        answer.len()
    })
}

/// Where the answer is: a digest, or what is wrong with the text, a line each.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}

fn digest(text: &str) -> Result<String, String> {
    let problems = |problems: narrows_spec::Problems| problems.to_string();
    let document = Node::from_toml(text).map_err(problems)?;
    let source = Source::new(&document, Vec::new(), "scenario", None).map_err(problems)?;
    let scenario = source.read(&Files::default()).map_err(problems)?.scenario;
    let warmup = Time::from_nanos(scenario.run.warmup_ns);
    let mut recorder = Recorder::new(level(scenario.run.record), warmup);
    narrows_sim::run(&scenario, &mut recorder, &mut |_, _| ControlFlow::Continue(()))
        .map_err(problems)?;
    Ok(recorder.digest().to_string())
}

fn level(level: narrows_spec::scenario::Level) -> Level {
    match level {
        narrows_spec::scenario::Level::Summary => Level::Summary,
        narrows_spec::scenario::Level::Samples => Level::Samples,
        narrows_spec::scenario::Level::Packets => Level::Packets,
    }
}
