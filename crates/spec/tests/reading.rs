//! Reads specifications and studies as a program that uses the crate does.

use std::path::{Path, PathBuf};

use narrows_spec::{Assignment, Files, Node, Problem, Source, Specification, Study};

const GOOD: &str = "\
name = \"good\"

[path]
rate = \"8mbit\"
rtt = \"20ms\"
buffer = \"1bdp\"

[[flows]]
cca = \"cubic\"

[run]
duration = \"2s\"
warmup = \"500ms\"
";

/// The text with these changes, as `good.toml`.
pub(crate) fn source(text: &str, changes: &[&str]) -> Source {
    let document = Node::from_toml(text).expect("it is TOML");
    let changes =
        changes.iter().map(|change| Assignment::parse(change, "--set").unwrap()).collect();
    Source::new(&document, changes, "test", Some("good.toml")).expect("places that exist")
}

fn read(text: &str, changes: &[&str]) -> Specification {
    source(text, changes).read(&Files::default()).expect("it is right")
}

fn problems(text: &str, changes: &[&str]) -> Vec<Problem> {
    source(text, changes).read(&Files::default()).expect_err("it is wrong").0
}

#[test]
fn a_specification_becomes_one_text() {
    assert_eq!(
        read(GOOD, &["run.trials=2"]).canonical(2),
        concat!(
            r#"{"flows":[{"cca":"cubic","ecn":"off","links":null,"name":"cubic-1","options":{},"#,
            r#""receive_window_bytes":null,"repeat_gap_ns":null,"reverse":false,"rtt_ns":null,"#,
            r#""size_bytes":null,"start_ns":0,"stop_ns":null,"while":null,"workload":null}],"#,
            r#""host":{"fq":false,"gro_ns":0,"gso":false,"jitter_ns":0,"metrics_save":false,"#,
            r#""profile":"linux-6.12","socket_buffers":"raised","timer_lateness_ns":0},"#,
            r#""name":"good","path":{"buffer":{"bytes":20000},"impairments":[],"links":[],"loss":0.0,"#,
            r#""queue":{"kind":"droptail"},"rate_bps":8000000,"reverse":null,"rtt_ns":20000000,"#,
            r#""service":{"kind":"constant"}},"run":{"duration_ns":2000000000,"record":"samples","#,
            r#""sample_interval_ns":100000000,"stop_when":null,"warmup_ns":500000000},"seed":2}"#,
        )
    );
}

#[test]
fn starts_are_spread_anew_in_every_trial_and_by_nothing_but_seed_and_name() {
    let starts = |changes: &[&str], trial| -> Vec<u64> {
        let spread = ["flows.0.name=user", "flows.0.start=200ms", "run.trials=2"];
        let read = read(GOOD, &[&spread, changes].concat());
        read.scenario_of(trial).flows.iter().map(|flow| flow.start_ns / 1_000_000).collect()
    };
    assert_eq!(starts(&["flows.0.count=3"], 1), [200; 3]);
    let spread = ["flows.0.count=400", "flows.0.start_spread=1s"];
    let [first, second] = [1, 2].map(|trial| starts(&spread, trial));
    assert!(first.iter().chain(&second).all(|start| (200..1200).contains(start)));
    let early = first.iter().filter(|start| **start < 700).count();
    assert!((160..240).contains(&early), "{early} of 400 in the first half");
    assert_ne!(first, second);
    assert_eq!(starts(&[&spread[..], &["run.seed=2"]].concat(), 1), second);
    assert_eq!(starts(&["flows.0.count=3", spread[1]], 1), first[..3]);
}

