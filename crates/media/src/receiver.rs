//! The receiver of media: it reports arrivals, and shows frames that it can decode.

use std::collections::BTreeMap;

use narrows_base::{Duration, Ecn, Time};
use narrows_spec::scenario::Media;

use crate::screen::{SharedScreen, lock_screen};
use crate::wire::{Feedback, Packet, short, whole};
use narrows_tcp::ends::{End, Outgoing, ReceivingEnd};

/// Packets that a report names at most, so that it fits a packet.
const MOST_REPORTED: u64 = 640;

/// A frame of which packets arrived.
#[derive(Debug)]
struct Partial {
    captured: Time,
    key: bool,
    /// Which of its packets arrived.
    arrived: Vec<bool>,
    bytes: u64,
}

impl Partial {
    fn of(packet: &Packet) -> Self {
        let arrived = vec![false; usize::from(packet.count)];
        Self { captured: packet.captured, key: packet.key, arrived, bytes: 0 }
    }

    fn is_complete(&self) -> bool {
        self.arrived.iter().all(|&arrived| arrived)
    }
}

/// The receiving end.
pub(crate) struct Receiver {
    screen: SharedScreen,
    interval: Duration,
    /// When the next report leaves; none before a packet that isn't reported.
    report_at: Option<Time>,
    /// Arrivals by the packets' numbers, from those of the last two reports on.
    arrivals: BTreeMap<u64, (Time, Ecn)>,
    /// The highest number that arrived, and those of the last two reports.
    highest: Option<u64>,
    reported: [u64; 2],
    /// Frames that aren't shown, by number; the next one to be shown.
    frames: BTreeMap<u32, Partial>,
    next: u32,
    bytes: u64,
}

impl Receiver {
    pub(crate) fn new(media: &Media, screen: SharedScreen) -> Self {
        Self {
            screen,
            interval: Duration::from_nanos(media.feedback_ns),
            report_at: None,
            arrivals: BTreeMap::new(),
            highest: None,
            reported: [0, 0],
            frames: BTreeMap::new(),
            next: 0,
            bytes: 0,
        }
    }

    fn note(&mut self, packet: &Packet, ecn: Ecn, now: Time) {
        let number = whole(packet.seq, self.highest.unwrap_or_default());
        self.highest = self.highest.max(Some(number));
        self.arrivals.entry(number).or_insert((now, ecn));
        self.report_at.get_or_insert(now + self.interval);
    }

    /// Adds a packet to its frame; returns whether it was missing.
    fn collect(&mut self, packet: &Packet, len: u64) -> bool {
        let frame = self.frames.entry(packet.frame).or_insert_with(|| Partial::of(packet));
        let Some(slot) = frame.arrived.get_mut(usize::from(packet.index)) else { return false };
        let missing = !std::mem::replace(slot, true);
        if missing {
            frame.bytes += len;
        }
        missing
    }

    /// Shows what can be decoded: the next frame, or a key frame in place of what is missing.
    fn show(&mut self, now: Time) {
        loop {
            let complete = |(_, frame): &(&u32, &Partial)| frame.is_complete();
            let next = self.frames.get_key_value(&self.next).filter(complete);
            let key = || self.frames.iter().find(|found| complete(found) && found.1.key);
            let Some((&number, _)) = next.or_else(key) else { return };
            let frame = self.frames.remove(&number).expect("it was found");
            self.frames.retain(|&other, _| other > number);
            let mut screen = lock_screen(&self.screen);
            screen.lose(number - self.next);
            screen.show(number, frame.captured, frame.bytes, now);
            self.next = number + 1;
        }
    }

    /// Returns `true` if a frame is incomplete although later packets arrived, and no key frame is
    /// on its way. A frame that lacks packets is no help once later frames arrive.
    fn wants_key(&self) -> bool {
        let mut waits = self.frames.range(self.next + 1..).rev();
        waits.next().is_some_and(|(_, latest)| !latest.key)
    }

    fn report(&mut self, now: Time) -> Option<Feedback> {
        let highest = self.highest?;
        let begin = self.reported[0].max((highest + 1).saturating_sub(MOST_REPORTED));
        self.arrivals = self.arrivals.split_off(&begin);
        let arrivals = (begin..=highest).map(|number| self.arrivals.get(&number).copied());
        let arrivals = arrivals.collect();
        self.reported = [self.reported[1], highest + 1];
        let wants_key = self.wants_key();
        Some(Feedback { begin: short(begin), arrivals, at: now, wants_key })
    }
}

