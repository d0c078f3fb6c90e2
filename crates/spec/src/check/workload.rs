//! Checks workloads.

use super::{Checker, format_ns};
use crate::law::Law;
use crate::limits::MAX_DURATION_NS;
use crate::place::Place;
use crate::scenario::{Media, Workload};
use crate::units::format_duration;
use crate::workloads::{LEAST_MEDIA_PACKET, LONGEST_DATAGRAM, MOST_OBJECTS};

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
                self.above_zero(place.key("bitrate_bps"), *bitrate_bps);
                self.playback([*chunk_ns, *start_ns, *buffer_ns], place);
            }
            Workload::AdaptiveVideo { bitrates_bps, chunk_ns, start_ns, buffer_ns } => {
                let place_of_rates = place.key("bitrates_bps");
                if bitrates_bps.is_empty() {
                    self.wrong(place_of_rates.clone(), "no bitrate", "one or more");
                }
                for bps in bitrates_bps {
                    self.above_zero(place_of_rates.clone(), *bps);
                }
                self.playback([*chunk_ns, *start_ns, *buffer_ns], place);
            }
            Workload::Web { html_bytes, objects, object_bytes, levels, connections, think_ns } => {
                self.moving(place.key("html_bytes"), html_bytes);
                self.moving(place.key("object_bytes"), object_bytes);
                self.sound(place.key("think_ns"), think_ns);
                self.above_zero(place.key("levels"), *levels);
                self.above_zero(place.key("connections"), *connections);
                for (key, value) in [("objects", objects), ("levels", levels)] {
                    if *value > MOST_OBJECTS {
                        let remedy = format!("at most {MOST_OBJECTS}");
                        self.wrong(place.key(key), value.to_string(), remedy);
                    }
                }
            }
            Workload::Udp { rate_bps, size_bytes, burst } => {
                self.above_zero(place.key("rate_bps"), *rate_bps);
                self.above_zero(place.key("burst"), *burst);
                self.datagram(place.key("size_bytes"), *size_bytes);
            }
            Workload::Ping { interval_ns, size_bytes } => {
                self.above_zero(place.key("interval_ns"), *interval_ns);
                self.datagram(place.key("size_bytes"), *size_bytes);
            }
            Workload::Media(media) => self.media(media, place),
        }
    }

    fn media(&mut self, media: &Media, place: &Place) {
        let bounds = [
            ("min_bps", media.min_bps, 1, media.max_bps),
            ("fps", media.fps, 1, 240),
            ("packet_bytes", media.packet_bytes, LEAST_MEDIA_PACKET, LONGEST_DATAGRAM),
            ("key_frame", media.key_frame, 1, 8),
            ("feedback_ns", media.feedback_ns, 1, MAX_DURATION_NS),
            ("reaction_ns", media.reaction_ns, 0, MAX_DURATION_NS),
            ("jitter_buffer_ns", media.jitter_buffer_ns, 0, MAX_DURATION_NS),
        ];
        for (key, value, least, most) in bounds {
            if !(least..=most).contains(&value) {
                self.wrong(place.key(key), value.to_string(), format!("{least} to {most}"));
            }
        }
        self.sound(place.key("deviation_ppm"), &media.deviation_ppm);
    }

    fn datagram(&mut self, place: Place, size_bytes: u64) {
        if !(1..=LONGEST_DATAGRAM).contains(&size_bytes) {
            let remedy = format!("1b to {LONGEST_DATAGRAM}b, what fits a packet,");
            self.wrong(place, format!("\"{size_bytes}b\""), remedy);
        }
    }

    fn above_zero(&mut self, place: Place, value: u64) {
        if value == 0 {
            self.wrong(place, "0", "more than zero");
        }
    }

    /// The player of a video, with its times in ns.
    fn playback(&mut self, [chunk_ns, start_ns, buffer_ns]: [u64; 3], place: &Place) {
        self.above_zero(place.key("chunk_ns"), chunk_ns);
        let least = start_ns.saturating_add(chunk_ns);
        if least > buffer_ns {
            let least = format_duration(least);
            let remedy = format!("room for `start` and a chunk, \"{least}\" or more,");
            self.wrong(place.key("buffer_ns"), format_ns(buffer_ns), remedy);
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
