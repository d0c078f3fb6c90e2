//! The simulator's TCP at its socket and on the wire.

use std::collections::BTreeMap;
use std::path::Path;

use narrows_packetdrill::{Failure, Script, Settings, run};
use narrows_packetdrill_sim::{SimulatedEnd, play as play_file};

/// Plays a script; returns why it fails.
pub(crate) fn play(text: &str, profile: &str) -> Option<Failure> {
    let script = Script::parse(text, &BTreeMap::new()).expect("a script");
    let profile = narrows_tcp::profile(profile).expect("a profile");
    let mut end = SimulatedEnd::new(profile, &script.options, Path::new("."));
    run(&script, Settings::default(), &mut end).failure
}

const LISTEN: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
    +0 bind(3, ..., ...) = 0\n\
    +0 listen(3, 1) = 0\n";

/// A connection to the end, with packets of 1000 bytes and a round trip of 100 ms.
const OPEN: &str = "+0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>\n\
    +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 7>\n\
    +.1 < . 1:1(0) ack 1 win 257\n\
    +0 accept(3, ..., ...) = 4\n";

fn passes(rest: &str) {
    assert_eq!(play(&format!("{LISTEN}{OPEN}{rest}"), "linux-6.12"), None);
}

#[test]
fn ten_packets_leave_at_first_and_two_for_each_acknowledged() {
    passes(
        "+0 write(4, ..., 12000) = 12000\n+0 > P. 1:10001(10000) ack 1\n\
         +.1 < . 1:1(0) ack 1001 win 257\n+0 > P. 10001:12001(2000) ack 1\n\
         +0 %{ assert tcpi_snd_cwnd == 11; assert tcpi_unacked == 11; assert 99000 <= tcpi_rtt <= 101000 }%",
    );
}

#[test]
fn a_third_block_begins_recovery() {
    passes(
        "+0 write(4, ..., 5000) = 5000\n+0 > P. 1:5001(5000) ack 1\n\
         +.1 < . 1:1(0) ack 1 win 257 <sack 1001:2001,nop,nop>\n\
         +0 %{ assert tcpi_ca_state == TCP_CA_Disorder; assert tcpi_sacked == 1 }%\n\
         +.001 < . 1:1(0) ack 1 win 257 <sack 1001:3001,nop,nop>\n\
         +.001 < . 1:1(0) ack 1 win 257 <sack 1001:4001,nop,nop>\n+0 > . 1:1001(1000) ack 1\n\
         +0 %{ assert tcpi_ca_state == TCP_CA_Recovery; assert tcpi_lost == 1; assert tcpi_retrans == 1 }%\n\
         +.1 < . 1:1(0) ack 5001 win 257\n+0 %{ assert tcpi_ca_state == TCP_CA_Open }%",
    );
}

#[test]
fn a_peer_without_sack_sends_duplicates() {
    let text = "+0 < S 0:0(0) win 32792 <mss 1000>\n+0 > S. 0:0(0) ack 1 <mss 1460>\n\
        +.1 < . 1:1(0) ack 1 win 32792\n+0 accept(3, ..., ...) = 4\n\
        +0 write(4, ..., 5000) = 5000\n+0 > P. 1:5001(5000) ack 1\n\
        +.1 < . 1:1(0) ack 1 win 32792\n+.001 < . 1:1(0) ack 1 win 32792\n\
        +.001 < . 1:1(0) ack 1 win 32792\n+0 > . 1:1001(1000) ack 1";
    assert_eq!(play(&format!("{LISTEN}{text}"), "linux-6.12"), None);
}

#[test]
fn timestamps_tell_which_packet_was_answered() {
    let text = "--tcp_ts_tick_usecs=1000\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
        +0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n\
        +0 < S 0:0(0) win 20000 <mss 1000,sackOK,TS val 700 ecr 0>\n\
        +0 > S. 0:0(0) ack 1 <mss 1460,sackOK,TS val 100 ecr 700>\n\
        +.1 < . 1:1(0) ack 1 win 20000 <nop,nop,TS val 800 ecr 100>\n\
        +0 accept(3, ..., ...) = 4\n\
        +0 %{ assert tcpi_snd_mss == 988; assert tcpi_options == TCPI_OPT_TIMESTAMPS + TCPI_OPT_SACK }%\n\
        +0 write(4, ..., 988) = 988\n+0 > P. 1:989(988) ack 1 <nop,nop,TS val 200 ecr 800>\n\
        +.31 > P. 1:989(988) ack 1 <nop,nop,TS val 510 ecr 800>\n\
        +.05 < . 1:1(0) ack 989 win 20000 <nop,nop,TS val 900 ecr 200>\n\
        +0 < . 1:501(500) ack 989 win 20000 <nop,nop,TS val 901 ecr 200>\n\
        +0 > . 989:989(0) ack 501 <nop,nop,TS val 560 ecr 901>";
    assert_eq!(play(text, "linux-6.12"), None);
}

