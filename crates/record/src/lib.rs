//! What a run records: events in, Arrow tables out.
//!
//! Every back end emits the same [`Event`]s and so writes the same tables; this
//! crate doesn't know who emits.

mod event;
mod observer;

pub use event::{
    Completion, Event, FlowSample, Internal, Kind, PacketEvent, PacketKind, QueueDepth,
    QueueSample, RttSample,
};
pub use observer::{NullObserver, Observer};
