# Every target sets up what it needs: a fresh clone with Python 3.11+ is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.setup
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Two processes: more than two cores are not assumed.
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

.PHONY: setup demo test check bench ui serve clean help

help:  ## What can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(STAMP)  ## Virtual environment, package, local model

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --constraint constraints.txt --editable '.[dev]'
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

bench: setup  ## Measures against the peers and writes bench/RESULTS.md
	$(BIN)/python -m bench

ui: setup  ## The web UI comes with step 6
	@echo "There is no web UI yet: the command line and the Python API work without it."

serve: setup  ## The HTTP API comes with step 5
	@echo "There is no HTTP server yet: use the command line or the Python API."

clean:  ## Remove what was built; results in .burnish stay
	rm -rf $(VENV) .bench-venvs build dist .mypy_cache .ruff_cache .pytest_cache
