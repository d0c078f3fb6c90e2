//! A flow in slices of time, from which the causes of its rate are found.

/// The most slices of a flow; beyond that, neighbours are merged.
const MOST: usize = 1024;
/// The first length of a slice, in ns.
const SHORTEST: u64 = 10_000_000;

/// The state of a sender between two events, as a capture shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// Nothing is in flight, although the receiver's window is open.
    Idle,
    /// The receiver's window has no room for a packet.
    Window,
    /// Something is in flight, and nothing is seen for long.
    Stall,
    /// Lost packets are retransmitted.
    Repair,
    /// Something is in flight, and nothing is known to be lost.
    Open,
}

/// The number of activities.
pub(crate) const ACTIVITIES: usize = 5;

/// The events of a flow in a span of time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slice {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// Bytes sent for the first time, and those of them that an acknowledgement released.
    pub(crate) sent: u64,
    pub(crate) clocked: u64,
    /// Bytes delivered.
    pub(crate) delivered: u64,
    /// Packets sent, and those retransmitted.
    pub(crate) packets: u32,
    pub(crate) again: u32,
    /// Packets first sent in this slice and retransmitted later.
    pub(crate) lost: u32,
    /// Those of them that the capture doesn't have, as they were lost before it.
    pub(crate) lost_before: u32,
    /// Packets that arrived after later ones without being retransmitted.
    pub(crate) overtaken: u32,
    /// Packets that DSACK says arrived twice.
    pub(crate) spurious: u32,
    /// RTTs from the capture to the receiver, and from there to the sender.
    pub(crate) near: Rtts,
    pub(crate) far: Rtts,
    /// One-way delays from the sender, above a constant of the flow.
    pub(crate) one_way: Rtts,
    /// Bytes in flight: the maximum, and the sum over time in bytes times ns.
    pub(crate) flight_most: u64,
    pub(crate) flight_area: u128,
    /// The time of each activity, in ns.
    pub(crate) activities: [u64; ACTIVITIES],
    /// Time in which the sender had nothing to send although something was in flight.
    pub(crate) starved: u64,
    /// As the receiver sees it: time in which nothing came for longer than a round trip, with new
    /// data or with a retransmission at its end, and packets that filled the window.
    pub(crate) far_starved: u64,
    pub(crate) far_stalled: u64,
    pub(crate) far_held: u32,
}

/// RTT samples: their number, their sum, their minimum.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rtts {
    pub(crate) count: u32,
    pub(crate) sum: u64,
    pub(crate) least: Option<u64>,
}

impl Rtts {
    fn add(&mut self, rtt: u64) {
        self.append(&Self { count: 1, sum: rtt, least: Some(rtt) });
    }

    pub(crate) fn append(&mut self, next: &Self) {
        self.count += next.count;
        self.sum = self.sum.saturating_add(next.sum);
        self.least = match (self.least, next.least) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }

    pub(crate) fn mean(&self) -> Option<u64> {
        (self.count > 0).then(|| self.sum / u64::from(self.count))
    }

    /// The same samples, each greater by `more` and smaller by `less`.
    pub(crate) fn shift(&self, more: u64, less: u64) -> Self {
        let number = u64::from(self.count);
        let sum = self.sum.saturating_add(number.saturating_mul(more));
        Self {
            count: self.count,
            sum: sum.saturating_sub(number.saturating_mul(less)),
            least: self.least.map(|least| least.saturating_add(more).saturating_sub(less)),
        }
    }
}

impl Slice {
    pub(crate) fn length(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }

    pub(crate) fn time_of(&self, activity: Activity) -> u64 {
        self.activities[activity as usize]
    }

    /// Takes in the slice that follows this one.
    pub(crate) fn append(&mut self, next: &Self) {
        self.end = next.end;
        self.sent += next.sent;
        self.clocked += next.clocked;
        self.delivered += next.delivered;
        self.packets += next.packets;
        self.again += next.again;
        self.lost += next.lost;
        self.lost_before += next.lost_before;
        self.overtaken += next.overtaken;
        self.spurious += next.spurious;
        self.near.append(&next.near);
        self.far.append(&next.far);
        self.one_way.append(&next.one_way);
        self.flight_most = self.flight_most.max(next.flight_most);
        self.flight_area += next.flight_area;
        for (sum, more) in self.activities.iter_mut().zip(next.activities) {
            *sum += more;
        }
        self.starved += next.starved;
        self.far_starved += next.far_starved;
        self.far_stalled += next.far_stalled;
        self.far_held += next.far_held;
    }
}

/// The slices of a flow, in the order of time and without gaps.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    done: Vec<Slice>,
    now: Slice,
    length: u64,
}

impl Default for Timeline {
    fn default() -> Self {
        Self { done: Vec::new(), now: Slice::default(), length: SHORTEST }
    }
}

impl Timeline {
    /// Lets time pass; a long span becomes a separate slice.
    pub(crate) fn pass(&mut self, from: u64, to: u64, activity: Activity, in_flight: u64) {
        if self.now.end == 0 {
            (self.now.begin, self.now.end) = (from, from);
        }
        let span = to.saturating_sub(from);
        if span >= self.length && self.now.length() > 0 {
            self.close();
        }
        self.now.end = to.max(self.now.end);
        self.now.activities[activity as usize] += span;
        self.now.flight_area += u128::from(in_flight) * u128::from(span);
        if self.now.length() >= self.length {
            self.close();
        }
    }