#[test]
fn marks_are_echoed_until_the_window_is_reduced() {
    let text = "+0 < SEW 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>\n\
        +0 > SE. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 7>\n\
        +.1 < . 1:1(0) ack 1 win 257\n+0 accept(3, ..., ...) = 4\n\
        +0 < [ce] . 1:1001(1000) ack 1 win 257\n+0 > [noecn] E. 1:1(0) ack 1001\n\
        +0 < [ect0] W. 1001:2001(1000) ack 1 win 257\n+0 > . 1:1(0) ack 2001\n\
        +0 write(4, ..., 4000) = 4000\n+0 > [ect0] P. 1:4001(4000) ack 2001\n\
        +.1 < E. 2001:2001(0) ack 1001 win 257\n+0 %{ assert tcpi_ca_state == TCP_CA_CWR }%\n\
        +0 write(4, ..., 1000) = 1000\n+0 > [ect0] PW. 4001:5001(1000) ack 2001";
    assert_eq!(play(&format!("{LISTEN}{text}"), "linux-6.12"), None);
}

#[test]
fn a_program_connects_writes_and_closes() {
    let text = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0...0.1 connect(3, ..., ...) = 0\n\
        +0 > S 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 7>\n\
        +.1 < S. 0:0(0) ack 1 win 65535 <mss 1000>\n+0 > . 1:1(0) ack 1\n\
        +0 write(3, ..., 1500) = 1500\n+0 > P. 1:1501(1500) ack 1\n\
        +0 close(3) = 0\n+0 > F. 1501:1501(0) ack 1\n\
        +.1 < . 1:1(0) ack 1502 win 65535\n+0 < F. 1:1(0) ack 1502 win 65535\n\
        +0 > . 1502:1502(0) ack 2";
    assert_eq!(play(text, "linux-6.12"), None);
}

#[test]
fn acknowledgements_wait_unless_something_is_missing() {
    passes(
        "+0 < P. 1001:2001(1000) ack 1 win 257\n+0 > . 1:1(0) ack 1 <nop,nop,sack 1001:2001>\n\
         +0 < P. 1:1001(1000) ack 1 win 257\n+0 > . 1:1(0) ack 2001\n\
         +0 < P. 1:1001(1000) ack 1 win 257\n+0 > . 1:1(0) ack 2001 <nop,nop,sack 1:1001>\n\
         +0 read(4, ..., 9999) = 2000\n+0 write(4, ..., 10) = 10\n+0 > P. 1:11(10) ack 2001",
    );
}

#[test]
fn a_host_that_drops_is_tried_again() {
    passes(
        "+0 `tc qdisc add dev tun0 root pfifo limit 0`\n+0 write(4, ..., 500) = 500\n\
         +.5 %{ assert tcpi_probes == 1; assert tcpi_unacked == 0; assert tcpi_backoff == 0 }%\n\
         +.2 `tc qdisc delete dev tun0 root`\n+.1 > P. 1:501(500) ack 1\n\
         +0 %{ assert tcpi_probes == 0 }%",
    );
}

#[test]
fn a_program_learns_that_it_timed_out() {
    passes(
        "+0 setsockopt(4, SOL_TCP, TCP_USER_TIMEOUT, [500], 4) = 0\n\
         +0 write(4, ..., 500) = 500\n+0 > P. 1:501(500) ack 1\n\
         +.3~+.31 > P. 1:501(500) ack 1\n+.3~+.31 > P. 1:501(500) ack 1\n\
         +.45 write(4, ..., 500) = 500\n+.1 write(4, ..., 500) = -1 ETIMEDOUT (too late)\n\
         +0 write(4, ..., 500) = -1 EPIPE (closed)",
    );
}

