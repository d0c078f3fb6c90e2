//! Analyses captures and prints what was found as JSON, without tables.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use narrows_capture::analyze::{AnalysisOptions, analyze};

fn main() -> ExitCode {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    match analyze(&paths, &AnalysisOptions::default(), &mut |_| ControlFlow::Continue(())) {
        Ok(outcome) => {
            println!("{}", serde_json::to_string_pretty(&outcome.summary).expect("plain data"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("analyze: {error}");
            ExitCode::from(2)
        }
    }
}
