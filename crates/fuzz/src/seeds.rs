//! Seeds of the inputs: the specifications of `experiments/`, the captures of
//! `tests/data`, and bytes that choose every control and every queue.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use narrows_base::Stream;
use narrows_cc::CONTROLS;
use narrows_net::config::QUEUES;

use crate::capture::BETWEEN;
use crate::specification::CHANGES;

/// Bytes kept of a capture, which hold the beginning of a connection.
const KEPT: usize = 12_000;

fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut found: Vec<PathBuf> = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no {ending} below {folder}");
    found
}

pub fn specifications() -> Vec<Vec<u8>> {
    let read = |path: &PathBuf| fs::read(path).expect("a file of the repository");
    let texts = files("experiments", ".toml").iter().map(read).collect::<Vec<_>>();
    let changed = texts.iter().step_by(4).map(|text| {
        let changes = "path.rate=5mbit\nflows.0.cca=[\"bbr\", \"reno\"]\nrun.trials=2";
        [text, CHANGES.to_string().as_bytes(), changes.as_bytes()].concat()
    });
    let changed = changed.collect::<Vec<_>>();
    let json = texts.iter().step_by(8).filter_map(|text| {
        let document = narrows_spec::Node::from_toml(std::str::from_utf8(text).ok()?).ok()?;
        Some(document.to_json().to_string().into_bytes())
    });
    let json = json.collect::<Vec<_>>();
    [texts, changed, json].concat()
}

pub fn captures() -> Vec<Vec<u8>> {
    let read = |path: &PathBuf| {
        let mut content = Vec::new();
        let file = fs::File::open(path).expect("a file of the repository");
        GzDecoder::new(file).read_to_end(&mut content).expect("a compressed file");
        content.truncate(KEPT);
        content
    };
    let mut seeds: Vec<_> = files("tests/data/captures", ".pcapng.gz").iter().map(read).collect();
    seeds.push(seeds.join(BETWEEN));
    seeds.extend(crate::wire::captures());
    seeds
}

/// Seeds of each control and each queue.
const EACH: usize = 40;

/// Bytes whose first chooses one of `count`; the others are arbitrary.
fn choosing(count: usize, name: &str) -> Vec<Vec<u8>> {
    let mut random = Stream::new(1, name);
    let mut byte = |_| u8::try_from(random.below(256)).expect("a byte");
    let mut seed = |first: usize| {
        let mut seed: Vec<u8> = (0..600).map(&mut byte).collect();
        seed[0] = u8::try_from(first).expect("few");
        seed
    };
    (0..count * EACH).map(|number| seed(number % count)).collect()
}

pub fn controls() -> Vec<Vec<u8>> {
    choosing(CONTROLS.len(), "controls")
}

pub fn queues() -> Vec<Vec<u8>> {
    choosing(QUEUES.len(), "queues")
}
