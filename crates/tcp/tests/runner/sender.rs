//! A transcript's sender.

use std::collections::BTreeMap;
use std::sync::Arc;

use narrows_base::registry::Values;
use narrows_base::{Duration, Ecn, FlowId, Stream, Time};
use narrows_cc::{CcConfig, CongestionControl, INFINITE_SSTHRESH};
use narrows_tcp::{
    Ace, Ack, Data, Kind, MSS, SackBlocks, Segment, Sender, SenderConfig, SenderView, Seq, Sysctls,
};

use super::End;
use super::control::{FixedControl, SharedNotes, Spy, notes, read};
use super::script::{self, Settings};

pub struct SenderEnd {
    sender: Sender,
    notes: SharedNotes,
    sent: Vec<Kind>,
    /// Timestamps of the first and of the last SYN, and the ECN that the last one requests.
    syn: Option<(u32, u32, Ace)>,
    /// The timestamps with which each packet was sent first and last.
    stamps: BTreeMap<Seq, (u32, u32)>,
    /// The last acknowledgement, window and echo, which an ACK repeats by default.
    acked: Seq,
    window: u32,
    echo: u32,
    /// Marked packets that the receiver has counted.
    marked: Ace,
    /// Codepoints of the last new packet and of the last retransmission.
    ecn: [String; 2],
}

impl SenderEnd {
    pub fn new(settings: &Settings) -> Result<Self, String> {
        let profile = settings.profile()?;
        let initial_cwnd = settings.number("iw", 10)?;
        let config = SenderConfig {
            flow: FlowId(0),
            mss: MSS,
            initial_cwnd,
            sysctls: Sysctls::default(),
            profile,
            fq: settings.flag("fq"),
            line_rate: None,
            timer_lateness: Duration::ZERO,
            limits: settings.limits()?,
            notsent_lowat: None,
            size: settings.get("size").map(size).transpose()?,
            ecn: settings.ecn()?,
            gso: false,
            instance: 0,
            closes: false,
            note_lost: false,
            metrics: None,
        };
        let pacing = settings.get("pacing").map(script::rate).transpose()?;
        let notes = notes(initial_cwnd, pacing);
        let (name, shared) = (settings.get("cc").unwrap_or("reno").to_owned(), Arc::clone(&notes));
        let make = Box::new(move |_, rtt, initial_cwnd| -> Box<dyn CongestionControl> {
            let inner: Box<dyn CongestionControl> = if name == "fixed" {
                Box::new(FixedControl(Arc::clone(&shared)))
            } else {
                let config = CcConfig {
                    mss: MSS,
                    initial_cwnd,
                    initial_rtt: Some(rtt),
                    profile: &profile.cc,
                    random: Stream::new(1, "transcript"),
                    options: &Values::default(),
                };
                narrows_cc::build(&name, config).expect("a known control")
            };
            Box::new(Spy { inner, notes: shared })
        });
        let sender = Sender::connect(config, make, Time::ZERO);
        let stamps = BTreeMap::new();
        Ok(Self {
            sender,
            notes,
            sent: Vec::new(),
            syn: None,
            stamps,
            acked: 0,
            window: 0,
            echo: 0,
            marked: Ace::of_count(0),
            ecn: Default::default(),
        })
    }

    fn receive(&mut self, words: &[&str], now: Time) -> Result<(), String> {
        let kind = match words {
            ["synack", "win", window, words @ ..] => {
                self.window = script::number(window)?;
                let (first, last, offered) = self.syn.ok_or("no SYN was sent")?;
                let ts_echo = if words.contains(&"first") { first } else { last };
                let refused = words.contains(&"noecn");
                let (ace, option) = (if refused { Ace::NONE } else { answer(offered) }, None);
                Kind::SynAck { window: self.window, scale: 7, ts: 1, ts_echo, ace, option }
            }
            ["ack", words @ ..] => Kind::Ack(self.ack(words, now)?),
            _ => return Err("found neither synack nor ack".to_owned()),
        };
        self.sender.receive(&Segment { instance: 0, kind }, Ecn::NotEct, now);
        Ok(())
    }

