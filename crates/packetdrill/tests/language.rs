//! The meaning of scripts.

use std::collections::BTreeMap;

use narrows_packetdrill::{
    AccEcnCounter, Action, CallValue, EcnCheck, EventTime, IcmpQuote, IpPacket, PacketDirection,
    Payload, SackBlock, Script, ScriptEvent, Tcp, TcpFlags, TcpOption,
};

pub fn parse(text: &str) -> Script {
    Script::parse(text, &BTreeMap::new()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn event(text: &str) -> ScriptEvent {
    parse(&format!("0 `true`\n{text}")).events.remove(1)
}

fn packet(text: &str) -> (PacketDirection, IpPacket) {
    match event(&format!("+0 {text}")).action {
        Action::Packet(direction, packet) => (direction, packet),
        other => panic!("{other:?}"),
    }
}

fn tcp(text: &str) -> Tcp {
    match packet(text).1.payload {
        Payload::Tcp(tcp) => tcp,
        other => panic!("{other:?}"),
    }
}

#[test]
fn head_has_options_and_commands() {
    let script = parse(
        "// A comment\n--tolerance_usecs=7000 /* two\nlines */ --mss=1000 --tcp_ts_ecr_scaled\n\
         --local_ip=fd::1 --ip_version=ipv6 --define=CC=\"reno\"\n`first`\n0 `second`\n`last`",
    );
    assert_eq!(script.options.tolerance_ns, Some(7_000_000));
    assert_eq!(script.options.mss, Some(1000));
    assert!(script.options.scaled_echo);
    assert_eq!(script.init.as_deref(), Some("first"));
    assert_eq!(script.cleanup.as_deref(), Some("last"));
    assert_eq!(script.events[0].action, Action::Command("second".to_owned()));
}

#[test]
fn times_are_absolute_relative_ranges_or_any() {
    let outbound = "> . 1:1(0) ack 1";
    let cases = [
        ("1.25", EventTime::At(1_250_000_000)),
        ("+.01", EventTime::After(10_000_000)),
        ("+2", EventTime::After(2_000_000_000)),
        ("+.3~+.4", EventTime::AfterBetween(300_000_000, 400_000_000)),
        ("1~2.5", EventTime::Between(1_000_000_000, 2_500_000_000)),
        ("*", EventTime::Any),
    ];
    for (text, when) in cases {
        assert_eq!(event(&format!("{text} {outbound}")).when, when, "{text}");
    }
}

#[test]
fn segments_have_flags_numbers_and_options() {
    let (direction, _) = packet("< . 1:1(0) ack 1 win 1");
    assert_eq!(direction, PacketDirection::Inbound);
    let segment = tcp("> FP. 1:1001(1000) ack 5 win 257 urg 3 <nop,nop,TS val 7 ecr 4294967295>");
    assert_eq!(segment.flags, TcpFlags::FIN.with(TcpFlags::PSH).with(TcpFlags::ACK));
    assert_eq!((segment.seq, segment.len, segment.ack), (1, 1000, 5));
    assert_eq!((segment.window, segment.urgent), (Some(257), 3));
    let timestamp = TcpOption::Timestamp { val: 7, ecr: u32::MAX };
    assert_eq!(segment.options, Some(vec![TcpOption::Nop, TcpOption::Nop, timestamp]));
    assert_eq!(tcp("> - 1:1(0) <...>").options, None);
    assert_eq!(tcp("> . 1:1(0) ack 1").options, Some(Vec::new()));
    let ports = tcp("< 8080 > 1234 R 1:1(0) win 0");
    assert_eq!((ports.source, ports.destination), (8080, 1234));
}

#[test]
fn accurate_ecn_has_a_counter_among_flags_and_options() {
    let five = TcpFlags::ACK.with(TcpFlags::AE).with(TcpFlags::ECE);
    assert_eq!(tcp("> .5 1:1(0) ack 1").flags, five);
    assert_eq!(tcp("> AE. 1:1(0) ack 1").flags, five);
    assert_eq!(tcp("> P.5 1:2(1) ack 1").flags, five.with(TcpFlags::PSH));
    let options = tcp("> . 1:1(0) ack 1 <ECN e1b 1 ceb 2 e0b 3,nop>").options.expect("options");
    let counters = vec![(AccEcnCounter::E1, 1), (AccEcnCounter::Ce, 2), (AccEcnCounter::E0, 3)];
    assert_eq!(options[0], TcpOption::AccEcn(counters));
}

#[test]
fn sack_blocks_and_cookies_are_read() {
    let options = tcp("< . 1:1(0) ack 1 win 1 <nop,nop,sack 1:2 5:7>").options.expect("options");
    let blocks = vec![SackBlock { left: 1, right: 2 }, SackBlock { left: 5, right: 7 }];
    assert_eq!(options[2], TcpOption::Sack(blocks));
    let options = tcp("> S 0:0(0) <FO 3021b9d889017eeb,nop,nop>").options.expect("options");
    let cookie = vec![0x30, 0x21, 0xb9, 0xd8, 0x89, 0x01, 0x7e, 0xeb];
    assert_eq!(options[0], TcpOption::FastOpen { cookie, experimental: false });
}

#[test]
fn ip_header_and_icmp_are_read() {
    let (_, marked) = packet("< [ce] . 1:1(0) ack 1 win 1");
    assert_eq!(marked.ip.ecn, EcnCheck::Ecn(3));
    let (_, labelled) = packet("> (ect0, flowlabel 0x3) . 1:1(0) ack 1");
    assert_eq!((labelled.ip.ecn, labelled.ip.flow_label), (EcnCheck::Ecn(2), Some(3)));
    let (_, message) = packet("< icmp unreachable frag_needed mtu 800 [1:1001(1000)]");
    let Payload::Icmp(icmp) = message.payload else { panic!("an ICMP message") };
    assert_eq!((icmp.kind.as_str(), icmp.code.as_deref()), ("unreachable", Some("frag_needed")));
    assert_eq!((icmp.mtu, icmp.quote), (Some(800), IcmpQuote::Tcp(1)));
}

#[test]
fn calls_have_structures_results_and_errors() {
    let Action::Call(call) = event(
        "+0...0.3 recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{...,0}], msg_flags=MSG_A|MSG_B,\n\
         msg_control=[{cmsg_level=SOL_TCP, cmsg_data={ee_errno=0}}]}, 0) = -1 EAGAIN (try again)",
    )
    .action
    else {
        panic!("a call")
    };
    assert_eq!(call.returns_ns, Some(300_000_000));
    assert_eq!((call.result.value, call.result.errno.as_deref()), (Some(-1), Some("EAGAIN")));
    let message = &call.arguments[1];
    assert_eq!(message.member("msg_name").map(|part| &part.value), Some(&CallValue::Ellipsis));
    let Some(CallValue::List(control)) = message.member("msg_control").map(|part| &part.value)
    else {
        panic!("a list")
    };
    let error = control[0].member("cmsg_data").and_then(|data| data.member("ee_errno"));
    assert_eq!(error.map(|part| &part.value), Some(&CallValue::Integer(0)));
}

#[test]
fn defined_words_are_replaced() {
    let defines = BTreeMap::from([
        ("COOKIE".to_owned(), "3021b9d8".to_owned()),
        ("SIZE".to_owned(), "1000".to_owned()),
    ]);
    let text =
        "--define=CC=\"reno\"\n0 > S 0:0(0) <FO COOKIE,nop,nop,mss SIZE>\n+0 setsockopt(3, CC) = 0";
    let script = Script::parse(text, &defines).expect("a script");
    let Action::Call(call) = &script.events[1].action else { panic!("a call") };
    assert_eq!(call.arguments[1].value, CallValue::Text("reno".to_owned()));
    let Action::Packet(_, packet) = &script.events[0].action else { panic!("a packet") };
    let Payload::Tcp(tcp) = &packet.payload else { panic!("a segment") };
    assert_eq!(tcp.options.as_ref().map(|all| all[3].clone()), Some(TcpOption::Mss(1000)));
}
