//! The first process of a guest: mounts its file systems and switches it off.

use std::convert::Infallible;
use std::fmt::Display;
use std::fs::{create_dir_all, write};
use std::path::Path;

use narrows_linux::process::power_off;
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};

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
    let failed = |place: &Path, error: &dyn Display| format!("{}: {error}", place.display());
    create_dir_all(&host).map_err(|error| failed(&host, &error))?;
    let places = [
        ("proc", Path::new("/proc"), c""),
        ("sysfs", Path::new("/sys"), c""),
        ("tmpfs", Path::new("/run"), c""),
        ("devtmpfs", Path::new("/dev"), c""),
        ("hostfs", &host, c"/"),
        ("tmpfs", Path::new("/tmp"), c""),
    ];
    for (kind, place, data) in places {
        match mount("none", place, kind, MountFlags::empty(), data) {
            // The kernel mounted it before.
            Ok(()) | Err(Errno::BUSY) => {}
            Err(error) => return Err(failed(place, &error)),
        }
    }
    Ok(())
}
