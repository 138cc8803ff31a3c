# Every target sets up what it needs: a fresh clone with Python 3.11+ is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.setup
RAY_VENV := .ray-venv
OPIK_VENV := .opik-venv
WI_VENV := .wi-venv
# One environment a framework: what they need of one another's packages differs.
FRAMEWORKS := pydantic_ai openai_agents langgraph dspy
FRAMEWORK_VENVS := .framework-venvs
DOCS_VENV := .docs-venv
PIP := $(BIN)/python -m pip --disable-pip-version-check
# uv needs a third of pip's time. It reads no pip.conf: where it finds no packages, pip installs them.
PACKAGE := --constraint constraints.txt --editable '.[dev]'
# Bytecode is kept, or else each process would compile the package and pytest's plugins again; what
# tests write is kept out of it by tests/conftest.py.
KEPT := env -u PYTHONDONTWRITEBYTECODE
# To compile all packages takes seven times as long as to install them. What tests import is compiled
# by their collection; this is what only the processes that they start import, which keep nothing.
COMPILED := $(KEPT) $(BIN)/python -c 'import moto.moto_server.werkzeug_app, moto.s3.responses, httpx2'
# Four processes for two cores: tests of servers and of faults wait for part of their time.
PYTEST_OPTIONS ?=
PYTEST := $(KEPT) $(BIN)/python -m pytest -n 4 --dist worksteal $(PYTEST_OPTIONS)
CLIENT_TESTS := tests/integration/test_opik_client.py tests/integration/test_trace_exports.py tests/integration/test_weakincentives.py \
	tests/integration/test_frameworks.py

