//! A part of a run whose packets are wanted.

use narrows_base::{Histogram, Level, Time};
use narrows_record::{Event, EventKind, Observer, RttSample};
use narrows_spec::scenario::Scenario;
use serde::Deserialize;

/// The packets of a flow, or of all, from one time to another, in seconds.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PacketRange {
    #[serde(default)]
    flow: Option<u32>,
    from_s: f64,
    to_s: f64,
}

impl PacketRange {
    /// The same scenario with packets, only as long as needed; everything earlier stays the same.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a run")]
    pub(crate) fn shorten(&self, scenario: &mut Scenario) {
        let run = &mut scenario.run;
        run.record = Level::Packets;
        let ends = (self.to_s.max(0.001) * 1e9).min(1e18) as u64;
        let end_ns = ends.min(run.duration_ns);
        scenario.end_at(end_ns);
    }
}

/// Passes on the events of a run, but of packets only those of a range: a run has millions.
pub(crate) struct Within<'a, O> {
    pub(crate) observer: &'a mut O,
    pub(crate) range: Option<PacketRange>,
}

impl<O: Observer> Observer for Within<'_, O> {
    fn wants(&self, kind: EventKind) -> bool {
        self.observer.wants(kind)
    }

    fn on(&mut self, at: Time, event: &Event) {
        let left_out = match (event, &self.range) {
            (Event::Packet(packet), Some(range)) => {
                let other = range.flow.is_some_and(|flow| packet.flow.index() != flow as usize);
                other || !(range.from_s..=range.to_s).contains(&at.as_secs_f64())
            }
            _ => false,
        };
        if !left_out {
            self.observer.on(at, event);
        }
    }

    fn on_rtt(&mut self, at: Time, sample: RttSample) {
        self.observer.on_rtt(at, sample);
    }

    fn on_queue(&mut self, link: u32, held: &Histogram) {
        self.observer.on_queue(link, held);
    }
}
