# Everything is done from here, in .venv, with the versions of requirements-dev.lock and Cargo.lock.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)
# Seed of property tests: `make test` repeats itself, `make test SEED=$$RANDOM` looks elsewhere.
SEED ?= 1
export PROPTEST_RNG_SEED = $(SEED)
FUZZ_SECONDS ?= 30
# The linker of wheels, from the package index.
ZIG = 0.17.1
# The program that checks and uploads distributions, from the package index.
TWINE = 7.0.0
# PyTorch, from the package index, for `make test-torch`.
TORCH = 2.15.0
# Of the cases of `make test-torch` that are marked large, which: some, or all.
LARGE ?= some
# Where the library for C goes.
PREFIX ?= /usr/local
CARGO_OUTPUT = $(or $(CARGO_TARGET_DIR),target)/release
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
FUZZ_RUNS ?= 20000
# Every file's tests in one of two processes, which its fixtures are made in once.
PYTEST = $(VENV)/bin/pytest --quiet --numprocesses 2 --dist loadfile --durations 25 -p no:benchmark --hypothesis-seed $(SEED)
# Without documentation tests, which no crate has: tests/repository/test_crates.py.
CARGO_TEST = cargo test --workspace --tests --locked --quiet
PIP = $(VENV)/bin/pip install --quiet --disable-pip-version-check
UV = $(VENV)/bin/uv pip install --quiet --python $(VENV)/bin/python
# The module, built into python/, where the editable installation finds it.
DEVELOP = PATH="$(CURDIR)/$(VENV)/bin:$$PATH" VIRTUAL_ENV="$(CURDIR)/$(VENV)" maturin develop --quiet --uv --locked --profile

.PHONY: demo check test test-rust test-python test-large test-long test-peers test-torch data bench lint lint-fast audit \
	format docs fuzz fuzz-command-line build clean wheel release c-library c-header c-example install-c gate-example \
	nccl-tuner

build: $(VENV)/built

demo: $(VENV)/built
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" examples/demo.sh

# What is fast of the tests, for use while working: about a minute after `make test`.
check: $(VENV)/built
	cargo test --workspace --lib --locked --quiet
	$(PYTEST) -m 'not peers and not slow and not large'

# All tests; of those that take long, which are marked large (ignored, in Rust), a sixteenth of their cases (in Rust, none).
# `make test-large` runs these whole.
# The module first, which both halves need most of; then both at once, so that the tests of Python, which often wait, run
# while those of Rust are compiled.
test: $(VENV)/built
	$(MAKE) --no-print-directory --jobs 2 test-rust test-python

test-rust:
	$(CARGO_TEST)

test-python: $(VENV)/built
	$(PYTEST) --large some

test-large: $(VENV)/built
	$(CARGO_TEST) -- --ignored
	$(PYTEST) -m 'large and not peers'

# Random searches with all their cases, of which `make test` draws a quarter, from a new seed each time.
test-long: SEED := $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
test-long: export LIGHTLOOM_LONG_TESTS = $(SEED)
test-long: $(VENV)/built
	@echo "make test-long SEED=$(SEED) draws the same"
	$(CARGO_TEST) -- --include-ignored
	$(PYTEST) -m 'long and not peers'

# Beside ns-3 and SimGrid, which are got where that can be done; what cannot be had is said on standard error.
test-peers: $(VENV)/built
	$(VENV)/bin/python -m tests.peers.build
	$(VENV)/bin/pytest tests/peers -m peers --hypothesis-seed $(SEED)

# Jobs of PyTorch, in an environment of their own: it is large. Where it cannot be had, standard error says so.
test-torch: $(VENV)/built
	if $(VENV)/bin/python -m tests.torch.environment $(VENV)-torch $(TORCH); then \
		$(VENV)-torch/bin/python -m pytest tests/torch -p no:benchmark --large $(LARGE) --hypothesis-seed $(SEED); fi

# Files of others that some tests read, into data/: where they are public stands in tests/data/files.toml.
data: $(VENV)/installed
	$(VENV)/bin/python -m tests.data

# With the module as it is released; `make build` is done anew behind it.
bench: $(VENV)/built
	$(DEVELOP) release
	rm $(VENV)/built
	cargo bench --workspace --locked
	$(VENV)/bin/pytest benches -s

lint: lint-fast $(VENV)/built
	cargo clippy --workspace --all-targets --locked -- -D warnings
	$(VENV)/bin/mypy
	$(VENV)/bin/stubtest lightloom._core --concise --ignore-disjoint-bases --allowlist tests/repository/stub_types.txt
	$(VENV)/bin/lint-imports --no-cache --no-logo
	$(VENV)/bin/python -m tests.javascript types
	$(VENV)/bin/python -m tests.audit

# Checks of it that take seconds and need no build, for use before every commit.
lint-fast: $(VENV)/installed
	cargo fmt --all --check
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/python -m tests.javascript lint

# Licences, sources, duplicates and known faults of dependencies, where cargo-deny and pip-audit are installed.
audit: $(VENV)/built
	$(VENV)/bin/python -m tests.audit

format: $(VENV)/installed
	cargo fmt --all
	$(VENV)/bin/ruff check --fix
	$(VENV)/bin/ruff format
	$(VENV)/bin/python -m tests.javascript format

# The pages of docs/ and the Python reference as a site in out/docs, which needs no server: open out/docs/index.html.
# From scratch each time, since every page has the navigation.
docs: $(VENV)/built
	rm -rf out/docs
	$(VENV)/bin/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env -c docs/site -d out/docs-cache . out/docs

