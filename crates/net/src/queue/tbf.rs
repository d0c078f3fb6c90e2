//! The token bucket filter: a rate with bursts after idle times.

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role, Unit};
use narrows_base::{Bytes, Dscp, Duration, Packet, Rate, Time};

use super::any::Queue;
use super::discipline::QueueDiscipline;
use super::drop_tail::DropTail;
use super::limit::{Capacity, Limit};
use super::verdicts::Verdicts;
use super::waiting::frame_bytes;
use crate::bucket::Bucket;
use crate::element::DropReason;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "tbf",
    title: "Token bucket",
    family: "bucket",
    summary: "a token bucket in front of a faster device: bursts after idle times",
    source: "Linux net/sched/sch_tbf.c; rates and bytes are those of Ethernet frames",
    role: Role::Service,
    parameters: &[
        Parameter::new("rate", Unit::Rate, ParameterDefault::LinkRate, "the rate in the long run")
            .positive(),
        Parameter::bytes("burst", ParameterDefault::Required, "bytes that may leave at once"),
        Parameter::new("peakrate", Unit::Rate, ParameterDefault::Off, "the rate within a burst")
            .positive(),
        Parameter::bytes("mtu", ParameterDefault::Off, "the depth of the peak rate's bucket"),
        Parameter::new(
            "device",
            Unit::Rate,
            ParameterDefault::Whole(1_000_000_000),
            "the rate of the device",
        )
        .positive(),
    ],
};

/// The parameters of `tc`'s tbf. It requires the first three, so they have no default. Bytes and
/// rates are those of Ethernet frames, as in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TbfParams {
    /// The rate in the long run.
    pub rate: Rate,
    /// Bytes that may leave at once after an idle time; a larger packet is
    /// dropped.
    pub burst: Bytes,
    /// The frames that may wait, with the one at the head. Ignored with a queue discipline inside.
    pub limit: Limit,
    /// The rate within a burst and the depth of its bucket (`mtu`), by default none.
    pub peakrate: Option<(Rate, Bytes)>,
}

impl TbfParams {
    /// A bucket without a peak rate.
    #[must_use]
    pub const fn new(rate: Rate, burst: Bytes, limit: Limit) -> Self {
        Self { rate, burst, limit, peakrate: None }
    }

    /// With `tc`'s `latency` instead of a limit: the limit is a burst plus the bytes that leave in
    /// that time.
    #[must_use]
    pub fn with_latency(rate: Rate, burst: Bytes, latency: Duration) -> Self {
        Self::new(rate, burst, Limit::Bytes(rate.bytes_in(latency) + burst))
    }
}

/// A token bucket filter (Linux `sch_tbf.c`), for use in front of a faster link: a conforming
/// packet leaves at the link's own rate.
pub struct Tbf<B> {
    limit: Option<Capacity>,
    /// The largest frame that can ever pass.
    burst: u64,
    bucket: Bucket,
    peak: Option<Bucket>,
    inner: Queue<B>,
    /// The packet at the head, already taken from the inner discipline; it still counts as waiting
    /// there, too.
    head: Option<Packet<B>>,
    frame_bytes: u64,
    /// When the tokens suffice for the head.
    ready: Option<Time>,
}

impl<B> Tbf<B> {
    /// A full bucket over a first-in, first-out queue.
    ///
    /// # Panics
    /// If a rate or the burst is zero.
    #[must_use]
    pub fn new(params: &TbfParams) -> Self {
        let inner = DropTail::new(Limit::Packets(u64::MAX));
        Self { limit: Some(Capacity::new(params.limit)), ..Self::with_queue(params, inner) }
    }

    /// A full bucket over another discipline. It dequeues one packet before the tokens suffice for
    /// it, as in Linux (`qdisc_peek_dequeued`).
    ///
    /// # Panics
    /// If a rate or the burst is zero.
    #[must_use]
    pub fn with_queue(params: &TbfParams, inner: impl Into<Queue<B>>) -> Self {
        Self {
            limit: None,
            burst: params.peakrate.map_or(params.burst, |peak| params.burst.min(peak.1)).get(),
            bucket: Bucket::new(params.rate, params.burst),
            peak: params.peakrate.map(|(rate, depth)| Bucket::new(rate, depth)),
            inner: inner.into(),
            head: None,
            frame_bytes: 0,
            ready: None,
        }
    }

    /// When the tokens suffice for a frame of `size`, if the head may leave later than `now`.
    fn blocked_until(&self, size: u64, now: Time) -> Option<Time> {
        let ready = self.bucket.ready(size, now);
        let ready = self.peak.as_ref().map_or(ready, |peak| peak.ready(size, now).max(ready));
        (ready > now).then_some(ready)
    }
}

