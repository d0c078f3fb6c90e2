//! Guests that share a path, simulated by threads.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;

use narrows_router::{CoupleConfig, couple};
use rustix::fs::{FileType, Mode, mknodat};
use serde_json::{Value, json};

const MS: u64 = 1_000_000;
const FIRST_PORT: u16 = 5000;

/// Two flows of a guest each; a full packet takes 1 ms at 12 Mbit/s and 10 ms on its way.
fn scenario() -> Value {
    let flow = |name: &str| {
        json!({
            "name": name, "cca": "reno", "options": {}, "ecn": "off", "start_ns": 0, "stop_ns": null,
            "size_bytes": null, "workload": null, "receive_window_bytes": null, "rtt_ns": null,
            "reverse": false, "links": null, "repeat_gap_ns": null, "while": null
        })
    };
    json!({
        "name": "two", "seed": 1, "flows": [flow("a"), flow("b")],
        "path": {
            "rate_bps": 12_000_000, "rtt_ns": 20 * MS, "buffer": {"packets": 1},
            "queue": {"kind": "droptail"}, "service": {"kind": "constant"}, "loss": 0.0,
            "impairments": [], "links": [], "reverse": null
        },
        "host": {
            "profile": "linux-6.12", "fq": false, "jitter_ns": 0, "timer_lateness_ns": 0,
            "gso": false, "metrics_save": false, "gro_ns": 0, "socket_buffers": "raised"
        },
        "run": {
            "duration_ns": 100 * MS, "warmup_ns": 0, "stop_when": null,
            "sample_interval_ns": 10 * MS, "record": "samples"
        }
    })
}

/// An empty directory for a test, with one for each guest.
fn directory(name: &str) -> PathBuf {
    let place = std::env::temp_dir().join(format!("narrows-couple-{name}-{}", std::process::id()));
    fs::create_dir_all(&place).unwrap();
    for guest in 0..2 {
        let guest = place.join(format!("guest-{guest}"));
        fs::create_dir(&guest).unwrap();
        for pipe in ["ask", "answer"] {
            let (kind, mode) = (FileType::Fifo, Mode::RUSR | Mode::WUSR);
            mknodat(rustix::fs::CWD, guest.join(pipe), kind, mode, 0).unwrap();
        }
    }
    place
}

fn config(place: &Path, window_ns: u64) -> CoupleConfig {
    let guest = |number: u32| json!({"directory": place.join(format!("guest-{number}")), "flows": [number]});
    serde_json::from_value(json!({
        "scenario": scenario(), "first_port": FIRST_PORT, "sample_ns": 10 * MS,
        "window_ns": window_ns, "pcap": null, "guests": [guest(0), guest(1)], "out": place
    }))
    .unwrap()
}

/// A packet of a guest's only flow, as the guest writes it down.
fn encode_packet(at: u64) -> Vec<u8> {
    let mut packet = vec![0; 1500];
    (packet[0], packet[9], packet[32]) = (0x45, 6, 0x50);
    packet[22..24].copy_from_slice(&FIRST_PORT.to_be_bytes());
    let length = u32::try_from(packet.len()).unwrap();
    [&at.to_le_bytes()[..], &[0], &length.to_le_bytes(), &packet].concat()
}

/// Plays a guest for some windows and gives the times at which packets reach its receiver.
fn play(place: &Path, times: &[u64], window_ns: u64, windows: u64) -> Vec<u64> {
    let (mut ask, mut answer) = (None, None);
    let mut due = Vec::new();
    for window in 0..windows {
        let span = window * window_ns..(window + 1) * window_ns;
        let packets: Vec<_> = times.iter().filter(|at| span.contains(at)).collect();
        if !packets.is_empty() {
            let rows = packets.iter().flat_map(|&&at| encode_packet(at));
            let bytes: Vec<u8> = 0_u64.to_le_bytes().into_iter().chain(rows).collect();
            fs::write(place.join(format!("out-{window}")), bytes).unwrap();
        }
        let ask =
            ask.get_or_insert_with(|| File::options().write(true).open(place.join("ask")).unwrap());
        ask.write_all(&[0]).unwrap();
        let answer = answer.get_or_insert_with(|| File::open(place.join("answer")).unwrap());
        answer.read_exact(&mut [0]).unwrap();
        let bytes = fs::read(place.join(format!("window-{window}"))).unwrap();
        for row in bytes[8..].chunks(13 + 1500) {
            let at = u64::from_le_bytes(row[..8].try_into().unwrap());
            let next = (window + 1) * window_ns..(window + 2) * window_ns;
            assert!(next.contains(&at) && row[8] == 1, "due in the next window, at the receiver");
            due.push(at);
        }
    }
    due
}

fn run(name: &str, window_ns: u64) -> ([Vec<u64>; 2], String) {
    let place = directory(name);
    let config = config(&place, window_ns);
    // At 1 ms the link is busy with a's first packet: b's second waits, a's second finds no room.
    let times = [vec![0, MS / 4 * 3], vec![MS / 2, 31 * MS]];
    let windows = 80 * MS / window_ns;
    let due = thread::scope(|scope| {
        let guests = [0, 1].map(|number: usize| {
            let (place, times) = (place.join(format!("guest-{number}")), &times[number]);
            scope.spawn(move || play(&place, times, window_ns, windows))
        });
        couple(&config).unwrap();
        guests.map(|guest| guest.join().unwrap())
    });
    let queue = fs::read_to_string(place.join("router_queue.csv")).unwrap();
    fs::remove_dir_all(place).unwrap();
    (due, queue)
}

#[test]
fn packets_of_all_guests_meet_one_queue() {
    let (due, queue) = run("meet", 10 * MS);
    assert_eq!(due, [vec![11 * MS], vec![12 * MS, 42 * MS]]);
    let last = queue.lines().last().unwrap();
    assert!(last.ends_with(",4,1,0,3,4500"), "arrived, dropped, marked, forwarded: {last}");
}

#[test]
fn the_length_of_a_window_changes_nothing() {
    let queue = |(due, queue): ([Vec<u64>; 2], String)| {
        let rows: Vec<_> = queue.lines().take(8).map(str::to_owned).collect();
        (due, rows)
    };
    assert_eq!(queue(run("long", 10 * MS)), queue(run("short", MS)));
}

#[test]
fn a_window_that_is_longer_than_the_way_is_refused() {
    let place = directory("refused");
    let refused = couple(&config(&place, 10 * MS + 1));
    fs::remove_dir_all(place).unwrap();
    assert!(refused.unwrap_err().to_string().contains("as short as the shortest way"));
}
