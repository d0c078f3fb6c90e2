//! The controls by name.
//!
//! To add one: its file, and its line in [`CONTROLS`].

use std::hint::black_box;

use narrows_base::Rate;
use narrows_base::registry::{Fault, Info, Values, check_values, nearest};

use crate::classic::{
    bic, cdg, compound, highspeed, htcp, hybla, illinois, lp, nv, scalable, veno, yeah,
};
use crate::config::{CcConfig, Entry};
use crate::control::CongestionControl;
use crate::{
    bbr, copa, cubic, dctcp, fixed, ledbat, ledbat_pp, pcc, prague, reno, vegas, westwood,
};

/// Every control, in the order of the names.
pub static CONTROLS: &[&Entry] = &[
    &bbr::BBR,
    &bbr::BBR2,
    &bbr::BBR3,
    &bbr::BBR_SHALLOW,
    &bic::BIC,
    &cdg::CDG,
    &compound::COMPOUND,
    &copa::COPA,
    &cubic::CUBIC,
    &dctcp::DCTCP,
    &fixed::FIXED,
    &highspeed::HIGHSPEED,
    &htcp::HTCP,
    &hybla::HYBLA,
    &illinois::ILLINOIS,
    &ledbat::LEDBAT,
    &ledbat_pp::LEDBAT_PP,
    &lp::LP,
    &nv::NV,
    &pcc::PCC_ALLEGRO,
    &pcc::PCC_VIVACE,
    &prague::PRAGUE,
    &reno::RENO,
    &scalable::SCALABLE,
    &vegas::VEGAS,
    &veno::VENO,
    &westwood::WESTWOOD,
    &yeah::YEAH,
];

/// [`CONTROLS`] hidden from the optimiser, which would unroll each search and take exponentially
/// long to prove the bounds of the result.
fn all() -> &'static [&'static Entry] {
    black_box(CONTROLS)
}

/// Why a control can't be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CcError {
    /// There is no control of this name.
    #[error("no congestion control is called \"{name}\"{}; known: {known}", did_you_mean(*.nearest))]
    UnknownControl {
        /// The requested name.
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
        /// The given option.
        option: String,
        /// The control's options, in words.
        known: String,
    },
    /// An option has an impossible value.
    #[error("{control}.{}: found {}; {} is needed", fault.key, fault.found, fault.need)]
    Misfit {
        /// The control.
        control: &'static str,
        /// The option's key, what was found, and what would be right.
        fault: Fault,
    },
}

/// The description of the control called `name`.
#[must_use]
pub fn info(name: &str) -> Option<&'static Info> {
    all().iter().find(|entry| entry.info.name == name).map(|entry| &entry.info)
}

/// Builds the control called `name`.
///
/// # Errors
/// If the name or an option isn't known, or an option is out of range.
pub fn build(name: &str, config: CcConfig) -> Result<Box<dyn CongestionControl>, CcError> {
    let (build, options) = complete(name, config.options)?;
    Ok(build(CcConfig { options: &options, ..config }))
}

/// Builds a control from checked and complete options.
pub type Build = fn(CcConfig) -> Box<dyn CongestionControl>;

/// The builder of the control called `name`, and its options with defaults for those not given,
/// once for all connections of a flow.
///
/// # Errors
/// As [`build`].
pub fn complete(name: &str, options: &Values) -> Result<(Build, Values), CcError> {
    let entry = validate(name, options)?;
    let mut complete = options.clone();
    let defaults = Values::defaults(&entry.info, Rate::from_bps(0));
    for (key, value) in defaults.0 {
        complete.entry(key).or_insert(value);
    }
    Ok((entry.build, complete))
}

/// Checks a control's name and options without building it.
///
/// # Errors
/// As [`build`].
pub fn validate(name: &str, options: &Values) -> Result<&'static Entry, CcError> {
    let entry = find(name)?;
    let keys = || entry.info.parameters.iter().map(|parameter| parameter.key());
    if let Some(key) = options.keys().find(|key| !keys().any(|known| known == **key)) {
        return Err(unknown_option(entry, key, keys().collect()));
    }
    let control = entry.info.name;
    check_values(&entry.info, options).map_err(|fault| CcError::Misfit { control, fault })?;
    Ok(entry)
}

fn find(name: &str) -> Result<&'static Entry, CcError> {
    all().iter().copied().find(|entry| entry.info.name == name).ok_or_else(|| {
        let known: Vec<&str> = all().iter().map(|entry| entry.info.name).collect();
        CcError::UnknownControl {
            name: name.to_owned(),
            nearest: nearest(name, known.iter().copied()),
            known: known.join(", "),
        }
    })
}

fn unknown_option(entry: &Entry, option: &str, keys: Vec<String>) -> CcError {
    let known = match keys.as_slice() {
        [] => "it has none".to_owned(),
        keys => format!("its options are {}", keys.join(", ")),
    };
    CcError::UnknownOption { control: entry.info.name, option: option.to_owned(), known }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(", did you mean \"{name}\"?")).unwrap_or_default()
}
