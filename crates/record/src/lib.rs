//! Recording of runs: events in, Arrow tables out.
//!
//! Every back end emits the same [`Event`]s and so writes the same tables; this crate doesn't
//! depend on the emitter.

mod builder;
pub mod columns;
mod digest;
mod distributions;
mod event;
mod observer;
mod read_back;
mod recorder;
mod rows;
mod tables;
mod tap;

pub use builder::{Table, TableBuilder};
pub use digest::Digest;
pub use distributions::distributions;
pub use event::{
    Completion, Event, EventKind, FlowSample, Internal, PacketEvent, PacketKind, QueueSample,
    RttSample,
};
pub use observer::{NullObserver, Observer};
pub use recorder::Recorder;
pub use rows::SpillStore;
pub use tap::{NullTap, Tap};
