#!/bin/sh
# Says in one sentence what is missing on this machine. Argument: the Python to use.
set -eu

need() {
    echo "narrows: $1" >&2
    exit 1
}

command -v "$1" >/dev/null 2>&1 ||
    need "$1 wasn't found; install Python 3.11 or newer (Debian: apt install python3 python3-venv)."
"$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    need "$1 is older than Python 3.11; name a newer one, as in: make PYTHON=python3.12."
"$1" -c 'import ensurepip, venv' 2>/dev/null ||
    need "$1 can't make virtual environments; install them (Debian: apt install python3-venv)."
command -v cargo >/dev/null 2>&1 ||
    need "cargo wasn't found; install Rust from https://rustup.rs."
command -v cc >/dev/null 2>&1 ||
    need "no C linker was found; install one (Debian: apt install build-essential)."

wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
found=$(rustc --version | cut -d ' ' -f 2)
oldest=$(printf '%s\n%s\n' "$wanted" "$found" | sort -V | head -n 1)
[ "$oldest" = "$wanted" ] ||
    need "Rust $found is too old; $wanted or newer is needed (https://rustup.rs)."
