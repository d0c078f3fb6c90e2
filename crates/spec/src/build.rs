//! Builds the scenario of the first run from the values of a specification.

use std::collections::BTreeMap;

use narrows_base::registry::{EcnNeed, Role};
use narrows_base::{Bytes, Dscp};
use serde::de::DeserializeOwned;

use crate::place::{Place, Step};
use crate::problem::{Problem, ProblemKind};
use crate::read::Values;
use crate::scenario::{
    Change, EcnMode, Flow, Host, Limit, LinkConfig, PathConfig, Program, Run, Scenario,
};
use crate::units::{Size, SizeUnit, bdp_bytes};

/// Placeholder for a missing buffer, so that the rest can be checked.
const STAND_IN: Limit = Limit::Bytes(Bytes::new(1_000_000));

/// A scenario, and the spelling of its parts.
pub(crate) struct BuiltScenario {
    pub(crate) scenario: Scenario,
    /// The class of each flow.
    pub(crate) groups: Vec<String>,
    /// Buffers that are missing or given twice.
    pub(crate) problems: Vec<Problem>,
    /// The number of each flow's entry.
    entries: Vec<usize>,
    /// Entries without their own receive window.
    without_window: Vec<bool>,
    /// The `start_spread` of each entry in ns; 0 without one.
    spreads: Vec<u64>,
    /// Where and how each buffer was written, by its place in the scenario.
    rooms: BTreeMap<Place, (Place, Option<Size>)>,
}

/// A link of the path: its values and its place.
struct LinkSpec<'a> {
    values: &'a Values,
    place: Place,
    rtt_ns: u64,
}

/// The scenario of the first run.
pub(crate) fn build(values: &Values) -> BuiltScenario {
    let (path, host, run) = (values.table("path"), values.table("host"), values.table("run"));
    let entries = values.tables("flows");
    let mut builder = Builder::default();
    let path = builder.path(&path);
    let flows = flows(&entries, &host);
    let scenario = Scenario {
        name: values.text("name"),
        seed: run.whole("seed"),
        path,
        flows: flows.iter().map(|flow| flow.2.clone()).collect(),
        host: of_host(&host),
        run: of_run(&run),
        changes: values.tables("changes").iter().map(of_change).collect(),
    };
    BuiltScenario {
        scenario,
        groups: flows.iter().map(|flow| flow.1.clone()).collect(),
        problems: builder.problems,
        entries: flows.iter().map(|flow| flow.0).collect(),
        without_window: entries
            .iter()
            .map(|entry| entry.some_whole("receive_window").is_none())
            .collect(),
        spreads: entries
            .iter()
            .map(|entry| entry.some_whole("start_spread").unwrap_or(0))
            .collect(),
        rooms: builder.rooms,
    }
}

#[derive(Default)]
struct Builder {
    problems: Vec<Problem>,
    rooms: BTreeMap<Place, (Place, Option<Size>)>,
}

impl Builder {
    fn path(&mut self, path: &Values) -> PathConfig {
        let (rtt_ns, place) = (path.whole("rtt"), Place::default().key("path"));
        let first = self.link(&LinkSpec { values: path, place: place.clone(), rtt_ns });
        let links = path.tables("links");
        let links = links.iter().enumerate().map(|(index, values)| {
            let place = place.key("links").index(index);
            LinkConfig {
                name: values.text("name"),
                ..self.link(&LinkSpec { values, place, rtt_ns })
            }
        });
        let links = links.collect();
        let reverse = path.some_table("reverse").map(|values| {
            let written = LinkSpec { values: &values, place: place.key("reverse"), rtt_ns };
            LinkConfig { name: "reverse".into(), ..self.link(&written) }
        });
        PathConfig {
            rate_bps: first.rate_bps,
            rtt_ns,
            buffer: first.buffer,
            queue: first.queue,
            service: first.service,
            loss: path.number("loss"),
            impairments: path.impairments("impairments"),
            links,
            reverse,
        }
    }

    fn link(&mut self, written: &LinkSpec<'_>) -> LinkConfig {
        let rate_bps = written.values.whole("rate");
        LinkConfig {
            name: String::new(),
            rate_bps,
            buffer: self.buffer_limit(written, rate_bps),
            queue: written.values.element("queue").on(rate_bps),
            service: written.values.element("service").on(rate_bps),
        }
    }

