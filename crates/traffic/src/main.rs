//! Sends, receives and samples real TCP flows with as few system calls as possible.
//!
//! `narrows-traffic CONFIG.json` does one run between existing namespaces, in one process, and
//! writes CSV files. `narrows-traffic power-off` ends the virtual machine whose first process it
//! is. `narrows-traffic charge NS PROGRAM ARGUMENT...` runs a program whose system calls take time.

use std::process::ExitCode;

mod capture;
mod charge;
mod config;
mod connection;
mod crowd;
mod diag;
mod flow;
mod info;
mod iperf;
mod output;
mod packet_file;
mod program;
mod programs;
mod queue;
mod receiver;
mod run;
mod sender;
mod session;
mod stage;
#[expect(unsafe_code, reason = "system calls that the standard library doesn't have")]
mod sys;
#[expect(unsafe_code, reason = "system calls that the standard library doesn't have")]
mod tracing;
mod waits;

fn run_file(path: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let config: config::TrafficConfig =
        serde_json::from_str(&text).map_err(|e| format!("{path}: {e}"))?;
    config.check().map_err(|e| format!("{path}: {e}"))?;
    run::run(&config).map_err(|e| e.to_string())
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let done = match args.next().as_deref() {
        Some("power-off") => sys::power_off().map_err(|e| e.to_string()),
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
                "usage: narrows-traffic CONFIG.json | charge NS PROGRAM ARGUMENT... | power-off"
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
