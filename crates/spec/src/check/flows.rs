//! Checks the flows of a scenario.

use narrows_base::registry::check_values;
use narrows_tcp::PROFILES;

use super::{ALL, Checker, format_ns};
use crate::limits::PACKET_BYTES;
use crate::place::Place;
use crate::programs::{PLACEHOLDERS, fill, is_date};
use crate::scenario::{EcnMode, Flow, NO_CONTROL, Workload};
use crate::stacks::{STACKS, stack};
use crate::text::{one_of, quote};
use crate::units::format_duration;

/// The most names that a remedy lists.
const MOST_NAMES: usize = 20;
/// A longer time for a system call is certainly a mistake, ns.
const LONGEST_CALL_NS: u64 = 1_000_000_000;

/// Returns `true` if the flow has keys that only programs need.
const fn asks_for_programs(flow: &Flow) -> bool {
    flow.sender.is_some() || flow.syscall_time_ns.is_some() || flow.date.is_some()
}

impl Checker<'_> {
    pub(super) fn flows(&mut self) {
        let flows = &self.scenario.flows;
        let place = Place::default().key("flows");
        if flows.is_empty() {
            self.wrong(place, "no flow", "at least one [[flows]] table");
            return;
        }
        for (index, flow) in flows.iter().enumerate() {
            self.flow(flow, &place.index(index));
        }
        self.names();
        for (index, flow) in flows.iter().enumerate() {
            let Some(other) = &flow.while_flow else { continue };
            let at = place.index(index).key("while");
            let itself = self
                .names
                .flow_numbers(other)
                .is_some_and(|flows| flows.binary_search(&index).is_ok());
            if itself {
                self.wrong(at, format!("{}, the chain itself", quote(other)), "another flow");
            } else {
                self.ends(at, other, Some(index), &[]);
            }
        }
    }

    fn flow(&mut self, flow: &Flow, place: &Place) {
        let datagrams = flow.workload.as_ref().is_some_and(Workload::is_of_datagrams);
        if flow.has_programs() || asks_for_programs(flow) {
            self.programs(flow, place);
        } else if datagrams != (flow.cca == NO_CONTROL) {
            let remedy = match datagrams {
                true => "\"none\", since no control governs datagrams,",
                false => "a congestion control, which only datagrams lack,",
            };
            self.wrong(place.key("cca"), quote(&flow.cca), remedy);
        } else if let Some(name) = &flow.stack {
            self.stack(name, flow, place);
        } else if !datagrams && !(self.own)(&flow.cca) {
            self.control(flow, place);
        }
        if let Some(window) = flow.receive_window_bytes.filter(|&bytes| bytes < PACKET_BYTES) {
            let remedy = format!("room for a packet (\"{PACKET_BYTES}b\") or more");
            self.wrong(place.key("receive_window_bytes"), format!("\"{window}b\""), remedy);
        }
        self.lowat(flow, datagrams, place);
        self.accurate_ecn(flow, place);
        if flow.rtt_ns.is_some() {
            self.span(place.key("rtt_ns"), flow.rtt_ns.unwrap_or_default());
        }
        self.times(flow, place);
        self.size(flow, place);
        self.check_route(flow, place);
    }

    /// Accurate ECN is part of kernels since 7.0.
    fn accurate_ecn(&mut self, flow: &Flow, place: &Place) {
        let name = flow.profile.as_ref().unwrap_or(&self.scenario.host.profile);
        let lacks = narrows_tcp::profile(name).is_some_and(|profile| !profile.accurate_ecn);
        if flow.ecn == EcnMode::Accurate && lacks {
            let found = format!("\"accurate\" with the profile {}", quote(name));
            let able = PROFILES.iter().filter(|profile| profile.accurate_ecn);
            let able: Vec<_> = able.map(|profile| quote(profile.name)).collect();
            let remedy = format!("the profile {}", able.join(" or "));
            self.wrong(place.key("ecn"), found, remedy);
        }
    }

    fn lowat(&mut self, flow: &Flow, datagrams: bool, place: &Place) {
        let Some(bytes) = flow.notsent_lowat_bytes else { return };
        let place = place.key("notsent_lowat_bytes");
        if datagrams {
            self.wrong(place, "a mark of TCP for datagrams", "none");
        } else if bytes < PACKET_BYTES {
            let remedy = format!("room for a packet (\"{PACKET_BYTES}b\") or more");
            self.wrong(place, format!("\"{bytes}b\""), remedy);
        }
    }

    /// A flow with a stack of another project, which has few of the keys.
    fn stack(&mut self, name: &str, flow: &Flow, place: &Place) {
        let Some(stack) = stack(name) else {
            let remedy = one_of(name, STACKS.iter().map(|stack| stack.name));
            self.wrong(
                place.key("stack"),
                format!("{}, which is not a stack", quote(name)),
                remedy,
            );
            return;
        };
        if !stack.controls.contains(&flow.cca.as_str()) {
            let found = format!("{}, which {name} lacks", quote(&flow.cca));
            self.wrong(place.key("cca"), found, one_of(&flow.cca, stack.controls.iter().copied()));
        }
        if !matches!(flow.ecn, EcnMode::Off | EcnMode::Classic) {
            let remedy = "\"off\" or \"classic\"";
            self.wrong(place.key("ecn"), "feedback of Linux's TCP", remedy);
        }
        if let Err(fault) = check_values(stack.options, &flow.options) {
            self.wrong(place.key("options").key(&fault.key), fault.found, fault.need);
        }
        let given = [
            ("workload", flow.workload.is_some()),
            ("repeat_gap_ns", flow.repeat_gap_ns.is_some()),
            ("profile", flow.profile.is_some()),
            ("fq", flow.fq.is_some()),
            ("line_rate_bps", flow.line_rate_bps.is_some()),
            ("notsent_lowat_bytes", flow.notsent_lowat_bytes.is_some()),
        ];
        for (key, _) in given.into_iter().filter(|(_, given)| *given) {
            let found = "what only the simulator's own TCP has";
            self.wrong(place.key(key), found, "a flow without `stack`");
        }
    }

    /// A flow whose packets programs make, which has few of the keys.
    fn programs(&mut self, flow: &Flow, place: &Place) {
        for (key, command) in [("server", &flow.server), ("client", &flow.client)] {
            if command.is_empty() {
                let found = format!("no `{key}` beside the flow's other program");
                self.wrong(place.key(key), found, "both programs");
            }
            for (index, argument) in command.iter().enumerate() {
                let known = || PLACEHOLDERS.iter().map(|placeholder| placeholder.name);
                let value = |name: &str| known().any(|known| known == name).then(String::new);
                if let Err(name) = fill(argument, value) {
                    let found = format!("{{{name}}}, which is not a placeholder");
                    self.wrong(place.key(key).index(index), found, one_of(name, known()));
                }
            }
        }
        if flow.cca != NO_CONTROL && !(self.own)(&flow.cca) {
            self.control(flow, place);
        }
        let given = [
            ("stack", flow.stack.is_some()),
            ("options", !flow.options.is_empty()),
            ("size_bytes", flow.size_bytes.is_some()),
            ("workload", flow.workload.is_some()),
            ("deadline_ns", flow.deadline_ns.is_some()),
            ("receive_window_bytes", flow.receive_window_bytes.is_some()),
            ("notsent_lowat_bytes", flow.notsent_lowat_bytes.is_some()),
            ("repeat_gap_ns", flow.repeat_gap_ns.is_some()),
            ("reverse", flow.reverse),
        ];
        for (key, _) in given.into_iter().filter(|(_, given)| *given) {
            let remedy = match key {
                "reverse" => "`sender`, which says which program's host is before the bottleneck,",
                _ => "none, since the programs themselves decide what they send,",
            };
            self.wrong(place.key(key), "a key for what narrows itself sends", remedy);
        }
        if let Some(date) = flow.date.as_ref().filter(|date| !is_date(date)) {
            let remedy = "a day from 1971 to 2199, such as \"2030-01-01\",";
            self.wrong(place.key("date"), quote(date), remedy);
        }
        if flow.syscall_time_ns.is_some_and(|ns| ns > LONGEST_CALL_NS) {
            let found = format_ns(flow.syscall_time_ns.unwrap_or_default());
            self.wrong(place.key("syscall_time_ns"), found, "\"1s\" or less");
        }
        if !matches!(flow.ecn, EcnMode::Off | EcnMode::Classic) {
            let found = "feedback that a program over Linux's TCP can't ask for";
            self.wrong(place.key("ecn"), found, "\"off\" or \"classic\"");
        }
    }

    fn control(&mut self, flow: &Flow, place: &Place) {
        if let Err(reason) = narrows_cc::validate(&flow.cca, &flow.options) {
            let found = format!("{} ({reason})", quote(&flow.cca));
            self.wrong(place.key("cca"), found, "a control with options that it has");
        }
    }

    fn times(&mut self, flow: &Flow, place: &Place) {
        let run = &self.scenario.run;
        let (start, end) = (format_duration(flow.start_ns), format_duration(run.duration_ns));
        if flow.start_ns >= run.duration_ns {
            let remedy = format!("a start before the end of the run (\"{end}\")");
            self.wrong(place.key("start_ns"), quote(&start), remedy);
        }
        if let Some(stop) = flow.stop_ns.filter(|stop| *stop <= flow.start_ns) {
            let remedy = format!("a stop after the start (\"{start}\")");
            self.wrong(place.key("stop_ns"), format_ns(stop), remedy);
        }
    }

    fn size(&mut self, flow: &Flow, place: &Place) {
        let given = [
            ("size_bytes", "size", flow.size_bytes.is_some()),
            ("repeat_gap_ns", "repeat_gap", flow.repeat_gap_ns.is_some()),
            ("while", "while", flow.while_flow.is_some()),
        ];
        if flow.deadline_ns == Some(0) {
            self.wrong(place.key("deadline_ns"), "\"0s\"", "a time above zero");
        }
        let works = |work: &Workload| {
            !matches!(work, Workload::OnOff { .. } | Workload::Udp { .. } | Workload::Ping { .. })
        };
        let ends = flow.size_bytes.is_some() || flow.workload.as_ref().is_some_and(works);
        if flow.deadline_ns.is_some() && !ends {
            let remedy = "a size, or a workload whose transfers end,";
            self.wrong(place.key("deadline_ns"), "a deadline without transfers", remedy);
        }
        if let Some(workload) = &flow.workload {
            for (key, name, _) in given.iter().filter(|given| given.2) {
                let found = format!("`{name}` beside a workload");
                self.wrong(place.key(key), found, "one of the two");
            }
            self.workload(workload, &place.key("workload"));
            return;
        }
        let [sized, repeated, waits] = given.map(|given| given.2);
        if flow.size_bytes == Some(0) {
            self.wrong(place.key("size_bytes"), "\"0b\"", "a size above zero");
        }
        if repeated && !sized {
            let remedy = "a size for each flow, too,";
            self.wrong(place.key("repeat_gap_ns"), "a gap without a size", remedy);
        }
        if sized && flow.stop_ns.is_some() {
            self.wrong(place.key("stop_ns"), "both a size and a stop", "one of the two");
        }
        if waits && !repeated {
            self.wrong(place.key("while"), "`while` without a gap", "a `repeat_gap`, too,");
        }
    }

    fn names(&mut self) {
        for (index, flow) in self.scenario.flows.iter().enumerate() {
            let place = Place::default().key("flows").index(index).key("name");
            if flow.name == ALL {
                let remedy = "another name (`stop_when` gives this one a meaning)";
                self.wrong(place.clone(), "\"all\"", remedy);
            }
            if self.names.flow_numbers(&flow.name).is_some_and(|flows| flows[0] != index) {
                let found = format!("{}, the name of an earlier flow", quote(&flow.name));
                self.wrong(place, found, "a name of its own");
            }
        }
    }

    /// Reports a problem unless `name` means flows that can all be done; `without` is the number of
    /// the flow that asks.
    pub(super) fn ends(&mut self, at: Place, name: &str, without: Option<usize>, also: &[&str]) {
        let flows = &self.scenario.flows;
        let Some(called) = self.names.flow_numbers(name).cloned() else {
            let others = flows.iter().enumerate().filter(|(index, _)| Some(*index) != without);
            let names = others.map(|(_, flow)| flow.name.as_str());
            let mut names = also.iter().copied().chain(names).take(MOST_NAMES).peekable();
            let remedy = match names.peek() {
                Some(_) => one_of(name, names),
                None => "another flow, with this name,".into(),
            };
            self.wrong(at, format!("{}, which is not a flow", quote(name)), remedy);
            return;
        };
        let ends = |&index: &usize| {
            let flow = &flows[index];
            let endless = flow.repeat_gap_ns.is_some() && flow.while_flow.is_none();
            flow.size_bytes.is_some() && !endless
        };
        if !called.iter().all(ends) {
            let remedy = "a flow with a size, repeated only `while` another lasts,";
            self.wrong(at, format!("{}, which never ends", quote(name)), remedy);
        }
    }
}
