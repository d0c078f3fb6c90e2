//! Plays packetdrill scripts against the Linux kernel that it runs on.
//!
//! `narrows-drill JOB.json ...` plays each job's script in its own process and network namespace and
//! writes the result as JSON, and the packets as a capture. It needs the rights to make the namespace
//! and the device. `narrows-drill guest DIRECTORY JOB.json ...` does the same as the first process of
//! a virtual machine, which it sets up and switches off.

use std::fs::{read_to_string, write};
use std::path::Path;
use std::process::ExitCode;

use narrows_base::Time;
use narrows_packetdrill::{Script, Settings, run};
use narrows_pcapng::{Interface, PcapngWriter};

mod calls;
mod guest;
mod job;
mod kernel_end;
mod network;
mod symbols;
#[expect(unsafe_code, reason = "system calls that the standard library doesn't have")]
mod sys;
mod tcp_info;
mod wire;

use job::{Job, JobResult};
use kernel_end::{CrossedPacket, KernelEnd, ScriptStart};

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [word, directory, jobs @ ..] if word == "guest" && !jobs.is_empty() => {
            match guest::run(Path::new(directory), || play_all(jobs, ScriptStart::AtSameSlots)) {
                Ok(never) => match never {},
                Err(message) => {
                    eprintln!("narrows-drill: {message}");
                    ExitCode::FAILURE
                }
            }
        }
        jobs if jobs.first().is_some_and(|first| first != "guest") => {
            if play_all(jobs, ScriptStart::Soon) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        _ => {
            eprintln!("usage: narrows-drill JOB.json ... | guest DIRECTORY JOB.json ...");
            ExitCode::from(2)
        }
    }
}

/// Plays every job; returns whether each has a result.
fn play_all(jobs: &[String], start: ScriptStart) -> bool {
    let mut whole = true;
    for path in jobs {
        // With its process everything that a script leaves behind is gone: descriptors, threads.
        let played = sys::in_child(|| match play_file(path, start) {
            Ok(()) => true,
            Err(message) => {
                eprintln!("narrows-drill: {path}: {message}");
                false
            }
        });
        whole &= played.unwrap_or_else(|error| {
            eprintln!("narrows-drill: {path}: a process: {error}");
            false
        });
    }
    whole
}

fn play_file(path: &str, start: ScriptStart) -> Result<(), String> {
    let text = read_to_string(path).map_err(|error| error.to_string())?;
    let job: Job = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let result = play(&job, start)?;
    let text = serde_json::to_string(&result).map_err(|error| error.to_string())?;
    write(&job.result, text).map_err(|error| format!("{}: {error}", job.result.display()))
}

fn play(job: &Job, start: ScriptStart) -> Result<JobResult, String> {
    let text = match std::fs::read(&job.script) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => return Ok(JobResult::mistake(error.to_string(), None)),
    };
    let script = match Script::parse(&text, &job.defines) {
        Ok(script) => script,
        Err(mistake) => {
            let at = Some((mistake.at.line, mistake.at.column));
            return Ok(JobResult::mistake(mistake.to_string(), at));
        }
    };
    let network = job.network(&script.options)?;
    let tun = network::set_up(&network)?;
    let directory = job.script.parent().unwrap_or(Path::new(".")).to_owned();
    let settings =
        Settings { tolerance_ns: job.tolerance_ns.unwrap_or(Settings::default().tolerance_ns) };
    let tolerance_ns = script.options.tolerance_ns.unwrap_or(settings.tolerance_ns);
    let mut end = KernelEnd::new(network, tun, directory, tolerance_ns, start)
        .map_err(|error| error.to_string())?;
    let report = run(&script, settings, &mut end);
    if let Some(path) = &job.capture {
        capture(path, &end.frames).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(report.into())
}

/// Writes the packets that crossed the device, in ns since the script's start.
fn capture(path: &Path, frames: &[CrossedPacket]) -> std::io::Result<()> {
    let interface = Interface {
        name: "tun0".to_owned(),
        description: "between the kernel and the script's peer".to_owned(),
        snaplen: 0,
    };
    let file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let mut writer = PcapngWriter::new(file, "a packetdrill script", &interface)?;
    for frame in frames {
        let at = Time::from_nanos(u64::try_from(frame.at).unwrap_or(0));
        let length = u32::try_from(frame.bytes.len()).unwrap_or(u32::MAX);
        writer.packet(at, frame.heading, &frame.bytes, length)?;
    }
    writer.finish(0).map(drop)
}
