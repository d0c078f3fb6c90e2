//! The acknowledgements of one direction.

use super::half_connection::HalfConnection;
use super::outstanding::SentRange;
use crate::decode::{CapturedSegment, Flags};

/// Selective acknowledgements beyond a packet that prove it lost (RFC 6675).
const BEYOND: u64 = 3;
/// An acknowledgement further than this beyond the data seen belongs to another connection.
const FURTHEST: u64 = 1 << 30;

/// The effect of one acknowledgement on the outstanding data.
#[derive(Default)]
struct News {
    /// When the newest packet that it acknowledges cumulatively was first sent.
    newest: Option<u64>,
    /// When the newest packet that it acknowledges selectively was first sent.
    newest_sacked: Option<u64>,
    /// A retransmission is among them.
    again: bool,
    bytes: u64,
    /// Packets that arrived after later ones without being retransmitted.
    overtaken: u32,
    /// The end of what had been selectively acknowledged before.
    beyond: u64,
}

impl HalfConnection {
    /// Takes a segment of the other direction that acknowledges this one.
    ///
    /// Returns the highest number acknowledged now and the window, in bytes.
    pub(crate) fn on_ack(&mut self, segment: &CapturedSegment) -> Option<(u64, Option<u64>)> {
        let time = segment.time;
        self.pass(time);
        if let Some((_, echo)) = segment.timestamps
            && let Some(rtt) = self.echoes.take_echo(echo, time)
        {
            self.echo_rtts.add(rtt);
            self.echoed = Some(rtt);
        }
        let ack = self.unwrap(segment.ack);
        let first = self.outstanding.front().map_or(ack, |first| first.begin.min(ack));
        let una = *self.una.get_or_insert(first);
        if ack > self.high.unwrap_or(ack).saturating_add(FURTHEST) || una > ack + FURTHEST {
            return None;
        }
        self.counts.acks += 1;
        self.counts.echoes += u64::from(segment.flags.has(Flags::ECE));
        let beyond = self.sacked.end().unwrap_or(0);
        let mut news = News { beyond, ..News::default() };
        self.selective(segment, ack, &mut news);
        self.stalled.on_acknowledgement(ack > una);
        if ack > una {
            self.advance(ack, &mut news);
            self.advanced = time;
        } else {
            self.duplicate(segment, ack, una);
        }
        self.delivered += news.bytes;
        self.timeline.note_delivery(news.bytes, news.overtaken);
        self.sample(time, &news);
        self.learn_window(segment, ack);
        self.note_loss();
        self.note_limit();
        let open = !(self.held_back || self.outstanding.is_empty());
        self.answers.on_acknowledgement(time, (ack > una).then_some(ack), open);
        let (una, high) = (self.una.unwrap_or(ack), self.high.unwrap_or(ack));
        self.rounds.note_ack(time, una, high, news.bytes, self.outstanding.in_flight());
        self.last_ack = time;
        Some((una, self.window))
    }

    fn advance(&mut self, ack: u64, news: &mut News) {
        let high = self.high.unwrap_or(ack);
        let (mut missing, mut controls, mut parts) = (ack.saturating_sub(high), 0, 0);
        // A hole that was known and closes without a retransmission was reordered (RFC 4737).
        let mut reordered = false;
        self.outstanding.acknowledge(ack, |sent| {
            parts += 1;
            controls += u64::from(sent.control);
            missing += if sent.unseen { sent.length() } else { 0 };
            news.again |= sent.again;
            let missed = !(sent.sacked || sent.again) && sent.end < news.beyond;
            reordered = if parts == 1 { missed } else { reordered };
            news.overtaken += u32::from(missed && reordered);
            if !sent.sacked {
                news.bytes += sent.length() - u64::from(sent.control);
                let timed = !(sent.again || sent.unseen);
                news.newest = if timed { Some(sent.time) } else { news.newest };
            }
        });
        news.bytes += ack.saturating_sub(high);
        self.counts.stretched += u64::from(parts > 2);
        self.counts.missing += missing;
        self.unseen.add(high, ack, self.last_event);
        self.controls += controls;
        self.una = Some(ack);
        self.high = Some(high.max(ack));
        self.sacked.remove_below(ack);
    }

    fn duplicate(&mut self, segment: &CapturedSegment, ack: u64, una: u64) {
        let others = Flags::SYN.with(Flags::FIN).with(Flags::RST);
        let plain = segment.payload == 0 && !segment.flags.has(others);
        let same_window = segment.window == self.window_field || segment.sack_count > 0;
        if plain && ack == una && same_window && !self.outstanding.is_empty() {
            self.counts.duplicate_acks += 1;
        }
    }

