# The commands for developers. `make` lists them.
#
# The command lives in a virtual environment, .venv, built from pinned versions.
# Nothing is installed twice: stamps depend on the sources.

SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
# Behind what `make setup` builds, which the Python tests wait for.
CARGO := nice -n 10 cargo
# What the programs of a wheel are compiled for: no C library has to be there.
STATIC := x86_64-unknown-linux-musl

# All builds use one setting, so that cargo doesn't rebuild pyo3.
export PYO3_BUILD_EXTENSION_MODULE := 1
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test lint facts rust python rust-lint rust-test python-lint python-test tools bench fuzz playground site wheels try-wheels release crates controls instructions reference locks clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

setup: $(VENV)/.built $(VENV)/.programs ## set up the command at .venv/bin/narrows

demo: $(VENV)/.built ## set everything up, and see BBR and CUBIC take turns
	@$(BIN)/narrows demo

# Rust's half and Python's take about the same time, and neither keeps two cores busy.
test: $(BIN)/python ## every check and every test
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=line rust python

rust: # in this order, since both want the same build directory
	@$(MAKE) --no-print-directory rust-lint
	@$(MAKE) --no-print-directory rust-test

python:
	@$(MAKE) --no-print-directory python-lint
	@$(MAKE) --no-print-directory python-test

lint: rust-lint python-lint facts ## formatting, clippy, ruff, mypy, the layers, names, facts on pages

rust-lint: $(BIN)/python
	@{ cargo clippy --version && cargo fmt --version; } > /dev/null 2>&1 || { \
	    echo "narrows: clippy or rustfmt wasn't found; rustup component add clippy rustfmt." >&2; exit 1; }
	cargo fmt --all --check
	$(BIN)/python tools/check_modules.py
	$(BIN)/python tools/check_words.py
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) clippy --locked -p narrows-python --no-default-features -- -D warnings # without other projects' stacks
	@if rustup target list --installed 2> /dev/null | grep -qx $(STATIC) || rustup target add $(STATIC) 2> /dev/null; then \
	    $(CARGO) clippy --locked --target $(STATIC) -p narrows-traffic -p narrows-router -p narrows-drill -- -D warnings; \
	    else echo "skipped: the programs of a wheel; rustup can't add the target $(STATIC)"; fi
	@if cargo deny --version > /dev/null 2>&1; then cargo deny --offline --locked check bans licenses sources; \
	    else echo "skipped: the licences and sources of dependencies; cargo-deny isn't installed"; fi

# Without the examples, which clippy has looked at: each has the whole engine to compile. The
# targets of crates/fuzz share their seconds.
rust-test: $(BIN)/python
	NARROWS_FUZZ_SECONDS=60 $(CARGO) test --locked --workspace --tests --no-fail-fast
	$(CARGO) test --locked --workspace --doc

python-lint: $(VENV)/.built
	$(BIN)/ruff format --check python studies tests tools
	$(BIN)/ruff check python studies tests tools
	$(BIN)/mypy
	$(BIN)/lint-imports

facts: $(VENV)/.built
	$(BIN)/python -m pytest -q -p no:xdist tests/python/test_facts.py tests/python/test_docs.py

# A worker for each core; tests/conftest.py says which tests share one.
python-test: setup
	$(BIN)/python -m pytest -n auto --maxprocesses=8

tools: $(VENV)/.programs ## build the programs of the back ends uml and kernel, for Linux

bench: setup ## packets per CPU second, and the engine alone
	$(BIN)/python tools/bench.py
	$(CARGO) bench --locked -p narrows-bench

fuzz: setup ## an hour of mutated inputs, by libFuzzer if it is installed
	nice -n 5 fuzz/run.sh $(BIN)/python $(FUZZ_SECONDS)

site: playground $(VENV)/.site ## build the documentation, with the playground, and test it: target/site
	@module=target/playground/narrows.wasm; if [ -f $$module ]; then \
	    $(BIN)/python tools/make_playground.py $$module target/site-playground ../; fi
	$(BIN)/python tools/make_gallery.py target/gallery
	$(VENV)-site/bin/python tools/make_site.py target/site-pages target/site-playground target/gallery
	NO_MKDOCS_2_WARNING=1 $(VENV)-site/bin/mkdocs build --quiet --config-file target/site-pages.yml
	$(BIN)/python -m pytest -q -p no:xdist tests/python/test_site.py

