# Every target sets up what it needs: a fresh clone with Python 3.11+ is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.setup
RAY_VENV := .ray-venv
PIP := $(BIN)/python -m pip --disable-pip-version-check
# uv needs a third of pip's time. It reads no pip.conf: where it finds no packages, pip installs them.
PACKAGE := --constraint constraints.txt --editable '.[dev]'
# Two processes: more than two cores are not assumed. Bytecode is kept, or else each of them would
# compile pytest's plugins again; what tests write is kept out of it by tests/conftest.py.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n 2 --dist worksteal

.PHONY: setup demo test test-ray check bench ui serve openapi clean help

help:  ## What can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(STAMP)  ## Virtual environment, package, local model

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --constraint constraints.txt uv \
		&& VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --compile-bytecode $(PACKAGE) \
		|| $(PIP) install --quiet $(PACKAGE)
	$(BIN)/burnish models pull smollm2-135m
	@touch $(STAMP)

demo: setup  ## The main job on the embedded model, no key, no server
	$(BIN)/burnish demo

check: setup  ## Style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test: check  ## All checks and all tests
	$(PYTEST) tests

test-ray: setup  ## The run on a Ray cluster, with an environment of its own: Ray is large
	test -x $(RAY_VENV)/bin/python || $(PYTHON) -m venv $(RAY_VENV)
	$(RAY_VENV)/bin/python -m pip --disable-pip-version-check install --quiet \
		--constraint constraints.txt --editable '.[ray]' pytest pytest-asyncio hypothesis
	$(RAY_VENV)/bin/python -m pytest -o addopts='' -q tests/cluster

bench: setup  ## Measures against the peers and writes bench/RESULTS.md
	$(BIN)/python -m bench

ui: setup  ## The web UI comes with step 6
	@echo "There is no web UI yet: the command line and the Python API work without it."

serve: setup  ## The HTTP API of the example, at http://127.0.0.1:8720
	test -f .serve/burnish.toml || $(BIN)/burnish init .serve
	$(BIN)/burnish serve --config .serve

openapi: setup  ## docs/openapi.json anew, from the routes
	$(BIN)/python -m burnish.server.openapi docs/openapi.json

clean:  ## Remove what was built; results in .burnish stay
	rm -rf $(VENV) $(RAY_VENV) .bench-venvs build dist .mypy_cache .ruff_cache .pytest_cache
