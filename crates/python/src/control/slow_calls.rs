//! Warns when a call into the user's Python code doesn't return.
//!
//! The watching thread doesn't use Python, since stuck code may hold the interpreter for ever. It
//! has no clock either, but counts its own sleeps.

use std::collections::BTreeMap;
use std::process;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pyo3::prelude::*;

/// Sleeps until the warning.
const NAPS: u32 = 20;

/// Watched calls: each callee is registered once, and each call is noted at its beginning and end.
#[derive(Debug, Default)]
pub struct Calls {
    /// Odd during a call; it is increased when a call begins and ends.
    count: AtomicU64,
    /// The number of the place of the latest call.
    place: AtomicUsize,
    /// Every place with its number; the connections of a flow share one.
    places: Mutex<BTreeMap<String, usize>>,
    over: Mutex<bool>,
    ended: Condvar,
}

impl Calls {
    /// Registers a callee by its name in messages.
    pub fn register(&self, place: String) -> usize {
        let mut places = lock(&self.places);
        let next = places.len();
        *places.entry(place).or_insert(next)
    }

    /// A registered callee is called.
    pub fn begin(&self, place: usize) {
        self.place.store(place, Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Release);
    }

    /// The call is over.
    pub fn end(&self) {
        self.count.fetch_add(1, Ordering::Release);
    }

    /// Sleeps once; false when there is nothing left to watch.
    fn sleep(&self, nap: Duration) -> bool {
        let over = lock(&self.over);
        let waited = self.ended.wait_timeout_while(over, nap, |over| !*over);
        waited.is_ok_and(|(over, _)| !*over)
    }

    fn watch(&self, limit: Duration) {
        let (mut last, mut naps) = (0, 0);
        while self.sleep(limit / NAPS) {
            let count = self.count.load(Ordering::Acquire);
            naps = if count == last && count % 2 == 1 { naps + 1 } else { 0 };
            last = count;
            if naps == NAPS {
                self.warn(limit);
            }
        }
    }

    fn warn(&self, limit: Duration) {
        let (places, latest) = (lock(&self.places), self.place.load(Ordering::Relaxed));
        let Some((place, _)) = places.iter().find(|(_, number)| **number == latest) else { return };
        eprintln!(
            "narrows: {place} hasn't returned for {} s; Ctrl-C stops it, or `kill -9 {}` if it \
             is inside a function that isn't Python's",
            limit.as_secs_f64(),
            process::id(),
        );
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no panic while it is held")
}

/// Watches calls until it is dropped.
#[derive(Debug)]
pub struct CallWatch {
    calls: Arc<Calls>,
    thread: Option<JoinHandle<()>>,
}

impl CallWatch {
    /// Warns on standard error about every call that takes longer than `limit`.
    pub fn new(calls: &Arc<Calls>, limit: Duration) -> Self {
        let watched = Arc::clone(calls);
        let thread = thread::spawn(move || watched.watch(limit));
        Self { calls: Arc::clone(calls), thread: Some(thread) }
    }
}

impl Drop for CallWatch {
    fn drop(&mut self) {
        *lock(&self.calls.over) = true;
        self.calls.ended.notify_all();
        if let Some(thread) = self.thread.take() {
            // It returns nothing, and a panic in it has been printed.
            let _ = thread.join();
        }
    }
}

/// A context manager that warns on standard error if its block takes long.
#[pyclass(module = "narrows._native")]
#[derive(Debug)]
pub struct SlowCallWarning {
    place: String,
    limit: Duration,
    watch: Option<CallWatch>,
}

#[pymethods]
impl SlowCallWarning {
    /// `place` names the block in messages, `seconds` is how long it may take.
    #[new]
    fn new(place: String, seconds: f64) -> Self {
        Self { place, limit: Duration::from_secs_f64(seconds.clamp(0.0, 1e6)), watch: None }
    }

    fn __enter__(&mut self) {
        let calls = Arc::new(Calls::default());
        let place = calls.register(self.place.clone());
        calls.begin(place);
        self.watch = Some(CallWatch::new(&calls, self.limit));
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&mut self, _error: &Bound<'_, pyo3::types::PyTuple>) {
        self.watch = None;
    }
}
