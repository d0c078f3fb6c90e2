//! The edge of every relation between values: what is just right, and what is just wrong.

use narrows_spec::{Files, Problems, Specification};

use crate::reading::source;

const GOOD: &str = "\
name = \"good\"

[path]
rate = \"8mbit\"
rtt = \"20ms\"
buffer = \"10pkt\"

[[flows]]
cca = \"cubic\"
name = \"first\"

[[flows]]
cca = \"reno\"
name = \"second\"

[run]
duration = \"2s\"
warmup = \"500ms\"
";

fn read(changes: &str) -> Result<Specification, Problems> {
    let changes: Vec<_> = changes.split("; ").filter(|change| !change.is_empty()).collect();
    source(GOOD, &changes).read(&Files::default())
}

/// Changes that are just right, changes that are just wrong, and what is said of those.
struct Edge {
    right: &'static str,
    wrong: &'static str,
    message: &'static str,
}

const EDGES: &[Edge] = &[
    Edge {
        right: "flows.0.start_spread=1999ms",
        wrong: "flows.0.start=500ms; flows.0.start_spread=1500ms",
        message: r#"flows[0].start_spread: found a start of up to "2s"; a start before the end of the run ("2s")"#,
    },
    Edge {
        right: "flows.0.start_spread=900ms; flows.0.stop=1s",
        wrong: "flows.0.start_spread=1s; flows.0.stop=1s",
        message: r#"flows[0].stop: found "1s"; a stop after the start ("1s")"#,
    },
    Edge {
        right: "run.duration=1ns; run.warmup=0s",
        wrong: "run.duration=0s; run.warmup=0s",
        message: r#"run.duration: found "0s"; a duration above zero"#,
    },
    Edge {
        right: "run.duration=1000000s; run.sample_interval=1s",
        wrong: "run.duration=1000001s; run.sample_interval=1s",
        message: r#"run.duration: found "1000001s"; a duration of at most 1000000s"#,
    },
    Edge {
        right: "run.sample_interval=1ns; run.duration=10ms; run.warmup=0s",
        wrong: "run.sample_interval=0s",
        message: r#"run.sample_interval: found "0s"; a duration above zero"#,
    },
    Edge {
        right: "run.warmup=1999ms",
        wrong: "run.warmup=2s",
        message: r#"run.warmup: found "2s"; a warm-up shorter than the run ("2s")"#,
    },
    Edge {
        right: "run.sample_interval=200ns",
        wrong: "run.sample_interval=199ns",
        message: r#"run.sample_interval: found "199ns"; at least "200ns" for a run of this length"#,
    },
    Edge {
        right: "run.stop_when=all; flows.0.size=1kb",
        wrong: "run.stop_when=all",
        message: r#"run.stop_when: found "all" without a flow that ends; a flow with a size"#,
    },
    Edge {
        right: "run.stop_when=first; flows.0.size=1kb",
        wrong: "run.stop_when=second; flows.0.size=1kb",
        message: r#"run.stop_when: found "second", which never ends; a flow with a size, repeated only `while` another lasts,"#,
    },
    Edge {
        right: "run.stop_when=first; flows.0.size=1kb",
        wrong: "run.stop_when=third; flows.0.size=1kb",
        message: r#"run.stop_when: found "third", which is not a flow; one of all, first, second"#,
    },
    Edge {
        right: "host.profile=linux-6.12",
        wrong: "host.profile=linux-6.13",
        message: r#"host.profile: found "linux-6.13", which is not a profile; "linux-6.12""#,
    },
    Edge {
        right: "flows.1.profile=linux-6.12",
        wrong: "flows.1.profile=linux-6.13",
        message: r#"flows[1].profile: found "linux-6.13", which is not a profile; "linux-6.12""#,
    },
    Edge {
        right: "flows.1.receive_window=1500b",
        wrong: "flows.1.receive_window=1499b",
        message: r#"flows[1].receive_window: found "1499b"; room for a packet ("1500b") or more"#,
    },
    Edge {
        right: "flows.1.notsent_lowat=1500b",
        wrong: "flows.1.notsent_lowat=1499b",
        message: r#"flows[1].notsent_lowat: found "1499b"; room for a packet ("1500b") or more"#,
    },
    Edge {
        right: "flows.1.rtt=1ns",
        wrong: "flows.1.rtt=0s",
        message: r#"flows[1].rtt: found "0s"; a duration above zero"#,
    },
    Edge {
        right: "flows.1.start=1999ms",
        wrong: "flows.1.start=2s",
        message: r#"flows[1].start: found "2s"; a start before the end of the run ("2s")"#,
    },
    Edge {
        right: "flows.1.start=1s; flows.1.stop=1001ms",
        wrong: "flows.1.start=1s; flows.1.stop=1s",
        message: r#"flows[1].stop: found "1s"; a stop after the start ("1s")"#,
    },
    Edge {
        right: "flows.1.size=1b",
        wrong: "flows.1.size=0b",
        message: r#"flows[1].size: found "0b"; a size above zero and of at most 1000gb"#,
    },
    Edge {
        right: "flows.1.size=1b; flows.1.repeat_gap=0s",
        wrong: "flows.1.repeat_gap=0s",
        message: "flows[1].repeat_gap: found a gap without a size; a size for each flow, too,",
    },
    Edge {
        right: "flows.1.size=1b",
        wrong: "flows.1.size=1b; flows.1.stop=1s",
        message: "flows[1].stop: found both a size and a stop; one of the two",
    },
    Edge {
        right: "flows.1.size=1b; flows.1.repeat_gap=0s; flows.1.while=first; flows.0.size=1b",
        wrong: "flows.1.size=1b; flows.1.while=first; flows.0.size=1b",
        message: "flows[1].while: found `while` without a gap; a `repeat_gap`, too,",
    },
    Edge {
        right: "",
        wrong: "flows.1.size=1b; flows.1.repeat_gap=0s; flows.1.while=first",
        message: r#"flows[1].while: found "first", which never ends; a flow with a size, repeated only `while` another lasts,"#,
    },
    Edge {
        right: "",
        wrong: "flows.1.size=1b; flows.1.repeat_gap=0s; flows.1.while=second",
        message: r#"flows[1].while: found "second", the chain itself; another flow"#,
    },
    Edge {
        right: "",
        wrong: "flows.1.size=1b; flows.1.repeat_gap=0s; flows.1.while=third",
        message: r#"flows[1].while: found "third", which is not a flow; "first""#,
    },
    Edge {
        right: "flows.1.name=everything",
        wrong: "flows.1.name=all",
        message: r#"flows[1].name: found "all"; another name (`stop_when` gives this one a meaning)"#,
    },
    Edge {
        right: "",
        wrong: "flows.1.name=first",
        message: r#"flows[1].name: found "first", the name of an earlier flow; a name of its own"#,
    },
    Edge {
        right: "path.rate=1000gbit",
        wrong: "path.rate=1001gbit",
        message: r#"path.rate: found "1001gbit"; a rate of at most 1000gbit"#,
    },
    Edge {
        right: "path.rtt=1000000s",
        wrong: "path.rtt=1000001s",
        message: r#"path.rtt: found "1000001s"; a duration of at most 1000000s"#,
    },
    Edge {
        right: "path.buffer=1500b",
        wrong: "path.buffer=1499b",
        message: r#"path.buffer: found "1499b"; room for a packet ("1500b") or more"#,
    },
    Edge {
        right: "path.buffer=1000gb",
        wrong: "path.buffer=1000000000001b",
        message: r#"path.buffer: found "1000000000001b"; at most 1000000000000 b"#,
    },
    Edge {
        right: "path.buffer=1000000000pkt",
        wrong: "path.buffer=1000000001pkt",
        message: r#"path.buffer: found "1000000001pkt"; at most 1000000000 pkt"#,
    },
    Edge {
        right: r#"path.reverse={rate = "1gbit", buffer = "1pkt"}"#,
        wrong: r#"path.reverse={rate = "1001gbit", buffer = "1pkt"}"#,
        message: r#"path.reverse.rate: found "1001gbit"; a rate of at most 1000gbit"#,
    },
    Edge {
        right: r#"path.links=[{name = "a", rate = "1gbit", buffer = "1pkt"}]"#,
        wrong: r#"path.links=[{name = "a", rate = "1gbit", buffer = "1b"}]"#,
        message: r#"path.links[0].buffer: found "1b"; room for a packet ("1500b") or more"#,
    },
    Edge {
        right: "",
        wrong: r#"flows.1.workload={kind = "poisson", rate = "1/s", size = "1kb"}; flows.1.size=1kb"#,
        message: "flows[1].size: found `size` beside a workload; one of the two",
    },
    Edge {
        right: r#"flows.1.workload={kind = "poisson", rate = "1/s", size = "1b"}"#,
        wrong: r#"flows.1.workload={kind = "poisson", rate = "1/s", size = "0b"}"#,
        message: "flows[1].workload.size: found zero; more than zero",
    },
    Edge {
        right: r#"flows.1.workload={kind = "on_off", on = "1ns", off = "1ns"}"#,
        wrong: r#"flows.1.workload={kind = "on_off", on = "0s", off = "0s"}"#,
        message: "flows[1].workload.on: found zero; more than zero",
    },
    Edge {
        right: r#"flows.1.workload={kind = "requests", think = "0s", size = "1b"}"#,
        wrong: r#"flows.1.workload={kind = "requests", think = "0s", size = "0b"}"#,
        message: "flows[1].workload.size: found zero; more than zero",
    },
    Edge {
        right: r#"flows.1.workload={kind = "video", bitrate = "1mbit", chunk = "2s", start = "2s", buffer = "4s"}"#,
        wrong: r#"flows.1.workload={kind = "video", bitrate = "1mbit", chunk = "2s", start = "2s", buffer = "3999ms"}"#,
        message: r#"flows[1].workload.buffer: found "3.999s"; room for `start` and a chunk, "4s" or more,"#,
    },
    Edge {
        right: r#"flows.1.workload={kind = "video", bitrate = "1bit", chunk = "1ns"}"#,
        wrong: r#"flows.1.workload={kind = "video", bitrate = "0bit", chunk = "0s"}"#,
        message: r#"flows[1].workload.bitrate: found "0bit"; a quantity above zero, such as "5mbit","#,
    },
];

#[test]
fn every_relation_has_its_edge_where_it_says() {
    for Edge { right, wrong, message } in EDGES {
        if let Err(problems) = read(right) {
            panic!("{right}: {problems}");
        }
        let Err(problems) = read(wrong) else { panic!("{wrong}: no problem is reported") };
        let first = problems.0[0].to_string();
        assert_eq!(first, format!("--set: {message} would be right"), "{wrong}");
    }
}
