//! Whether a path can be built.

use std::fmt;

use super::{FIRST_LINK, PathConfig};
use crate::Limit;
use crate::config::{self, Fault, IMPAIRMENTS, LinkChoice, QUEUES, SERVICES};

/// Why a path can't be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    /// Where in the path, such as `links[0].queue.target_ns`.
    pub place: String,
    /// What stands there.
    pub found: String,
    /// What would be right.
    pub need: String,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: found {}; {}", self.place, self.found, self.need)
    }
}

impl std::error::Error for PathError {}

fn error(place: impl Into<String>, found: impl ToString, need: impl Into<String>) -> PathError {
    PathError { place: place.into(), found: found.to_string(), need: need.into() }
}

fn located(place: &str, fault: &Fault) -> PathError {
    error(format!("{place}.{}", fault.key), &fault.found, format!("{} is needed", fault.need))
}

type Checked = Result<(), PathError>;

impl PathConfig {
    /// Checks that all links and impairments can be built.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Checked {
        check_link("", self.first_link())?;
        if !(0.0..=1.0).contains(&self.loss) {
            return Err(error("loss", self.loss, "a probability from 0 to 1 is needed"));
        }
        for (index, link) in self.links.iter().enumerate() {
            check_link(&format!("links[{index}]."), link.choice())?;
            let twins = self.links.iter().filter(|other| other.name == link.name).count();
            if twins > 1 || link.name == FIRST_LINK {
                let place = format!("links[{index}].name");
                return Err(error(place, &link.name, "every link needs its own name"));
            }
        }
        if let Some(link) = &self.reverse {
            check_link("reverse.", link.choice())?;
        }
        for (index, impairment) in self.impairments.iter().enumerate() {
            config::check(IMPAIRMENTS, &impairment.element)
                .and_then(|_| config::impairment_fits(&impairment.element))
                .map_err(|fault| located(&format!("impairments[{index}]"), &fault))?;
        }
        Ok(())
    }

    /// Checks the way of a flow: whether there is a way back for one that goes in `reverse`,
    /// and whether the `links` that it crosses are on the path.
    ///
    /// # Errors
    /// The first thing that is wrong; the place is `reverse` or `links`.
    pub fn check_way(&self, reverse: bool, links: Option<&[String]>) -> Checked {
        if reverse && self.reverse.is_none() {
            return Err(error("reverse", true, "a reverse link on the path is needed"));
        }
        let Some(names) = links else { return Ok(()) };
        let known = |name: &str| name == FIRST_LINK || self.links.iter().any(|l| l.name == name);
        match names.iter().find(|name| !known(name)) {
            Some(name) => Err(error("links", name, "the name of a link is needed")),
            None if names.is_empty() => {
                Err(error("links", "no link", "at least one link is needed"))
            }
            None => Ok(()),
        }
    }
}

/// `place` is empty or ends with a full stop.
fn check_link(place: &str, link: LinkChoice<'_>) -> Checked {
    above_zero(&format!("{place}rate_bps"), link.rate.as_bps(), "a rate above zero is needed")?;
    let (key, room) = match link.limit {
        Limit::Bytes(bytes) => ("bytes", bytes.get()),
        Limit::Packets(packets) => ("packets", packets),
    };
    above_zero(&format!("{place}buffer.{key}"), room, "a buffer is needed")?;
    let queue_fault = |fault: Fault| match fault.key.as_str() {
        "limit" => {
            error(format!("{place}buffer"), &fault.found, format!("{} is needed", fault.need))
        }
        _ => located(&format!("{place}queue"), &fault),
    };
    let info = config::check(QUEUES, link.queue).map_err(queue_fault)?;
    config::fits(info, link.queue, link.limit).map_err(queue_fault)?;
    config::check(SERVICES, link.service)
        .and_then(|_| config::service_fits(link.service))
        .map_err(|fault| located(&format!("{place}service"), &fault))
}

fn above_zero(place: &str, value: u64, need: &str) -> Checked {
    if value == 0 { Err(error(place, value, need)) } else { Ok(()) }
}
