//! Each mistake is reported with its place, what was found, and the remedy.

use std::collections::BTreeMap;

use narrows_packetdrill::Script;

fn mistake(text: &str) -> String {
    Script::parse(text, &BTreeMap::new()).expect_err("a mistake").to_string()
}

#[test]
fn place_and_remedy_are_given() {
    let cases = [
        (
            "0 > S. 0:0(0) ack 1 <mss 1460,sackok,nop,nop>",
            "1:31: found \"sackok\"; \"sackOK\" perhaps",
        ),
        ("0 > S. 0:0(0) ack 1 <mss 1460,nop>", "1:21: found options of 5 bytes; a multiple of 4"),
        (
            "0 `x`\n+0 < . 1:1001(100) ack 1 win 5",
            "2:8: found \"1:1001(100)\"; \"1:101(100)\" or the length 1000 is needed",
        ),
        (
            "0 `x`\n +0 < . 1:1(0) ack 1\n",
            "3:1: found the end of the script; \"win\" and the window",
        ),
        ("0 `x`\n+0 > Q. 1:1(0)", "2:6: found \"Q\"; flags: letters of F, S, R"),
        (
            "0 `x`\n+0 < . 1:1(0) ack 1 win 70000",
            "2:25: found \"70000\"; a window field from 0 to 65535",
        ),
        ("0 `x`\n+.2~+.1 > . 1:1(0)", "2:1: found a range that runs backwards"),
        ("0 `x`\n* < . 1:1(0) win 1", "2:1: found a time that isn't fixed; one time"),
        ("0 `x`\n1 `y`\n.5 `z`", "3:1: found a time before the last event's"),
        ("1 `x`", "1:1: found a first event at another time; time 0 is needed"),
        ("--tolerance=5\n0 `x`", "1:1: found \"--tolerance\"; \"tolerance_usecs\" perhaps, or"),
        ("--ip_version=ipv5\n0 `x`", "1:14: found \"ipv5\"; \"ipv4\" perhaps, or another of"),
        ("--mss\n0 `x`", "2:1: found \"0\"; \"=\" and the value of --mss is needed"),
        ("0 socket(..., 1, 0) 3", "1:21: found \"3\"; \"=\" and the result of the call"),
        ("0 socket(..., 1; 0) = 3", "1:16: found \";\"; \",\" and another value, or \")\""),
        ("0 setsockopt(3, {a=1, b=}) = 0", "1:25: found \"}\"; a value"),
        ("0 `x`\n+0 %{ assert 1 = 2 }%", "2:16: found \"=\"; the end of the statement"),
        ("0 `x", "1:3: found `; a closing ` is needed"),
        ("0 `x`\nsocket(...) = 3", "2:1: found \"socket\"; an event, which begins with its time"),
        ("", "1:1: found the end of the script; an event"),
        (
            "0 `x`\n+0 > ipv4 192.0.2.1 > 192.0.2.2: . 1:1(0)",
            "2:6: found \"ipv4\"; TCP, UDP or ICMP",
        ),
        ("`a` `b`\n0 `x`", "1:5: found \"`b`\"; one line for the shell here"),
        ("0 > . 1:1(0) <ECN e0b 1 e1b 2,nop,nop,nop>", "1:30: found \",\"; e0b, ceb and e1b"),
    ];
    for (text, expected) in cases {
        let found = mistake(text);
        assert!(found.starts_with(expected), "{text}\n  gives   {found}\n  not     {expected}");
    }
}

#[test]
fn any_text_is_read_or_refused() {
    let script = "--mss=1000\n`x`\n0 socket(..., {a=[1|B], c(2)=\"d\"...}) = -1 E (f g)\n\
                  +0...1 read() = ...\n* > SEW.7 0:0(0) ack 1 <FO 01ab,nop,nop>\n+1~+2 > . 1:1(0) <...>\n\
                  +0 < [ect0] icmp x y mtu 1 [raw(2)]\n+0 %{ assert (1, 'a') == x % 2 }%\n`y`";
    // Every prefix, and every text in which a letter is missing or another: none may panic.
    for place in 0..script.len() {
        let (before, after) = script.split_at(place);
        for text in [
            before.to_owned(),
            format!("{before}{}", &after[1..]),
            format!("{before}~{after}"),
            format!("{before}9999999999999999999{after}"),
        ] {
            drop(Script::parse(&text, &BTreeMap::new()));
        }
    }
}