# A wheel for Python from 3.11 on and any Linux with glibc 2.17, linked by Zig, made from the sources next to it in dist/, and
# tried in an empty environment. The sources have the lock file; their workspace is a part of it, so that `--locked` would
# refuse. The papers' distribution is put next to both.
wheel: $(VENV)/built
	rm -rf dist
	$(PIP) ziglang==$(ZIG)
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" maturin build --release --sdist --zig --compatibility manylinux2014 --out dist
	cd papers && ../$(VENV)/bin/hatchling build -d ../dist
	$(VENV)/bin/python -m tests.wheel dist

# Wheels, sources, notes and checksums of this version in dist/, checked as the package index checks them; whether its
# crates can be packed. A tree with changes is refused, and a version that is tagged elsewhere. Nothing is published:
# the steps that a person has to do for that are printed.
release: $(VENV)/built
	$(VENV)/bin/python -m docs.generators.release check
	cargo publish --workspace --dry-run --no-verify --locked
	$(MAKE) wheel
	$(PIP) twine==$(TWINE)
	$(VENV)/bin/twine check --strict dist/*.whl dist/*.tar.gz
	$(VENV)/bin/python -m docs.generators.release write dist

# The library for C, which programs and collective libraries link with: docs/how-to/plan-from-c.md.
c-library:
	cargo rustc --release --locked --package lightloom-c --lib --crate-type cdylib --crate-type staticlib
	cargo rustc --release --locked --package lightloom-gate --lib --crate-type cdylib --crate-type staticlib

c-header:
	LIGHTLOOM_WRITE_HEADER=1 cargo test --locked --package lightloom-c --package lightloom-gate --test all header

c-example: c-library
	mkdir -p out/c
	$(CC) -std=c11 -Wall -Wextra -O2 -I crates/c/include examples/c/plan.c -o out/c/plan \
		-L $(CARGO_OUTPUT) -llightloom_c -Wl,-rpath,$(CURDIR)/out/c
	ln -sf $(abspath $(CARGO_OUTPUT))/liblightloom_c.so out/c/liblightloom.so.1
	out/c/plan

# Ranks that wait at a gate: docs/how-to/send-a-plan-to-a-switch.md.
gate-example: c-library
	mkdir -p out/c
	$(CC) -std=c11 -Wall -Wextra -O2 -I crates/gate/include examples/c/gate.c -o out/c/gate \
		-L $(CARGO_OUTPUT) -llightloom_gate -Wl,-rpath,$(CURDIR)/out/c
	ln -sf $(abspath $(CARGO_OUTPUT))/liblightloom_gate.so out/c/liblightloom_gate.so.1

# The tuner plugin of NCCL, by the name that NCCL_TUNER_PLUGIN=lightloom finds: docs/how-to/export-a-plan.md.
nccl-tuner:
	cargo rustc --release --locked --package lightloom-nccl-tuner --lib --crate-type cdylib
	mkdir -p out/c
	cp $(CARGO_OUTPUT)/libnccl_tuner_lightloom.so out/c/libnccl-tuner-lightloom.so

install-c: c-library
	install -d $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/lib/pkgconfig
	install -m 644 crates/c/include/lightloom.h crates/gate/include/lightloom_gate.h $(DESTDIR)$(PREFIX)/include/
	install -m 755 -s $(CARGO_OUTPUT)/liblightloom_gate.so $(DESTDIR)$(PREFIX)/lib/liblightloom_gate.so.1
	ln -sf liblightloom_gate.so.1 $(DESTDIR)$(PREFIX)/lib/liblightloom_gate.so
	install -m 755 -s $(CARGO_OUTPUT)/liblightloom_c.so $(DESTDIR)$(PREFIX)/lib/liblightloom.so.1
	ln -sf liblightloom.so.1 $(DESTDIR)$(PREFIX)/lib/liblightloom.so
	install -m 644 $(CARGO_OUTPUT)/liblightloom_c.a $(DESTDIR)$(PREFIX)/lib/liblightloom.a
	strip --strip-debug $(DESTDIR)$(PREFIX)/lib/liblightloom.a
	sed -e 's|@PREFIX@|$(abspath $(PREFIX))|' -e 's|@VERSION@|$(VERSION)|' crates/c/lightloom.pc.in \
		> $(DESTDIR)$(PREFIX)/lib/pkgconfig/lightloom.pc

fuzz:
	@cargo +nightly fuzz --version >/dev/null 2>&1 || { echo "make fuzz needs: cargo install cargo-fuzz, and a nightly toolchain"; exit 1; }
	for target in $$(cargo +nightly fuzz list); do \
		cargo +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) || exit 1; \
	done

fuzz-command-line: $(VENV)/built
	$(VENV)/bin/python -m tests.fuzz_command_line --runs $(FUZZ_RUNS) --workers 2

clean:
	rm -rf $(VENV) $(VENV)-torch out node_modules
	cargo clean

# Stamp files: what is up to date is not done again.
$(VENV)/installed: requirements-dev.lock
	$(PYTHON) -m venv $(VENV)
	$(PIP) $$(grep '^uv==' requirements-dev.lock)
	$(UV) --requirement requirements-dev.lock
	touch $@

# With the profile of the tests, so that Cargo compiles nothing twice.
$(VENV)/built: $(VENV)/installed pyproject.toml papers/pyproject.toml $(RUST)
	$(DEVELOP) dev
	$(UV) --no-build-isolation --no-deps --editable ./papers
	touch $@
