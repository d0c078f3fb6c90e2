//! The parameters of HTB, as `tc` has them.

use narrows_base::registry::{
    Choice, Fault, Info, LimitUnit, Parameter, ParameterDefault, Role, Unit, Values,
};
use narrows_base::{Bytes, DSCP_NAMES, Dscp};

use super::class::Shape;

/// Priorities, the first of which goes first (`TC_HTB_NUMPRIO`).
pub(super) const PRIORITIES: usize = 8;
/// The default burst in bytes: `tc`'s guess of the largest frame, where the kernel's timers count
/// ns.
const BURST: ParameterDefault = ParameterDefault::Whole(1_600);
/// A turn that is computed is neither shorter nor longer (`htb_change_class`).
const QUANTA: (u64, u64) = (1_000, 200_000);
const SOURCE: &str = "Linux net/sched/sch_htb.c; rates and bytes are those of Ethernet frames";

const RATE: Parameter =
    Parameter::rate("rate", ParameterDefault::LinkRate, "the rate of all classes in the long run");
const ROOT_BURST: Parameter =
    Parameter::bytes("burst", BURST, "bytes that may leave at once at the rate").positive();
const ROOT_CBURST: Parameter =
    Parameter::bytes("cburst", BURST, "bytes that may leave at once at the ceiling").positive();

/// A class below the one for all.
static CLASS: &[Parameter] = &[
    Parameter::new(
        "dscp",
        Unit::Word(DSCP_NAMES),
        ParameterDefault::Off,
        "of its flows; the class without one has all others",
    ),
    Parameter::rate("rate", ParameterDefault::Required, "the rate that it has for itself"),
    Parameter::rate(
        "ceil",
        ParameterDefault::Off,
        "its rate with what it borrows; its own rate if none",
    ),
    Parameter::whole(
        "prio",
        ParameterDefault::Whole(0),
        "classes of lower numbers go, and borrow, first",
    )
    .at_most(PRIORITIES as u64 - 1),
    Parameter::bytes("burst", BURST, "bytes that may leave at once at its rate").positive(),
    Parameter::bytes("cburst", BURST, "bytes that may leave at once at its ceiling").positive(),
    Parameter::bytes(
        "quantum",
        ParameterDefault::Off,
        "bytes per turn among equals; a part of its rate if none, see r2q",
    )
    .positive()
    .at_most(u32::MAX as u64),
];

/// The queue discipline.
pub(super) static INFO: Info = Info {
    name: "htb",
    title: "HTB",
    family: "bucket",
    summary: "token buckets of classes, which borrow what others leave; its limit is that of each class",
    source: SOURCE,
    role: Role::Queue(LimitUnit::Either),
    parameters: &[
        RATE,
        ROOT_BURST,
        ROOT_CBURST,
        Parameter::whole(
            "r2q",
            ParameterDefault::Whole(10),
            "a quantum is the rate in bytes per second divided by this",
        )
        .positive(),
        Parameter::new(
            "classes",
            Unit::Tables(CLASS),
            ParameterDefault::Off,
            "the classes; a single one if none",
        ),
    ],
};

/// The service: one class in front of a device.
pub(crate) static SERVICE: Info = Info {
    name: "htb",
    title: "HTB, one class",
    family: "bucket",
    summary: "an HTB class over the queue, in front of a faster device",
    source: SOURCE,
    role: Role::Service,
    parameters: &[
        Parameter::rate("rate", ParameterDefault::LinkRate, "the rate in the long run"),
        ROOT_BURST,
        ROOT_CBURST,
        Parameter::rate("device", ParameterDefault::Whole(1_000_000_000), "the rate of the device"),
    ],
};

/// A class, as `tc class` describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HtbClass {
    /// The DSCP of its flows; none for the class that has all others.
    pub dscp: Option<Dscp>,
    /// Its rates and bursts.
    pub shape: Shape,
    /// From 0, which goes first, to 7.
    pub priority: usize,
    /// Bytes per turn; derived from the rate if none.
    pub quantum: Option<u64>,
}

impl HtbClass {
    /// A class for all flows.
    #[must_use]
    pub const fn new(shape: Shape) -> Self {
        Self { dscp: None, shape, priority: 0, quantum: None }
    }

    pub(super) fn quantum(&self, r2q: u64) -> u64 {
        let derived = self.shape.rate.as_bytes_per_sec() / r2q;
        self.quantum.unwrap_or_else(|| derived.clamp(QUANTA.0, QUANTA.1))
    }

    fn of(values: &Values) -> Self {
        let rate = values.rate("rate");
        let ceil = values.some_rate("ceil").unwrap_or(rate);
        Self {
            dscp: values.some_word("dscp").and_then(Dscp::from_name),
            shape: Shape { ceil, ..shape(values) },
            priority: values.whole("prio"),
            quantum: values.some_bytes("quantum").map(Bytes::get),
        }
    }
}

fn shape(values: &Values) -> Shape {
    let rate = values.rate("rate");
    Shape { rate, ceil: rate, burst: values.bytes("burst"), cburst: values.bytes("cburst") }
}

/// The parameters of HTB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtbParams {
    /// The class that all others borrow from. It can't borrow itself.
    pub root: Shape,
    /// Derives a quantum from a rate: bytes in a second, by this.
    pub r2q: u64,
    /// The classes below it; none for a single one.
    pub classes: Vec<HtbClass>,
}

impl HtbParams {
    pub(super) fn of(values: &Values) -> Self {
        Self {
            root: shape(values),
            r2q: values.whole("r2q"),
            classes: values.tables("classes").iter().map(HtbClass::of).collect(),
        }
    }

    /// Fails unless each class has its own DSCP, one has none, and no ceiling is below its rate.
    pub(super) fn fit(values: &Values) -> Result<(), Fault> {
        let tables = values.tables("classes");
        let dscp = |table: &Values| table.some_word("dscp").map(str::to_owned);
        for (place, table) in tables.iter().enumerate() {
            let fault = |key: &str, found: String, need: &str| {
                Err(Fault::new(&format!("classes[{place}].{key}"), found, need))
            };
            if tables[..place].iter().any(|other| dscp(other) == dscp(table)) {
                let found = dscp(table).map_or("a second class without one".into(), |dscp| {
                    format!("{dscp:?} of an earlier class")
                });
                return fault("dscp", found, "one of its own");
            }
            let class = HtbClass::of(table);
            if class.shape.ceil < class.shape.rate {
                let found = class.shape.ceil.as_bps().to_string();
                return fault("ceil_bps", found, "at least the rate");
            }
        }
        if tables.is_empty() || tables.iter().any(|table| dscp(table).is_none()) {
            return Ok(());
        }
        let need = "one class without a dscp, for the other flows,";
        Err(Fault::new("classes", "a dscp of each class", need))
    }
}

/// The class of a service.
pub(crate) fn single(choice: &Choice) -> HtbClass {
    HtbClass::new(shape(&choice.parameters))
}