    /// Notes data that leave: `clocked` if an acknowledgement has just released them.
    pub(crate) fn note_departure(&mut self, packets: u64, fresh: u64, clocked: bool, flight: u64) {
        self.now.packets += narrow(packets);
        self.now.again += if fresh == 0 { narrow(packets) } else { 0 };
        self.now.sent += fresh;
        self.now.clocked += if clocked { fresh } else { 0 };
        self.now.flight_most = self.now.flight_most.max(flight);
    }

    pub(crate) fn note_delivery(&mut self, bytes: u64, overtaken: u32) {
        self.now.delivered += bytes;
        self.now.overtaken += overtaken;
    }

    pub(crate) fn note_spurious(&mut self, packets: u64) {
        self.now.spurious += narrow(packets);
    }

    pub(crate) fn note_rtt(&mut self, rtt: u64) {
        self.now.near.add(rtt);
    }

    pub(crate) fn note_far_rtt(&mut self, rtt: u64) {
        self.now.far.add(rtt);
    }

    pub(crate) fn note_one_way_delay(&mut self, delay: u64) {
        self.now.one_way.add(delay);
    }

    /// Notes that data filled the window that their sender knew.
    pub(crate) fn note_far_limit(&mut self) {
        self.now.far_held += 1;
    }

    /// Counts packets that were first sent at `time` as lost, `before` the capture or after it.
    pub(crate) fn note_loss(&mut self, time: u64, packets: u64, before: bool) {
        let after = self.done.partition_point(|slice| slice.begin <= time);
        let slice = match after.checked_sub(1) {
            Some(index) if time < self.done[index].end => &mut self.done[index],
            _ => &mut self.now,
        };
        slice.lost += narrow(packets);
        slice.lost_before += if before { narrow(packets) } else { 0 };
    }

    /// Notes that the sender had nothing to send between two past instants.
    pub(crate) fn note_starved(&mut self, from: u64, to: u64) {
        self.spread(from, to, |slice, time| slice.starved += time);
    }

    /// Notes that nothing came between two past instants; `again` if a retransmission ends it.
    pub(crate) fn note_silence(&mut self, from: u64, to: u64, again: bool) {
        self.spread(from, to, |slice, time| {
            let silence = if again { &mut slice.far_stalled } else { &mut slice.far_starved };
            *silence += time;
        });
    }

    fn spread(&mut self, from: u64, to: u64, add: impl Fn(&mut Slice, u64)) {
        let mut slices = std::iter::once(&mut self.now).chain(self.done.iter_mut().rev());
        while let Some(slice) = slices.next().filter(|slice| slice.end > from) {
            let time = slice.end.min(to).saturating_sub(slice.begin.max(from));
            add(slice, time);
        }
    }

    fn close(&mut self) {
        let next = Slice { begin: self.now.end, end: self.now.end, ..Slice::default() };
        self.done.push(std::mem::replace(&mut self.now, next));
        if self.done.len() >= MOST {
            self.length *= 2;
            self.done = merge_pairs(&self.done);
        }
    }

    /// All slices, the unfinished one included.
    pub(crate) fn slices(&self) -> impl Iterator<Item = &Slice> {
        self.done.iter().chain((self.now.length() > 0).then_some(&self.now))
    }
}

fn merge_pairs(slices: &[Slice]) -> Vec<Slice> {
    let merge = |pair: &[Slice]| {
        let mut sum = pair[0];
        pair[1..].iter().for_each(|next| sum.append(next));
        sum
    };
    slices.chunks(2).map(merge).collect()
}

fn narrow(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_is_lost_when_slices_are_merged() {
        let mut timeline = Timeline::default();
        let mut time = 1;
        for step in 1..20_000_u64 {
            let next = time + step * 1000;
            timeline.pass(time, next, Activity::Open, 3);
            time = next;
        }
        let slices: Vec<_> = timeline.slices().copied().collect();
        assert!(slices.len() <= MOST + 1);
        assert!(slices.windows(2).all(|pair| pair[0].end == pair[1].begin));
        let open: u64 = slices.iter().map(|slice| slice.time_of(Activity::Open)).sum();
        assert_eq!(open, time - 1);
    }

    #[test]
    fn a_loss_is_counted_where_the_packet_was_sent() {
        let mut timeline = Timeline::default();
        for ms in 1..100 {
            timeline.pass(ms * 1_000_000, (ms + 1) * 1_000_000, Activity::Open, 1);
        }
        timeline.note_loss(25_000_000, 2, false);
        let lossy: Vec<_> = timeline.slices().filter(|slice| slice.lost > 0).collect();
        assert_eq!(lossy.len(), 1);
        assert!((lossy[0].begin..lossy[0].end).contains(&25_000_000) && lossy[0].lost == 2);
    }

    #[test]
    fn starvation_reaches_back_over_slices() {
        let mut timeline = Timeline::default();
        for ms in 1..50 {
            timeline.pass(ms * 1_000_000, (ms + 1) * 1_000_000, Activity::Open, 1);
        }
        timeline.note_starved(5_000_000, 45_000_000);
        let starved: u64 = timeline.slices().map(|slice| slice.starved).sum();
        assert_eq!(starved, 40_000_000);
    }
}
