//! Checks whether a path can be built.

use std::fmt;

use narrows_base::Bytes;

use super::config::{FIRST_LINK, PathConfig};
use crate::config::{self, Fault, IMPAIRMENTS, LinkChoice, QUEUES, SERVICES};
use crate::queue::Limit;

/// Why a path can't be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    /// The place in the path, such as `links[0].queue.target_ns`.
    pub place: String,
    /// The value found.
    pub found: String,
    /// The kind of value that is needed.
    pub need: String,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: found {}; {} would be right", self.place, self.found, self.need)
    }
}

impl std::error::Error for PathError {}

fn error(place: impl Into<String>, found: impl ToString, need: impl Into<String>) -> PathError {
    PathError { place: place.into(), found: found.to_string(), need: need.into() }
}

fn locate(place: &str, fault: Fault) -> PathError {
    error(format!("{place}.{}", fault.key), fault.found, fault.need)
}

impl PathConfig {
    /// Checks that all links and impairments can be built.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self) -> Result<(), PathError> {
        self.faults().into_iter().next().map_or(Ok(()), Err)
    }

    /// All reasons why the path can't be built.
    #[must_use]
    pub fn faults(&self) -> Vec<PathError> {
        let mut faults = link_faults("", self.first_link());
        if !(0.0..=1.0).contains(&self.loss) {
            faults.push(error("loss", self.loss, "a probability from 0 to 1"));
        }
        let mut names = vec![FIRST_LINK];
        for (index, link) in self.links.iter().enumerate() {
            faults.extend(link_faults(&format!("links[{index}]."), link.choice()));
            if names.contains(&link.name.as_str()) {
                let found = format!("{:?} twice", link.name);
                faults.push(error(format!("links[{index}].name"), found, "a name of its own"));
            }
            names.push(&link.name);
        }
        if let Some(link) = &self.reverse {
            faults.extend(link_faults("reverse.", link.choice()));
        }
        for (index, impairment) in self.impairments.iter().enumerate() {
            let checked = config::check(IMPAIRMENTS, &impairment.element)
                .and_then(|_| config::impairment_fits(&impairment.element));
            faults.extend(checked.err().map(|f| locate(&format!("impairments[{index}]"), f)));
        }
        faults
    }

    /// The faults of a flow's route: a flow in `reverse` without a reverse link, and `links` that
    /// aren't on the path. The places are `reverse` and `links`.
    #[must_use]
    pub fn route_faults(&self, reverse: bool, links: Option<&[String]>) -> Vec<PathError> {
        let mut faults = Vec::new();
        if reverse && self.reverse.is_none() {
            let need = "a [path.reverse] with a rate, too,";
            faults.push(error("reverse", "true without a reverse link", need));
        }
        let further = self.links.iter().map(|link| link.name.as_str());
        let names: Vec<&str> = std::iter::once(FIRST_LINK).chain(further).collect();
        let need = format!("one of {}", names.join(", "));
        if links.is_some_and(<[String]>::is_empty) {
            faults.push(error("links", "no link", &need));
        }
        let unknown = |name: &&String| !names.contains(&name.as_str());
        for name in links.unwrap_or_default().iter().filter(unknown) {
            faults.push(error("links", format!("{name:?}, which is not a link"), &need));
        }
        faults
    }
}

/// The faults of a link; `place` is empty or ends with a full stop.
fn link_faults(place: &str, link: LinkChoice<'_>) -> Vec<PathError> {
    let mut faults = Vec::new();
    if link.rate.as_bps() == 0 {
        faults.push(error(format!("{place}rate_bps"), 0, "a rate above zero"));
    }
    if matches!(link.limit, Limit::Packets(0)) || link.limit == Limit::Bytes(Bytes::ZERO) {
        faults.push(error(format!("{place}buffer"), 0, "a buffer above zero"));
    }
    let queue = config::check(QUEUES, link.queue)
        .and_then(|info| config::fits(info, link.queue, link.limit));
    faults.extend(queue.err().map(|fault| match fault.key.as_str() {
        "limit" => error(format!("{place}buffer"), fault.found, fault.need),
        _ => locate(&format!("{place}queue"), fault),
    }));
    let service =
        config::check(SERVICES, link.service).and_then(|_| config::service_fits(link.service));
    faults.extend(service.err().map(|fault| locate(&format!("{place}service"), fault)));
    faults
}