# Where `burnish demo` puts its example and keeps its runs; `make serve` shows them.
DEMO := .burnish/demo
UI_BUILT := src/burnish/server/ui_dist
UI_SOURCES := $(shell find ui/src ui/public ui/scripts -type f ! -name schema.d.ts 2>/dev/null) \
	$(wildcard ui/index.html ui/*.json ui/vite.config.ts) docs/openapi.json
UI_PACKAGES := ui/node_modules/.package-lock.json
UI_WORLD := build/ui-world
IN_BROWSER = cd ui && $(KEPT) BURNISH_UI_WORLD=$(CURDIR)/$(UI_WORLD) npm run --silent

.PHONY: setup demo test styled-pytest test-clients other-venvs fuzz test-ray test-qwen opik-venv wi-venv framework-venvs check style types pytest test-ui check-ui screenshots recording bench-ui ui-world chromium bench ui ui-if-possible serve openapi reference docs clean help

help:  ## What can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13

setup: $(STAMP)  ## Virtual environment, package, local model

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --constraint constraints.txt uv \
		&& VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet $(PACKAGE) \
		|| $(PIP) install --quiet $(PACKAGE)
	$(COMPILED)
	$(BIN)/burnish models pull smollm2-135m
	@touch $(STAMP)

demo: setup ui-if-possible  ## The main job on the embedded model, no key, no server
	$(BIN)/burnish demo
	@echo "make serve shows it in the browser"

check: style types  ## Style, types and layers

style: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo

types: setup
	$(BIN)/mypy

# Side by side from the start, set-up included: the web UI needs no Python before it is opened in a
# browser, and what is downloaded or waited for leaves a core to the others.
test:  ## All checks and all tests, those in a browser included
	@$(MAKE) --no-print-directory --jobs 5 styled-pytest test-ui test-clients types

# What takes seconds comes first.
styled-pytest: style
	$(PYTEST) $(CLIENT_TESTS:%=--deselect %) tests

# In one process: what one of them sets up serves the others, and nobody waits for their environments.
test-clients: other-venvs  ## Opik's own clients and weakincentives, in environments of their own
	$(KEPT) $(BIN)/python -m pytest $(PYTEST_OPTIONS) $(CLIENT_TESTS)

# Where the environments of others cannot be built, the tests of them are skipped and say why.
other-venvs: setup
	@timeout 300 $(MAKE) --no-print-directory --keep-going opik-venv wi-venv framework-venvs \
		|| echo "An environment of Opik, weakincentives or a framework could not be built: their tests are skipped."

pytest: setup
	$(PYTEST) tests

FUZZ ?= 1000
fuzz: setup  ## Properties with FUZZ examples each that no run before had
	BURNISH_FUZZ=$(FUZZ) $(PYTEST) -m hypothesis tests/unit tests/contract
	BURNISH_FUZZ=$(FUZZ) $(PYTEST) tests/integration/test_server_contract.py

test-ray: setup  ## The run on a Ray cluster, with an environment of its own: Ray is large
	test -x $(RAY_VENV)/bin/python || $(PYTHON) -m venv $(RAY_VENV)
	$(RAY_VENV)/bin/python -m pip --disable-pip-version-check install --quiet \
		--constraint constraints.txt --editable '.[ray]' pytest pytest-asyncio hypothesis
	$(RAY_VENV)/bin/python -m pytest -o addopts='' -q tests/cluster

test-qwen: setup  ## The larger embedded model: 1.1 GB are downloaded once, minutes on one core
	$(BIN)/burnish models pull qwen2.5-coder-1.5b
	BURNISH_TEST_LARGE_MODELS=1 $(BIN)/python -m pytest tests/integration/test_qwen_model.py

opik-venv: $(OPIK_VENV)/.setup  ## Opik's own clients, which tests then run against a server of ours

$(OPIK_VENV)/.setup: bench/peers/requirements-opik.txt | setup
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(OPIK_VENV) \
		&& VIRTUAL_ENV=$(OPIK_VENV) $(BIN)/uv pip install --quiet -r $< \
		|| { $(PYTHON) -m venv --clear $(OPIK_VENV) \
			&& $(OPIK_VENV)/bin/python -m pip --disable-pip-version-check install --quiet -r $<; }
	@touch $@

wi-venv: $(WI_VENV)/.setup  ## weakincentives with a Python 3.13; the tests of its prompts run there

$(WI_VENV)/.setup: pyproject.toml constraints.txt $(STAMP)
	python313=$$($(BIN)/python -m tests.wink.interpreter) \
		&& $(BIN)/uv venv --quiet --clear --python "$$python313" $(WI_VENV) \
		&& VIRTUAL_ENV=$(WI_VENV) $(BIN)/uv pip install --quiet \
			--constraint constraints.txt --editable '.[weakincentives]' pytest pytest-asyncio hypothesis
	@touch $@

framework-venvs: $(FRAMEWORKS:%=$(FRAMEWORK_VENVS)/%/.setup)  ## pydantic-ai, the OpenAI Agents SDK, LangGraph and DSPy

$(FRAMEWORK_VENVS)/%/.setup: tests/frameworks/%.txt pyproject.toml constraints.txt | $(STAMP)
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(@D) \
		&& VIRTUAL_ENV=$(@D) $(BIN)/uv pip install --quiet --editable . -r $< \
		|| { $(PYTHON) -m venv --clear $(@D) \
			&& $(@D)/bin/python -m pip --disable-pip-version-check install --quiet --editable . -r $<; }
	@touch $@

bench: setup  ## Measures against the peers and writes bench/RESULTS.md
	$(BIN)/python -m bench

ui: $(UI_BUILT)/index.html  ## The web UI, put where `burnish serve` finds it; needs Node 20

$(UI_PACKAGES): ui/package.json ui/package-lock.json
	cd ui && { npm ci --no-audit --no-fund --loglevel=error || npm install --no-save --no-audit --no-fund; }
	@touch $@

$(UI_BUILT)/index.html: $(UI_PACKAGES) $(UI_SOURCES)
	cd ui && npm run build
	rm -rf $(UI_BUILT).new && cp -r ui/dist $(UI_BUILT).new
	rm -rf $(UI_BUILT) && mv $(UI_BUILT).new $(UI_BUILT)
	@touch $@

# After the build, which writes the types of the client.
check-ui: $(UI_BUILT)/index.html
	cd ui && npm run --silent check && npm run --silent test

# The world is filled anew when what fills it changed; without that it takes a second.
test-ui: check-ui ui-world  ## The web UI: types, logic, and in a browser against a server
	$(IN_BROWSER) e2e

screenshots: ui ui-world  ## docs/screenshots anew
	$(IN_BROWSER) screenshots

recording: setup  ## docs/first-minute.svg anew
	$(BIN)/python docs/make_picture.py docs/first-minute.svg 'burnish init --template python hello' 'cd hello' 'burnish eval'

bench-ui: ui ui-world  ## How long interactions take with 10,000 trials
	$(IN_BROWSER) speed

ui-world: setup chromium
	$(KEPT) $(BIN)/python -m tests.ui.world $(UI_WORLD) --trials 10000 --fill-only

# Without windows, which no test needs, it takes two thirds of the time.
chromium:
	@test -n "$(CHROMIUM)" || command -v chromium-headless-shell chromium chromium-browser > /dev/null || { \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium-headless-shell > /dev/null; } \
		|| { echo "There is no Chromium: install it, or say where it is with CHROMIUM=…" >&2; exit 1; }

# Once, and never in the way: whoever changes the UI says `make ui`.
ui-if-possible:
	@test -f $(UI_BUILT)/index.html || if command -v npm > /dev/null; \
		then $(MAKE) --no-print-directory ui || echo "The web UI could not be built; all else works without it."; \
		else echo "There is no Node, so there is no web UI; all else works without it."; fi

serve: setup ui-if-possible  ## The API and the web UI with the demo's runs, at http://127.0.0.1:8720
	test -f $(DEMO)/burnish.toml || $(BIN)/burnish init $(DEMO)
	$(BIN)/burnish serve --config $(DEMO)

openapi: setup  ## docs/openapi.json anew, from the routes
	$(BIN)/python -m burnish.server.openapi docs/openapi.json

reference: setup  ## The generated pages of docs anew, from the code
	$(BIN)/python -m tests.reference

# In an environment of its own, which needs nothing of the package: docstrings are read from the source.
docs: $(DOCS_VENV)/.setup  ## The site of the docs in build/site, offline, with strict links
	NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/python -m mkdocs build --strict
	@echo "build/site/index.html"

$(DOCS_VENV)/.setup: constraints.txt
	test -x $(DOCS_VENV)/bin/python || $(PYTHON) -m venv $(DOCS_VENV)
	$(DOCS_VENV)/bin/python -m pip --disable-pip-version-check install --quiet \
		--constraint constraints.txt mkdocs-material 'mkdocstrings[python]' ruff
	@touch $@

clean:  ## Remove what was built; results in .burnish stay
	rm -rf $(VENV) $(RAY_VENV) $(OPIK_VENV) $(WI_VENV) $(DOCS_VENV) .bench-venvs build dist .mypy_cache .ruff_cache .pytest_cache
	rm -rf ui/node_modules ui/dist $(UI_BUILT)