#[test]
fn only_applications_that_pause_keep_little_unsent() {
    let lowat = |changes: &[&str]| {
        read(GOOD, changes).scenario.flows.first().expect("a flow").notsent_lowat()
    };
    let workload = |kind: &str| lowat(&[&format!("flows.0.workload={{kind = {kind}}}")]);
    assert_eq!(lowat(&[]), None);
    assert_eq!(lowat(&["flows.0.size=1mb"]), None);
    assert_eq!(workload(r#""arrivals", gap = "1s", size = "1mb""#), None);
    assert_eq!(workload(r#""on_off", on = "1s", off = "1s""#), Some(32_768));
    assert_eq!(lowat(&["flows.0.notsent_lowat=128kb"]), Some(128_000));
    let pausing = r#"flows.0.workload={kind = "on_off", on = "1s", off = "1s"}"#;
    assert_eq!(lowat(&[pausing, "flows.0.notsent_lowat=4kb"]), Some(4_000));
    for other in ["flows.0.cca=none", "flows.0.stack=quinn"] {
        let udp = r#"flows.0.workload={kind = "udp", rate = "1mbit"}"#;
        let changes = [other, "flows.0.notsent_lowat=128kb", udp];
        let given = if other.ends_with("none") { &changes[..] } else { &changes[..2] };
        let found = problems(GOOD, given);
        let is_named = |one: &Problem| one.place.to_string() == "flows[0].notsent_lowat";
        assert!(found.iter().any(is_named), "{other}: {found:?}");
    }
}

#[test]
fn a_run_lasts_30_s_unless_it_says_otherwise() {
    let end = GOOD.find("[run]").expect("it has the section");
    let read = read(&GOOD[..end], &[]);
    assert!(read.canonical(1).contains(r#""duration_ns":30000000000"#));
}

#[test]
fn values_separated_by_commas_are_a_list() {
    let value = |change: &str| Assignment::parse(change, "--set").unwrap().value.describe();
    let combinations = |change: &str| {
        let study = Study::read(&source(GOOD, &[change])).expect("it has an axis");
        study.points().expect("they are few").len()
    };
    assert_eq!(combinations("path.buffer=1bdp,2bdp"), 2);
    assert_eq!(combinations("path.loss=0,0.01,0.02"), 3);
    for single in ["name=a, b", "name=a,", "name=,", "name='a,b'", "path.buffer=1bdp"] {
        assert!(!value(single).contains("list"), "{single}");
    }
}

#[test]
fn remedies_suggest_the_likely_intention() {
    for (cca, remedy) in [
        ("\"newreno\"", "\"reno\""),
        (
            "\"reno, cubic\"",
            "a [[flows]] for each, or in a study a list, cca = [\"reno\", \"cubic\"],",
        ),
        ("\"reno\"\noptions.cwnd_gain = 2", "a control that has it, bbr"),
        ("\"reno\"\noptions.zzz = 2", "one of its options, hystart"),
        ("\"reno\"\noptions.hystrat = 2", "\"hystart\""),
        (
            "\"reno\"\nsize = \"1mb\"\nrepeat_gap = \"1s\"\nwhile = \"x\"",
            "another flow, with this name,",
        ),
    ] {
        let found = problems(&GOOD.replace("\"cubic\"", cca), &[]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].remedy.starts_with(remedy), "{}", found[0].remedy);
    }
}

#[test]
fn every_problem_is_reported_with_its_line() {
    let text = GOOD.replace("8mbit", "8ms").replace("\"cubic\"", "\"cubik\"");
    let messages: Vec<_> = problems(&text, &[]).iter().map(ToString::to_string).collect();
    assert!(messages[0].starts_with("good.toml:4:8: path.rate: found the unit \"ms\" in \"8ms\""));
    assert!(messages[1].starts_with("good.toml:9:7: flows[0].cca: found \"cubik\""));
    assert!(messages[1].ends_with("; \"cubic\" would be right"));
    assert_eq!(messages.len(), 2);
}

#[test]
fn a_problem_of_the_whole_is_reported_where_it_was_written() {
    let text = GOOD.replace("cca = \"cubic\"\n", "cca = \"cubic\"\ncount = 2\nstart = \"9s\"\n");
    let [problem] = problems(&text, &[]).try_into().expect("one, though there are two flows");
    assert_eq!(
        problem.to_string(),
        concat!(
            "good.toml:11:9: flows[0].start: found \"9s\"; ",
            "a start before the end of the run (\"2s\") would be right",
        )
    );
    let [problem] = problems(GOOD, &["path.buffer=0.01bdp"]).try_into().unwrap();
    assert_eq!(
        problem.to_string(),
        concat!(
            "--set: path.buffer: found \"0.01bdp\" (200b); ",
            "room for a packet (\"1500b\") or more would be right",
        )
    );
    let red = "path.queue={kind = \"red\", min = \"90kb\", max = \"30kb\"}";
    let [problem] = problems(GOOD, &[red]).try_into().unwrap();
    assert_eq!(problem.place.to_string(), "path.queue.min");
}

#[test]
fn a_queue_has_classes_and_flows_their_code_point() {
    let classes = "path.queue={kind = \"htb\", classes = [{dscp = \"ef\", rate = \"1mbit\"}, {rate = \"2mbit\", ceil = \"4mbit\"}]}";
    let read = read(GOOD, &[classes, "flows.0.dscp=ef"]);
    let text = read.canonical(1);
    let first = r#"{"burst_bytes":1600,"cburst_bytes":1600,"ceil_bps":null,"dscp":"ef","prio":0,"quantum_bytes":null,"rate_bps":1000000}"#;
    assert!(text.contains(first), "{text}");
    assert!(text.contains(r#""dscp":"ef","ecn""#), "{text}");
    for (wrong, with, place) in [
        ("ef", "expedited", "path.queue.classes[0].dscp"),
        ("dscp = \"ef\", ", "", "path.queue.classes[1].dscp"),
        ("4mbit", "1mbit", "path.queue.classes[1].ceil"),
        ("{rate", "{dscp = \"cs1\", rate", "path.queue.classes"),
        ("ceil", "top", "path.queue.classes[1].top"),
        ("rate = \"2mbit\"", "prio = 2", "path.queue.classes[1].rate"),
        ("ceil = \"4mbit\"", "prio = 8", "path.queue.classes[1].prio"),
    ] {
        let [problem] = problems(GOOD, &[&classes.replace(wrong, with)]).try_into().unwrap();
        assert_eq!(problem.place.to_string(), place, "{problem}");
    }
    let [problem] =
        problems(GOOD, &["path.queue={kind = \"htb\", classes = []}"]).try_into().unwrap();
    assert_eq!(problem.place.to_string(), "path.queue.classes");
    let [problem] = problems(GOOD, &["flows.0.dscp=46"]).try_into().unwrap();
    assert_eq!(problem.place.to_string(), "flows[0].dscp");
}

#[test]
fn files_come_from_the_caller_alone() {
    let trace = "path.service={kind = \"trace\", file = \"a.trace\"}";
    let files = Files([("a.trace".to_owned(), "2\n2\n5\n".to_owned())].into());
    let read = source(GOOD, &[trace]).read(&files).expect("it is right");
    assert!(read.canonical(1).contains(r#""service":{"kind":"trace","opportunities_ms":[2,2,5]}"#));
    let [problem] = problems(GOOD, &[trace]).try_into().unwrap();
    assert_eq!(problem.place.to_string(), "path.service.file");
    assert_eq!(problem.found, "\"a.trace\", which wasn't given");
}

#[test]
fn a_study_gives_its_combinations() {
    let source = source(GOOD, &["path.rate=[\"8mbit\", \"9mbit\"]", "run.seed=[1, 2, 3]"]);
    let study = Study::read(&source).expect("it has axes");
    let points = study.points().expect("there are few");
    assert_eq!(points.len(), 6);
    let last = study.specification(&points[5], &Files::default()).expect("it is right");
    assert_eq!((last.scenario.path.rate_bps, last.scenario.seed), (9_000_000, 3));
}

/// No value takes long to read, and none makes the reader panic.
#[test]
fn absurd_values_are_reported_at_once() {
    let long = "9".repeat(401);
    for (place, value) in [
        ("path.rate", format!("{long}mbit")),
        ("path.rate", long.clone()),
        ("path.loss", "1e999999999".to_owned()),
        ("path.loss", format!("0.{long}e-999999999")),
        ("flows.0.workload", "{kind=\"poisson\", rate=\"1e999999999/s\", size=\"1b\"}".to_owned()),
        ("flows.0.workload", format!("{{kind=\"poisson\", rate=\"{long}/s\", size=\"1b\"}}")),
        ("path.rtt", "\0".to_owned()),
        ("path.rtt", "[".repeat(100_000)),
        ("run.seed", format!("-{long}")),
    ] {
        let change = format!("{place}={value}");
        let document = Node::from_toml(GOOD).unwrap();
        let changes = vec![Assignment::parse(&change, "--set").unwrap()];
        let source = Source::new(&document, changes, "test", None).unwrap();
        match source.read(&Files::default()) {
            Ok(_) => assert_eq!(place, "path.loss", "{value:.20}: a loss of almost nothing"),
            Err(problems) => assert!(problems.to_string().len() < 500, "{value:.20}"),
        }
    }
}

/// There is a limit because reading takes time that grows with the square of a table's keys.
#[test]
fn a_table_has_a_thousand_keys_at_most() {
    let document = |count: usize| {
        let keys: Vec<_> = (0..count).map(|key| format!("tcp_{key} = 1")).collect();
        format!("[run]\n[[flows]]\nsysctls = {{ {} }}\n", keys.join(", "))
    };
    assert!(Node::from_toml(&document(1_000)).is_ok());
    let message = Node::from_toml(&document(1_001)).expect_err("one too many").to_string();
    assert_eq!(
        message,
        "line 3, column 11: flows[0].sysctls: found 1001 keys; at most 1000 in a table would be right"
    );
    let entries: Vec<_> = (0..1_001).map(|key| format!("\"{key}\": 1")).collect();
    assert!(Node::from_json(&format!("{{\"a\": [{{{}}}]}}", entries.join(", "))).is_err());
}

/// Only experiments that name files or controls in Python can't be read by the crate alone.
#[test]
fn every_experiment_reads() {
    let mut files = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    gather(&root, &mut files);
    assert!(files.len() > 20);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let Ok(document) = Node::from_toml(&text) else { panic!("{}", file.display()) };
        let source = Source::new(&document, Vec::new(), "experiment", None).unwrap();
        let study = Study::read(&source).unwrap_or_else(|p| panic!("{}: {p}", file.display()));
        let point = &study.points().unwrap()[0];
        if let Err(problems) = study.specification(point, &Files::default()) {
            let outside = |problem: &Problem| {
                problem.found.contains("wasn't given") || problem.found.contains("Python")
            };
            assert!(problems.0.iter().all(outside), "{}: {problems}", file.display());
        }
    }
}

fn gather(directory: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(directory).unwrap().flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            gather(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "toml")
            && path.file_name().is_some_and(|name| name != "Cargo.toml")
        {
            files.push(path);
        }
    }
}

#[test]
fn a_key_that_json_has_twice_is_refused() {
    let problems =
        Node::from_json(r#"{"run": {"seed": 1}, "run": {"seed": 2}}"#).expect_err("twice");
    assert!(
        problems.0[0].found.starts_with("no JSON (the key \"run\" twice at line 1"),
        "{problems:?}"
    );
}

const CASES: &str = r#"
name = "study"
path = { rate = "8mbit", rtt = "20ms", buffer = "1bdp" }
run = { duration = "2s" }

[[sweep.cases]]
name = "alone"
flows = [{ cca = "reno" }]

[[sweep.cases]]
name = "together"
path = { buffer = "4bdp" }
flows = [{ cca = "cubic" }, { cca = "bbr" }]
"#;

/// The name, delay in ms and controls of each combination of `CASES` with these changes.
fn cases(changes: &[&str]) -> Vec<(String, u64, Vec<String>)> {
    let study = Study::read(&source(CASES, changes)).expect("it has cases");
    let points = study.points().expect("there are few");
    let read = |point| study.specification(point, &Files::default()).expect("it is right");
    let summary = |read: Specification| {
        let controls = read.scenario.flows.iter().map(|flow| flow.cca.clone()).collect();
        (read.name, read.scenario.path.rtt_ns / 1_000_000, controls)
    };
    points.iter().map(read).map(summary).collect()
}

#[test]
fn a_case_sets_its_own_places() {
    let study = Study::read(&source(CASES, &[])).expect("it has cases");
    let axes: Vec<_> = study.groups.iter().flatten().map(|axis| axis.place.to_string()).collect();
    assert_eq!(axes, ["case"]);
    let deep = |point| {
        let read = study.specification(point, &Files::default()).expect("it is right");
        read.canonical(1).contains(r#""buffer":{"bytes":80000}"#)
    };
    let deep: Vec<_> = study.points().expect("there are few").iter().map(deep).collect();
    assert_eq!(deep, [false, true]);
    assert_eq!(
        cases(&[]),
        [
            ("alone".to_owned(), 20, vec!["reno".to_owned()]),
            ("together".to_owned(), 20, vec!["cubic".to_owned(), "bbr".to_owned()]),
        ]
    );
}

#[test]
fn an_option_overrides_a_case() {
    let found = cases(&["flows.0.cca=vegas", "path.rtt=40ms", "name=other"]);
    assert_eq!(
        found,
        [
            ("alone".to_owned(), 40, vec!["vegas".to_owned()]),
            ("together".to_owned(), 40, vec!["vegas".to_owned(), "bbr".to_owned()]),
        ]
    );
    let study = Study::read(&source(CASES, &["path.buffer=2bdp"])).expect("it has cases");
    for point in study.points().unwrap() {
        let read = study.specification(&point, &Files::default()).unwrap();
        assert!(read.canonical(1).contains(r#""buffer":{"bytes":40000}"#), "{}", read.name);
    }
}

#[test]
fn cases_and_axes_are_combined() {
    let study = Study::read(&source(CASES, &["path.rate=8mbit,9mbit"])).expect("it has axes");
    let read = |point| study.specification(point, &Files::default()).expect("it is right");
    let points = study.points().expect("there are few");
    let found =
        points.iter().map(read).map(|one| (one.name, one.scenario.path.rate_bps / 1_000_000));
    let expected = [("alone", 8), ("alone", 9), ("together", 8), ("together", 9)];
    assert!(found.eq(expected.map(|(name, rate)| (name.to_owned(), rate))));
}

#[test]
fn a_wrong_case_is_reported_with_its_line() {
    for (from, to, message) in [
        ("\"together\"", "\"alone\"", "11:8: sweep.cases[1].name: found \"alone\" a second time"),
        ("name = \"alone\"\n", "", "sweep.cases[0].name: found nothing; a name"),
        ("buffer = \"4bdp\"", "bufer = \"4bdp\"", "12:18: path.bufer: found an unknown key"),
    ] {
        let source = source(&CASES.replacen(from, to, 1), &[]);
        let problems = Study::read(&source)
            .and_then(|study| study.specification(&study.points()?[1], &Files::default()).map(drop))
            .unwrap_err();
        assert!(problems.to_string().contains(message), "{problems}");
    }
}
