# `make verify` and `make test` do all the set-up that they need.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: verify verify-here test test-fast lint bench clean

verify: .venv/.installed
	$(BIN)/pinproof replica build --with-baseline
	$(BIN)/ansible-playbook verify.yml --check

verify-here: .venv/.installed
	$(BIN)/pinproof here

test: lint
	$(BIN)/pytest -n 2 --dist loadgroup

test-fast: .venv/.developing
	$(BIN)/pytest -n 2 tests/unit

lint: .venv/.developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/yamllint --strict .
	$(BIN)/ansible-lint

bench: .venv/.developing
	$(BIN)/python tests/bench/bench.py

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "pinproof's controller needs Python 3.11 or newer: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 78; }
	$(PYTHON) -m venv .venv

.venv/.installed: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	touch $@

.venv/.developing: .venv/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	@if [ -x $(BIN)/pinproof ] && [ -f .here/process.pid ]; then $(BIN)/pinproof here --end; fi
	rm -rf .venv .replica .here archive
