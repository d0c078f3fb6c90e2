#!/bin/bash
# A capture of MIB mebibytes, analysed here and by tshark: wall and CPU seconds, memory.
#   crates/capture/benches/against_tshark.sh [MIB] [SNAP]
# The core alone, the whole command with tables, figures and page (NARROWS=its path, by default
# .venv/bin/narrows), and what comes nearest of tshark: statistics of conversations, and its
# analysis of every segment. All run on one file in the page cache, one after the other, PAIRS
# times (1).
set -e
cd "$(dirname "$0")/../../.."
narrows=${NARROWS:-.venv/bin/narrows}
file=$(mktemp --suffix .pcap)
trap 'rm -rf "$file" "$file.txt" "$file.out"' EXIT
cargo build --release --quiet -p narrows-capture --examples
target/release/examples/make_capture "$file" "${1:-1024}" ${2:+"$2"}
form="%e s wall, %U + %S s CPU, %M KiB"
for _ in $(seq "${PAIRS:-1}"); do
    cat "$file" > /dev/null
    echo "load: $(cut -d' ' -f1-3 /proc/loadavg); $(stat -c %s "$file") bytes"
    /usr/bin/time -f "core:   $form" target/release/examples/analyze "$file" > "$file.txt"
    /usr/bin/time -f "whole:  $form" "$narrows" analyze "$file" --out "$file.out" --force > "$file.txt"
    /usr/bin/time -f "tshark: $form" tshark -n -q -r "$file" -z conv,tcp \
        -z "io,stat,0,tcp.analysis.retransmission,tcp.analysis.duplicate_ack,tcp.analysis.ack_rtt" \
        > /dev/null
done
