//! Plays scripts against an end that answers from a list.

use narrows_packetdrill::{
    Call, CallCompletion, CallOutcome, CallValue, EndError, IpInfo, IpPacket, Payload,
    ScriptReport, Settings, Tcp, TcpFlags, TcpOption, TestedEnd, Transmission, Variables, run,
};

use crate::language::parse;

const ISN: u32 = 4_000_000_000;
const CLOCK: u32 = 77_000;

/// An end that sends these packets at these times, in ms, whatever it receives.
#[derive(Default)]
struct ScriptedEnd {
    now: i64,
    sends: Vec<(i64, Tcp)>,
    received: Vec<Tcp>,
    commands: Vec<String>,
    /// When the call that was started returns.
    returns: Option<i64>,
}

impl TestedEnd for ScriptedEnd {
    fn start(&mut self) -> Result<(), EndError> {
        Ok(())
    }

    fn now(&self) -> i64 {
        self.now
    }

    fn wait_until(&mut self, at: i64) -> Result<(), EndError> {
        self.now = self.now.max(at);
        Ok(())
    }

    fn begin_connection(&mut self, _passive: bool) {}

    fn receive(&mut self, packet: &IpPacket) -> Result<(), EndError> {
        let Payload::Tcp(tcp) = &packet.payload else { panic!("a segment") };
        self.received.push(tcp.clone());
        Ok(())
    }

    fn next_packet(&mut self, deadline: i64) -> Result<Option<Transmission>, EndError> {
        if self.sends.first().is_none_or(|next| next.0 * 1_000_000 > deadline) {
            self.now = deadline;
            return Ok(None);
        }
        let (ms, tcp) = self.sends.remove(0);
        self.now = self.now.max(ms * 1_000_000);
        let packet = IpPacket { ip: IpInfo::default(), payload: Payload::Tcp(tcp) };
        Ok(Some(Transmission { at: ms * 1_000_000, packet, zeros: true }))
    }

    fn call(&mut self, call: &Call) -> Result<CallOutcome, EndError> {
        match (call.name.as_str(), call.arguments.first().map(|argument| &argument.value)) {
            ("fail", _) => {
                Ok(CallOutcome { value: -1, errno: Some("EPIPE".to_owned()), difference: None })
            }
            ("unknown", _) => Err(EndError::Unsupported("unknown".to_owned())),
            (_, Some(CallValue::Integer(value))) => {
                Ok(CallOutcome { value: *value, ..CallOutcome::default() })
            }
            _ => {
                Ok(CallOutcome { value: call.result.value.unwrap_or(0), ..CallOutcome::default() })
            }
        }
    }

    fn start_call(&mut self, _call: &Call) -> Result<(), EndError> {
        self.returns = Some(self.now + 50_000_000);
        Ok(())
    }

    fn finish_call(&mut self, deadline: i64) -> Result<Option<CallCompletion>, EndError> {
        let at = self.returns.take().filter(|&at| at <= deadline);
        self.now = self.now.max(at.unwrap_or(deadline));
        Ok(at.map(|at| CallCompletion {
            at,
            outcome: CallOutcome { value: 7, ..CallOutcome::default() },
        }))
    }

    fn command(&mut self, line: &str) -> Result<(), EndError> {
        self.commands.push(line.to_owned());
        if line == "false" { Err(EndError::Failed("status 1".to_owned())) } else { Ok(()) }
    }

    fn describe(&mut self, variables: &mut Variables) -> Result<(), EndError> {
        variables.set("tcpi_snd_cwnd", 10);
        Ok(())
    }
}

fn segment(flags: TcpFlags, seq: u32, len: u32, ack: u32) -> Tcp {
    let seq = ISN.wrapping_add(seq);
    let (window, options) = (Some(500), Some(Vec::new()));
    Tcp { source: 80, destination: 81, flags, seq, len, ack, window, urgent: 0, options }
}

fn play(text: &str, end: &mut ScriptedEnd) -> ScriptReport {
    run(&parse(text), Settings::default(), end)
}

/// Why a script fails against an end with these packets.
fn failure(text: &str, sends: Vec<(i64, Tcp)>) -> String {
    let report = play(text, &mut ScriptedEnd { sends, ..ScriptedEnd::default() });
    report.failure.unwrap_or_else(|| panic!("{text} passed")).message
}

