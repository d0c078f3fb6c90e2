#!/bin/sh
# Builds the simulator for WebAssembly and the playground around it. The module gives the same
# digest as here, and the same problems; the page is tested in Chromium.
#   tests/wasm/check.sh PYTHON FOLDER
set -eu
target=wasm32-unknown-unknown
skip() { echo "playground: not built: $1"; exit 0; }
command -v rustup > /dev/null || skip "rustup, which adds the target $target, isn't there."
command -v node > /dev/null || skip "node, which runs the module, isn't there."
rustup target list --installed | grep -qx "$target" || rustup target add "$target" ||
    skip "the target $target can't be added."

python=$1
folder=$2
cargo build --locked --quiet --release --target "$target" -p narrows-wasm
module=target/$target/release/narrows_wasm.wasm

directory=$(mktemp -d)
trap 'rm -r "$directory"' EXIT
cat > "$directory/spec.toml" << 'SPEC'
name = "wasm"
[path]
rate = "20mbit"
rtt = "30ms"
buffer = "0.75bdp"
queue = "codel"
loss = 0.001
[[flows]]
cca = "bbr"
[[flows]]
cca = "cubic"
start = "0.5s"
[host]
jitter = "20us"
[run]
duration = "10s"
warmup = "1s"
seed = 7
SPEC
there=$(node tests/wasm/digest.mjs "$module" "$directory/spec.toml")
here=$("$python" -c '
import sys
from narrows.backends.sim import Simulator
from narrows.spec import load
print(Simulator().run(load(sys.argv[1]).spec.scenario).info.digest)
' "$directory/spec.toml")
[ "$there" = "$here" ] || { echo "wasm: $there there, $here here" >&2; exit 1; }

sed 's/20mbit/20mbits/' "$directory/spec.toml" > "$directory/wrong.toml"
node tests/wasm/digest.mjs "$module" "$directory/wrong.toml" | grep -q "line 3, column 8: path.rate: found"
echo "wasm: digest $there, as here."

"$python" tools/make_playground.py "$module" "$folder"
command -v npm > /dev/null && npm ci --prefix tests/axe --ignore-scripts --no-audit --no-fund --silent ||
    echo "playground: accessibility isn't tested: npm can't install tests/axe."
"$python" -m pytest -q -p no:xdist tests/python/test_playground.py tests/python/test_playground_code.py \
    tests/python/test_playground_views.py tests/python/test_playground_lessons.py
