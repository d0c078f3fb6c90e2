//! The parameters of an entry: the meaning and bounds of their values.

use super::value::Value;

/// A parameter of an entry.
#[derive(Debug, PartialEq)]
pub struct Parameter {
    /// The name, that of `tc` or the kernel if it has one.
    pub name: &'static str,
    /// The unit of its value.
    pub unit: Unit,
    /// The value if none is given.
    pub default: ParameterDefault,
    /// The bounds of its value.
    pub bounds: Bounds,
    /// Its spelling before it had a unit, if there was one.
    pub former: Option<FormerSpelling>,
    /// A one-line description.
    pub what: &'static str,
}

/// The unit of a value, and how a scenario writes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// A number of packets.
    Packets,
    /// A number of bytes.
    Bytes,
    /// A whole number of ns.
    Duration,
    /// A whole number of bit/s.
    Rate,
    /// A part of a whole, or a probability: a number from 0 to 1.
    Share,
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// True or false.
    Flag,
    /// One of some words.
    Word(&'static [&'static str]),
    /// Times in ns, ascending, each with a rate in bit/s.
    Rates,
    /// Several rates in bit/s.
    RateList,
    /// Times in ns, ascending, each with a delay in ns.
    Delays,
    /// Times in ns, ascending, each with how long something lasts in ns.
    Spans,
    /// The ms of delivery opportunities, in order.
    Opportunities,
    /// A frequency, written "5/s"; a scenario has the ns in between.
    Frequency,
    /// A duration, or a distribution of durations.
    Durations,
    /// A size in bytes, or a distribution of sizes.
    Sizes,
    /// A value of the distributed quantity, a size or a duration.
    Distributed,
    /// Values of the distributed quantity, ascending, each with the share that doesn't exceed it.
    Quantiles,
    /// The path of a file of such pairs, one on each line.
    QuantileFile,
    /// Tables with these parameters.
    Tables(&'static [Parameter]),
}

/// The default of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterDefault {
    /// It must be given.
    Required,
    /// None: it has no effect, or is derived from other parameters.
    Off,
    /// The rate of the link.
    LinkRate,
    /// A whole number, in the parameter's unit.
    Whole(u64),
    /// A number.
    Number(f64),
    /// A flag.
    Flag(bool),
    /// A word.
    Word(&'static str),
}

/// The bounds of a value, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bounds {
    /// A whole number, in the parameter's unit.
    Whole {
        /// The minimum.
        least: u64,
        /// The maximum.
        most: u64,
        /// It must be a multiple of this.
        step: u64,
    },
    /// Any number.
    Number {
        /// The minimum.
        least: f64,
        /// The maximum.
        most: f64,
    },
}

/// The spelling of a parameter before it took units and words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormerSpelling {
    /// Its former name.
    pub name: &'static str,
    /// The meaning of its numbers.
    pub numbers: FormerNumbers,
}

/// The meaning of the numbers of a former spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormerNumbers {
    /// Each stood for a word.
    Words(&'static [(u8, &'static str)]),
    /// They were in this unit, such as "ms".
    Unit(&'static str),
}

impl Unit {
    /// The suffix of a scenario's key after the parameter's name.
    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::Packets => "_packets",
            Self::Bytes | Self::Sizes => "_bytes",
            Self::Duration | Self::Frequency | Self::Durations => "_ns",
            Self::Rate | Self::RateList => "_bps",
            _ => "",
        }
    }

    const fn bounds(self) -> Bounds {
        match self {
            Self::Share => Bounds::Number { least: 0.0, most: 1.0 },
            Self::Number => Bounds::Number { least: 0.0, most: f64::MAX },
            _ => Bounds::Whole { least: 0, most: u64::MAX, step: 1 },
        }
    }
}

impl Parameter {
    /// A parameter with the bounds that its unit implies.
    #[must_use]
    pub const fn new(
        name: &'static str,
        unit: Unit,
        default: ParameterDefault,
        what: &'static str,
    ) -> Self {
        Self { name, unit, default, bounds: unit.bounds(), former: None, what }
    }

    /// A duration; `default` is in ns.
    #[must_use]
    pub const fn duration(
        name: &'static str,
        default: ParameterDefault,
        what: &'static str,
    ) -> Self {
        Self::new(name, Unit::Duration, default, what)
    }

    /// A number of bytes.
    #[must_use]
    pub const fn bytes(name: &'static str, default: ParameterDefault, what: &'static str) -> Self {
        Self::new(name, Unit::Bytes, default, what)
    }

    /// A number of packets.
    #[must_use]
    pub const fn packets(
        name: &'static str,
        default: ParameterDefault,
        what: &'static str,
    ) -> Self {
        Self::new(name, Unit::Packets, default, what)
    }

    /// A rate above zero; `default` is in bit/s.
    #[must_use]
    pub const fn rate(name: &'static str, default: ParameterDefault, what: &'static str) -> Self {
        Self::new(name, Unit::Rate, default, what).positive()
    }

    /// A part of a whole, or a probability.
    #[must_use]
    pub const fn share(name: &'static str, default: ParameterDefault, what: &'static str) -> Self {
        Self::new(name, Unit::Share, default, what)
    }

    /// A whole number that fits 32 bits.
    #[must_use]
    pub const fn whole(name: &'static str, default: ParameterDefault, what: &'static str) -> Self {
        Self::new(name, Unit::Whole, default, what).at_most(u32::MAX as u64)
    }