fn syn_ack() -> Tcp {
    segment(TcpFlags::SYN.with(TcpFlags::ACK), 0, 0, 901)
}

const OPEN: &str =
    "0 socket() = 3\n+0 listen() = 0\n+0 < S 900:900(0) win 9\n+0 > S. 40:40(0) ack 901\n";

#[test]
fn sequence_numbers_count_from_that_of_the_syn() {
    let data = segment(TcpFlags::ACK.with(TcpFlags::PSH), 1, 1000, 901);
    let mut end = ScriptedEnd { sends: vec![(0, syn_ack()), (10, data)], ..ScriptedEnd::default() };
    let text = format!(
        "{OPEN}+.01 < . 1:1(0) ack 1 win 9\n+0 > P. 1:1001(1000) ack 1\n\
         +0 < . 1:1(0) ack 1001 win 9 <nop,nop,sack 5:6>"
    );
    assert_eq!(play(&text, &mut end).failure, None);
    let last = end.received.last().expect("a packet");
    assert_eq!((last.seq, last.ack), (901, ISN.wrapping_add(1001)));
    let Some(TcpOption::Sack(blocks)) = last.options.as_ref().and_then(|all| all.last()) else {
        panic!("blocks")
    };
    assert_eq!(blocks[0].left, ISN.wrapping_add(5));
}

#[test]
fn timestamps_are_mapped_and_checked_only_with_a_tick() {
    let stamped = |val: u32| {
        let options =
            Some(vec![TcpOption::Nop, TcpOption::Nop, TcpOption::Timestamp { val, ecr: 5 }]);
        Tcp { options, ..segment(TcpFlags::ACK, 1, 0, 901) }
    };
    let sends = || vec![(0, syn_ack()), (0, stamped(CLOCK)), (10, stamped(CLOCK + 30))];
    let rest = format!(
        "{OPEN}+0 > . 1:1(0) ack 1 <nop,nop,TS val 100 ecr 5>\n\
         +.01 > . 1:1(0) ack 1 <nop,nop,TS val 110 ecr 5>\n\
         +0 < . 1:1(0) ack 1 win 9 <nop,nop,TS val 9 ecr 110>"
    );
    let mut end = ScriptedEnd { sends: sends(), ..ScriptedEnd::default() };
    assert_eq!(play(&rest, &mut end).failure, None);
    let echoed = end.received.last().and_then(|tcp| tcp.options.clone()).expect("options");
    assert_eq!(echoed[2], TcpOption::Timestamp { val: 9, ecr: CLOCK + 30 });
    let message = failure(&format!("--tcp_ts_tick_usecs=1000\n{rest}"), sends());
    assert!(message.starts_with("option TS val 130 ecr 5, not TS val 110"), "{message}");
    let never = format!("{OPEN}+0 < . 1:1(0) ack 1 win 9 <nop,nop,TS val 9 ecr 3>");
    assert!(failure(&never, sends()).contains("echoes timestamp 3"));
}

#[test]
fn several_packets_may_make_up_one() {
    let ack = TcpFlags::ACK;
    let parts = || {
        let last = segment(ack.with(TcpFlags::PSH), 1001, 500, 901);
        vec![(0, syn_ack()), (0, segment(ack, 1, 1000, 901)), (0, last)]
    };
    let text = format!("{OPEN}+0 > P. 1:1501(1500) ack 1");
    let mut end = ScriptedEnd { sends: parts(), ..ScriptedEnd::default() };
    assert_eq!(play(&text, &mut end).failure, None);
    let strict = failure(&format!("--strict_segments\n{text}"), parts());
    assert!(strict.starts_with("1000 bytes, not 1500"), "{strict}");
    let short = failure(&format!("{OPEN}+0 > P. 1:1001(1000) ack 1"), {
        vec![(0, syn_ack()), (0, segment(ack, 1, 1200, 901))]
    });
    assert!(short.starts_with("1200 bytes, not 1000"), "{short}");
}

