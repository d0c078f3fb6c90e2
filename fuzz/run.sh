#!/bin/bash
# Inputs turned into nonsense, for an hour: `fuzz/run.sh PYTHON [SECONDS]`.
#
# Where a nightly compiler and cargo-fuzz are, libFuzzer looks at what inputs reach; elsewhere the
# same functions get mutated seeds. Files of other programs and whole commands follow.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
seconds=${2:-3600}
share=$((seconds / 7))

if cargo +nightly fuzz --version > /dev/null 2>&1; then
    for target in specification capture qlog control queue; do
        cargo run --locked --quiet -p narrows-fuzz --example write_seeds "$target" "fuzz/corpus/$target"
        cargo +nightly fuzz run "$target" -- -max_total_time="$share" -timeout=120 -rss_limit_mb=4096
    done
else
    echo "fuzz: without libFuzzer: it takes a nightly compiler and \`cargo install cargo-fuzz\`."
    NARROWS_FUZZ_FIRST=$RANDOM$RANDOM NARROWS_FUZZ_SECONDS=$((5 * share)) \
        cargo test --locked --profile fuzz -p narrows-fuzz --test targets -- --nocapture
fi

NARROWS_FUZZ_FIRST=$RANDOM$RANDOM NARROWS_FUZZ_CASES=$((100 * share)) \
    cargo test --locked --profile fuzz -p narrows-capture --test all nonsense
DAMAGED_SEED=$RANDOM DAMAGED_CASES=$((5 * share)) "$python" -m pytest -q tests/python/test_exchange_damaged.py
NARROWS_FUZZ_FIRST=$RANDOM$RANDOM NARROWS_SEEDS=$((share / 3)) \
    "$python" -m pytest -q tests/python/test_workloads_behind_queues.py
NARROWS_FUZZ_FIRST=$RANDOM$RANDOM NARROWS_SEEDS=$((4 * share)) \
    "$python" -m pytest -q tests/python/test_recompute.py
NARROWS_FUZZ_FIRST=$RANDOM$RANDOM NARROWS_SEEDS=$((share / 2)) \
    "$python" -m pytest -q tests/python/test_recompute_*.py
NARROWS_FUZZ_FIRST=$RANDOM$RANDOM NARROWS_HOSTILE=$share \
    "$python" -m pytest -q tests/python/test_hostile_results.py -k random
NARROWS_FUZZ_FIRST=$RANDOM$RANDOM NARROWS_SEEDS=$((2 * share)) \
    "$python" -m pytest -q tests/python/test_random_specifications.py
NARROWS_FUZZ_FIRST=$RANDOM "$python" -m pytest -q tests/python/test_schema_agrees.py
"$python" tools/kill_runs.py --kills $((share / 160 + 1)) --seed $RANDOM --signals INT,TERM,HUP,KILL
"$python" tools/throw_nonsense.py --seconds "$share" --seed $RANDOM$RANDOM