    fn ack(&mut self, words: &[&str], now: Time) -> Result<Ack, String> {
        let (&number, mut words) = words.split_first().ok_or("an ACK without number")?;
        let mut ack = Ack { ack: script::number(number)?, ..Ack::default() };
        if ack.ack > self.acked {
            self.echo = self.stamps.get(&self.acked).map_or(self.echo, |&(_, last)| last);
            self.acked = ack.ack;
        }
        let mut blocks = Vec::new();
        while let Some((&word, rest)) = words.split_first() {
            words = rest;
            let mut value = || {
                let (&value, rest) = words.split_first().ok_or(format!("{word} without value"))?;
                words = rest;
                Ok::<_, String>(value)
            };
            match word {
                "dsack" => {
                    blocks.insert(0, script::range(value()?)?);
                    ack.sack.dsack = true;
                }
                "win" => self.window = script::number(value()?)?,
                "echo" => self.echo = self.stamp(value()?)?,
                "ece" => ack.ece = true,
                "marked" => self.marked = Ace::of_count(script::number(value()?)?),
                "sack" => {}
                block => blocks.push(script::range(block)?),
            }
        }
        let dsack = ack.sack.dsack;
        ack.sack = blocks.into_iter().collect::<SackBlocks>();
        ack.sack.dsack = dsack;
        let ts = u32::try_from(now.as_micros() / 1000 + 1).map_err(|e| e.to_string())?;
        Ok(Ack { window: self.window, ts, ts_echo: self.echo, ace: self.marked, ..ack })
    }

    /// The timestamp that a word names: `first3` and `last3` are those of packet 3's transmissions.
    fn stamp(&self, word: &str) -> Result<u32, String> {
        let of = |seq: &str| {
            let seq: Seq = script::number(seq)?;
            self.stamps.get(&seq).copied().ok_or_else(|| format!("{seq} wasn't sent"))
        };
        match (word.strip_prefix("first"), word.strip_prefix("last")) {
            (Some(seq), _) => Ok(of(seq)?.0),
            (_, Some(seq)) => Ok(of(seq)?.1),
            _ => script::number(word),
        }
    }

    fn set(&mut self, words: &[&str]) -> Result<(), String> {
        let mut notes = read(&self.notes);
        for pair in words.chunks(2) {
            match pair {
                ["cwnd", value] => notes.control.cwnd = script::number(value)?,
                ["pacing", value] => {
                    let bits = script::rate(value)?;
                    notes.control.pacing_rate = Some(narrows_base::Rate::from_bps(bits));
                }
                ["app_limited", value] => notes.control.app_limited = *value == "yes",
                _ => return Err(format!("nothing to set in {pair:?}")),
            }
        }
        Ok(())
    }

    fn view(&self) -> Result<SenderView, String> {
        self.sender.view().ok_or_else(|| "not connected".to_owned())
    }

    fn counter(&self, name: &str) -> Option<u64> {
        let stats = self.sender.stats();
        Some(match name {
            "sent" => stats.sent,
            "delivered" => stats.delivered,
            "lost" => stats.lost,
            "delivered_ce" => stats.delivered_ce,
            "retransmitted" => stats.retransmitted,
            "timeouts" => stats.timeouts,
            "starts" => u64::from(read(&self.notes).starts),
            _ => return None,
        })
    }

    fn sample(&self, name: &str) -> Option<Result<String, String>> {
        let notes = read(&self.notes);
        let Some(sample) = notes.ack else { return Some(Err("no ACK came".to_owned())) };
        let yes_no = |flag: bool| (if flag { "yes" } else { "no" }).to_owned();
        Some(Ok(match name {
            "acked" => sample.acked.to_string(),
            "losses" => sample.lost.to_string(),
            "prior_pipe" => sample.prior_in_flight.to_string(),
            "rtt" => optional(sample.rtt),
            "rate" => sample.rate.map_or_else(
                || "none".to_owned(),
                |rate| format!("{}/{}", rate.delivered, optional(Some(rate.interval))),
            ),
            "prior_delivered" => sample.rate?.prior_delivered.to_string(),
            "app_limited" => yes_no(sample.rate?.app_limited),
            "ack_delayed" => yes_no(sample.ack_delayed),
            "cwnd_limited" => yes_no(sample.cwnd_limited),
            "may_grow" => yes_no(sample.may_grow),
            _ => return None,
        }))
    }
}

/// `20p` packets or `1000` bytes.
fn size(word: &str) -> Result<u64, String> {
    match word.strip_suffix('p') {
        Some(packets) => Ok(script::number::<u64>(packets)? * u64::from(MSS)),
        None => script::number(word),
    }
}

fn optional(span: Option<Duration>) -> String {
    span.map_or_else(|| "none".to_owned(), |span| script::show(Time::ZERO + span))
}