#[test]
fn differences_are_named_with_both_packets() {
    let answer = |flags, seq, ack| vec![(0, syn_ack()), (0, segment(flags, seq, 0, ack))];
    let text = format!("{OPEN}+0 > . 1:1(0) ack 1 win 500");
    let cases = [
        (answer(TcpFlags::ACK.with(TcpFlags::ECE), 1, 901), "flags .E, not ."),
        (answer(TcpFlags::ACK, 2, 901), "sequence number 2, not 1"),
        (answer(TcpFlags::ACK, 1, 950), "acknowledgement 50, not 1"),
    ];
    for (sends, expected) in cases {
        let message = failure(&text, sends);
        assert!(message.starts_with(expected), "{message}");
        assert!(message.contains("\n  expected . 1:1(0) ack 1 win 500\n  sent "), "{message}");
    }
    let message = failure(&text.replace("win 500", "win 400"), answer(TcpFlags::ACK, 1, 901));
    assert!(message.starts_with("window 500, not 400"), "{message}");
}

#[test]
fn times_have_a_tolerance_that_grows_with_the_wait() {
    let late = |ms| vec![(0, syn_ack()), (ms, segment(TcpFlags::ACK, 1, 0, 901))];
    let text = |time: &str| format!("{OPEN}{time} > . 1:1(0) ack 1");
    for (time, ms, passes) in [
        ("+.01", 13, true),
        ("+.01", 15, false),
        ("+.2", 224, true),
        ("+.2", 226, false),
        ("+.2~+.3", 310, true),
        ("+.2~+.3", 330, false),
        ("*", 5000, true),
    ] {
        let mut end = ScriptedEnd { sends: late(ms), ..ScriptedEnd::default() };
        let report = play(&text(time), &mut end);
        assert_eq!(report.failure.is_none(), passes, "{time} {ms}: {report:?}");
    }
    let never = failure(&text("+.01"), vec![(0, syn_ack())]);
    assert!(never.starts_with("no packet until 2.010000 s\n  expected . 1:1(0)"), "{never}");
}

#[test]
fn calls_are_compared_by_result_error_and_time() {
    assert_eq!(failure("0 write(5) = 6", Vec::new()), "write gave 5, not 6");
    let wrong = failure("0 fail() = -1 EAGAIN (again)", Vec::new());
    assert_eq!(wrong, "fail gave -1 EPIPE, not EAGAIN");
    let text = |returns: &str| format!("0 `x`\n+.1...{returns} read() = 7\n+.2 close() = 0");
    assert_eq!(play(&text("0.150"), &mut ScriptedEnd::default()).failure, None);
    let late = failure(&text("0.120"), Vec::new());
    assert!(late.starts_with("return of the call at 0.150000 s, not at 0.120000 s"), "{late}");
    let report = play("0 unknown() = 0", &mut ScriptedEnd::default());
    assert!(report.failure.expect("a failure").unsupported);
}

#[test]
fn code_keeps_its_variables_and_reports_values_of_a_failed_assertion() {
    let text =
        "0 %{ wanted = 9 }%\n+0 %{ wanted += 1; print(wanted); assert tcpi_snd_cwnd == wanted }%";
    assert_eq!(play(text, &mut ScriptedEnd::default()).printed, ["10"]);
    let message = failure("0 %{ assert tcpi_snd_cwnd == 12 }%", Vec::new());
    assert!(message.contains("with tcpi_snd_cwnd = 10"), "{message}");
}

#[test]
fn last_command_runs_whatever_happened() {
    let mut end = ScriptedEnd::default();
    let report = play("`first`\n0 write(5) = 6\n`last`", &mut end);
    assert!(report.failure.is_some());
    assert_eq!(end.commands, ["first", "last"]);
    let mut end = ScriptedEnd::default();
    let report = play("`false`\n0 write(5) = 5\n`last`", &mut end);
    assert_eq!((report.events, end.commands.len()), (0, 2));
    assert_eq!(report.failure.expect("a failure").message, "status 1");
}

#[test]
fn consecutive_packets_to_the_end_keep_their_spacing() {
    // The first is 3 ms late; the time of the second counts from when the first was due.
    let mut end = ScriptedEnd { now: 3_000_000, ..ScriptedEnd::default() };
    let text = "0 < S 0:0(0) win 1\n+.01 < . 1:1(0) win 1";
    assert_eq!(play(text, &mut end).failure, None);
    assert_eq!(end.now, 10_000_000);
}
