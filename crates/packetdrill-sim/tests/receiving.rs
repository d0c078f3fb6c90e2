//! Sockets whose program leaves data unread.

use crate::scripts::play;

/// A connection to a socket with a buffer of 20 kB, whose window has no scale.
const OPEN: &str = "0 `nstat -n`\n+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
    +0 setsockopt(3, SOL_SOCKET, SO_RCVBUF, [10000], 4) = 0\n\
    +0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n\
    +0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>\n\
    +0 > S. 0:0(0) ack 1 win 8760 <mss 1460,nop,nop,sackOK,nop,wscale 0>\n\
    +.1 < . 1:1(0) ack 1 win 257\n+0 accept(3, ..., ...) = 4\n";

fn passes(profile: &str, rest: &str) {
    assert_eq!(play(&format!("--mss=1000\n{OPEN}{rest}"), profile), None, "{profile}");
}

#[test]
fn the_first_buffer_shows_how_much_memory_data_take() {
    passes(
        "linux-6.12",
        "+0 < P. 1:4001(4000) ack 1 win 257\n+0 > . 1:1(0) ack 4001 win 5000\n\
         +0 %{ assert tcpi_rcv_mss == 1000; assert SK_MEMINFO_RMEM_ALLOC == 8448 }%\n\
         +0 read(4, ..., 3999) = 3999\n+0 %{ assert SK_MEMINFO_RMEM_ALLOC == 8448 }%\n\
         +0 read(4, ..., 3999) = 1\n+0 %{ assert SK_MEMINFO_RMEM_ALLOC == 0 }%",
    );
}

#[test]
fn a_closed_window_refuses_data_until_the_program_reads() {
    for (profile, counter) in [("linux-6.12", "TCPZeroWindowDrop"), ("linux-7.3", "BeyondWindow")] {
        let text = "+0 < P. 1:8001(8000) ack 1 win 257\n* > . 1:1(0) ack 8001 win 4000\n\
         +0 < P. 8001:12001(4000) ack 1 win 257\n* > . 1:1(0) ack 12001 win 0\n\
         +0 < P. 12001:13001(1000) ack 1 win 257\n+0 > . 1:1(0) ack 12001 win 0\n\
         +0 < . 11001:12001(1000) ack 1 win 257\n+0 > . 1:1(0) ack 12001 win 0 <nop,nop,sack 11001:12001>\n\
         +0 `nstat -s | grep COUNTER | grep -q \" 1 \"`\n\
         +0 read(4, ..., 99999) = 12000\n* > . 1:1(0) ack 12001 win 8000\n\
         +0 < P. 12001:13001(1000) ack 1 win 257\n* > . 1:1(0) ack 13001";
        passes(profile, &text.replace("COUNTER", counter));
    }
}

#[test]
fn kernels_before_7_take_a_segment_that_begins_within_the_window() {
    let text = "+0 < P. 1:4001(4000) ack 1 win 257\n+0 > . 1:1(0) ack 4001 win 5000\n\
        +0 < P. 4001:20001(16000) ack 1 win 257\n";
    passes("linux-6.12", &format!("{text}* > . 1:1(0) ack 20001 win 0"));
    passes("linux-7.3", &format!("{text}+0 > . 1:1(0) ack 4001 win 5000"));
}

#[test]
fn a_fin_passes_a_closed_window() {
    let text = "+0 < P. 1:20001(20000) ack 1 win 257\n* > . 1:1(0) ack 20001 win 0\n\
        +0 < F. 20001:20001(0) ack 1 win 257\n+0 > . 1:1(0) ack 20002 win 0\n\
        +0 read(4, ..., 99999) = 20000\n+0 read(4, ..., 99999) = 0";
    passes("linux-6.12", text);
    passes("linux-7.3", text);
}

#[test]
fn a_buffer_that_became_too_small_drops_what_comes() {
    passes(
        "linux-7.3",
        "+0 < P. 1:8001(8000) ack 1 win 257\n* > . 1:1(0) ack 8001\n\
         +0 setsockopt(4, SOL_SOCKET, SO_RCVBUF, [2000], 4) = 0\n\
         +0 < P. 8001:12001(4000) ack 1 win 257\n+0 > . 1:1(0) ack 8001 win 0\n\
         +0 `nstat | grep TCPRcvQDrop | grep -q \" 1 \"`\n+0 `nstat`",
    );
}

#[test]
fn data_out_of_order_wait_beside_those_that_are_unread() {
    passes(
        "linux-6.12",
        "+0 < P. 1:1001(1000) ack 1 win 257\n+0 > . 1:1(0) ack 1001\n\
         +0 < P. 2001:3001(1000) ack 1 win 257\n+0 > . 1:1(0) ack 1001 <nop,nop,sack 2001:3001>\n\
         +0 %{ assert SK_MEMINFO_RMEM_ALLOC == 2 * 2304 }%\n\
         +0 read(4, ..., 9999) = 1000\n+0 %{ assert SK_MEMINFO_RMEM_ALLOC == 2304 }%\n\
         +0 < P. 1001:3001(2000) ack 1 win 257\n+0 > . 1:1(0) ack 3001 <nop,nop,sack 2001:3001>\n\
         +0 %{ assert SK_MEMINFO_RMEM_ALLOC == 4352 }%\n+0 read(4, ..., 9999) = 2000",
    );
}

#[test]
fn a_grep_without_a_line_fails() {
    let text = format!("{OPEN}+0 `nstat | grep TCPRcvQDrop`");
    let failure = play(&text, "linux-6.12").expect("nothing was dropped");
    assert!(failure.message.contains("no line of nstat has \"TCPRcvQDrop\""), "{failure:?}");
}
