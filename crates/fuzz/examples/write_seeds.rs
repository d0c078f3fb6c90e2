//! Writes the seeds of a target as files: `write_seeds TARGET FOLDER`. libFuzzer starts from these.

use std::io::Result;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [name, folder] = &arguments[..] else { panic!("write_seeds TARGET FOLDER") };
    fs::create_dir_all(folder)?;
    for (number, seed) in (narrows_fuzz::target(name).seeds)().iter().enumerate() {
        fs::write(Path::new(folder).join(format!("seed-{number}")), seed)?;
    }
    Ok(())
}