    /// The buffer of a queue, which may be given only once.
    fn buffer_limit(&mut self, written: &LinkSpec<'_>, rate_bps: u64) -> Limit {
        let queue = written.values.element("queue");
        let buffer = written.values.some_room("buffer");
        let place = written.place.key("buffer");
        let at = if queue.limit.is_some() {
            written.place.key("queue").key("limit")
        } else {
            place.clone()
        };
        let mut wrong = |found: &str, remedy: &str| {
            self.problems.push(Problem::new(ProblemKind::Relation, at.clone(), found, remedy));
        };
        if buffer.is_some() && queue.limit.is_some() {
            wrong("both a buffer and a limit", "one of the two");
        }
        let size = queue.limit.clone().or(buffer);
        let limit = queue.limit_as(size.as_ref(), &bdp_bytes(rate_bps, written.rtt_ns));
        let limit = limit.unwrap_or_else(|| {
            wrong("nothing", "a size such as \"1.75bdp\", \"250kb\" or \"100pkt\"");
            STAND_IN
        });
        self.rooms.insert(place, (at, size));
        limit
    }
}

impl BuiltScenario {
    /// How much later than `start` each flow can start, in ns.
    pub(crate) fn start_spreads(&self) -> Vec<u64> {
        self.entries.iter().map(|&entry| self.spreads[entry]).collect()
    }

    /// The place in the specification from which a place of the scenario comes, and what was found
    /// there.
    pub(crate) fn in_document(&self, place: &Place, found: String) -> (Place, String) {
        if let Some((at, size)) = self.rooms.get(place) {
            let relative = size.as_ref().filter(|size| size.unit == SizeUnit::Bdp);
            let shown =
                relative.map(|size| format!("\"{}\" ({})", size.spell(), found.trim_matches('"')));
            return (at.clone(), shown.unwrap_or(found));
        }
        let mut steps = place.0.clone();
        if let [Step::Key(flows), Step::Index(index), ..] = steps.as_mut_slice()
            && flows == "flows"
        {
            *index = self.entries[*index];
            let window = steps.last() == Some(&Step::Key("receive_window_bytes".into()));
            if window && self.without_window[steps_index(&steps)] {
                return (Place::default().key("host").key("receive_window"), found);
            }
            let start = steps.last() == Some(&Step::Key("start_ns".into()));
            if start && self.spreads[steps_index(&steps)] > 0 {
                let entry = Place::default().key("flows").index(steps_index(&steps));
                return (entry.key("start_spread"), format!("a start of up to {found}"));
            }
        }
        if let Some(Step::Key(key)) = steps.last_mut() {
            *key = without_unit(key).into();
        }
        (Place(steps), found)
    }
}

fn steps_index(steps: &[Step]) -> usize {
    match steps.get(1) {
        Some(Step::Index(index)) => *index,
        _ => 0,
    }
}

/// The key of a specification from which a key of a scenario comes.
fn without_unit(key: &str) -> &str {
    if key == "opportunities_ms" {
        return "file";
    }
    let suffixes = ["_ns", "_bps", "_bytes", "_packets"];
    suffixes.iter().find_map(|suffix| key.strip_suffix(suffix)).unwrap_or(key)
}

/// Every flow in the order of ids, with its entry and its class.
///
/// A named entry gives `name`, or `name-1`, `name-2` ... if its count is above one; the
/// others are numbered by control, and by stack if they have one of another project: `bbr-1`,
/// `bbr-2`, `cubic-1`, `quinn-cubic-1`.
fn flows(entries: &[Values], host: &Values) -> Vec<(usize, String, Flow)> {
    let mut numbers: BTreeMap<String, u64> = BTreeMap::new();
    let mut flows = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let (given, count) = (entry.some_text("name"), entry.whole("count"));
        let kind = match entry.some_text("stack") {
            Some(stack) => format!("{stack}-{}", entry.text("cca")),
            None if entry.some_names("client").is_some() => "programs".into(),
            None => entry.text("cca"),
        };
        for copy in 1..=count {
            let name = match &given {
                Some(name) if count == 1 => name.clone(),
                Some(name) => format!("{name}-{copy}"),
                None => {
                    let number = numbers.entry(kind.clone()).or_default();
                    *number += 1;
                    format!("{kind}-{number}")
                }
            };
            let group = given.clone().unwrap_or_else(|| kind.clone());
            flows.push((index, group, flow(name, entry, host)));
        }
    }
    flows
}

