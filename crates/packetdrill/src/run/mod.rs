//! Plays a script against an end.

mod compare;
mod connection;
mod describe;
mod expect;
mod timing;

use crate::call::Call;
use crate::code::Variables;
use crate::end::{CallCompletion, CallOutcome, EndError, TestedEnd};
use crate::error::ScriptPosition;
use crate::packet::{IpPacket, Payload};
use crate::script::{Action, EventTime, PacketDirection, Script, ScriptEvent};

use connection::ScriptConnection;
use timing::{EventDue, ScriptClock};

/// How long a call that should have returned may take longer.
const GRACE_NS: i64 = 1_000_000_000;

/// The runner's choices.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How far from its time an event may be, unless the script says; an eighth of the time since
    /// the last event if that is more.
    pub tolerance_ns: i64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tolerance_ns: 4_000_000 }
    }
}

/// The result of a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptReport {
    /// Why it failed; `None` if it passed.
    pub failure: Option<Failure>,
    /// The output of its code.
    pub printed: Vec<String>,
    /// How many of its events took place.
    pub events: usize,
}

/// Why a script didn't pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The event; `None` for the commands around the events.
    pub at: Option<ScriptPosition>,
    /// True if the end doesn't have what the event needs, so that nothing was tested.
    pub unsupported: bool,
    /// In words.
    pub message: String,
}

/// Plays a script to its end or to the first event that differs.
pub fn run(script: &Script, settings: Settings, end: &mut dyn TestedEnd) -> ScriptReport {
    let tolerance_ns = script.options.tolerance_ns.unwrap_or(settings.tolerance_ns);
    let mut report = ScriptReport::default();
    let prepared = script.init.as_ref().map_or(Ok(()), |line| end.command(line));
    report.failure = prepared.err().map(|error| failure(None, error));
    if report.failure.is_none() {
        let mut player = Player {
            script,
            end,
            clock: ScriptClock::new(tolerance_ns),
            connection: ScriptConnection::default(),
            variables: Variables::constants(),
            started: None,
        };
        report.failure = player.play(&mut report.printed, &mut report.events);
    }
    let cleaned = script.cleanup.as_ref().map_or(Ok(()), |line| end.command(line));
    if let (Err(error), None) = (cleaned, &report.failure) {
        report.failure = Some(failure(None, error));
    }
    report
}

fn failure(at: Option<ScriptPosition>, error: EndError) -> Failure {
    match error {
        EndError::Unsupported(message) => Failure { at, unsupported: true, message },
        EndError::Failed(message) => Failure { at, unsupported: false, message },
    }
}

struct Player<'a> {
    script: &'a Script,
    end: &'a mut dyn TestedEnd,
    clock: ScriptClock,
    connection: ScriptConnection,
    variables: Variables,
    /// The call that may still block.
    started: Option<RunningCall<'a>>,
}

struct RunningCall<'a> {
    at: ScriptPosition,
    call: &'a Call,
    due: EventDue,
}

impl<'a> Player<'a> {
    fn play(&mut self, printed: &mut Vec<String>, events: &mut usize) -> Option<Failure> {
        if let Err(error) = self.end.start() {
            return Some(failure(None, error));
        }
        for event in &self.script.events {
            let due = self.clock.begin(event, self.end.now());
            if let Err((at, error)) = self.event(event, due, printed) {
                return Some(failure(Some(at), error));
            }
            self.clock.end(event, due);
            *events += 1;
        }
        self.finish().err().map(|(at, error)| failure(Some(at), error))
    }

    fn event(
        &mut self,
        event: &'a ScriptEvent,
        due: EventDue,
        printed: &mut Vec<String>,
    ) -> Result<(), (ScriptPosition, EndError)> {
        if matches!(&event.action, Action::Call(call) if call.returns_ns.is_none()) {
            self.finish()?;
        }
        let result = match &event.action {
            Action::Packet(PacketDirection::Outbound, packet) => self.expect(packet, due),
            Action::Packet(PacketDirection::Inbound, packet) => {
                self.wait(due, "packet to the end").and_then(|()| self.inject(packet))
            }
            Action::Call(call) => {
                self.wait(due, "system call").and_then(|()| self.call(event.at, call, event, due))
            }
            Action::Command(line) => {
                self.wait(due, "command").and_then(|()| self.end.command(line))
            }
            Action::Code(block) => self.wait(due, "code").and_then(|()| {
                self.end.describe(&mut self.variables)?;
                let result = block.run(&mut self.variables, printed);
                result.map_err(|error| EndError::Failed(error.to_string()))
            }),
        };
        result.map_err(|error| (event.at, error))
    }

    fn wait(&mut self, due: EventDue, what: &str) -> Result<(), EndError> {
        self.end.wait_until(due.start)?;
        self.clock.check(due, self.end.now(), what)
    }

    fn inject(&mut self, packet: &IpPacket) -> Result<(), EndError> {
        if let Payload::Tcp(tcp) = &packet.payload
            && self.connection.opens(tcp)
        {
            self.end.begin_connection(true);
        }
        let live = self.connection.inject(packet, self.script.options.scaled_echo)?;
        self.end.receive(&live)
    }

    fn call(
        &mut self,
        at: ScriptPosition,
        call: &'a Call,
        event: &ScriptEvent,
        due: EventDue,
    ) -> Result<(), EndError> {
        if self.connection.connects(call) {
            self.end.begin_connection(false);
        }
        let Some(returns) = call.returns_ns else {
            let outcome = self.end.call(call)?;
            check(call, &outcome)?;
            self.connection.note(call);
            return Ok(());
        };
        self.finish().map_err(|(_, error)| error)?;
        let relative = matches!(event.when, EventTime::After(_));
        let end = if relative { due.offset + returns } else { returns };
        let due = EventDue { start: end, end, since: Some(due.start), ..due };
        self.end.start_call(call)?;
        self.connection.note(call);
        self.started = Some(RunningCall { at, call, due });
        Ok(())
    }

    /// Waits for the call that may block, and checks what it gave and when it returned.
    fn finish(&mut self) -> Result<(), (ScriptPosition, EndError)> {
        let Some(started) = self.started.take() else { return Ok(()) };
        let deadline = started.due.start.max(self.end.now()) + GRACE_NS;
        let completion = self.end.finish_call(deadline).map_err(|error| (started.at, error))?;
        let result = match completion {
            None => Err(EndError::Failed(format!("{} still blocks", started.call.name))),
            Some(CallCompletion { at, outcome }) => check(started.call, &outcome)
                .and_then(|()| self.clock.check(started.due, at, "return of the call")),
        };
        result.map_err(|error| (started.at, error))
    }
}

/// Fails unless a call had the outcome that the script expects.
fn check(call: &Call, outcome: &CallOutcome) -> Result<(), EndError> {
    let given = match &outcome.errno {
        Some(errno) => format!("{} {errno}", outcome.value),
        None => outcome.value.to_string(),
    };
    let expected = &call.result;
    let name = &call.name;
    if expected.value.is_some_and(|value| value != outcome.value) {
        let value = expected.value.unwrap_or_default();
        return Err(EndError::Failed(format!("{name} gave {given}, not {value}")));
    }
    if expected.errno.is_some() && expected.errno != outcome.errno {
        let errno = expected.errno.as_deref().unwrap_or_default();
        return Err(EndError::Failed(format!("{name} gave {given}, not {errno}")));
    }
    match &outcome.difference {
        Some(difference) => Err(EndError::Failed(format!("{name} gave {difference}"))),
        None => Ok(()),
    }
}
