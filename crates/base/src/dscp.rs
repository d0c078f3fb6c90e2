//! The differentiated-services code point of the IP header (RFC 2474).

use serde::{Deserialize, Serialize};

/// The six bits of the IP header that say which treatment a packet asks for.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct Dscp(u8);

/// The code points that have names (the IANA's registry), in its order.
const NAMES: &[(&str, u8)] = &[
    ("cs0", 0),
    ("cs1", 8),
    ("cs2", 16),
    ("cs3", 24),
    ("cs4", 32),
    ("cs5", 40),
    ("cs6", 48),
    ("cs7", 56),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("ef", 46),
    ("va", 44),
    ("le", 1),
];

/// The names of the code points.
pub const DSCP_NAMES: &[&str] = &{
    let mut names = [""; NAMES.len()];
    let mut at = 0;
    while at < NAMES.len() {
        names[at] = NAMES[at].0;
        at += 1;
    }
    names
};

impl Dscp {
    /// The code points with names, in the registry's order.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|known| Self(known.1))
    }

    /// The one of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        NAMES.iter().find(|known| known.0 == name).map(|known| Self(known.1))
    }

    /// Its name.
    ///
    /// # Panics
    /// Never: each is made by its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|known| known.1 == self.0).expect("a code point has a name").0
    }

    /// Its six bits as a number.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }
}

impl TryFrom<String> for Dscp {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::from_name(&name).ok_or_else(|| format!("{name:?} is not the name of a code point"))
    }
}

impl From<Dscp> for String {
    fn from(dscp: Dscp) -> Self {
        dscp.name().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_bits_belong_together() {
        for &(name, bits) in NAMES {
            let dscp = Dscp::from_name(name).unwrap();
            assert_eq!((dscp.name(), dscp.bits()), (name, bits));
        }
        // RFC 2597: class and drop precedence; RFC 3246; RFC 8622.
        assert_eq!(Dscp::from_name("af23").unwrap().bits(), 0b01_0110);
        assert_eq!(Dscp::from_name("ef").unwrap().bits(), 0b10_1110);
        assert_eq!(Dscp::from_name("le").unwrap().bits(), 1);
        assert_eq!(Dscp::from_name("best-effort"), None);
        assert_eq!(Dscp::default().name(), "cs0");
        assert!(Dscp::all().map(Dscp::name).eq(DSCP_NAMES.iter().copied()));
    }
}