#[test]
fn a_program_writes_what_has_room_and_waits_for_more() {
    passes(
        "+0 setsockopt(4, SOL_TCP, TCP_NOTSENT_LOWAT, [4000], 4) = 0\n\
         +0 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0\n\
         +0 write(4, ..., 59000) = 26000\n+0 > P. 1:10001(10000) ack 1\n\
         +0 write(4, ..., 10) = -1 EAGAIN (full)\n\
         +0...0.1 poll([{fd=4, events=POLLIN|POLLOUT, revents=POLLOUT}], 1, 1000) = 1\n\
         +.1 < . 1:1(0) ack 8001 win 257\n+0 > P. 10001:26001(16000) ack 1",
    );
}

#[test]
fn a_program_asks_what_it_may_read() {
    passes(
        "+0 < P. 1:1001(1000) ack 1 win 257\n+0 > . 1:1(0) ack 1001\n\
         +0 ioctl(4, SIOCINQ, [1000]) = 0\n+0 read(4, ..., 300) = 300\n\
         +0 ioctl(4, SIOCINQ, [700]) = 0",
    );
}

#[test]
fn a_peer_may_ignore_the_window() {
    let text = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
        +0 setsockopt(3, SOL_SOCKET, SO_RCVBUF, [5000], 4) = 0\n\
        +0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n\
        +0 < S 0:0(0) win 32792 <mss 1000>\n+0 > S. 0:0(0) ack 1 <mss 1460>\n\
        +.1 < . 1:1(0) ack 1 win 32792\n+0 accept(3, ..., ...) = 4\n\
        +0 < P. 1:20001(20000) ack 1 win 32792\n* > . 1:1(0) ack 20001";
    assert_eq!(play(text, "linux-6.12"), None);
}

#[test]
fn data_that_nobody_read_are_a_reason_for_a_reset() {
    passes(
        "+0 < P. 1:1001(1000) ack 1 win 257\n+0 > . 1:1(0) ack 1001\n\
         +0 close(4) = 0\n+0 > R. 1:1(0) ack 1001\n\
         +0 < . 1001:1001(0) ack 1 win 257\n+0 > R 1:1(0)",
    );
}

#[test]
fn kernels_differ_about_acks_of_what_was_not_sent() {
    let open = OPEN.replace("<mss 1460,nop,nop,sackOK,nop,wscale 7>", "<...>");
    let text = format!("{LISTEN}{open}+0 < . 1:1(0) ack 9001 win 257\n+0 > . 1:1(0) ack 1");
    assert_eq!(play(&text, "linux-7.3"), None);
    let failure = play(&text, "linux-6.12").expect("6.12 says nothing");
    assert!(failure.message.starts_with("no packet until"), "{}", failure.message);
}

#[test]
fn settings_and_calls_that_the_simulator_lacks_are_no_failures() {
    for (line, expected) in [
        ("+0 `sysctl net.ipv4.tcp_ecn=3`", "tcp_ecn = 3 with the profile linux-6.12"),
        ("+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0", "the option TCP_CORK"),
        ("+0 getpeername(4) = 0", "the system call getpeername"),
        ("+0 send(4, ..., 10, MSG_OOB) = 10", "MSG_OOB"),
        (
            "+0 < P. 501:1001(500) ack 1 win 257\n* > . 1:1(0) ack 1 <...>\n+0 < . 1:401(400) ack 1 win 257",
            "bytes that begin or end within a packet",
        ),
    ] {
        let failure = play(&format!("{LISTEN}{OPEN}{line}"), "linux-6.12").expect(line);
        assert!(failure.unsupported && failure.message.starts_with(expected), "{failure:?}");
    }
}

#[test]
fn our_scripts_for_kernels_have_the_same_verdicts_here() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/packetdrill"));
    let profile = narrows_tcp::profile("linux-6.12").expect("a profile");
    let verdict = |name: &str| play_file(&folder.join(name), profile, &BTreeMap::new());
    for name in ["client.pkt", "lost_packet.pkt", "server_slow_start.pkt", "tail_loss_probe.pkt"] {
        let found = verdict(name);
        assert_eq!((found.word, found.message.as_str()), ("passed", ""), "{name}");
        assert!(found.events > 5, "{name}");
    }
    let wrong = verdict("wrong_ack.pkt");
    assert_eq!((wrong.word, wrong.at), ("failed", Some((11, 4))), "{}", wrong.message);
    assert_eq!(verdict("missing.pkt").word, "mistake");
}