    /// A number that isn't negative.
    #[must_use]
    pub const fn number(name: &'static str, default: f64, what: &'static str) -> Self {
        Self::new(name, Unit::Number, ParameterDefault::Number(default), what)
    }

    /// True or false.
    #[must_use]
    pub const fn flag(name: &'static str, default: bool, what: &'static str) -> Self {
        Self::new(name, Unit::Flag, ParameterDefault::Flag(default), what)
    }

    /// One of `words`.
    #[must_use]
    pub const fn word(
        name: &'static str,
        words: &'static [&'static str],
        default: &'static str,
        what: &'static str,
    ) -> Self {
        Self::new(name, Unit::Word(words), ParameterDefault::Word(default), what)
    }

    /// Requires a value above zero.
    #[must_use]
    pub const fn positive(self) -> Self {
        self.at_least(1)
    }

    /// Requires at least `least`.
    #[must_use]
    pub const fn at_least(mut self, least: u64) -> Self {
        if let Bounds::Whole { most, step, .. } = self.bounds {
            self.bounds = Bounds::Whole { least, most, step };
        }
        self
    }

    /// Requires at most `most`.
    #[must_use]
    pub const fn at_most(mut self, most: u64) -> Self {
        if let Bounds::Whole { least, step, .. } = self.bounds {
            self.bounds = Bounds::Whole { least, most, step };
        }
        self
    }

    /// Requires a multiple of `step`.
    #[must_use]
    pub const fn in_steps_of(mut self, step: u64) -> Self {
        if let Bounds::Whole { least, most, .. } = self.bounds {
            self.bounds = Bounds::Whole { least, most, step };
        }
        self
    }

    /// Requires a number from `least` to `most`.
    #[must_use]
    pub const fn between(mut self, least: f64, most: f64) -> Self {
        self.bounds = Bounds::Number { least, most };
        self
    }

    /// Also reads the former spelling: a bare number under this name.
    #[must_use]
    pub const fn formerly(mut self, name: &'static str, numbers: FormerNumbers) -> Self {
        self.former = Some(FormerSpelling { name, numbers });
        self
    }

    /// Its key in a scenario: the name and the unit.
    #[must_use]
    pub fn key(&self) -> String {
        match self.unit {
            // A specification names the file; a scenario holds its content.
            Unit::Opportunities => "opportunities_ms".into(),
            unit => format!("{}{}", self.name, unit.suffix()),
        }
    }

    /// The current spelling of `name = number`; see [`Info::respelled`](super::Info::respelled).
    pub(super) fn respell(&self, name: &str, number: f64) -> Option<String> {
        let today = self.name;
        if let Some(former) = self.former.filter(|former| former.name == name) {
            return match former.numbers {
                FormerNumbers::Words(words) => words
                    .iter()
                    .find(|(old, _)| f64::from(*old) == number)
                    .map(|(_, word)| format!("{today} = \"{word}\"")),
                FormerNumbers::Unit(_)
                    if number == 0.0 && self.default == ParameterDefault::Off =>
                {
                    Some(format!("no {today}"))
                }
                FormerNumbers::Unit(unit) => Some(format!("{today} = \"{number}{unit}\"")),
            };
        }
        let is_flag = self.unit == Unit::Flag && name == today;
        (is_flag && (number == 0.0 || number == 1.0))
            .then(|| format!("{today} = {}", number == 1.0))
    }

    /// The default on a link of `link_bps`; none if it must be given.
    #[must_use]
    pub fn default(&self, link_bps: u64) -> Option<Value> {
        match self.default {
            ParameterDefault::Required => None,
            ParameterDefault::Off => Some(Value::Off),
            ParameterDefault::LinkRate => Some(Value::Whole(link_bps)),
            ParameterDefault::Whole(number) => Some(Value::Whole(number)),
            ParameterDefault::Number(number) => Some(Value::Number(number)),
            ParameterDefault::Flag(flag) => Some(Value::Flag(flag)),
            ParameterDefault::Word(word) => Some(Value::Word(word.into())),
        }
    }
}

impl ParameterDefault {
    /// A duration of `count` us.
    #[must_use]
    pub const fn us(count: u64) -> Self {
        Self::Whole(count * 1_000)
    }

    /// A duration of `count` ms.
    #[must_use]
    pub const fn ms(count: u64) -> Self {
        Self::us(count * 1_000)
    }

    /// A duration of `count` s.
    #[must_use]
    pub const fn secs(count: u64) -> Self {
        Self::ms(count * 1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_numbers_have_a_spelling_of_today() {
        let span = Parameter::duration("target", ParameterDefault::ms(100), "")
            .formerly("target_ms", FormerNumbers::Unit("ms"));
        assert_eq!(span.respell("target_ms", 2.5).unwrap(), "target = \"2.5ms\"");
        assert_eq!(span.respell("target", 2.5), None);
        let memory = Parameter::duration("memory", ParameterDefault::Off, "")
            .formerly("memory_s", FormerNumbers::Unit("s"));
        assert_eq!(memory.respell("memory_s", 0.0).unwrap(), "no memory");
        let word = Parameter::word("exit", &["off", "search"], "off", "")
            .formerly("exit", FormerNumbers::Words(&[(0, "off"), (3, "search")]));
        assert_eq!(word.respell("exit", 3.0).unwrap(), "exit = \"search\"");
        assert_eq!(word.respell("exit", 1.0), None);
        let flag = Parameter::flag("ecn", false, "");
        assert_eq!(flag.respell("ecn", 1.0).unwrap(), "ecn = true");
        assert_eq!(flag.respell("ecn", 2.0), None);
    }
}
