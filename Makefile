# Everything is done from here, in .venv, with the versions of requirements-dev.lock and Cargo.lock.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)
# What property tests draw from: `make test` repeats itself, `make test SEED=$$RANDOM` looks elsewhere.
SEED ?= 1
export PROPTEST_RNG_SEED = $(SEED)
FUZZ_SECONDS ?= 30
FUZZ_RUNS ?= 20000
# Every file's tests in one of two processes, which its fixtures are made in once.
PYTEST = $(VENV)/bin/pytest --numprocesses 2 --dist loadfile -p no:benchmark --hypothesis-seed $(SEED)
PIP = $(VENV)/bin/pip install --quiet --disable-pip-version-check

.PHONY: demo check test test-rust test-python test-peers bench lint format docs fuzz fuzz-command-line build clean

build: $(VENV)/built

demo: $(VENV)/built
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" examples/demo.sh

# What is fast of the tests, for use while working: after a build under a minute and a half.
check: $(VENV)/built
	cargo test --workspace --lib --locked --quiet
	$(PYTEST) -m 'not peers and not slow'

test: test-rust test-python

test-rust:
	cargo test --workspace --locked --quiet

test-python: $(VENV)/built
	$(PYTEST)

# Beside ns-3 and SimGrid, which are got where that can be done; what cannot be had is said on standard error.
test-peers: $(VENV)/built
	$(VENV)/bin/python -m tests.peers.build
	$(VENV)/bin/pytest tests/peers -m peers --hypothesis-seed $(SEED)

bench: $(VENV)/built
	cargo bench --workspace --locked
	$(VENV)/bin/pytest benches -s

lint: $(VENV)/built
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/mypy

format: $(VENV)/installed
	cargo fmt --all
	$(VENV)/bin/ruff check --fix
	$(VENV)/bin/ruff format

# The pages of docs/ and the Python reference as a site in out/docs, which needs no server: open out/docs/index.html.
# From scratch each time, since every page has the navigation.
docs: $(VENV)/built
	rm -rf out/docs
	$(VENV)/bin/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env -c docs/site -d out/docs-cache . out/docs

fuzz:
	@cargo +nightly fuzz --version >/dev/null 2>&1 || { echo "make fuzz needs: cargo install cargo-fuzz, and a nightly toolchain"; exit 1; }
	for target in $$(cargo +nightly fuzz list); do \
		cargo +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) || exit 1; \
	done

fuzz-command-line: $(VENV)/built
	$(VENV)/bin/python -m tests.fuzz_command_line --runs $(FUZZ_RUNS) --workers 2

clean:
	rm -rf $(VENV) out
	cargo clean

# Stamp files: what is up to date is not done again.
$(VENV)/installed: requirements-dev.lock
	$(PYTHON) -m venv $(VENV)
	$(PIP) --requirement requirements-dev.lock
	touch $@

$(VENV)/built: $(VENV)/installed pyproject.toml papers/pyproject.toml $(RUST)
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" MATURIN_PEP517_ARGS=--locked \
		$(PIP) --no-build-isolation --no-deps --editable . --editable ./papers
	touch $@
