//! Runs transcripts: scripts that talk to one end of a connection and say what it
//! must answer, and when (packetdrill's idea in a format of our own, which
//! docs/reference/tcp.md describes).

mod control;
mod receiver;
mod script;
mod sender;

use narrows_base::{Duration, Time};

use receiver::ReceiverEnd;
use script::{Line, Settings};
use sender::SenderEnd;

/// One end of a connection, as a script sees it.
trait End {
    /// Does what a line says; `words[0]` is its command. Returns when it is done.
    fn run(&mut self, words: &[&str], now: Time) -> Result<Time, String>;
    /// Takes note of everything that leaves at `now`.
    fn drain(&mut self, now: Time);
    fn next_deadline(&self) -> Option<Time>;
    /// Takes the packets that left and weren't expected yet, in the script's words.
    fn take_sent(&mut self) -> String;
    /// The value called `name`, in the script's words.
    fn value(&self, name: &str) -> Result<String, String>;
}

/// Runs the script and returns what went wrong, a line for each mistake.
pub fn run(name: &str, text: &str) -> Result<(), String> {
    let mut runner = match start(text) {
        Ok(runner) => runner,
        Err(error) => return Err(format!("{name}: {error}")),
    };
    let mut mistakes = Vec::new();
    for line in script::lines(text).skip(1) {
        let answers = line.after.is_none() && line.words.first() == Some(&">");
        let left = if answers { Ok(()) } else { runner.nothing_left() };
        for error in [left, runner.step(&line)].into_iter().filter_map(Result::err) {
            let at = script::show(runner.now);
            mistakes.push(format!("{name}:{}: [{at}] {}\n    {error}", line.number, line.text));
        }
    }
    if let Err(error) = runner.nothing_left() {
        mistakes.push(format!("{name}: at the end: {error}"));
    }
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes.join("\n")) }
}

fn start(text: &str) -> Result<Runner, String> {
    let first = script::lines(text).next().ok_or("an empty script")?;
    let settings = Settings::parse(&first.words)?;
    let end: Box<dyn End> = match first.words[0] {
        "sender" => Box::new(SenderEnd::new(&settings)?),
        "receiver" => Box::new(ReceiverEnd::new(&settings)?),
        other => return Err(format!("found \"{other}\"; sender or receiver is needed")),
    };
    let mut runner = Runner { end, now: Time::ZERO };
    runner.end.drain(Time::ZERO);
    Ok(runner)
}

struct Runner {
    end: Box<dyn End>,
    now: Time,
}

impl Runner {
    fn step(&mut self, line: &Line) -> Result<(), String> {
        if let Some(after) = line.after {
            self.advance(self.now + after)?;
        }
        match line.words.as_slice() {
            [] => Ok(()),
            [">", words @ ..] => self.expect(words),
            ["=", pairs @ ..] => self.check(pairs),
            ["timer", when] => self.expect_timer(when),
            ["sleep", span] => {
                // The host is busy: timers that fall due meanwhile are served late.
                self.now += script::duration(span)?;
                self.end.drain(self.now);
                Ok(())
            }
            words => {
                self.now = self.end.run(words, self.now)?;
                self.end.drain(self.now);
                Ok(())
            }
        }
    }

    /// Lets time pass; nothing may leave before `target`.
    fn advance(&mut self, target: Time) -> Result<(), String> {
        while let Some(at) = self.end.next_deadline().filter(|&at| at <= target) {
            self.now = self.now.max(at);
            self.end.drain(self.now);
            if self.now < target {
                let left = self.nothing_left();
                if left.is_err() {
                    self.now = target;
                    return left;
                }
            }
        }
        self.now = target;
        Ok(())
    }

    fn nothing_left(&mut self) -> Result<(), String> {
        match self.end.take_sent() {
            sent if sent.is_empty() => Ok(()),
            sent => Err(format!("unexpected: > {sent}")),
        }
    }

    fn expect(&mut self, words: &[&str]) -> Result<(), String> {
        let (wanted, found) = (words.join(" "), self.end.take_sent());
        if wanted == found || (wanted == "nothing" && found.is_empty()) {
            return Ok(());
        }
        Err(format!("found:   > {found}"))
    }

    fn check(&self, pairs: &[&str]) -> Result<(), String> {
        let mut wrong = Vec::new();
        for pair in pairs.chunks(2) {
            let [name, wanted] = pair else { return Err("a name without value".to_owned()) };
            let found = match *name {
                "timer" => self.end.next_deadline().map_or("none".to_owned(), script::show),
                name => self.end.value(name)?,
            };
            if found != *wanted {
                wrong.push(format!("{name} {found}"));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(format!("found:   = {}", wrong.join(" "))) }
    }

    /// The next timer must be due exactly then; time moves there.
    fn expect_timer(&mut self, when: &str) -> Result<(), String> {
        let due = self.end.next_deadline();
        let wanted = match when {
            "none" => None,
            _ => Some(match when.strip_prefix('+') {
                Some(after) => self.now + script::duration(after)?,
                None => Time::ZERO + script::duration(when)?,
            }),
        };
        let result = if due == wanted {
            Ok(())
        } else {
            let due = due.map_or_else(
                || "none".to_owned(),
                |at| format!("{}, +{}", script::show(at), span(at.saturating_since(self.now))),
            );
            Err(format!("found:   timer {due}"))
        };
        if let Some(at) = due.filter(|_| wanted.is_some()) {
            self.now = self.now.max(at);
            self.end.drain(self.now);
        }
        result
    }
}

fn span(duration: Duration) -> String {
    script::show(Time::ZERO + duration)
}
