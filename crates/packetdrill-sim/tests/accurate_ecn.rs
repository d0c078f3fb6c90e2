//! Accurate ECN at the socket and on the wire, as Linux 7.3 has it.

use crate::scripts::play;

/// A socket that listens, on a host that accepts accurate ECN.
const LISTEN: &str = "0 `sysctl -q net.ipv4.tcp_ecn=3`\n\
    +0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
    +0 bind(3, ..., ...) = 0\n\
    +0 listen(3, 1) = 0\n\
    +0 < SEWA 0:0(0) win 32792 <mss 1012,nop,nop,sackOK,nop,wscale 7>\n\
    +0 > [noecn] SW. 0:0(0) ack 1 <mss 1460,ECN e1b 1 ceb 0 e0b 1,nop,nop,nop,sackOK,nop,wscale 10>\n";

/// The end of its handshake.
const OPEN: &str = "+.1 < [ect0] W. 1:1(0) ack 1 win 257 <ECN e0b 1 ceb 0 e1b 1,nop>\n\
    +0 accept(3, ..., ...) = 4\n";

fn passes(script: &str) {
    assert_eq!(play(script, "linux-7.3"), None);
}

#[test]
fn an_end_counts_marks_and_bytes_of_what_arrives() {
    passes(&format!(
        "{LISTEN}{OPEN}\
         +.1 < [ect0] P.5 1:501(500) ack 1 win 257\n\
         +0 > [ect0] .5 1:1(0) ack 501 <ECN e1b 1 ceb 0 e0b 501,nop>\n\
         +.1 < [ce] P.5 501:801(300) ack 1 win 257\n\
         +0 > [ect0] .6 1:1(0) ack 801 <ECN e1b 1 ceb 300 e0b 501,nop>\n\
         +0 %{{ assert tcpi_received_ce == 1; assert tcpi_received_ce_bytes == 300 }}%\n"
    ));
}

#[test]
fn a_mark_that_the_peer_counts_reduces_the_window() {
    passes(&format!(
        "{LISTEN}{OPEN}\
         +.1 write(4, ..., 2000) = 2000\n\
         +0 > [ect0] P.5 1:2001(2000) ack 1 <ECN e1b 1 ceb 0 e0b 1,nop>\n\
         +.1 < [ect0] .6 1:1(0) ack 2001 win 257 <ECN e0b 1001 ceb 1000 e1b 1,nop>\n\
         +0 %{{ assert tcpi_delivered_ce == 1; assert tcpi_ca_state == TCP_CA_CWR }}%\n\
         +0 %{{ assert tcpi_delivered_ce_bytes == 1000; assert tcpi_delivered_e0_bytes == 1000 }}%\n"
    ));
}

#[test]
fn flags_that_are_cleared_on_the_way_end_the_use_of_codepoints() {
    passes(&format!(
        "{LISTEN}\
         +.1 < [ect0] . 1:1(0) ack 1 win 257 <ECN e0b 1 ceb 0 e1b 1,nop>\n\
         +0 accept(3, ..., ...) = 4\n\
         +.1 write(4, ..., 1000) = 1000\n\
         +0 > [noecn] P.5 1:1001(1000) ack 1 <ECN e1b 1 ceb 0 e0b 1,nop>\n"
    ));
}

#[test]
fn a_peer_without_accurate_ecn_gets_that_of_rfc_3168() {
    passes(
        "0 `sysctl -q net.ipv4.tcp_ecn=3`\n\
         +0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
         +0...0.1 connect(3, ..., ...) = 0\n\
         +0 > SEWA 0:0(0) <mss 1460,sackOK,TS val 10 ecr 0,nop,wscale 10>\n\
         +.1 < SE. 0:0(0) ack 1 win 32767 <mss 1000,nop,nop,sackOK,nop,wscale 7>\n\
         +0 > [noecn] . 1:1(0) ack 1\n\
         +0 write(3, ..., 1000) = 1000\n\
         +0 > [ect0] P. 1:1001(1000) ack 1\n",
    );
}

#[test]
fn sparse_options_follow_a_change_of_codepoint() {
    passes(&format!(
        "{LISTEN}{OPEN}\
         +0 `sysctl -q net.ipv4.tcp_ecn_option=1 net.ipv4.tcp_ecn_option_beacon=0`\n\
         +.1 < [ect0] .5 1001:1501(500) ack 1 win 257\n\
         +0 > [ect0] .5 1:1(0) ack 1 <ECN e1b 1 ceb 0 e0b 501,nop,nop,nop,sack 1001:1501>\n\
         +.1 < [ect0] .5 1501:2001(500) ack 1 win 257\n\
         +0 > [ect0] .5 1:1(0) ack 1 <ECN e1b 1 ceb 0 e0b 1001,nop,nop,nop,sack 1001:2001>\n\
         +.1 < [ect0] .5 2001:2501(500) ack 1 win 257\n\
         +0 > [ect0] .5 1:1(0) ack 1 <nop,nop,sack 1001:2501>\n"
    ));
}
