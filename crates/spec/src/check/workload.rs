//! Whether a workload can be run.

use crate::law::Law;
use crate::scenario::{Flow, Workload};

/// The key below the flow, what was found there, and what would be right.
pub(super) type Fault = (&'static str, String, &'static str);

pub(super) fn check_workload(flow: &Flow, workload: &Workload) -> Result<(), Fault> {
    if flow.size_bytes.is_some() || flow.repeat_gap_ns.is_some() || flow.while_flow.is_some() {
        let need = "a workload, or a size with a chain, but not both";
        return Err(("workload", "a size or a chain beside it".to_owned(), need));
    }
    match workload {
        Workload::Arrivals { gap_ns, size_bytes } => {
            moving("workload.gap_ns", gap_ns)?;
            moving("workload.size_bytes", size_bytes)
        }
        Workload::OnOff { on_ns, off_ns } => {
            moving("workload.on_ns", on_ns)?;
            moving("workload.off_ns", off_ns)
        }
        Workload::Requests { think_ns, size_bytes } => {
            sound("workload.think_ns", think_ns)?;
            moving("workload.size_bytes", size_bytes)
        }
        Workload::Video { bitrate_bps, chunk_ns, start_ns, buffer_ns } => {
            for (key, value) in
                [("workload.bitrate_bps", bitrate_bps), ("workload.chunk_ns", chunk_ns)]
            {
                if *value == 0 {
                    return Err((key, "0".to_owned(), "more than zero is needed"));
                }
            }
            if start_ns.saturating_add(*chunk_ns) > *buffer_ns {
                let need = "room for what is there at the start and a chunk is needed";
                return Err(("workload.buffer_ns", buffer_ns.to_string(), need));
            }
            Ok(())
        }
    }
}

fn sound(key: &'static str, law: &Law) -> Result<(), Fault> {
    law.fault().map_or(Ok(()), |need| Err((key, "a broken table".to_owned(), need)))
}

fn moving(key: &'static str, law: &Law) -> Result<(), Fault> {
    sound(key, law)?;
    if law.is_zero() {
        return Err((key, "0".to_owned(), "more than zero is needed"));
    }
    Ok(())
}
