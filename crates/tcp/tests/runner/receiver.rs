//! A transcript's receiver.

use narrows_base::{Duration, Ecn, FlowId, Time};
use narrows_tcp::{
    AccEcnSettings, Ace, Ack, Data, EcnMode, Kind, MSS, Receiver, ReceiverConfig, Segment,
};

use super::End;
use super::script::{self, Settings};

pub struct ReceiverEnd {
    receiver: Receiver,
    /// Round trip that the senders' timestamps show.
    rtt: Duration,
    ecn: EcnMode,
    sent: Vec<Kind>,
    last: Option<Ack>,
}

impl ReceiverEnd {
    pub fn new(settings: &Settings) -> Result<Self, String> {
        let config = ReceiverConfig {
            flow: FlowId(0),
            profile: settings.profile()?,
            limits: settings.limits()?,
            gro: script::duration(settings.get("gro").unwrap_or("0ms"))?,
            ecn: settings.ecn()?,
            accurate_ecn: AccEcnSettings::default(),
            window_clamp: settings.get("clamp").map(script::number).transpose()?,
            instance: 0,
            socket: None,
        };
        let rtt = script::duration(settings.get("rtt").unwrap_or("40ms"))?;
        let receiver = Receiver::new(config);
        Ok(Self { receiver, rtt, ecn: config.ecn, sent: Vec::new(), last: None })
    }

    fn receive(&mut self, words: &[&str], now: Time) -> Result<Time, String> {
        match words {
            ["syn", words @ ..] => {
                let mode = if *words == ["noecn"] { EcnMode::Off } else { self.ecn };
                let ace = Ace::request(mode);
                self.deliver(Kind::Syn { window: 64_240, scale: 7, ts: 1, ace }, now);
            }
            ["handshake"] => {
                let (ace, option) = (Ace::reflecting(self.ecn.of_handshake()), None);
                self.deliver(Kind::HandshakeAck { ts: 1, ts_echo: 1, ace, option }, now);
            }
            ["data", range, words @ ..] => return self.receive_data(range, words, now),
            _ => return Err("found no syn, handshake or data".to_owned()),
        }
        Ok(now)
    }

    /// Packets in a row, `every` so often; returns when the last one came.
    fn receive_data(&mut self, range: &str, words: &[&str], now: Time) -> Result<Time, String> {
        let (start, end) = script::range(range)?;
        let (mut psh, mut len, mut gap) = (false, u16::try_from(MSS).unwrap_or(0), Duration::ZERO);
        let (mut cwr, mut ecn) = (false, self.ecn.of_new_data());
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || words.next().copied().ok_or(format!("{word} without value"));
            match word {
                "psh" => psh = true,
                "cwr" => cwr = true,
                "ce" => ecn = Ecn::Ce,
                "notect" => ecn = Ecn::NotEct,
                "len" => len = script::number(value()?)?,
                "every" => gap = script::duration(value()?)?,
                _ => return Err(format!("data has no \"{word}\"")),
            }
        }
        let mut at = now;
        for seq in start..end {
            let stamp = |at: Time| u32::try_from(at.as_micros() / 1000 + 1).unwrap_or(0);
            let echo = Time::ZERO + at.saturating_since(Time::ZERO).saturating_sub(self.rtt);
            let data = Data {
                seq,
                count: 1,
                len,
                psh,
                fin: false,
                retransmission: false,
                ts: stamp(at),
                ts_echo: stamp(echo),
                cwr,
                ace: Ace::NONE,
                ecn,
            };
            while let Some(due) = self.receiver.next_deadline().filter(|&due| due <= at) {
                self.drain(due);
            }
            self.deliver(Kind::Data(data), at);
            self.drain(at);
            if seq + 1 < end {
                at += gap;
            }
        }
        Ok(at)
    }

    fn deliver(&mut self, kind: Kind, now: Time) {
        let ecn = if let Kind::Data(data) = &kind { data.ecn } else { Ecn::NotEct };
        self.receiver.receive(&Segment { instance: 0, kind }, ecn, now);
    }
}