impl End for SenderEnd {
    fn run(&mut self, words: &[&str], now: Time) -> Result<Time, String> {
        match words {
            ["<", words @ ..] => self.receive(words, now)?,
            ["set", words @ ..] => self.set(words)?,
            ["stop"] => self.sender.stop(now),
            ["write", bytes] => self.sender.write(Some(size(bytes)?), now),
            _ => return Err(format!("no such command: {words:?}")),
        }
        Ok(now)
    }

    fn drain(&mut self, now: Time) {
        let mut packets = Vec::new();
        self.sender.advance(now, &mut packets);
        for segment in packets.into_iter().map(|packet| packet.body) {
            match &segment.kind {
                Kind::Syn { ts, ace, .. } => {
                    let first = self.syn.map_or(*ts, |(first, ..)| first);
                    self.syn = Some((first, *ts, *ace));
                }
                Kind::Data(data) => {
                    let codepoint = format!("{:?}", data.ecn).to_lowercase();
                    self.ecn[usize::from(data.retransmission)] = codepoint;
                    self.stamps.entry(data.seq).or_insert((data.ts, data.ts)).1 = data.ts;
                }
                _ => {}
            }
            self.sent.push(segment.kind);
        }
    }

    fn next_deadline(&self) -> Option<Time> {
        self.sender.next_deadline()
    }

    fn take_sent(&mut self) -> String {
        show_sent(&std::mem::take(&mut self.sent))
    }

    fn value(&self, name: &str) -> Result<String, String> {
        if let Some(counter) = self.counter(name) {
            return Ok(counter.to_string());
        }
        if name == "ecn" {
            return Ok(self.ecn[0].clone());
        }
        if name == "ecn_again" {
            return Ok(self.ecn[1].clone());
        }
        if name == "done" {
            return Ok((if self.sender.is_done() { "yes" } else { "no" }).to_owned());
        }
        let view = self.view()?;
        Ok(match name {
            "cwnd" => view.cwnd.to_string(),
            "ssthresh" if view.ssthresh == INFINITE_SSTHRESH => "inf".to_owned(),
            "ssthresh" => view.ssthresh.to_string(),
            "pipe" => view.in_flight.to_string(),
            "state" => format!("{:?}", view.state).to_lowercase(),
            "srtt" => optional(view.srtt),
            "min_rtt" => optional(view.min_rtt),
            "pacing" => view.pacing_rate.map_or(0, narrows_base::Rate::as_bps).to_string(),
            _ => return self.sample(name).ok_or(format!("no value called {name}"))?,
        })
    }
}

/// Shows packets as ranges, with `r` for retransmissions, `|` after a burst (PSH) and `cwr`
/// before a packet with that flag.
fn show_sent(sent: &[Kind]) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut run: Option<(Seq, Seq, bool)> = None;
    let flush = |words: &mut Vec<String>, run: &mut Option<(Seq, Seq, bool)>| {
        if let Some((start, end, again)) = run.take() {
            words.push(format!(
                "{}{}",
                if again { "r" } else { "" },
                script::show_range(start, end)
            ));
        }
    };
    for (at, kind) in sent.iter().enumerate() {
        let Kind::Data(Data { seq, psh, retransmission, cwr, .. }) = kind else {
            flush(&mut words, &mut run);
            let word = match kind {
                Kind::Syn { ace: Ace::NONE, .. } => "syn".to_owned(),
                Kind::Syn { .. } => "syn ecn".to_owned(),
                Kind::WindowProbe { seq, .. } => format!("probe {seq}"),
                Kind::Challenge { seq, .. } => format!("challenge {seq}"),
                _ => "handshake".to_owned(),
            };
            words.push(word);
            continue;
        };
        if *cwr {
            flush(&mut words, &mut run);
            words.push("cwr".to_owned());
        }
        match &mut run {
            Some((_, end, again)) if *end == *seq && *again == *retransmission => *end += 1,
            _ => {
                flush(&mut words, &mut run);
                run = Some((*seq, seq + 1, *retransmission));
            }
        }
        if *psh && at + 1 < sent.len() {
            flush(&mut words, &mut run);
            words.push("|".to_owned());
        }
    }
    flush(&mut words, &mut run);
    words.join(" ")
}

/// The answer of a peer that supports every kind of ECN.
fn answer(offered: Ace) -> Ace {
    match offered {
        Ace::CLASSIC_REQUEST => Ace::CLASSIC_ANSWER,
        Ace::ACCURATE_REQUEST => Ace::reflecting(Ecn::NotEct),
        _ => Ace::NONE,
    }
}
