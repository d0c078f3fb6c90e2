//! The first process of a guest: mounts its file systems and switches it off.

use std::convert::Infallible;
use std::fs::{create_dir_all, write};
use std::io;
use std::path::Path;

use crate::sys::{mount, power_off};

/// The host's files once more: the guest's /tmp hides those of the host.
const HOST: &str = "host";
/// "0" if `work` succeeded.
const STATUS: &str = "status";

/// Sets the guest up, does the `work`, writes its status into `directory` and switches off.
pub fn run(directory: &Path, work: impl FnOnce() -> bool) -> Result<Infallible, String> {
    let done = match mount_all(directory) {
        Ok(()) => work(),
        Err(message) => {
            eprintln!("narrows-drill: {message}");
            false
        }
    };
    let status = directory.join(STATUS);
    write(&status, if done { "0\n" } else { "1\n" })
        .map_err(|error| format!("{}: {error}", status.display()))?;
    power_off().map_err(|error| format!("switching off: {error}"))
}

fn mount_all(directory: &Path) -> Result<(), String> {
    let host = directory.join(HOST);
    let failed = |place: &Path, error: io::Error| format!("{}: {error}", place.display());
    create_dir_all(&host).map_err(|error| failed(&host, error))?;
    let places = [
        ("proc", Path::new("/proc"), ""),
        ("sysfs", Path::new("/sys"), ""),
        ("tmpfs", Path::new("/run"), ""),
        ("devtmpfs", Path::new("/dev"), ""),
        ("hostfs", &host, "/"),
        ("tmpfs", Path::new("/tmp"), ""),
    ];
    for (kind, place, data) in places {
        match mount(kind, place, data) {
            // The kernel mounted it before.
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {}
            result => result.map_err(|error| failed(place, error))?,
        }
    }
    Ok(())
}
