//! A policer, which drops packets beyond a rate and its burst without queueing.

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role, Unit};
use narrows_base::{Bytes, Packet, Rate, Time};

use super::filter::{Fate, Rule};
use crate::bucket::Bucket;
use crate::element::DropReason;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "policer",
    title: "Policer",
    family: "bucket",
    summary: "drops packets beyond a rate and a burst; nothing waits",
    source: "Linux act_police (net/sched/act_police.c), conform-exceed drop",
    role: Role::Impairment,
    parameters: &[
        Parameter::new("rate", Unit::Rate, ParameterDefault::Required, "the rate in the long run")
            .positive(),
        Parameter::bytes("burst", ParameterDefault::Required, "bytes that may pass at once"),
        Parameter::new("peakrate", Unit::Rate, ParameterDefault::Off, "the rate within a burst")
            .positive(),
        Parameter::bytes("mtu", ParameterDefault::Off, "the depth of the peak rate's bucket"),
        Parameter::bytes(
            "overhead",
            ParameterDefault::Whole(0),
            "bytes counted with each packet besides IP's",
        )
        .at_most(10_000),
    ],
};

/// The parameters of `tc`'s police action. It requires the first two, so they have no default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicerParams {
    /// The rate in the long run.
    pub rate: Rate,
    /// Bytes that may pass at once after an idle time; a larger packet never
    /// passes.
    pub burst: Bytes,
    /// The rate within a burst and the depth of its bucket (`mtu`), by default none.
    pub peakrate: Option<(Rate, Bytes)>,
    /// Bytes that count with each packet besides IP's: 0 at ingress, 14 at the egress of an
    /// Ethernet device.
    pub overhead: u32,
}

impl PolicerParams {
    /// A policer at a device's ingress without a peak rate.
    #[must_use]
    pub const fn new(rate: Rate, burst: Bytes) -> Self {
        Self { rate, burst, peakrate: None, overhead: 0 }
    }
}

/// Passes a packet at once if the bucket has tokens for it, and drops it if not
/// (Linux `act_police.c`, `tcf_police_act`, with `conform-exceed drop`).
#[derive(Clone, Debug)]
pub struct Policer {
    bucket: Bucket,
    peak: Option<Bucket>,
    overhead: u32,
}

impl Policer {
    /// A policer with full buckets.
    ///
    /// # Panics
    /// If a rate or a burst is zero.
    #[must_use]
    pub fn new(params: &PolicerParams) -> Self {
        Self {
            bucket: Bucket::new(params.rate, params.burst),
            peak: params.peakrate.map(|(rate, depth)| Bucket::new(rate, depth)),
            overhead: params.overhead,
        }
    }

    /// Takes the tokens for a packet of `size` bytes. If there are too few it takes none and
    /// returns false.
    fn conforms(&mut self, size: u32, now: Time) -> bool {
        let size = u64::from(size) + u64::from(self.overhead);
        let may_pass = |bucket: &Bucket| bucket.ready(size, now) <= now;
        if !may_pass(&self.bucket) || !self.peak.as_ref().is_none_or(may_pass) {
            return false;
        }
        self.bucket.take(size, now);
        if let Some(peak) = &mut self.peak {
            peak.take(size, now);
        }
        true
    }
}

impl<B> Rule<B> for Policer {
    fn fate(&mut self, packet: &Packet<B>, now: Time) -> Fate {
        if self.conforms(packet.size, now) {
            Fate::Passes(now)
        } else {
            Fate::Dropped(DropReason::Policed)
        }
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Ecn, FlowId};

    use super::*;
    use crate::{Element as _, Filter};

    /// Which packets of 1,000 bytes pass, one every `gap` us.
    fn passes(policer: &mut Filter<(), Policer>, count: u64, gap: u64, from: u64) -> Vec<bool> {
        (0..count)
            .map(|n| {
                let now = Time::from_nanos((from + n * gap) * 1_000);
                let packet = Packet { flow: FlowId(0), size: 1_000, ecn: Ecn::Ect0, body: () };
                policer.receive(packet, now);
                policer.poll(now).is_some()
            })
            .collect()
    }

    /// 8 Mbit/s are a packet a ms; offered twice that after a burst of ten.
    #[test]
    fn a_burst_passes_then_the_rate() {
        let params = PolicerParams::new(Rate::from_bps(8_000_000), Bytes::new(10_000));
        let mut policer = Filter::new(Policer::new(&params));
        let first = passes(&mut policer, 1_000, 500, 0);
        // Ten at once, and those earned by the rate meanwhile: 19 in a row.
        assert!(first[..19].iter().all(|&p| p) && !first[19], "{:?}", &first[..24]);
        let all = first.iter().filter(|&&p| p).count();
        assert!((509..=510).contains(&all), "{all}");
        let idle = passes(&mut policer, 20, 0, 2_000_000);
        assert_eq!(idle.iter().filter(|&&p| p).count(), 10);
    }

    #[test]
    fn a_packet_larger_than_the_burst_never_passes() {
        let params = PolicerParams::new(Rate::from_bps(8_000_000), Bytes::new(999));
        assert_eq!(passes(&mut Filter::new(Policer::new(&params)), 3, 1_000_000, 0), [false; 3]);
    }
}
