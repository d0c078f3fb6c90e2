//! Checks whether a scenario's path is plausible and can be built.

use narrows_net::path::PathError;

use super::Checker;
use crate::limits::{MAX_BYTES, MAX_PACKETS, MAX_RATE_BPS, PACKET_BYTES};
use crate::place::Place;
use crate::scenario::{Flow, Limit, LinkConfig};
use crate::text::quote;
use crate::units::{format_bytes, format_rate};

impl Checker<'_> {
    /// Checks all links and impairments.
    pub(super) fn path(&mut self) {
        let path = &self.scenario.path;
        let place = Place::default().key("path");
        self.bounds(&place, path.rate_bps, path.buffer);
        self.duration(place.key("rtt_ns"), path.rtt_ns);
        for (index, link) in path.links.iter().enumerate() {
            self.link(&place.key("links").index(index), link);
        }
        if let Some(link) = &path.reverse {
            self.link(&place.key("reverse"), link);
        }
        self.faults(&place, path.faults());
    }

    /// Checks the route of a flow over the path.
    pub(super) fn check_route(&mut self, flow: &Flow, place: &Place) {
        let path = &self.scenario.path;
        self.faults(place, path.route_faults(flow.reverse, flow.links.as_deref()));
    }

    fn faults(&mut self, place: &Place, faults: Vec<PathError>) {
        for fault in faults {
            let inner = Place::parse(&fault.place).expect("places of a path are places");
            self.wrong(place.join(&inner), fault.found, fault.need);
        }
    }

    fn link(&mut self, place: &Place, link: &LinkConfig) {
        self.bounds(place, link.rate_bps, link.buffer);
    }

    /// Checks that a rate is plausible, and that there is room for a packet.
    fn bounds(&mut self, place: &Place, rate_bps: u64, buffer: Limit) {
        if rate_bps > MAX_RATE_BPS {
            let remedy = format!("a rate of at most {}", format_rate(MAX_RATE_BPS));
            self.wrong(place.key("rate_bps"), quote(&format_rate(rate_bps)), remedy);
        }
        let (place, large) = (place.key("buffer"), |most: String| format!("at most {most}"));
        match buffer {
            Limit::Bytes(bytes) if (1..PACKET_BYTES).contains(&bytes.get()) => {
                let remedy = format!("room for a packet (\"{PACKET_BYTES}b\") or more");
                self.wrong(place, format!("\"{}b\"", bytes.get()), remedy);
            }
            Limit::Bytes(bytes) if bytes.get() > MAX_BYTES => {
                self.wrong(place, quote(&format_bytes(bytes.get())), large("1000gb".into()));
            }
            Limit::Packets(packets) if packets > MAX_PACKETS => {
                let remedy = large(format!("{MAX_PACKETS}pkt"));
                self.wrong(place, format!("\"{packets}pkt\""), remedy);
            }
            _ => {}
        }
    }
}
