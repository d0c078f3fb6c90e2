//! The queue disciplines by name.
//!
//! To add one: its file, and its line in the list below.

use narrows_base::Stream;
use narrows_base::registry::{Choice, Fault, Info, LimitUnit};

use super::any::Queue;
use super::cake::{Cake, CakeParams};
use super::codel::{CoDel, CoDelParams};
use super::docsis_pie::{DocsisPie, DocsisPieParams};
use super::drop_tail::DropTail;
use super::dualpi2::{DualPi2, DualPi2Params};
use super::entry::NamedDiscipline;
use super::fq::{Fq, FqParams};
use super::fq_codel::{FqCoDel, FqCoDelParams};
use super::fq_pie::{FqPie, FqPieParams};
use super::htb::{Htb, HtbParams};
use super::limit::Limit;
use super::pie::{Pie, PieParams};
use super::red::{Red, RedParams};
use super::sfq::{Sfq, SfqParams};
use super::tbf::Tbf;

/// Disciplines that a link's queue holds in a box.
macro_rules! boxed {
    ($($discipline:ident),*) => {
        $(impl<B: Send + 'static> From<$discipline<B>> for Queue<B> {
            fn from(queue: $discipline<B>) -> Self {
                Self::Custom(Box::new(queue))
            }
        })*
    };
}

macro_rules! disciplines {
    ($drop_tail:ty, $($params:ty => $discipline:ident),* $(,)?) => {
        boxed!($($discipline),*);

        /// Every queue discipline, by name.
        pub static QUEUES: &[&Info] =
            &[<$drop_tail as NamedDiscipline>::INFO, $(<$params as NamedDiscipline>::INFO),*];

        /// Checks whether a checked queue discipline can have this capacity, and its parameters fit
        /// together.
        ///
        /// # Errors
        /// The fault; the key `limit` is the capacity.
        pub fn fits(info: &Info, choice: &Choice, limit: Limit) -> Result<(), Fault> {
            check_limit(info, limit)?;
            $(if info.name == <$params as NamedDiscipline>::INFO.name {
                return <$params>::fits(&choice.parameters, limit);
            })*
            Ok(())
        }

        /// Builds a queue discipline that was checked and fits. `random` is its random stream.
        ///
        /// # Panics
        /// If it wasn't.
        #[must_use]
        pub fn queue<B: Send + 'static>(choice: &Choice, limit: Limit, random: Stream) -> Queue<B> {
            if choice.kind == <$drop_tail as NamedDiscipline>::INFO.name {
                return <$drop_tail>::build(&choice.parameters, limit, random).into();
            }
            $(if choice.kind == <$params as NamedDiscipline>::INFO.name {
                return <$params>::build(&choice.parameters, limit, random).into();
            })*
            panic!("a queue discipline {}: it wasn't checked", choice.kind)
        }
    };
}

disciplines! {
    DropTail<()>,
    CoDelParams => CoDel,
    FqCoDelParams => FqCoDel,
    PieParams => Pie,
    DocsisPieParams => DocsisPie,
    RedParams => Red,
    FqParams => Fq,
    DualPi2Params => DualPi2,
    SfqParams => Sfq,
    FqPieParams => FqPie,
    CakeParams => Cake,
    HtbParams => Htb,
}
boxed!(Tbf);

fn check_limit(info: &Info, limit: Limit) -> Result<(), Fault> {
    let fault = |found: u64, unit, need: &str| {
        Err(Fault::new("limit", format!("{found} {unit}"), format!("{need} for {}", info.name)))
    };
    match (info.limit_unit(), limit) {
        (Some(LimitUnit::Packets(_)), Limit::Bytes(bytes)) => {
            fault(bytes.get(), "bytes", "packets")
        }
        (Some(LimitUnit::Bytes(_)), Limit::Packets(packets)) => fault(packets, "packets", "bytes"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Bytes, Rate};

    use super::*;
    use narrows_base::registry::{Choice, Value, check, info};

    use crate::QueueDiscipline as _;

    fn defaults(name: &str) -> (Choice, Limit) {
        let info = info(QUEUES, name).unwrap();
        let limit = match info.limit_unit() {
            Some(LimitUnit::Packets(packets)) => Limit::Packets(packets),
            Some(LimitUnit::Bytes(bytes)) => Limit::Bytes(Bytes::new(bytes.unwrap_or(400_000))),
            Some(LimitUnit::Either) | None => Limit::Packets(100),
        };
        (Choice::with_defaults(info, Rate::from_bps(10_000_000)), limit)
    }

    #[test]
    fn every_discipline_is_checked_and_built() {
        for info in QUEUES {
            let (choice, limit) = defaults(info.name);
            assert_eq!(check(QUEUES, &choice).map(|i| i.name), Ok(info.name));
            assert_eq!(fits(info, &choice, limit), Ok(()));
            let built = queue::<()>(&choice, limit, Stream::new(1, "queue"));
            assert_eq!(built.len(), 0, "{}", info.name);
        }
    }

    #[test]
    fn faults_name_their_key() {
        let (codel, packets) = defaults("codel");
        let of = |choice: &Choice| check(QUEUES, choice).unwrap_err();
        let zero = of(&codel.clone().set("interval_ns", Value::Whole(0)));
        assert_eq!((zero.key.as_str(), zero.found.as_str()), ("interval_ns", "0"));
        assert_eq!(of(&codel.clone().set("quantum", Value::Whole(1))).key, "quantum");
        assert_eq!(of(&codel.clone().set("ecn", Value::Whole(1))).key, "ecn");
        assert_eq!(of(&codel.clone().set("target_ns", Value::Off)).found, "nothing");
        assert_eq!(of(&Choice::new("carrot")).key, "kind");
        assert_eq!(of(&Choice::new("codel")).key, "target_ns");
        let bytes = Limit::Bytes(Bytes::new(1_500));
        assert_eq!(fits(QUEUES[1], &codel, bytes).unwrap_err().key, "limit");
        let (red, bytes) = defaults("red");
        let info = info(QUEUES, "red").unwrap();
        assert_eq!(fits(info, &red, packets).unwrap_err().key, "limit");
        let wide = red.clone().set("min_bytes", Value::Whole(100_000));
        assert_eq!(
            fits(info, &wide.set("max_bytes", Value::Whole(9)), bytes).unwrap_err().key,
            "min_bytes"
        );
        let short = red.set("burst", Value::Whole(2));
        assert_eq!(fits(info, &short, bytes).unwrap_err().key, "burst");
    }
}
