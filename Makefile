# Two commands do everything on a fresh machine with Rust, Python 3.11+ and Node: `make run` and `make test`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

, := ,
VENV   := .venv
PYTHON ?= python3
STAMPS := target/stamps
UI_SRC := $(shell find ui/src ui/public ui/docs ui/tools/*.mjs ui/index.html ui/package.json ui/vite.config.ts ui/tsconfig.json -type f 2>/dev/null)
RUST   := $(shell find crates proto Cargo.toml Cargo.lock -type f -not -path '*/tests/*' 2>/dev/null)

.PHONY: help run build test soak fuzz bench bench-builds bench-clients bench-short profile check fmt clean test-rust test-python test-adk1 test-ui test-e2e

help:
	@echo 'make run    build Hotseat and start it with the example agents'
	@echo 'make test   set up, check and test everything'
	@echo 'make build  target/release/hotseat and .venv with google-adk and the hotseat package'
	@echo 'make soak   a large crowd, kills, and many simulations; SOAK_MINUTES says for how long'
	@echo 'make fuzz   many more made-up inputs for everything that reads some'
	@echo 'make bench  measure us, others and what the machine can do; writes docs/benchmarks.md'
	@echo 'make bench-short  costs against the limits of the machine; STORE=1 keeps them for the next time'
	@echo 'make bench-builds  what laying out by counts brings, or any other build: OTHER=PROGRAM'
	@echo 'make profile  count anew which ways the code takes; release builds are laid out by that'
	@echo 'make fmt    format all sources'

run: build
	@HOTSEAT_PYTHON=$(CURDIR)/$(VENV)/bin/python exec target/release/hotseat web examples examples/native

build: target/release/hotseat $(STAMPS)/package-release

# ---------------------------------------------------------------- what is built

# Release builds are laid out by what `make profile` has counted. The counts fit one compiler, one Cargo.lock and the settings of
# a release, which Cargo.toml ends with, since the names of functions are made of all three; with others the build goes without
# them, and the program is a little slower.
COUNTS  := bench/training.profdata.gz
MADE_BY := { rustc --version; { cat Cargo.lock; sed -n '/^\[profile\.release\]/,$$p' Cargo.toml; } | sha256sum; }

# Where Rust brings its own linker, functions that turn out the same are kept once.
FOLDED := $(if $(filter x86_64-unknown-linux-gnu,$(shell rustc -vV 2>/dev/null)),-Clink-arg=-Wl$(,)--icf=all)

ifeq ($(shell $(MADE_BY) 2>/dev/null | cmp --silent - $(COUNTS).of && echo fits),fits)
LAID_OUT_BY := target/training.profdata
LAID_OUT    := RUSTFLAGS="$${RUSTFLAGS-} -Cprofile-use=$(CURDIR)/$(LAID_OUT_BY) -Cllvm-args=-no-pgo-warn-mismatch $(FOLDED)"
endif

# cargo does not see that the counts are others.
target/training.profdata: $(COUNTS)
	@mkdir -p target
	rm -rf target/release
	gzip --decompress --stdout $< > $@

target/release/hotseat: $(RUST) $(LAID_OUT_BY) ui/dist/index.html
	$(if $(LAID_OUT),,@echo 'note: built without $(COUNTS), which was made by another compiler, other dependencies or other settings')
	$(LAID_OUT) cargo build --release --locked --package hotseat
	@touch $@

target/debug/hotseat: $(RUST) ui/dist/index.html
	cargo build --locked --package hotseat
	@touch $@

ui/node_modules/.stamp: ui/package.json ui/package-lock.json
	cd ui && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

ui/dist/index.html: ui/node_modules/.stamp $(UI_SRC)
	cd ui && npm run --silent build
	@touch $@

# The environment that agents run in: ADK with what `adk eval` needs, and the tools of the checks.
$(STAMPS)/venv: pyproject.toml
	@mkdir -p $(STAMPS)
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(VENV)/bin/pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2' --group dev
	@touch $@

# The package, editable, with the binary beside it. maturin reuses what cargo has built.
INSTALL := PATH=$(CURDIR)/$(VENV)/bin:$$PATH pip install --quiet --disable-pip-version-check --no-build-isolation

$(STAMPS)/package-release: $(STAMPS)/venv target/release/hotseat
	$(LAID_OUT) $(INSTALL) --config-settings=build-args='--profile=release' --editable .
	@rm -f $(STAMPS)/package-dev
	@touch $@

$(STAMPS)/package-dev: $(STAMPS)/venv target/debug/hotseat
	$(INSTALL) --config-settings=build-args='--profile=dev' --editable .
	@rm -f $(STAMPS)/package-release
	@touch $@

# ------------------------------------------------------------------------ tests

test: check test-rust test-ui test-python test-adk1 test-e2e bench-short
	@echo
	@echo 'All checks and tests passed.'

check: $(STAMPS)/venv ui/dist/index.html
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo xtask tidy
	cargo xtask codegen --check
	$(VENV)/bin/ruff check python examples bench e2e
	$(VENV)/bin/ruff format --check python examples bench e2e
	cd ui && npm run --silent check

test-rust: ui/dist/index.html $(STAMPS)/nextest $(STAMPS)/ocr $(STAMPS)/postgres $(STAMPS)/nginx
	cargo nextest run --workspace --locked --no-fail-fast

# Where nextest is missing, it is built once.
$(STAMPS)/nextest:
	@mkdir -p $(STAMPS)
	cargo nextest --version >/dev/null 2>&1 || cargo install --locked cargo-nextest
	@touch $@

# Programs that read scanned pages; optional for users, needed by the tests of documents.
$(STAMPS)/ocr:
	@mkdir -p $(STAMPS)
	command -v tesseract >/dev/null && command -v pdftoppm >/dev/null || { \
	  sudo=; test "$$(id -u)" = 0 || sudo=sudo; \
	  $$sudo apt-get update -qq && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends tesseract-ocr tesseract-ocr-eng poppler-utils >/dev/null; }
	@touch $@

# The programs of a PostgreSQL server; the tests start one of their own, and the system's stays off.
$(STAMPS)/postgres:
	@mkdir -p $(STAMPS)
	command -v postgres >/dev/null || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || { \
	  sudo=; test "$$(id -u)" = 0 || sudo=sudo; \
	  $$sudo apt-get update -qq && $$sudo mkdir -p /etc/postgresql-common && \
	  echo 'create_main_cluster = false' | $$sudo tee /etc/postgresql-common/createcluster.conf >/dev/null && \
	  $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql >/dev/null; }
	@touch $@

# The proxy of the deployment guide; the tests start one of their own, and the system's stays off.
$(STAMPS)/nginx:
	@mkdir -p $(STAMPS)
	command -v nginx >/dev/null || test -x /usr/sbin/nginx || { \
	  sudo=; test "$$(id -u)" = 0 || sudo=sudo; \
	  $$sudo apt-get update -qq && \
	  $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nginx-light >/dev/null && \
	  { ! test -d /run/systemd/system || $$sudo systemctl --quiet disable --now nginx; }; }
	@touch $@

# What the lines of the serving guide are written for; a test runs them.
$(STAMPS)/curl:
	@mkdir -p $(STAMPS)
	command -v curl >/dev/null || { \
	  sudo=; test "$$(id -u)" = 0 || sudo=sudo; \
	  $$sudo apt-get update -qq && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends curl >/dev/null; }
	@touch $@

test-ui: ui/node_modules/.stamp
	cd ui && npm test --silent

test-python: $(STAMPS)/package-dev $(STAMPS)/postgres $(STAMPS)/curl e2e/node_modules/.stamp
	HOTSEAT_BIN=$(CURDIR)/target/debug/hotseat $(VENV)/bin/pytest --quiet
	HOTSEAT_TEST_STORE=postgres HOTSEAT_BIN=$(CURDIR)/target/debug/hotseat $(VENV)/bin/pytest --quiet $(OVER_POSTGRES)

# What a shared log could break: the session service, the plugin and runs, once more over PostgreSQL.
OVER_POSTGRES := $(addprefix python/tests/test_,$(addsuffix .py,session_service plugin runs))

# The same package with ADK 1.x: what people use most of it, the plugin and the session service.
OLD_ADK := $(addprefix python/tests/test_,$(addsuffix .py,plugin session_service session_programs runs client_tools functions \
  frozen frozen_json short_calls tokens attachment))

test-adk1: $(STAMPS)/venv-adk1 target/debug/hotseat
	HOTSEAT_BIN=$(CURDIR)/target/debug/hotseat PYTHONPATH=python .venv-adk1/bin/python -m pytest --quiet $(OLD_ADK)

$(STAMPS)/venv-adk1: pyproject.toml
	@mkdir -p $(STAMPS)
	test -x .venv-adk1/bin/python || $(PYTHON) -m venv .venv-adk1
	.venv-adk1/bin/pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	.venv-adk1/bin/pip install --quiet --disable-pip-version-check --group adk1
	@touch $@

test-e2e: $(STAMPS)/package-dev $(STAMPS)/chromium $(STAMPS)/postgres e2e/node_modules/.stamp
	cd e2e && HOTSEAT_BIN=$(CURDIR)/target/debug/hotseat HOTSEAT_PYTHON=$(CURDIR)/$(VENV)/bin/python npm test --silent
	cd e2e && HOTSEAT_BIN=$(CURDIR)/target/debug/hotseat HOTSEAT_PYTHON=$(CURDIR)/$(VENV)/bin/python \
	  ../$(VENV)/bin/python ../python/tests/postgres.py npx playwright test tests/story.spec.ts

e2e/node_modules/.stamp: e2e/package.json e2e/package-lock.json
	cd e2e && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

# The browser of the end-to-end tests. Other systems: put a chromium on the PATH.
$(STAMPS)/chromium:
	@mkdir -p $(STAMPS)
	command -v chromium >/dev/null || { \
	  sudo=; test "$$(id -u)" = 0 || sudo=sudo; \
	  $$sudo apt-get update -qq && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; }
	@touch $@

# ------------------------------------------------------------------ tests that take long

# The crowd comes twice, once for each database; SOAK_MINUTES is for each, and ten if it is not said.
soak: build $(STAMPS)/nextest $(STAMPS)/postgres
	$(LAID_OUT) cargo build --release --locked --package hotseat-testkit --no-default-features --features clients --example soak
	target/release/examples/soak target/release/hotseat
	SOAK_STORE=postgres target/release/examples/soak target/release/hotseat
	HOTSEAT_SIMULATIONS=20000 cargo nextest run --locked --package hotseat-server simulation::whatever_fails_turns
	HOTSEAT_SIMULATIONS=5000 cargo nextest run --locked --package hotseat-server simulation::whatever_fails_every_step

# The same tests as in `make test`, with a hundred times as many inputs.
fuzz: $(STAMPS)/package-dev $(STAMPS)/nextest
	PROPTEST_CASES=$${PROPTEST_CASES:-25000} cargo nextest run --workspace --locked --no-fail-fast -E 'test(/hostile|attacks::bodies/)'
	FUZZ_EXAMPLES=$${FUZZ_EXAMPLES:-200} HOTSEAT_BIN=$(CURDIR)/target/debug/hotseat $(VENV)/bin/pytest --quiet python/tests/test_fuzzed_api.py

# --------------------------------------------------------------------- the rest

# Us, others and the machine's own limits, in one run; it writes docs/benchmarks.md. ONLY names parts of it.
BENCH_HOTSEAT ?= target/release/hotseat
BENCH_PEERS   ?= .venv-bench/bin/python
CLIENTS       := load streams runs ask hand_off limits seed

bench: build bench-clients $(STAMPS)/venv-bench $(STAMPS)/chromium $(STAMPS)/postgres e2e/node_modules/.stamp
	$(LAID_OUT) cargo build --release --locked --package hotseat-extract --example time
	$(VENV)/bin/python bench/bench.py --hotseat $(BENCH_HOTSEAT) --peers $(BENCH_PEERS) $(if $(ONLY),--only $(ONLY))

bench-clients: $(LAID_OUT_BY)
	$(LAID_OUT) cargo build --release --locked --package hotseat-testkit --no-default-features --features clients $(addprefix --example ,$(CLIENTS))

# What the counts bring: the same program without them beside it. OTHER is any other build to compare with.
OTHER ?= target/plain/release/hotseat

bench-builds: build bench-clients $(OTHER)
	$(VENV)/bin/python bench/builds.py $(BENCH_HOTSEAT) $(OTHER)

target/plain/release/hotseat: $(RUST) ui/dist/index.html
	cargo build --release --locked --target-dir target/plain --package hotseat

# A build with counters does work of every sort. It has the settings of a release to the letter, since the names of functions
# depend on them, and a folder of its own. What the compiler's own programs count meanwhile is thrown away.
profile: bench-clients $(STAMPS)/venv $(STAMPS)/postgres $(STAMPS)/profdata ui/dist/index.html
	RUSTFLAGS="$${RUSTFLAGS-} -Cprofile-generate=$(CURDIR)/target/profile/counts" \
	  cargo build --release --locked --target-dir target/profile --package hotseat
	rm -rf target/profile/counts
	PYTHONPATH=python $(VENV)/bin/python bench/training.py --hotseat target/profile/release/hotseat
	$(PROFDATA) merge --sparse --output target/profile/training.profdata target/profile/counts
	gzip --best --no-name --stdout target/profile/training.profdata > $(COUNTS)
	$(MADE_BY) > $(COUNTS).of

# Merges what was counted; it has to be of the compiler's own version of LLVM.
PROFDATA = llvm-profdata-$(shell rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')

$(STAMPS)/profdata:
	@mkdir -p $(STAMPS)
	command -v $(PROFDATA) >/dev/null || { \
	  sudo=; test "$$(id -u)" = 0 || sudo=sudo; \
	  $$sudo apt-get update -qq && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(PROFDATA:llvm-profdata-%=llvm-%) >/dev/null; }
	@touch $@

# What an operation costs against the machine's own limits; a third more than `bench/stored.json` says is a failure.
# STORE=1 stores what is measured. It comes last in `make test`, when nothing else runs.
bench-short: $(STAMPS)/package-dev
	cargo build --locked --package hotseat-testkit $(addprefix --example ,load runs ask hand_off limits)
	$(VENV)/bin/python bench/short.py $(if $(STORE),--store)

$(STAMPS)/venv-bench: pyproject.toml
	@mkdir -p $(STAMPS)
	test -x .venv-bench/bin/python || $(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	.venv-bench/bin/pip install --quiet --disable-pip-version-check --group bench
	@touch $@

fmt:
	cargo fmt --all
	-$(VENV)/bin/ruff format python examples bench e2e && $(VENV)/bin/ruff check --fix python examples bench e2e
	cd ui && npm run --silent fmt

clean:
	rm -rf target $(VENV) .venv-adk1 .venv-bench ui/node_modules ui/tools/node_modules ui/dist e2e/node_modules
