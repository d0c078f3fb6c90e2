#!/usr/bin/env bash
# Instructions per data packet of the four scenarios of `narrows bench`, counted by
# valgrind. The same binary and scenario give the same count on any machine.
#   instructions.sh PYTHON RUN_SCENARIO
set -euo pipefail
python=$1 program=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$python" -c 'import pathlib, sys; from narrows.bench import write_scenarios; write_scenarios(pathlib.Path(sys.argv[1]))' "$dir"
for scenario in "$dir"/*.json; do
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$scenario" > "$dir/out" 2> "$dir/count"
    instructions=$(sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$dir/count")
    packets=$(sed -n 's/^\([0-9]*\) packets.*/\1/p' "$dir/out")
    echo "$(basename "$scenario" .json)  $((instructions / packets)) instructions per packet ($packets packets)"
done