    /// The SACK blocks; a first one that lies below or within another is a DSACK (RFC 2883).
    fn selective(&mut self, segment: &CapturedSegment, ack: u64, news: &mut News) {
        let Some(&(first, first_end)) = segment.sacks().first() else { return };
        let (begin, end) = (self.unwrap(first), self.unwrap(first_end));
        let second = segment.sacks().get(1).map(|&(b, e)| (self.unwrap(b), self.unwrap(e)));
        let within = second.is_some_and(|(b, e)| b <= begin && end <= e);
        let duplicate = begin < end && (end <= ack || within);
        // The single byte of a keep-alive has always arrived before.
        let keepalive = end.saturating_sub(begin) == 1 && self.counts.keepalives > 0;
        if duplicate && !keepalive {
            self.counts.spurious += self.packets(end - begin);
            self.timeline.note_spurious(self.packets(end - begin));
        }
        for &(begin, end) in &segment.sacks()[usize::from(duplicate)..] {
            let (begin, end) = (self.unwrap(begin), self.unwrap(end));
            if begin < end && begin >= ack && end <= self.high.unwrap_or(0) {
                self.sack(begin, end, news);
            }
        }
        self.infer_loss();
    }

    fn sack(&mut self, begin: u64, end: u64, news: &mut News) {
        let outstanding = &mut self.outstanding;
        self.sacked.insert(begin, end, |begin, end| {
            for index in outstanding.within(begin, end) {
                let sent = *outstanding.get(index);
                if sent.begin < begin || sent.end > end {
                    continue;
                }
                let Some(SentRange { again, unseen, time, control, .. }) = outstanding.sack(index)
                else {
                    continue;
                };
                news.bytes += sent.length() - u64::from(control);
                if !(again || unseen) {
                    news.newest_sacked = news.newest_sacked.max(Some(time));
                }
            }
        });
    }

    /// Data three packets below the highest selective acknowledgement are lost.
    fn infer_loss(&mut self) {
        let margin = BEYOND * self.mss.unwrap_or(1);
        let edge = self.sacked.end().map_or(0, |end| end.saturating_sub(margin));
        if edge > self.lost_edge {
            self.outstanding.lose(self.lost_edge, edge);
            self.lost_edge = edge;
        }
    }

    /// The RTT sample that Linux gives its controls (`tcp_clean_rtx_queue`): of the newest packet
    /// acknowledged either way; cumulatively only if there is no retransmission among them (Karn).
    fn sample(&mut self, time: u64, news: &News) {
        let cumulative = news.newest.filter(|_| !news.again);
        let Some(sent) = cumulative.max(news.newest_sacked) else { return };
        let rtt = time.saturating_sub(sent);
        self.rtts.add(rtt);
        self.timeline.note_rtt(rtt);
        self.rtt = Some(rtt);
        self.srtt = Some(self.srtt.map_or(rtt, |srtt| srtt - srtt / 8 + rtt / 8));
        self.rounds.sample(rtt);
    }

    fn learn_window(&mut self, segment: &CapturedSegment, ack: u64) {
        if segment.flags.has(Flags::RST) || self.una.is_some_and(|una| ack < una) {
            return;
        }
        self.window_field = segment.window;
        let field = u64::from(segment.window);
        let window = match (segment.flags.has(Flags::SYN), self.scale) {
            (true, _) => Some(field),
            (false, Some(scale)) => Some(field << scale),
            (false, None) if field == 0 => Some(0),
            (false, None) => None,
        };
        match (window == Some(0), self.zero_since) {
            (true, None) => self.zero_since = Some(segment.time),
            (false, Some(since)) => {
                self.zero.add(segment.time.saturating_sub(since));
                self.zero_since = None;
            }
            _ => {}
        }
        if let Some(window) = window {
            self.least_window = Some(self.least_window.map_or(window, |least| least.min(window)));
            self.most_window = self.most_window.max(Some(window));
        }
        self.window = window;
    }

    /// Ends the capture or the connection.
    pub(crate) fn finish(&mut self, time: u64) {
        if let Some(since) = self.zero_since.take() {
            self.zero.add(time.saturating_sub(since));
        }
        self.bursts.finish();
        self.sacked.clear();
    }
}
