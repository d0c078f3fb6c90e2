//! Elements that hold packets: queue disciplines, rate processes, links and impairments. There is
//! no TCP, no clock, no file and no thread here.
//!
//! # The calling contract
//!
//! An [`Element`] offers three methods. `receive(packet, now)` hands it a packet,
//! `poll(now)` takes back one that is due, and `next_deadline()` says when the next `poll` can
//! return something. Time is always an argument.
//!
//! 1. **Time goes forward.** The `now` of a `receive` or `poll` is never before
//!    that of an earlier call of the same element; an element panics if that would make
//!    its results wrong. Equal instants are fine: their order is the order of the calls.
//! 2. **Polling late changes nothing.** An element catches up at the instants
//!    that its model dictates, and a departure carries the time that it was due,
//!    not the time of the `poll`. From the same arrivals it computes the same
//!    departures, drops and marks, whether it is polled on time, late, at every
//!    arrival or only at the end.
//! 3. **At one instant, departures come before arrivals.** Everything due at or before `now` is
//!    settled before a packet that arrives at `now` is considered: a packet whose transmission ends
//!    at `now` has already made room. At one instant a link first ends a transmission and starts
//!    the next one, then runs its queue's timer, then takes arrivals.
//! 4. **`poll` is called until it returns `None`.** Several departures may be
//!    due. They come in the order of their times, and those of equal time in
//!    the order in which the element let them go.
//! 5. **`next_deadline` is never too late.** Nothing leaves before it. A `poll`
//!    at the deadline may still return `None` (a queue that held its packets
//!    back may have dropped them); the deadline has then moved on. `None` means
//!    that nothing happens until the next arrival.
//! 6. **Drops are handed back.** [`Element::take_dropped`] returns the packets that an
//!    element has dropped, with the reason and the instant of each drop. An element that
//!    is polled late drops late, so these instants may lie before those of departures
//!    already taken.
//!
//! Elements in a row follow the same contract: each departure is received by the
//! next element at the departure's own time, however late it was polled.
//!
//! # Cost
//!
//! A packet moves through queues that grow to their working size and stay
//! there: no allocation per packet, and no dynamic call with a drop-tail queue.

mod bucket;
pub mod config;
pub mod contract;
mod departures;
mod depth;
mod element;
mod impairment;
mod line;
mod link;
pub mod path;
mod pipe;
mod port;
mod queue;
mod ring;
mod schedule;
mod service;

pub use element::{Departure, DropReason, DroppedPacket, Element};
pub use impairment::{
    Duplication, Fate, Filter, GilbertElliott, GilbertElliottParams, Jitter, Merge, Netem,
    NetemParams, Outage, OutageMode, Overtaking, Policer, PolicerParams, RandomLoss, Route, Rule,
    Thinning, ThinningParams,
};
pub use line::{ChangingLine, CopyLine, Line};
pub use link::{AnyServedLink, Link, QueueState, ServedLink};
pub use pipe::Pipe;
pub use port::{Counters, Port};
pub use queue::{
    Cake, CakeParams, Cells, CoDel, CoDelParams, Diffserv, DocsisPie, DocsisPieParams, DropTail,
    DualPi2, DualPi2Params, Fq, FqCoDel, FqCoDelParams, FqParams, FqPie, FqPieParams, Framing, Htb,
    HtbClass, HtbParams, Isolation, Limit, Pie, PieParams, Queue, QueueDiscipline, Red, RedParams,
    Sfq, SfqParams, Shape, SquareRoot, Tbf, TbfParams, Verdicts,
};
pub use service::{
    Cellular, CellularParams, ConstantRate, RateProcess, Service, SteppedRate, Trace, TraceError,
    Transmitter, Wifi, WifiParams,
};
