//! The sections of a check of results.

use super::key::{Key, KeyDefault, KeyKind, Section};
use super::words::{OVER, TAKE};

use KeyDefault::{Empty, Off, Required, Whole};

/// A check of results.
pub static CHECK: Section = Section {
    title: "Check",
    what: "A bound on a metric or a series: met if the whole 95 % interval of the mean over a combination's trials lies within.",
    keys: &[
        Key::new(
            "metric",
            KeyKind::Name,
            Off,
            "A column of the table `summary`, such as \"utilization\" or \"bbr.share\".",
        ),
        Key {
            what: "A series instead of a metric: a class, flow or link and a column or internal, such as \"bbr.max_bw_mbps\".",
            ..OF_SERIES
        },
        Key::new(
            "take",
            KeyKind::Word(&TAKE),
            Off,
            "The way to take a number from the series within the period.",
        ),
        Key::new(
            "over",
            KeyKind::Word(&OVER),
            Off,
            "The way to combine the values of a class's flows; by default their mean.",
        ),
        IS,
        ABOVE,
        BELOW,
        Key::new(
            "window",
            KeyKind::Span,
            Off,
            "The series is averaged over windows of this length first.",
        ),
        Key::new(
            "from",
            KeyKind::Duration,
            Off,
            "The start of the period; by default the end of the warm-up.",
        ),
        Key::new(
            "to",
            KeyKind::Duration,
            Off,
            "The end of the period; by default that of the run.",
        ),
        Key::new(
            "after",
            KeyKind::Table(&CONDITION),
            Off,
            "The period begins only once this has happened.",
        ),
        Key::new("until", KeyKind::Table(&CONDITION), Off, "The period ends once this happens."),
        Key::new("lasting", KeyKind::Span, Off, "The period lasts at most this long."),
        Key::new(
            "lasting_rtts",
            KeyKind::Number,
            Off,
            "The period lasts at most this many two-way delays of the path without queueing.",
        ),
        Key::new(
            "while",
            KeyKind::Table(&CONDITION),
            Off,
            "Samples at which this doesn't hold are left out.",
        ),
        Key::new("at_least", KeyKind::Number, Off, "The mean may not be lower."),
        Key::new("at_most", KeyKind::Number, Off, "The mean may not be higher."),
        Key::new(
            "where",
            KeyKind::Where,
            Empty,
            "The check applies only where these places have these values: { \"path.buffer\" = \"1bdp\" }; a list means any of its values.",
        ),
    ],
};

const OF_SERIES: Key = Key::new("series", KeyKind::Name, Off, "");
const IS: Key = Key::new(
    "is",
    KeyKind::Names("texts", "startup"),
    Off,
    "The condition that the series has one of these values.",
);
const ABOVE: Key = Key::new("above", KeyKind::Number, Off, "The condition that it is higher.");
const BELOW: Key = Key::new("below", KeyKind::Number, Off, "The condition that it is lower.");

/// A condition on the samples of a series.
pub static CONDITION: Section = Section {
    title: "Condition",
    what: "A condition on the samples of a series.",
    keys: &[
        Key {
            default: Required,
            what: "A series as in the check, such as \"bbr.cca_state\"; a class meets the condition if any of its flows does.",
            ..OF_SERIES
        },
        IS,
        ABOVE,
        BELOW,
        Key::new(
            "nth",
            KeyKind::Whole(1, 1_000_000),
            Whole(1),
            "The occurrence that counts: 2 for the second time.",
        ),
    ],
};
