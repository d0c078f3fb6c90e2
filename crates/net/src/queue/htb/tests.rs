use narrows_base::{Dscp, Rate};

use super::super::testing::{dropped_bodies, packet};
use super::*;

const LIMIT: Limit = Limit::Packets(1_000);

/// A full frame takes 1,000 us at this rate.
const FRAMES: u64 = 12_112_000;

fn shape(frames_per_ms: u64, ceil: u64) -> Shape {
    let rate = |frames| Rate::from_bps(frames * FRAMES);
    let burst = Bytes::new(1_600);
    Shape { rate: rate(frames_per_ms), ceil: rate(ceil), burst, cburst: burst }
}

fn class(dscp: Option<&str>, frames_per_ms: u64, ceil: u64) -> HtbClass {
    HtbClass { dscp: dscp.and_then(Dscp::from_name), ..HtbClass::new(shape(frames_per_ms, ceil)) }
}

/// Flow 0 has the DSCP EF, flow 1 CS1, flow 2 none.
fn htb(root: u64, classes: Vec<HtbClass>) -> Htb<u32> {
    let mut queue = Htb::new(&HtbParams { root: shape(root, root), r2q: 10, classes }, LIMIT);
    queue.learn_dscps(&["ef", "cs1", "cs0"].map(|name| Dscp::from_name(name).unwrap()));
    queue
}

fn fill(queue: &mut Htb<u32>, flow: u32, packets: u32, at: Time) {
    let mut verdicts = Verdicts::new();
    for body in 0..packets {
        queue.enqueue(packet(flow, 1_500, body), at, &mut verdicts);
    }
}

/// The flows that leave from `from` to `to` ms, and when, in us; the device takes no time.
fn leaving(queue: &mut Htb<u32>, from: u64, to: u64) -> Vec<(u32, u64)> {
    let (mut now, end) = (Time::from_nanos(from * 1_000_000), Time::from_nanos(to * 1_000_000));
    let (mut verdicts, mut left) = (Verdicts::new(), Vec::new());
    while now < end && queue.len() > 0 {
        if let Some(packet) = queue.dequeue(now, &mut verdicts) {
            left.push((packet.flow.0, now.as_nanos() / 1_000));
        } else {
            now = queue.next_deadline().expect("classes wait for tokens");
            queue.on_deadline(now, &mut verdicts);
        }
    }
    left
}

fn count(left: &[(u32, u64)], flow: u32) -> usize {
    left.iter().filter(|one| one.0 == flow).count()
}

/// A bucket of 1,600 bytes has room for a frame and may go below empty: two frames at once, and the
/// next when its debt is paid. An idle time earns no more.
#[test]
fn a_single_class_is_a_shaper_whose_bucket_goes_below_empty() {
    let mut queue = htb(1, Vec::new());
    for from in [0, 50] {
        fill(&mut queue, 2, 4, Time::from_nanos(from * 1_000_000));
        let times: Vec<_> =
            leaving(&mut queue, from, 1_000).iter().map(|one| one.1 - from * 1_000).collect();
        // 2 x 1,514 - 1,600 bytes are owed, which take 943 us.
        assert_eq!(times, [0, 0, 943, 1_943]);
    }
}

/// The first class has 3 frames/ms of 4 for itself, the other borrows what it leaves.
#[test]
fn classes_have_their_rates_and_borrow_what_others_leave() {
    let classes = vec![class(Some("ef"), 3, 4), class(None, 1, 4)];
    let mut queue = htb(4, classes);
    fill(&mut queue, 0, 300, Time::ZERO);
    fill(&mut queue, 2, 900, Time::ZERO);
    let both = leaving(&mut queue, 0, 100);
    assert!(count(&both, 0).abs_diff(300) <= 3 && count(&both, 2).abs_diff(100) <= 3, "{both:?}");
    let alone = leaving(&mut queue, 110, 160);
    assert!(count(&alone, 2).abs_diff(200) <= 4, "{}", alone.len());
}

/// Below its ceiling of 2 frames/ms, although 10 are free.
#[test]
fn a_ceiling_holds() {
    let mut queue = htb(10, vec![class(Some("ef"), 1, 2), class(None, 1, 10)]);
    fill(&mut queue, 0, 900, Time::ZERO);
    assert!(leaving(&mut queue, 0, 100).len().abs_diff(200) <= 3);
}

/// Both have 1 of 8 frames/ms; what is left goes to the lower number alone.
#[test]
fn spare_bandwidth_is_lent_by_priority() {
    let low = HtbClass { priority: 1, ..class(None, 1, 8) };
    let mut queue = htb(8, vec![low, class(Some("ef"), 1, 8)]);
    fill(&mut queue, 0, 1_000, Time::ZERO);
    fill(&mut queue, 2, 1_000, Time::ZERO);
    let left = leaving(&mut queue, 0, 100);
    assert!(count(&left, 0).abs_diff(700) <= 7 && count(&left, 2).abs_diff(100) <= 3, "{left:?}");
}

/// Equals share borrowed bytes by their quanta: here 2 to 1.
#[test]
fn equals_borrow_in_turns_by_their_quanta() {
    let with = |class: HtbClass, quantum| HtbClass { quantum: Some(quantum), ..class };
    let classes = vec![with(class(Some("ef"), 1, 20), 3_028), with(class(None, 1, 20), 1_514)];
    let mut queue = htb(20, classes);
    fill(&mut queue, 0, 1_000, Time::ZERO);
    fill(&mut queue, 2, 1_000, Time::ZERO);
    let left = leaving(&mut queue, 0, 40);
    // 40 each on their own, and 720 that they borrow.
    assert!(count(&left, 0).abs_diff(520) <= 8 && count(&left, 2).abs_diff(280) <= 8, "{left:?}");
}

#[test]
fn each_class_has_its_own_room_and_unknown_code_points_share_one() {
    let classes = vec![class(Some("ef"), 1, 1), class(None, 1, 1)];
    let params = HtbParams { root: shape(2, 2), r2q: 10, classes };
    let mut queue: Htb<u32> = Htb::new(&params, Limit::Packets(3));
    queue.learn_dscps(&["ef", "cs1"].map(|name| Dscp::from_name(name).unwrap()));
    let mut verdicts = Verdicts::new();
    for (flow, bodies) in [(0, 0..2), (1, 10..12), (7, 20..22)] {
        for body in bodies {
            queue.enqueue(packet(flow, 1_500, body), Time::ZERO, &mut verdicts);
        }
    }
    // Flows 1 and 7 share the class for all others.
    assert_eq!(dropped_bodies(&mut verdicts), [21]);
    assert_eq!((queue.len(), queue.backlog()), (5, Bytes::new(7_500)));
}

/// `rate / r2q` between 1,000 and 200,000 bytes, unless it is given.
#[test]
fn quanta_follow_rates() {
    let quantum = |mbps: u64, given| {
        let rate = Rate::from_bps(mbps * 1_000_000);
        let shape = Shape { rate, ceil: rate, ..shape(1, 1) };
        HtbClass { quantum: given, ..HtbClass::new(shape) }.quantum(10)
    };
    assert_eq!([quantum(8, None), quantum(0, None), quantum(80, None)], [100_000, 1_000, 200_000]);
    assert_eq!(quantum(80, Some(300)), 300);
}