impl End for ReceiverEnd {
    fn run(&mut self, words: &[&str], now: Time) -> Result<Time, String> {
        match words {
            ["<", words @ ..] => self.receive(words, now),
            _ => Err(format!("no such command: {words:?}")),
        }
    }

    fn drain(&mut self, now: Time) {
        let mut packets = Vec::new();
        self.receiver.advance(now, &mut packets);
        for segment in packets.into_iter().map(|packet| packet.body) {
            if let Kind::Ack(ack) = segment.kind {
                self.last = Some(ack);
            }
            self.sent.push(segment.kind);
        }
    }

    fn next_deadline(&self) -> Option<Time> {
        self.receiver.next_deadline()
    }

    fn take_sent(&mut self) -> String {
        show_sent(&std::mem::take(&mut self.sent))
    }

    fn value(&self, name: &str) -> Result<String, String> {
        let stats = self.receiver.stats();
        let last = || self.last.ok_or("no ACK was sent");
        Ok(match name {
            "bytes" => stats.bytes.to_string(),
            "packets" => stats.packets.to_string(),
            "duplicates" => stats.duplicates.to_string(),
            "acks" => stats.acks.to_string(),
            "win" => last()?.window.to_string(),
            "echo" => last()?.ts_echo.to_string(),
            _ => return Err(format!("no value called {name}")),
        })
    }
}

/// ACKs with their blocks; a row of plain ones is `ack 2 to 20 by 2`.
fn show_sent(sent: &[Kind]) -> String {
    let mut shown = Vec::new();
    let mut at = 0;
    while at < sent.len() {
        let row = plain_row(&sent[at..]);
        shown.push(match (&sent[at], &sent[at + row - 1]) {
            (Kind::Ack(first), Kind::Ack(last)) if row > 2 => {
                let step = (last.ack - first.ack) / u32::try_from(row - 1).unwrap_or(1);
                let by = if step == 1 { String::new() } else { format!(" by {step}") };
                format!("ack {} to {}{by}", first.ack, last.ack)
            }
            (kind, _) => show_kind(kind),
        });
        at += if row > 2 { row } else { 1 };
    }
    shown.join(", ")
}

/// How many plain ACKs at the start of `sent` advance by the same number.
fn plain_row(sent: &[Kind]) -> usize {
    let plain = |kind: &Kind| match kind {
        Kind::Ack(ack) if ack.sack.is_empty() && !ack.ece && !counts(ack) => Some(ack.ack),
        _ => None,
    };
    let numbers: Vec<u32> = sent.iter().map_while(plain).collect();
    let steps = numbers.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
    let first = numbers.get(1).map_or(0, |second| second.wrapping_sub(numbers[0]));
    1 + steps.take_while(|&step| step == first && step > 0).count()
}

/// Returns `true` if an ACK tells of marks.
fn counts(ack: &Ack) -> bool {
    ![Ace::NONE, Ace::of_count(0)].contains(&ack.ace)
}

fn show_kind(kind: &Kind) -> String {
    match kind {
        Kind::SynAck { window, .. } => format!("synack win {window}"),
        Kind::Ack(ack) => {
            let mut words = vec![format!("ack {}", ack.ack)];
            for (at, &(start, end)) in ack.sack.as_slice().iter().enumerate() {
                let name = match (at, ack.sack.dsack) {
                    (0, true) => "dsack ",
                    (0, false) => "sack ",
                    (1, true) => "sack ",
                    _ => "",
                };
                words.push(format!("{name}{}", script::show_range(start, end)));
            }
            if ack.ece {
                words.push("ece".to_owned());
            }
            if counts(ack) {
                words.push(format!("ace {}", ack.ace.bits()));
            }
            words.join(" ")
        }
        other => format!("{other:?}"),
    }
}
