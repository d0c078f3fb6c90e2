//! A discipline's interface to the registry, and shared parameters.

use narrows_base::Stream;
use narrows_base::registry::{Fault, Info, Parameter, ParameterDefault, Values};

use super::discipline::QueueDiscipline;
use super::limit::Limit;
use super::waiting::FRAME;

/// A discipline that a scenario can name.
pub(crate) trait NamedDiscipline {
    /// Its description.
    const INFO: &'static Info;

    /// The discipline itself.
    type Discipline<B: Send + 'static>: QueueDiscipline<B> + Send + 'static;

    /// Checks whether its checked parameters fit together; the key `limit` is the capacity.
    fn fits(_values: &Values, _limit: Limit) -> Result<(), Fault> {
        Ok(())
    }

    /// Builds it from parameters that were checked and fit. `random` is its random stream.
    fn build<B: Send + 'static>(
        values: &Values,
        limit: Limit,
        random: Stream,
    ) -> Self::Discipline<B>;
}

/// 0.1 ms in ns: shorter periods would occupy the engine completely.
pub(crate) const SHORTEST_PERIOD: u64 = 100_000;
/// The option that marks by waiting time alone.
pub(crate) const CE_THRESHOLD: Parameter = Parameter::duration(
    "ce_threshold",
    ParameterDefault::Off,
    "marks every ECN-capable packet that waited longer",
);
/// CoDel's target.
pub(crate) const TARGET: Parameter =
    Parameter::duration("target", ParameterDefault::ms(5), "the acceptable delay");
/// CoDel's interval.
pub(crate) const INTERVAL: Parameter = Parameter::duration(
    "interval",
    ParameterDefault::ms(100),
    "how long the delay may be above the target",
)
.positive();
/// The effect of the option `ecn`.
pub(crate) const MARKS: &str = "marks packets instead of dropping them, if they are ECN-capable";
/// Buckets of flow queueing.
pub(crate) const FLOWS: Parameter =
    Parameter::whole("flows", ParameterDefault::Whole(1_024), "queues that flows are hashed into")
        .positive()
        .at_most(65_536);
/// The credit of a flow's turn; its limits differ.
pub(crate) const QUANTUM: Parameter = Parameter::whole(
    "quantum",
    ParameterDefault::Whole(FRAME as u64),
    "bytes of Ethernet frames that a flow may send per turn",
);