wheels: $(VENV)/.release ## build the wheels and the source archive of a release: dist
	$(VENV)-release/bin/python tools/make_wheels.py dist $(KINDS)

try-wheels: $(VENV)/.release ## install a wheel where no compiler is, and time its first figure
	$(VENV)-release/bin/python tools/try_wheel.py dist

release: $(BIN)/python ## check that a release is ready, build everything, say how to publish it
	$(BIN)/python tools/release.py
	$(MAKE) --no-print-directory test
	$(MAKE) --no-print-directory site
	$(MAKE) --no-print-directory crates
	$(MAKE) --no-print-directory wheels
	$(MAKE) --no-print-directory try-wheels
	@$(BIN)/python tools/release.py publish

crates: $(BIN)/python ## package the published crates and build each from its package
	$(CARGO) package --locked $$($(BIN)/python tools/release.py crates) $(PACKAGE)

controls: $(VENV)/.built ## every claim under the conditions in which it must fail, on small grids
	$(BIN)/narrows reproduce all --mutations --quick --out target/controls

instructions: setup ## instructions per packet, compared with the tracked ones
	@command -v valgrind > /dev/null || { echo "narrows: valgrind wasn't found; apt-get install valgrind." >&2; exit 1; }
	$(CARGO) build --locked --release --quiet -p narrows-capture --example run_scenario
	@bash crates/sim/benches/instructions.sh $(BIN)/python target/release/examples/run_scenario $(PIN)

playground: setup ## build the page that runs the simulator in a browser, and test it
	tests/wasm/check.sh $(BIN)/python target/playground

reference: setup ## regenerate files made from the sources: Python classes, reference, notebooks
	$(BIN)/python tools/make_reference.py

locks: $(VENV)/.installed ## pin the newest versions that pyproject.toml allows
	$(BIN)/python -m pip install --quiet uv
	for lock in "requirements.lock" "requirements-dev.lock --extra dev"; do \
	    $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --upgrade \
	        --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --quiet \
	        -o $$lock > /dev/null || exit 1; \
	done
	for group in site release; do \
	    $(BIN)/uv pip compile --group $$group --universal --python-version 3.11 --upgrade \
	        --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --quiet \
	        -o requirements-$$group.lock > /dev/null || exit 1; \
	    sed -i 's#$(CURDIR)/##' requirements-$$group.lock; \
	done

clean: ## remove what was built, not the results
	rm -rf target $(VENV) $(VENV)-* dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	rm -f python/narrows/*.so
	find python tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment, from the lock.
$(BIN)/python:
	@sh .ci/need.sh $(PYTHON)
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements-dev.lock | $(BIN)/python
	@echo "narrows: installing Python packages from requirements-dev.lock (about a minute)" >&2
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.lock
	touch $@

# The package, in place: Python sources are used where they are, and the native
# module is a release build linked beside them. pip would hide cargo's progress.
$(VENV)/.built: $(VENV)/.installed pyproject.toml $(RUST_SOURCES)
	@echo "narrows: compiling the simulator (some minutes the first time)" >&2
	@rm -rf target/editable && mkdir -p target/editable
	@PATH="$(CURDIR)/$(BIN):$$PATH" PYTHONPATH=tools MATURIN_PEP517_ARGS=--locked nice -n 5 \
	    $(BIN)/python -c 'import build_backend; build_backend.build_editable("target/editable")'
	@$(BIN)/python -m pip install --quiet --no-deps --force-reinstall target/editable/*.whl
	@touch $@

# The tools of a release and of the site, each in an environment of its own.
$(VENV)/.%: requirements-%.lock | $(BIN)/python
	$(BIN)/python -m venv $(VENV)-$*
	$(VENV)-$*/bin/python -m pip install --quiet --require-hashes -r $<
	touch $@

# The programs of the back ends with real kernels, in the user's cache; they run on Linux alone.
$(VENV)/.programs: $(VENV)/.built
	@if [ "$$(uname)" = Linux ]; then $(BIN)/python -m narrows.backends.linux.tools; fi
	touch $@
