#!/usr/bin/env bash
# Instructions per data packet, counted by valgrind: the same binary and scenario give the same
# count on any machine. Compares them with instructions.txt beside this script and fails where one
# differs by more than 1 %; with --pin it writes them there.
#   instructions.sh PYTHON RUN_SCENARIO [--pin]
set -euo pipefail
python=$1 program=$2 pin=${3:-}
tracked=$(dirname "$0")/instructions.txt
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$python" -c 'import pathlib, sys; sys.path.insert(0, "tools"); from bench_loads import write_scenarios; write_scenarios(pathlib.Path(sys.argv[1]))' "$dir" > /dev/null

mkdir "$dir/packets"

count() {  # of the scenario in a file, whose packets go to the directories that follow
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$@" > "$dir/out" 2> "$dir/count"
    local instructions packets
    instructions=$(sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$dir/count")
    packets=$(sed -n 's/^\([0-9]*\) packets.*/\1/p' "$dir/out")
    echo $((instructions / packets))
}

wrong=0
for file in "$dir"/*.json; do
    name=$(basename "$file" .json)
    now=$(if [ "$name" = capture ]; then count "$file" "$dir/packets"; else count "$file"; fi)
    before=$(awk -v name="$name" '$1 == name { print $2 }' "$tracked")
    echo "$name $now" >> "$dir/counts"
    awk -v name="$name" -v now="$now" -v before="${before:-0}" 'BEGIN {
        change = before ? 100 * (now / before - 1) : 100
        printf "%-9s %6d instructions per packet, %+.1f %%\n", name, now, change
        exit change > 1 || change < -1
    }' || wrong=1
done
if [ "$pin" = --pin ]; then
    {
        grep '^#' "$tracked" | grep --invert-match '^# rustc '
        rustc --version | awk '{ print "# rustc", $2 }'
        cat "$dir/counts"
    } > "$dir/tracked"
    cp "$dir/tracked" "$tracked"
elif [ $wrong = 1 ]; then
    echo "narrows: counts differ by more than 1 % from $tracked;" \
        "if that is meant, say why in docs/results and pin them: make instructions PIN=--pin" >&2
    exit 1
fi
