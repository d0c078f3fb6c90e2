#!/bin/bash
# A capture of MIB mebibytes, analysed here and by tshark: wall and CPU seconds, memory.
#   crates/capture/benches/against_tshark.sh [MIB] [SNAP]
# tshark's part is what comes nearest: statistics of conversations, and its analysis of
# every segment. Both run on one file in the page cache, one after the other.
set -e
cd "$(dirname "$0")/../../.."
file=$(mktemp --suffix .pcap)
trap 'rm -f "$file" "$file.txt"' EXIT
cargo build --release --quiet -p narrows-capture --examples
target/release/examples/make_capture "$file" "${1:-1024}" ${2:+"$2"}
cat "$file" > /dev/null
echo "load: $(cut -d' ' -f1-3 /proc/loadavg); $(stat -c %s "$file") bytes"
form="%e s wall, %U + %S s CPU, %M KiB"
/usr/bin/time -f "narrows: $form" target/release/examples/analyze "$file" > "$file.txt"
/usr/bin/time -f "tshark:  $form" tshark -n -q -r "$file" -z conv,tcp \
    -z "io,stat,0,tcp.analysis.retransmission,tcp.analysis.duplicate_ack,tcp.analysis.ack_rtt" \
    > /dev/null
