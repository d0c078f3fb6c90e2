//! Checks the changes in the course of a run.

use std::sync::Arc;

use super::{Checker, format_ns};
use crate::limits::MAX_RATE_BPS;
use crate::place::Place;
use crate::scenario::{Change, Flow, Workload};
use crate::text::{one_of, quote};
use crate::units::{format_duration, format_rate};

/// Services whose rate can be changed.
const CHANGEABLE: [&str; 2] = ["constant", "steps"];
/// The control that takes a window and a rate.
const SETTABLE: &str = "fixed";

impl Checker<'_> {
    pub(super) fn changes(&mut self) {
        let scenario = self.scenario;
        let mut earlier = 0;
        for (index, change) in scenario.changes.iter().enumerate() {
            let place = Place::default().key("changes").index(index);
            self.change_time(change, &place, earlier);
            earlier = earlier.max(change.at_ns);
            self.change_of_rate(change, &place);
            self.change_of_round_trip(change, &place);
            self.change_of_flow(change, &place);
            if change.end && index + 1 < scenario.changes.len() {
                self.wrong(place.key("end"), "a change after the end", "an end that comes last");
            }
            let (rate, rtt, loss) = (change.rate_bps, change.rtt_ns, change.loss);
            let of_path = rate.or(rtt).is_some() || loss.is_some();
            if !(of_path || is_of_flow(change) || change.end) {
                let remedy =
                    "`rate`, `rtt`, `loss`, `stop`, `window`, `pacing_rate` or `end`, too,";
                self.wrong(place, "a change of nothing", remedy);
            }
        }
    }

    fn change_time(&mut self, change: &Change, place: &Place, earlier: u64) {
        let at = place.key("at_ns");
        let end = self.scenario.run.duration_ns;
        if change.at_ns > end {
            let remedy = format!("a time until the end of the run ({})", format_ns(end));
            self.wrong(at, format_ns(change.at_ns), remedy);
        } else if change.at_ns < earlier {
            let found = format!("{} after {}", format_ns(change.at_ns), format_ns(earlier));
            self.wrong(at, found, "changes in the order of their times");
        }
    }

    fn change_of_rate(&mut self, change: &Change, place: &Place) {
        let path = &self.scenario.path;
        if change.link.is_some() && change.rate_bps.is_none() {
            self.wrong(place.key("link"), "a link without a rate", "its `rate`, too,");
        }
        let Some(link) = path.link_number(change.link.as_deref()) else {
            let name = change.link.as_deref().unwrap_or_default();
            let others = path.links.iter().chain(&path.reverse).map(|link| link.name.as_str());
            let known = one_of(name, ["bottleneck"].into_iter().chain(others));
            self.wrong(place.key("link"), format!("{}, which is not a link", quote(name)), known);
            return;
        };
        let Some(rate) = change.rate_bps else { return };
        let at = place.key("rate_bps");
        if rate == 0 || rate > MAX_RATE_BPS {
            let most = format_rate(MAX_RATE_BPS);
            let remedy = format!("a rate above zero and at most {most}");
            self.wrong(at.clone(), quote(&format_rate(rate)), remedy);
        }
        let service = path.link(link).map(|link| link.service.kind.as_str()).unwrap_or_default();
        if !CHANGEABLE.contains(&service) {
            let found = format!("a rate for a link whose service is {}", quote(service));
            self.wrong(at, found, "a link with the service \"constant\" or \"steps\"");
        }
    }

    /// Flows with their own delay share the path's line if the delay is the same.
    fn change_of_round_trip(&mut self, change: &Change, place: &Place) {
        let Some(rtt) = change.rtt_ns else { return };
        let (at, path) = (place.key("rtt_ns"), self.scenario.path.rtt_ns);
        self.duration(at.clone(), rtt);
        let flows = &self.scenario.flows;
        if flows.iter().all(|flow| flow.rtt_ns.is_some()) {
            self.wrong(at, "a delay that no flow has", "a flow without a delay of its own");
            return;
        }
        let halves = |rtt: u64| (rtt / 2, rtt - rtt / 2);
        let shares = |own: u64| halves(own).0 == halves(path).0 || halves(own).1 == halves(path).1;
        if let Some(flow) = flows.iter().find(|flow| flow.rtt_ns.is_some_and(shares)) {
            let found = format!("a change while flow {} has the same delay", quote(&flow.name));
            self.wrong(at, found, "no `rtt` there, or another");
        }
    }

    fn change_of_flow(&mut self, change: &Change, place: &Place) {
        let Some(name) = &change.flow else {
            if is_of_flow(change) {
                self.wrong(place.key("flow"), "nothing", "the name of a flow");
            }
            return;
        };
        let Some(called) = self.names.flow_numbers(name).map(Arc::clone) else {
            let names = self.scenario.flows.iter().map(|flow| flow.name.as_str()).take(20);
            let known = one_of(name, names);
            self.wrong(place.key("flow"), format!("{}, which is not a flow", quote(name)), known);
            return;
        };
        if !is_of_flow(change) {
            let remedy = "`stop`, `window` or `pacing_rate`, too,";
            self.wrong(place.key("flow"), "a flow without a change", remedy);
        }
        let scenario = self.scenario;
        for &index in called.iter() {
            self.change_of(&scenario.flows[index], change, place);
        }
    }

    fn change_of(&mut self, flow: &Flow, change: &Change, place: &Place) {
        let name = quote(&flow.name);
        if change.at_ns < flow.start_ns {
            let start = format_duration(flow.start_ns);
            let remedy = format!("a time from its start on (\"{start}\")");
            self.wrong(place.key("at_ns"), format!("a time before flow {name} starts"), remedy);
        }
        if change.stop && flow.size_bytes.is_some() {
            let found = format!("a stop of flow {name}, which has a size");
            self.wrong(place.key("stop"), found, "a flow without a size");
        }
        let sets = change.window_packets.is_some() || change.pacing_rate_bps.is_some();
        let many = matches!(flow.workload, Some(Workload::Arrivals { .. } | Workload::Web { .. }));
        let at = place.key("flow");
        if sets && flow.cca != SETTABLE {
            let found = format!("a window or a rate for the control {}", quote(&flow.cca));
            self.wrong(at, found, "a flow with the control \"fixed\"");
        } else if sets && (many || flow.repeat_gap_ns.is_some()) {
            let found = format!("a window or a rate for flow {name}, which connects often");
            self.wrong(at, found, "a flow with one connection");
        }
        for (key, zero) in [
            ("window_packets", change.window_packets == Some(0)),
            ("pacing_rate_bps", change.pacing_rate_bps == Some(0)),
        ] {
            if zero {
                self.wrong(place.key(key), "0", "more than zero");
            }
        }
    }
}

const fn is_of_flow(change: &Change) -> bool {
    change.stop || change.window_packets.is_some() || change.pacing_rate_bps.is_some()
}
