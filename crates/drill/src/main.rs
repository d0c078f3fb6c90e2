//! Plays packetdrill scripts against the Linux kernel that it runs on.
//!
//! `narrows-drill JOB.json ...` plays each job's script in a network namespace of its own and writes
//! the result as JSON, and the packets as a capture. It needs the rights to make the namespace and
//! the device.

use std::fs::{read_to_string, write};
use std::path::Path;
use std::process::ExitCode;

use narrows_base::Time;
use narrows_packetdrill::{Script, Settings, run};
use narrows_pcapng::{Interface, PcapngWriter};

mod calls;
mod job;
mod kernel_end;
mod network;
mod symbols;
#[expect(unsafe_code, reason = "system calls that the standard library doesn't have")]
mod sys;
mod tcp_info;
mod wire;

use job::{Job, JobResult};
use kernel_end::{CrossedPacket, KernelEnd};

fn main() -> ExitCode {
    let jobs: Vec<_> = std::env::args().skip(1).collect();
    if jobs.is_empty() {
        eprintln!("usage: narrows-drill JOB.json ...");
        return ExitCode::from(2);
    }
    for path in jobs {
        if let Err(message) = play_file(&path) {
            eprintln!("narrows-drill: {path}: {message}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn play_file(path: &str) -> Result<(), String> {
    let text = read_to_string(path).map_err(|error| error.to_string())?;
    let job: Job = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let result = play(&job)?;
    let text = serde_json::to_string(&result).map_err(|error| error.to_string())?;
    write(&job.result, text).map_err(|error| format!("{}: {error}", job.result.display()))
}

fn play(job: &Job) -> Result<JobResult, String> {
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
    let mut end =
        KernelEnd::new(network, tun, directory, tolerance_ns).map_err(|error| error.to_string())?;
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
