//! Checks workloads.

use super::{Checker, shown};
use crate::law::Law;
use crate::place::Place;
use crate::scenario::Workload;
use crate::units::format_duration;

impl Checker<'_> {
    pub(super) fn workload(&mut self, workload: &Workload, place: &Place) {
        match workload {
            Workload::Arrivals { gap_ns, size_bytes } => {
                self.moving(place.key("gap_ns"), gap_ns);
                self.moving(place.key("size_bytes"), size_bytes);
            }
            Workload::OnOff { on_ns, first_ns, off_ns } => {
                self.moving(place.key("on_ns"), on_ns);
                if *first_ns == Some(0) {
                    self.wrong(place.key("first_ns"), "0", "more than zero");
                }
                self.moving(place.key("off_ns"), off_ns);
            }
            Workload::Requests { think_ns, size_bytes } => {
                self.sound(place.key("think_ns"), think_ns);
                self.moving(place.key("size_bytes"), size_bytes);
            }
            Workload::Video { bitrate_bps, chunk_ns, start_ns, buffer_ns } => {
                for (key, value) in [("bitrate_bps", *bitrate_bps), ("chunk_ns", *chunk_ns)] {
                    if value == 0 {
                        self.wrong(place.key(key), "0", "more than zero");
                    }
                }
                let least = start_ns.saturating_add(*chunk_ns);
                if least > *buffer_ns {
                    let least = format_duration(least);
                    let remedy = format!("room for `start` and a chunk, \"{least}\" or more,");
                    self.wrong(place.key("buffer_ns"), shown(*buffer_ns), remedy);
                }
            }
        }
    }

    fn sound(&mut self, place: Place, law: &Law) {
        if let Some(need) = law.fault() {
            self.wrong(place, "a broken table", need);
        }
    }

    fn moving(&mut self, place: Place, law: &Law) {
        if law.is_zero() {
            self.wrong(place.clone(), "zero", "more than zero");
        }
        self.sound(place, law);
    }
}