fn flow(name: String, entry: &Values, host: &Values) -> Flow {
    let cca = entry.text("cca");
    let own = entry.some_text("stack").is_none();
    let info = narrows_cc::info(&cca).filter(|_| own);
    let need = match info.map(|info| info.role) {
        Some(Role::Control { ecn: Some(EcnNeed::Dctcp), .. }) => Some(EcnMode::Dctcp),
        Some(Role::Control { ecn: Some(EcnNeed::L4s), .. }) => Some(EcnMode::L4s),
        _ => None,
    };
    let given = entry.some_text("ecn").map(|word| of_word(&word));
    let window = entry.some_whole("receive_window");
    let [server, client] =
        ["server", "client"].map(|key| entry.some_names(key).unwrap_or_default());
    let has_programs = !server.is_empty() || !client.is_empty();
    Flow {
        name,
        stack: entry.some_text("stack"),
        options: entry.options("options"),
        ecn: given.or(need).unwrap_or_else(|| of_word(&host.text("ecn"))),
        start_ns: entry.whole("start"),
        stop_ns: entry.some_whole("stop"),
        size_bytes: entry.some_whole("size"),
        workload: entry.some_workload("workload"),
        deadline_ns: entry.some_whole("deadline"),
        receive_window_bytes: window.or_else(|| host.some_whole("receive_window")),
        notsent_lowat_bytes: entry.some_whole("notsent_lowat"),
        rtt_ns: entry.some_whole("rtt"),
        reverse: entry.flag("reverse"),
        links: entry.some_names("links"),
        repeat_gap_ns: entry.some_whole("repeat_gap"),
        while_flow: entry.some_text("while"),
        dscp: entry.some_text("dscp").as_deref().and_then(Dscp::from_name),
        profile: entry.some_text("profile"),
        fq: entry.some_flag("fq"),
        kernel: entry.some_text("kernel"),
        line_rate_bps: entry.some_whole("line_rate"),
        sysctls: entry.some_sysctls("sysctls").unwrap_or_default(),
        sender: entry
            .some_text("sender")
            .map(|word| of_word(&word))
            .or_else(|| has_programs.then_some(Program::Server)),
        server,
        client,
        syscall_time_ns: entry.some_whole("syscall_time"),
        date: entry.some_text("date"),
        cca,
    }
}

fn of_host(host: &Values) -> Host {
    Host {
        profile: host.text("profile"),
        fq: host.flag("fq"),
        jitter_ns: host.whole("jitter"),
        timer_lateness_ns: host.whole("timer_lateness"),
        gso: host.flag("gso"),
        metrics_save: host.flag("metrics_save"),
        gro_ns: host.whole("gro"),
        socket_buffers: of_word(&host.text("socket_buffers")),
    }
}

fn of_run(run: &Values) -> Run {
    Run {
        duration_ns: run.whole("duration"),
        warmup_ns: run.whole("warmup"),
        stop_when: run.some_text("stop_when"),
        sample_interval_ns: run.whole("sample_interval"),
        record: of_word(&run.text("record")),
    }
}

fn of_change(change: &Values) -> Change {
    Change {
        at_ns: change.whole("at"),
        link: change.some_text("link"),
        rate_bps: change.some_whole("rate"),
        rtt_ns: change.some_whole("rtt"),
        loss: change.some_number("loss"),
        flow: change.some_text("flow"),
        stop: change.flag("stop"),
        window_packets: change.some_whole("window").and_then(|packets| packets.try_into().ok()),
        pacing_rate_bps: change.some_whole("pacing_rate"),
        end: change.flag("end"),
    }
}

/// The meaning of a word in a scenario.
fn of_word<T: DeserializeOwned>(word: &str) -> T {
    serde_json::from_value(word.into()).expect("the words of a key are those of the scenario")
}
