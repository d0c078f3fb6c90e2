//! Whether a scenario's path can be built.

use narrows_net::config::{self, Choice, Fault, IMPAIRMENTS, QUEUES, SERVICES};

use super::{ScenarioError, above_zero, error};
use crate::scenario::{FIRST_LINK, Flow, Limit, Path};

type Checked = Result<(), ScenarioError>;

/// Checks all links and impairments.
pub(super) fn check_path(path: &Path) -> Checked {
    check_link("path", path.rate_bps, path.buffer, &path.queue, &path.service)?;
    if !(0.0..=1.0).contains(&path.loss) {
        return Err(error("path.loss", path.loss, "a probability from 0 to 1 is needed"));
    }
    for (index, link) in path.links.iter().enumerate() {
        let place = format!("path.links[{index}]");
        check_link(&place, link.rate_bps, link.buffer, &link.queue, &link.service)?;
        let twins = path.links.iter().filter(|other| other.name == link.name).count();
        if twins > 1 || link.name == FIRST_LINK {
            let place = format!("{place}.name");
            return Err(error(&place, &link.name, "every link needs its own name"));
        }
    }
    if let Some(link) = &path.reverse {
        check_link("path.reverse", link.rate_bps, link.buffer, &link.queue, &link.service)?;
    }
    for (index, impairment) in path.impairments.iter().enumerate() {
        let located = |fault: Fault| locate(&format!("path.impairments[{index}]"), &fault);
        config::check(IMPAIRMENTS, &impairment.element).map_err(located)?;
        config::impairment_fits(&impairment.element).map_err(located)?;
    }
    Ok(())
}

fn check_link(
    place: &str,
    rate_bps: u64,
    buffer: Limit,
    queue: &Choice,
    service: &Choice,
) -> Checked {
    above_zero(&format!("{place}.rate_bps"), rate_bps, "a rate above zero is needed")?;
    let (key, room) = match buffer {
        Limit::Bytes(bytes) => ("bytes", bytes),
        Limit::Packets(packets) => ("packets", packets),
    };
    above_zero(&format!("{place}.buffer.{key}"), room, "a buffer is needed")?;
    let queue_fault = |fault: Fault| match fault.key.as_str() {
        "limit" => error(&format!("{place}.buffer"), &fault.found, &needed(&fault.need)),
        _ => locate(&format!("{place}.queue"), &fault),
    };
    let info = config::check(QUEUES, queue).map_err(queue_fault)?;
    config::fits(info, queue, buffer.into()).map_err(queue_fault)?;
    let service_fault = |fault: Fault| locate(&format!("{place}.service"), &fault);
    config::check(SERVICES, service).map_err(service_fault)?;
    config::service_fits(service).map_err(service_fault)
}

fn locate(place: &str, fault: &Fault) -> ScenarioError {
    error(&format!("{place}.{}", fault.key), &fault.found, &needed(&fault.need))
}

fn needed(need: &str) -> String {
    format!("{need} is needed")
}

/// Checks the way of a flow over the path.
pub(super) fn check_way(path: &Path, flow: &Flow, place: &str) -> Checked {
    if flow.reverse && path.reverse.is_none() {
        let need = "a reverse link on the path is needed";
        return Err(error(&format!("{place}.reverse"), true, need));
    }
    let Some(names) = &flow.links else { return Ok(()) };
    let place = format!("{place}.links");
    let known = |name: &str| name == FIRST_LINK || path.links.iter().any(|link| link.name == name);
    match names.iter().find(|name| !known(name)) {
        Some(name) => Err(error(&place, name, "the name of a link is needed")),
        None if names.is_empty() => Err(error(&place, "no link", "at least one link is needed")),
        None => Ok(()),
    }
}