impl End for Receiver {
    fn receive(&mut self, bytes: &[u8], ecn: Ecn, now: Time) {
        let Some(packet) = Packet::read(bytes) else { return };
        self.note(&packet, ecn, now);
        let len = bytes.len() as u64;
        if packet.frame < self.next {
            return;
        }
        if self.collect(&packet, len) {
            self.bytes += len;
            self.show(now);
        }
    }

    fn poll(&mut self, now: Time) -> Option<Outgoing> {
        self.report_at.filter(|&at| at <= now)?;
        self.report_at = None;
        let bytes = self.report(now)?.write();
        Some(Outgoing { bytes, ecn: Ecn::NotEct })
    }

    fn next_deadline(&self) -> Option<Time> {
        self.report_at
    }
}

impl ReceivingEnd for Receiver {
    fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use narrows_spec::scenario::MediaControl;

    use super::*;
    use crate::bench::{media, ms};
    use crate::screen::Screen;
    use std::sync::{Arc, Mutex};

    struct Bench {
        receiver: Receiver,
        seq: u16,
    }

    impl Bench {
        fn new() -> Self {
            let screen = Arc::new(Mutex::new(Screen::new(0)));
            Self { receiver: Receiver::new(&media(MediaControl::Nada), screen), seq: 0 }
        }

        /// A frame of two packets, of which some are lost.
        fn frame(&mut self, frame: u32, key: bool, lost: &[u16], now: u64) {
            let captured = ms(now - 20);
            for index in 0..2 {
                let packet = Packet { seq: self.seq, frame, index, count: 2, key, captured };
                self.seq += 1;
                if !lost.contains(&index) {
                    self.receiver.receive(&packet.write(500), Ecn::Ect0, ms(now));
                }
            }
        }

        fn shown_frames(&self) -> Vec<u32> {
            let mut screen = lock_screen(&self.receiver.screen);
            std::iter::from_fn(|| screen.take(ms(100_000))).map(|shown| shown.frame).collect()
        }

        fn report(&mut self, now: u64) -> Feedback {
            let out = self.receiver.poll(ms(now)).expect("a report is due");
            assert!(self.receiver.poll(ms(now)).is_none(), "one at a time");
            Feedback::read(&out.bytes, ms(now)).expect("a report")
        }
    }

    #[test]
    fn after_a_loss_only_a_key_frame_is_shown() {
        let mut bench = Bench::new();
        bench.frame(0, true, &[], 100);
        bench.frame(1, false, &[1], 140);
        assert!(!bench.receiver.wants_key(), "the rest may follow");
        bench.frame(2, false, &[], 180);
        assert_eq!(bench.shown_frames(), [0]);
        assert!(bench.report(200).wants_key);
        bench.frame(3, false, &[], 220);
        bench.frame(4, true, &[1], 260);
        assert!(!bench.receiver.wants_key(), "it is arriving");
        bench.frame(5, false, &[], 280);
        assert!(bench.receiver.wants_key(), "its packet is lost");
        bench.frame(6, true, &[], 300);
        bench.frame(7, false, &[], 340);
        assert_eq!(bench.shown_frames(), [6, 7]);
        assert_eq!(lock_screen(&bench.receiver.screen).lost_frames(), 5);
    }

    #[test]
    fn reports_name_each_packet_twice() {
        let mut bench = Bench::new();
        bench.frame(0, true, &[], 100);
        bench.frame(1, false, &[0], 140);
        let report = bench.report(200);
        assert_eq!((report.begin, report.arrivals.len()), (0, 4));
        let arrived: Vec<bool> = report.arrivals.iter().map(Option::is_some).collect();
        assert_eq!(arrived, [true, true, false, true]);
        bench.frame(2, false, &[], 240);
        assert_eq!(bench.receiver.next_deadline(), Some(ms(340)), "an interval after the packet");
        let report = bench.report(340);
        assert_eq!((report.begin, report.arrivals.len()), (0, 6));
        bench.frame(3, false, &[], 380);
        let report = bench.report(480);
        assert_eq!((report.begin, report.arrivals.len()), (4, 4));
    }

    #[test]
    fn packets_out_of_order_complete_their_frame() {
        let mut bench = Bench::new();
        let make = |seq, frame, index| Packet {
            seq,
            frame,
            index,
            count: 2,
            key: frame == 0,
            captured: ms(0),
        };
        for packet in [make(0, 0, 0), make(2, 1, 0), make(3, 1, 1), make(1, 0, 1)] {
            bench.receiver.receive(&packet.write(500), Ecn::NotEct, ms(50));
        }
        // The same packet twice counts once.
        bench.receiver.receive(&make(3, 1, 1).write(500), Ecn::NotEct, ms(60));
        assert_eq!(bench.shown_frames(), [0, 1]);
        assert_eq!(bench.receiver.bytes(), 2_000);
    }
}
