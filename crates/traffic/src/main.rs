//! Sends, receives and samples real TCP flows with as few system calls as possible.
//!
//! `narrows-traffic CONFIG.json` does one run between existing namespaces, in one process, and
//! writes CSV files. `narrows-traffic power-off` ends the virtual machine whose first process it
//! is. `narrows-traffic clock` answers each line with CLOCK_MONOTONIC and CLOCK_REALTIME in ns.
//! `narrows-traffic charge NS PROGRAM ARGUMENT...` runs a program whose system calls take time.

use std::io::Write as _;
use std::process::ExitCode;

use narrows_linux::clock::{monotonic_ns, realtime_ns};
use narrows_linux::process::power_off;

mod capture;
mod charge;
mod config;
mod connection;
mod diag;
mod flow;
mod info;
mod iperf;
mod open_loop;
mod output;
mod packet_file;
mod packet_thread;
mod part;
mod program;
mod programs;
mod queue;
mod receiver;
mod run;
mod sender;
mod session;
mod stage;
mod stop;
mod waits;

fn run_file(path: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let config: config::TrafficConfig =
        serde_json::from_str(&text).map_err(|e| format!("{path}: {e}"))?;
    config.check().map_err(|e| format!("{path}: {e}"))?;
    let run = if config.part.is_some() { part::run } else { run::run };
    run(&config).map_err(|e| e.to_string())
}

/// Answers each line of standard input with both clocks, so that another host learns how far they
/// are from its own.
fn tell_clocks() -> std::io::Result<()> {
    let mut out = std::io::stdout();
    for line in std::io::stdin().lines() {
        line?;
        writeln!(out, "{} {}", monotonic_ns(), realtime_ns())?;
        out.flush()?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let done = match args.next().as_deref() {
        Some("clock") => tell_clocks().map_err(|e| e.to_string()),
        Some("power-off") => power_off().map(drop).map_err(|e| format!("power-off: {e}")),
        Some("charge") => {
            let cost = args.next();
            match charge::run(cost, &args.collect::<Vec<_>>()) {
                Ok(code) => return code,
                Err(message) => Err(message),
            }
        }
        Some(path) => run_file(path),
        None => {
            eprintln!(
                "usage: narrows-traffic CONFIG.json | charge NS PROGRAM ARGUMENT... | clock | power-off"
            );
            return ExitCode::from(2);
        }
    };
    if let Err(message) = done {
        eprintln!("narrows-traffic: {message}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