impl<B> QueueDiscipline<B> for Tbf<B> {
    fn enqueue(&mut self, packet: Packet<B>, now: Time, verdicts: &mut Verdicts<B>) {
        let size = frame_bytes(&packet);
        let waiting = (self.frame_bytes + size, self.len());
        let fits = self.limit.is_none_or(|limit| limit.admits(waiting.0, waiting.1));
        if size > self.burst || !fits {
            return verdicts.drop(packet, now, DropReason::Overflow);
        }
        if self.limit.is_some() {
            self.frame_bytes += size;
        }
        self.inner.enqueue(packet, now, verdicts);
    }

    fn dequeue(&mut self, now: Time, verdicts: &mut Verdicts<B>) -> Option<Packet<B>> {
        self.ready = None;
        if self.head.is_none() {
            self.head = self.inner.dequeue(now, verdicts);
        }
        let size = frame_bytes(self.head.as_ref()?);
        self.ready = self.blocked_until(size, now);
        if self.ready.is_some() {
            self.inner.count_ahead(self.head.as_ref());
            return None;
        }
        self.bucket.take(size, now);
        if let Some(peak) = &mut self.peak {
            peak.take(size, now);
        }
        if self.limit.is_some() {
            self.frame_bytes -= size;
        }
        self.inner.count_ahead(None);
        self.head.take()
    }

    fn backlog(&self) -> Bytes {
        self.inner.backlog() + self.head.as_ref().map_or(Bytes::ZERO, Packet::bytes)
    }

    fn len(&self) -> usize {
        self.inner.len() + usize::from(self.head.is_some())
    }

    fn next_deadline(&self) -> Option<Time> {
        let inner = self.inner.next_deadline();
        [self.ready, inner].into_iter().flatten().min()
    }

    fn on_deadline(&mut self, due: Time, verdicts: &mut Verdicts<B>) {
        self.ready = self.ready.filter(|&ready| ready > due);
        if self.inner.next_deadline().is_some_and(|inner| inner <= due) {
            self.inner.on_deadline(due, verdicts);
        }
    }

    fn learn_dscps(&mut self, of_flows: &[Dscp]) {
        self.inner.learn_dscps(of_flows);
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Ecn, FlowId};

    use super::*;
    use crate::{Element, Link, RateProcess};

    /// 8 Mbit/s of frames, ten frames of 1,514 bytes at once, behind a link at
    /// 8 Gbit/s.
    fn link(limit: u64) -> Link<u32> {
        let rate = Rate::from_bps(8_000_000);
        let tbf =
            Tbf::new(&TbfParams::new(rate, Bytes::new(15_140), Limit::Bytes(Bytes::new(limit))));
        let fast = RateProcess::constant(Rate::from_bps(8_000_000_000));
        Link::new(tbf, fast)
    }

    fn send(link: &mut Link<u32>, packets: u32, now: u64) {
        for body in 0..packets {
            let packet = Packet { flow: FlowId(0), size: 1_500, ecn: Ecn::NotEct, body };
            link.receive(packet, Time::from_nanos(now));
        }
    }

    /// Departures in us.
    fn times(link: &mut Link<u32>, until: u64) -> Vec<u64> {
        std::iter::from_fn(|| link.poll(Time::from_nanos(until)))
            .map(|d| d.at.as_nanos() / 1_000)
            .collect()
    }

    /// A full frame earns its tokens in 1,514 us and takes 1.5 us of the link.
    #[test]
    fn a_burst_leaves_at_the_links_rate_and_the_rest_at_the_buckets() {
        let mut link = link(1_000_000);
        send(&mut link, 12, 0);
        let times = times(&mut link, 1_000_000_000);
        assert_eq!(times[..3], [1, 3, 4]);
        assert_eq!(times[9..], [15, 1_515, 3_029]);
    }

    #[test]
    fn an_idle_time_fills_the_bucket_again_but_not_beyond_the_burst() {
        let mut link = link(1_000_000);
        send(&mut link, 10, 0);
        let _ = times(&mut link, 1_000_000);
        // Five frames' worth of idle time later, then ten thousand's.
        send(&mut link, 10, 7_570_000);
        let some = times(&mut link, 999_000_000);
        assert!(some[4] - 7_570 < 10 && some[5] - 7_570 > 1_500, "{some:?}");
        send(&mut link, 20, 15_140_000_000);
        let all = times(&mut link, 99_000_000_000);
        assert!(all[9] - 15_140_000 < 20 && all[10] - 15_140_000 > 1_500, "{all:?}");
    }

    #[test]
    fn in_the_long_run_the_rate_is_the_buckets() {
        let mut link = link(10_000_000);
        send(&mut link, 2_000, 0);
        let times = times(&mut link, 99_000_000_000);
        let expected = (2_000 - 10) * 1_514;
        assert!(times[1_999].abs_diff(expected) < 20, "{} {expected}", times[1_999]);
    }

    #[test]
    fn the_limit_counts_frames_that_wait() {
        let mut link = link(3 * 1_514);
        send(&mut link, 15, 0);
        // One in transmission, three waiting.
        assert_eq!((link.backlog_packets(), link.counters().dropped_packets), (3, 11));
    }
}
