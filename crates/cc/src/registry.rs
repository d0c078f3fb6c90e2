//! The controls by name.
//!
//! To add one: its file, and its line in [`CONTROLS`].

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use narrows_base::{Duration, Stream};

use crate::{
    CcProfile, CongestionControl, bbr, bbr3, copa, cubic, dctcp, ledbat, ledbat_pp, pcc, prague,
    reno, vegas, westwood,
};

/// Every control, by name.
pub static CONTROLS: &[Info] = &[
    bbr::INFO,
    bbr3::INFO_V2,
    bbr3::INFO,
    bbr::SHALLOW,
    copa::INFO,
    cubic::INFO,
    dctcp::INFO,
    ledbat::INFO,
    ledbat_pp::INFO,
    pcc::ALLEGRO,
    pcc::VIVACE,
    prague::INFO,
    reno::INFO,
    vegas::INFO,
    westwood::INFO,
];

/// What a control needs of explicit congestion notification, if it can't do without
/// (Linux `TCP_CONG_NEEDS_ECN`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnNeed {
    /// Each mark echoed (RFC 8257).
    Dctcp,
    /// ECT(1) and counted marks (RFC 9331).
    L4s,
}

/// What the control called `name` needs of ECN.
#[must_use]
pub fn ecn_need(name: &str) -> Option<EcnNeed> {
    match name {
        "dctcp" => Some(EcnNeed::Dctcp),
        "prague" => Some(EcnNeed::L4s),
        _ => None,
    }
}

/// What a control starts with.
#[derive(Clone, Debug)]
pub struct CcConfig<'a> {
    /// Payload bytes of a full packet.
    pub mss: u32,
    /// Initial window in packets.
    pub initial_cwnd: u32,
    /// The handshake's RTT, where there was a handshake.
    pub initial_rtt: Option<Duration>,
    /// Which kernel's behaviour.
    pub profile: &'a CcProfile,
    /// The control's own chance.
    pub random: Stream,
    /// Options by name; those left out have their defaults.
    pub options: BTreeMap<String, f64>,
}

impl CcConfig<'_> {
    /// The value of an option: the given one or its default.
    ///
    /// # Panics
    /// If `info` has no such option.
    pub(crate) fn option(&self, info: &Info, name: &str) -> f64 {
        self.options.get(name).copied().unwrap_or_else(|| {
            let known = info.options.iter().find(|option| option.name == name);
            known.expect("a control asks for an option that it doesn't list").default
        })
    }

    /// The value of an option that is a whole number.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(crate) fn whole(&self, info: &Info, name: &str) -> u32 {
        self.option(info, name) as u32
    }

    /// The value of an option that is 0 or 1.
    pub(crate) fn flag(&self, info: &Info, name: &str) -> bool {
        self.whole(info, name) != 0
    }
}

/// A control that can be built.
#[derive(Debug)]
pub struct Info {
    /// The name that Linux or the algorithm's paper gives it.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Where it is specified.
    pub source: &'static str,
    /// What can be set.
    pub options: &'static [OptionInfo],
    /// Builds it from a configuration whose options are valid.
    pub(crate) build: fn(CcConfig) -> Box<dyn CongestionControl>,
}

/// An option of a control.
#[derive(Debug)]
pub struct OptionInfo {
    /// Its name.
    pub name: &'static str,
    /// Its value where none is given.
    pub default: f64,
    /// Smallest and largest value.
    pub range: RangeInclusive<f64>,
    /// Whether it must be a whole number.
    pub whole: bool,
    /// What it does, with its unit.
    pub what: &'static str,
}

/// Why a control can't be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CcError {
    /// There is no control of this name.
    #[error("no congestion control is called \"{name}\"{}; known: {known}", did_you_mean(*.nearest))]
    UnknownControl {
        /// The name that was asked for.
        name: String,
        /// A known name that resembles it.
        nearest: Option<&'static str>,
        /// All known names.
        known: String,
    },
    /// The control has no such option.
    #[error("{control} has no option \"{option}\"; {known}")]
    UnknownOption {
        /// The control.
        control: &'static str,
        /// The option that was given.
        option: String,
        /// The control's options, in words.
        known: String,
    },
    /// An option is out of its range.
    #[error("{control}.{option}: found {value}; {wanted} is needed")]
    OutOfRange {
        /// The control.
        control: &'static str,
        /// The option.
        option: &'static str,
        /// Its value.
        value: f64,
        /// What would be right, in words.
        wanted: String,
    },
}

/// Builds the control called `name`.
///
/// # Errors
/// If the name or an option isn't known, or an option is out of range.
pub fn build(name: &str, config: CcConfig) -> Result<Box<dyn CongestionControl>, CcError> {
    let info = validate(name, &config.options)?;
    Ok((info.build)(config))
}

/// Checks a control's name and options without building it.
///
/// # Errors
/// As [`build`].
pub fn validate(name: &str, options: &BTreeMap<String, f64>) -> Result<&'static Info, CcError> {
    let info = find(name)?;
    for (key, &value) in options {
        let option = info.options.iter().find(|option| option.name == key);
        option.ok_or_else(|| unknown_option(info, key))?.check(info.name, value)?;
    }
    Ok(info)
}

impl OptionInfo {
    /// An option that switches something on (1) or off (0).
    pub(crate) const fn flag(name: &'static str, default: f64, what: &'static str) -> Self {
        Self { name, default, range: 0.0..=1.0, whole: true, what }
    }

    fn check(&self, control: &'static str, value: f64) -> Result<(), CcError> {
        let fits = self.range.contains(&value) && (!self.whole || value.trunc() == value);
        if fits {
            return Ok(());
        }
        let kind = if self.whole { "whole number" } else { "number" };
        let wanted = format!("a {kind} from {} to {}", self.range.start(), self.range.end());
        Err(CcError::OutOfRange { control, option: self.name, value, wanted })
    }
}

fn find(name: &str) -> Result<&'static Info, CcError> {
    CONTROLS.iter().find(|info| info.name == name).ok_or_else(|| {
        let known: Vec<&str> = CONTROLS.iter().map(|info| info.name).collect();
        CcError::UnknownControl {
            name: name.to_owned(),
            nearest: nearest(name, &known),
            known: known.join(", "),
        }
    })
}

fn unknown_option(info: &Info, option: &str) -> CcError {
    let names: Vec<&str> = info.options.iter().map(|option| option.name).collect();
    let known = match names.as_slice() {
        [] => "it has none".to_owned(),
        names => format!("its options are {}", names.join(", ")),
    };
    CcError::UnknownOption { control: info.name, option: option.to_owned(), known }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(", did you mean \"{name}\"?")).unwrap_or_default()
}

/// The known name with the fewest edits, if half of it is right.
fn nearest(name: &str, known: &[&'static str]) -> Option<&'static str> {
    let name = name.to_lowercase();
    let ranked = known.iter().map(|candidate| (edits(&name, candidate), *candidate));
    let (distance, best) = ranked.min()?;
    (distance * 2 <= best.len()).then_some(best)
}

/// Levenshtein distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
