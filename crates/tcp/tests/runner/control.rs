//! Controls for transcripts: one that keeps what is reported to it, and one that
//! writes down the samples given to another.

use std::sync::{Arc, Mutex, MutexGuard};

use narrows_base::Rate;
use narrows_cc::{
    AckSample, CongestionControl, CongestionEvent, Control, DeliveredSample, INFINITE_SSTHRESH,
    Needs, StartEvent, UndoEvent, Unused,
};

/// The part of a control that the script can change and see.
#[derive(Debug)]
pub struct Notes {
    pub control: Control,
    pub ack: Option<AckSample>,
    pub starts: u32,
    pub acks: u32,
}

/// The notes, shared with the script.
pub type SharedNotes = Arc<Mutex<Notes>>;

pub fn notes(cwnd: u32, pacing_rate: Option<u64>) -> SharedNotes {
    let pacing_rate = pacing_rate.map(Rate::from_bps);
    let control = Control { cwnd, ssthresh: INFINITE_SSTHRESH, pacing_rate, app_limited: false };
    Arc::new(Mutex::new(Notes { control, ack: None, starts: 0, acks: 0 }))
}

pub fn read(shared: &SharedNotes) -> MutexGuard<'_, Notes> {
    shared.lock().expect("one thread uses the notes")
}

/// A window and a rate that the script sets, as a control of BBR's kind.
pub struct FixedControl(pub SharedNotes);

impl CongestionControl for FixedControl {
    fn needs(&self) -> Needs {
        Needs::OWN_RECOVERY
    }

    fn on_ack(&mut self, _sample: &AckSample) {}

    fn on_congestion(&mut self, _event: &CongestionEvent) {}

    fn on_undo(&mut self, _event: &UndoEvent) {}

    fn control(&self) -> Control {
        read(&self.0).control
    }
}

/// Another control, with its samples written down.
pub struct Spy {
    pub inner: Box<dyn CongestionControl>,
    pub notes: SharedNotes,
}

impl CongestionControl for Spy {
    fn needs(&self) -> Needs {
        self.inner.needs()
    }

    fn on_delivered(&mut self, sample: &DeliveredSample) {
        self.inner.on_delivered(sample);
    }

    fn on_ack(&mut self, sample: &AckSample) {
        let mut notes = read(&self.notes);
        notes.ack = Some(*sample);
        notes.acks += 1;
        drop(notes);
        self.inner.on_ack(sample);
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.inner.on_congestion(event);
    }

    fn on_undo(&mut self, event: &UndoEvent) {
        self.inner.on_undo(event);
    }

    fn on_start(&mut self, event: &StartEvent) {
        read(&self.notes).starts += 1;
        self.inner.on_start(event);
    }

    fn on_unused(&mut self, unused: Unused) {
        self.inner.on_unused(unused);
    }

    /// The inner control's output, with the script's rate if it has set one.
    fn control(&self) -> Control {
        let control = self.inner.control();
        let set = read(&self.notes).control.pacing_rate;
        Control { pacing_rate: set.or(control.pacing_rate), ..control }
    }

    fn min_tso_segs(&self, pacing_rate: Rate) -> u32 {
        self.inner.min_tso_segs(pacing_rate)
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.inner.inspect(visit);
    }

    fn state(&self) -> &'static str {
        self.inner.state()
    }
}
